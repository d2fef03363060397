"""What is run, and how far each method goes: one rule for all of them.

A method has so many seconds for a data set (``budgets.csv``). It is fitted with its defaults on more and
more rows, each time four times as many; then its grid of settings is tried, on the most rows it can
be, seed by seed; each as long as the next step would cost at most half of what is left. With
what is left then, the chosen setting is fitted on the most rows with as many seeds as fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from manyview.bench.cells import Cell, Line, Store
from manyview.bench.methods import Settings
from manyview.reproduce import methods, paper
from manyview.reproduce.problems import Data, Problem

RUN_SECONDS = {"quick": 540.0, "full": 10_200.0, "unlimited": None}
"""No new work is started after so many seconds of a run: what is left is done by the next one."""

_GROWTH = 4.0  # of rows from one size to the next; seconds grow by no less
_SHARE = 0.5  # of what is left may be spent on the next size, or on trying settings

Steps = Iterator[tuple[Sequence[Cell], float]]
"""Cells to be computed next, and the seconds that are left for them."""


class Budget(NamedTuple):
    """What a method may spend on a data set, and how many seeds it has at most."""

    seconds: float
    seeds: int


_BUDGETS = {
    (line["form"], line["method"]): Budget(float(line["seconds"]), int(line["seeds"]))
    for line in paper.read_table("budgets.csv")
}


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    form: str = "full"
    seeds: int | None = None

    def budget(self, method: str) -> Budget:
        """The seconds and seeds of a method, or of a "figure"."""
        form = "full" if self.form == "unlimited" else self.form
        found = _BUDGETS.get((form, method)) or _BUDGETS[form, "any"]
        seconds = math.inf if self.form == "unlimited" else found.seconds
        return Budget(seconds, self.seeds or found.seeds)


class Purse:
    """The seconds of a job: what its cells took is gone, in this run or in an earlier one."""

    def __init__(self, seconds: float, store: Store) -> None:
        self._seconds, self._store = seconds, store
        self._asked: dict[Cell, None] = {}

    @property
    def left(self) -> float:
        """What is left."""
        return self._seconds - sum(map(_spent, self._store.lines(self._asked)))

    def ask(self, cells: Sequence[Cell]) -> tuple[Sequence[Cell], float]:
        """Cells to be computed, and the seconds for them."""
        left = self.left
        self._asked |= dict.fromkeys(cells)
        return cells, left


def _spent(line: Line) -> float:
    return float(line.get("spent_seconds") or line.get("seconds") or 0.0)


@dataclass(frozen=True)
class Entry:
    """A method on a data set, or on one of its views."""

    problem: Problem
    method: str
    view: int | None = None

    @property
    def label(self) -> str:
        """Its name as the tables print it."""
        return methods.title(self.method, self.view)

    @property
    def default(self) -> Settings:
        """What is fitted first: the method's defaults, the field's k-means, or LMVSC as it is timed."""
        return methods.FIRST.get(self.method, {})

    @property
    def candidates(self) -> list[Settings]:
        """The settings that labels choose from."""
        return methods.candidates(self.method, self.problem.info.n_clusters)

    def cell(self, settings: Settings, rows: int, seed: int = 0) -> Cell:
        """One fit."""
        whole = rows >= self.problem.info.n_samples
        data = Data(self.problem.name, None if whole else rows)
        return Cell(data, self.method, settings, seed, self.view)

    def climb(self, purse: Purse, store: Store) -> Steps:
        """The defaults on more and more rows."""
        seconds: list[float] = []
        for rows in self.problem.sizes:
            growth = seconds[-1] / seconds[-2] if len(seconds) > 1 else _GROWTH
            if seconds and seconds[-1] * max(growth, _GROWTH) > _SHARE * purse.left:
                return
            first = self.cell(self.default, rows)
            yield purse.ask([first, *self._shared(rows)])
            if not (done := store.done([first])):
                return
            seconds.append(done[0]["seconds"])

    def _shared(self, rows: int) -> list[Cell]:
        """Settings of the published method that cost next to nothing beside the one that is timed."""
        if self.method not in methods.PUBLISHED:
            return []
        same = [s for s in self.candidates if s["n_anchors"] == methods.TIMED["n_anchors"]]
        return [self.cell(settings, rows) for settings in same]

    def steps(self, budget: Budget, store: Store) -> Steps:
        """All that is run for the tables."""
        purse = Purse(budget.seconds, store)
        yield from self.climb(purse, store)
        yield from self.tune(purse, budget.seeds, store)
        if (rows := self.reached(store)) is None:
            return
        for seed in range(budget.seeds):
            for settings in self.shown(store):
                cell = self.cell(settings, rows, seed)
                is_known = store.get(cell) is not None
                if is_known or self._expected([settings], rows, store) <= purse.left:
                    yield purse.ask([cell])

    def tune(self, purse: Purse, n_seeds: int, store: Store) -> Steps:
        """All settings, on the most rows and with as many seeds as half of what is left allows."""
        sizes = [rows for rows in self.problem.sizes if rows <= (self.reached(store) or 0)]
        for rows in sizes[::-1] if len(self.candidates) > 1 else []:
            for seed in range(n_seeds):
                cells = [self.cell(settings, rows, seed) for settings in self.candidates]
                is_known = len(store.lines(cells)) == len(cells)
                shared = set(self._shared(rows))  # fitted on the way up
                dear = [cell.settings for cell in cells if cell not in shared]
                if not is_known and self._expected(dear, rows, store) > _SHARE * purse.left:
                    break
                yield purse.ask(cells)
            if self.tuned_on(store) == rows:
                return

    def _expected(self, tried: Sequence[Settings], rows: int, store: Store) -> float:
        """Seconds of settings, by those of the defaults on the same rows."""
        one = float(store.done([self.cell(self.default, rows)])[0]["seconds"])
        if self.method not in methods.PUBLISHED:
            return one * len(tried)
        # Anchors are what costs, and are shared by all settings of one m.
        return one * float(sum({s["n_anchors"] for s in tried}) / methods.TIMED["n_anchors"])

    def reached(self, store: Store) -> int | None:
        """The most rows on which the defaults were fitted."""
        sizes = [n for n in self.problem.sizes if store.done([self.cell(self.default, n)])]
        return max(sizes, default=None)

    def why_not(self, store: Store) -> str:
        """Why there is no result, where there is none."""
        lines = store.lines([self.cell(self.default, rows) for rows in self.problem.sizes])
        reasons = [str(line["reason"]) for line in lines if line["status"] != "done"]
        return reasons[-1] if reasons else "settings not tried yet" if lines else "not run yet"

    def tuned_on(self, store: Store) -> int | None:
        """The most rows on which all settings were tried."""
        for rows in self.problem.sizes[::-1]:
            cells = [self.cell(settings, rows) for settings in self.candidates]
            if len(store.lines(cells)) == len(cells) and store.done(cells):
                return rows
        return None

    def chosen(self, store: Store) -> Settings | None:
        """The setting with the largest mean accuracy; fewer finished seeds do not win by luck."""
        if len(self.candidates) == 1 or (rows := self.tuned_on(store)) is None:
            return None

        def quality(settings: Settings) -> tuple[int, float]:
            found = [line["scores"]["accuracy"] for line in store.seeds(self.cell(settings, rows))]
            return len(found), fmean(found) if found else 0.0

        return max(self.candidates, key=quality)

    def shown(self, store: Store) -> list[Settings]:
        """The settings that the tables show: chosen ones, defaults, and those nearest to the paper's."""
        found = [self.chosen(store)]
        if self.method not in methods.PUBLISHED:
            found += [self.default, self.as_printed]
        return [s for i, s in enumerate(found) if s is not None and s not in found[:i]]

    @property
    def as_printed(self) -> Settings | None:
        """The settings nearest to those behind the paper's figures, where they are not ours."""
        return methods.AS_PRINTED.get(self.method, (None, ""))[0]

    def on_most_rows(self, settings: Settings, store: Store) -> list[Line]:
        """The finished fits of a setting, on the most rows where there are any."""
        for rows in self.problem.sizes[::-1]:
            if found := store.seeds(self.cell(settings, rows)):
                return found
        return []


def entries(problem: Problem) -> list[Entry]:
    """What a data set's table has: LMVSC, k-means, and the baselines that the paper prints for it."""
    names = (*methods.PUBLISHED, methods.DEFAULT, methods.KMEANS)
    own = [Entry(problem, name) for name in names]
    printed = [row for row in paper.ROWS[problem.name] if row.method in methods.BASELINES]
    return own + [Entry(problem, row.method, row.view) for row in printed]


def run_all(cells: Sequence[Cell], seconds: float, store: Store) -> Steps:
    """Cells one after the other, as long as there are seconds."""
    purse = Purse(seconds, store)
    for cell in cells:
        if store.get(cell) is not None or purse.left > 0:
            yield purse.ask([cell])
