"""Result lines -> rows of the tables: means and spreads over seeds, and the paper's figures beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import numpy as np

from manyview.bench.cells import Line, Store
from manyview.bench.methods import Settings
from manyview.reproduce import methods, paper
from manyview.reproduce.plan import Entry, Options, entries
from manyview.reproduce.problems import PROBLEMS, Problem

TUNED, UNLABELLED, NEAREST = "tuned with labels", "without labels", "as the paper ran it"
"""How a row's settings were found."""


@dataclass(frozen=True)
class Row:
    """Fits of one setting that differ in the seed alone."""

    entry: Entry
    label: str
    protocol: str
    lines: Sequence[Line]
    printed: paper.PaperRow | None
    n_tried: int = 1
    tuned_on: int | None = None

    def values(self, score: str) -> list[float]:
        """A score of each seed."""
        return [float(line["scores"][score]) for line in self.lines]

    def mean(self, score: str = "accuracy") -> float:
        """Mean of a score."""
        return fmean(self.values(score))

    def spread(self, score: str = "accuracy") -> float:
        """Its sample standard deviation over seeds; 0 of one seed."""
        values = self.values(score)
        return stdev(values) if len(values) > 1 else 0.0

    def figure(self, score: str = "accuracy") -> str:
        """Mean and spread as text."""
        spread = f" ± {self.spread(score):.3f}" if len(self.lines) > 1 else ""
        return f"{self.mean(score):.3f}{spread}"

    @property
    def n_rows(self) -> int:
        """How many rows were fitted."""
        return int(self.lines[0]["n_rows"])

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of the data set."""
        return self.n_rows == self.entry.problem.info.n_samples

    @property
    def seconds(self) -> float:
        """Mean seconds of a fit."""
        return fmean(float(line["seconds"]) for line in self.lines)

    @property
    def settings(self) -> str:
        """The settings as text."""
        return methods.describe(self.lines[0]["settings"])


class Results:
    """All rows of a run, by data set."""

    def __init__(self, options: Options, store: Store, problems: Sequence[str]) -> None:
        self.options, self.store = options, store
        self.problems = [PROBLEMS[name] for name in problems if PROBLEMS[name].is_present()]
        self.rows = {
            p.name: [r for e in entries(p) for r in _rows(e, store)] for p in self.problems
        }

    def find(self, problem: Problem, protocol: str, *names: str) -> list[Row]:
        """The rows of some methods on a data set, found in one way."""
        rows = self.rows.get(problem.name, [])
        return [row for row in rows if row.protocol == protocol and row.entry.method in names]

    def same(self, row: Row, protocol: str) -> Row | None:
        """The row of the same method and view, found in another way."""
        found = self.find(row.entry.problem, protocol, row.entry.method)
        return next((other for other in found if other.entry == row.entry), None)

    def published(self, problem: Problem) -> Row | None:
        """The better of the two published variants, by mean accuracy; one on more rows goes before."""
        return max(self.find(problem, TUNED, *methods.PUBLISHED), key=_quality, default=None)

    def best_baseline(self, problem: Problem, *names: str) -> Row | None:
        """The baseline with the best mean accuracy; one on more rows goes before."""
        found = self.find(problem, TUNED, *(names or methods.BASELINES))
        return max(found, key=_quality, default=None)


def _rows(entry: Entry, store: Store) -> list[Row]:
    """The rows of one method on a data set: tuned, on its defaults, and as the paper ran it."""

    def make(settings: Settings | None, protocol: str) -> list[Row]:
        lines = [] if settings is None else entry.on_most_rows(settings, store)
        return [Row(entry, entry.label, protocol, lines, _printed(entry))] if lines else []

    tuned = make(entry.chosen(store), TUNED)
    default = [] if entry.method in methods.PUBLISHED else make(entry.default, UNLABELLED)
    if tuned:  # defaults that are better, or on more rows, are what would be chosen
        best = max(tuned + default, key=_quality)
        n_tried, on = len(entry.candidates), entry.tuned_on(store)
        tuned = [replace(best, protocol=TUNED, n_tried=n_tried, tuned_on=on)]
    return tuned + default + make(entry.as_printed, NEAREST)


def _quality(row: Row) -> tuple[int, float]:
    return row.n_rows, row.mean()


def _printed(entry: Entry) -> paper.PaperRow | None:
    name = "LMVSC" if entry.method in (*methods.PUBLISHED, methods.DEFAULT) else entry.method
    return paper.find_row(entry.problem.name, name, entry.view)


def fit_slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The power p of the best fit of y by c x^p, by least squares on logarithms.

    Examples
    --------
    >>> round(fit_slope([1, 10, 100], [2, 200, 20_000]), 6)
    2.0
    """
    return float(np.polyfit(np.log(x), np.log(np.maximum(y, 1e-9)), 1)[0])


def without_anchors(line: Line) -> float:
    """Seconds as the authors time them: all but the anchors' k-means."""
    return float(line["seconds"]) - float(line["stage_seconds"]["anchors"])
