"""Result lines -> scores by data set and method, in either protocol, and what is made of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from manyview.bench.cells import Line, Store
from manyview.bench.ranks import Ranking, rank_methods
from manyview.checks import check_option

FREE, TUNED = "label-free", "label-tuned"
PROTOCOLS = (FREE, TUNED)
"""Settings fixed beforehand; or the best of a grid, chosen by the true labels for each data set."""


@dataclass(frozen=True)
class Figure:
    """A method's score on a data set: each seed's, with the settings that were used.

    ``why`` says why there is none, where no seed has a result.
    """

    values: tuple[float, ...] = ()
    seconds: float = float("nan")
    settings: str = ""
    why: str = ""

    @property
    def mean(self) -> float:
        """Mean over seeds; NaN where there is none."""
        return fmean(self.values) if self.values else float("nan")

    @property
    def spread(self) -> float:
        """Sample standard deviation over seeds; 0 of one."""
        return stdev(self.values) if len(self.values) > 1 else 0.0


class Results:
    """Results of a bench: tables, ranks and pictures.

    Parameters
    ----------
    lines : iterable of dict
        Result lines, as :func:`compare` writes them.

    See Also
    --------
    compare : makes them.
    Method : what is compared.

    Examples
    --------
    >>> from manyview.bench import Results
    >>> line = {"data": {"name": "d", "shuffled": 0}, "settings": {}, "seed": 0, "seconds": 1.0,
    ...         "protocol": "label-free", "status": "done"}
    >>> lines = [{**line, "method": "A", "scores": {"nmi": 0.5}},
    ...          {**line, "method": "B", "scores": {"nmi": 0.75}}]
    >>> print(Results(lines).table())
    nmi        A     B
    d       .500  .750
    mean    .500  .750
    rank    2.00  1.00
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = [line for line in lines if "protocol" in line]
        self._by_place: dict[tuple[str, str], list[Line]] = {}
        for line in self.lines:
            place = line["method"], line["data"]["name"]
            self._by_place.setdefault(place, []).append(line)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Results:
        """The results that ``compare(results=path)`` kept."""
        return cls(Store(Path(path)).all_lines())

    def select(
        self,
        methods: Sequence[str] | None = None,
        data: Sequence[str] | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> Results:
        """Those of some methods, data sets and seeds, in this order."""
        kept = [
            line
            for line in self.lines
            if (methods is None or line["method"] in methods)
            and (data is None or line["data"]["name"] in data)
            and (seeds is None or line["seed"] in seeds)
        ]
        places = {name: place for place, name in enumerate(methods or [])}
        sets = {name: place for place, name in enumerate(data or [])}
        kept.sort(key=lambda one: (sets.get(one["data"]["name"], 0), places.get(one["method"], 0)))
        return Results(kept)

    @property
    def methods(self) -> list[str]:
        """Names of the methods."""
        return list(dict.fromkeys(line["method"] for line in self.lines))

    @property
    def data(self) -> list[str]:
        """Names of the data sets."""
        return list(dict.fromkeys(line["data"]["name"] for line in self.lines))

    def figure(
        self, method: str, data: str, score: str = "nmi", protocol: str = "label-free"
    ) -> Figure:
        """What a method has on a data set; label-tuned, the best of all settings by the mean.

        Raises
        ------
        ValueError
            If a file holds results of other rows too, or label-free ones of several settings: labels
            would choose between them.
        """
        check_option("protocol", protocol, PROTOCOLS)
        own = [
            line
            for line in self._by_place.get((method, data), [])
            if protocol == TUNED or line["protocol"] == FREE
        ]
        by_settings: dict[str, list[Line]] = {}
        for line in own:
            if line["status"] == "done":
                by_settings.setdefault(str(line["settings"]), []).append(line)
        if not by_settings:
            reasons = [str(line.get("reason", line["status"])) for line in own]
            return Figure(why=reasons[0] if reasons else "not run")
        _refuse_mixture(by_settings, protocol, f"{method!r} on {data!r}")
        figures = [_figure(lines, settings, score) for settings, lines in by_settings.items()]
        return max(figures, key=lambda one: one.mean)

    def means(self, score: str = "nmi", protocol: str = "label-free") -> Any:
        """Mean scores, ndarray of shape (data, methods); NaN where there is none."""
        return np.array(
            [[self.figure(m, d, score, protocol).mean for m in self.methods] for d in self.data]
        )

    def ranking(self, score: str = "nmi", protocol: str = "label-free") -> Ranking:
        """Methods by their mean rank; one without a result on a data set is last there."""
        return rank_methods(self.means(score, protocol), self.methods)

    def table(
        self,
        score: str = "nmi",
        *,
        protocol: str = "label-free",
        kind: str = "text",
        spread: bool = False,
    ) -> str:
        """A table of mean scores and mean ranks; in markdown and LaTeX the best are in bold.

        Parameters
        ----------
        score : str, default "nmi"
            One of the names that :func:`manyview.metrics.scores` has.
        protocol : {"label-free", "label-tuned"}, default "label-free"
            Settings that were fixed beforehand, or the best by the labels.
        kind : {"text", "markdown", "latex"}, default "text"
            In LaTeX, the lines of a ``tabular`` that needs the package booktabs.
        spread : bool, default False
            Add the standard deviation over seeds.
        """
        from manyview.bench.tables import write_table

        return write_table(self, score, protocol=protocol, kind=kind, spread=spread)

    def draw_ranks(
        self, path: str | os.PathLike[str], score: str = "nmi", *, protocol: str = "label-free"
    ) -> None:
        """Draw mean ranks with bars over methods that cannot be told apart (Nemenyi)."""
        from manyview.bench.pictures import draw_ranks

        draw_ranks(self.ranking(score, protocol), Path(path))

    def draw_scores(
        self, path: str | os.PathLike[str], score: str = "nmi", *, protocol: str = "label-free"
    ) -> None:
        """Draw every method's mean score on every data set."""
        from manyview.bench.pictures import draw_scores

        draw_scores(self, Path(path), score, protocol)

    def __repr__(self) -> str:
        return self.table() if self.lines else "Results()"


def _refuse_mixture(by_settings: dict[str, list[Line]], protocol: str, what: str) -> None:
    """Raise unless the lines are of the same rows and, label-free, of the same settings."""
    rows = {
        str({name: value for name, value in line["data"].items() if name != "shuffled"})
        for lines in by_settings.values()
        for line in lines
    }
    settings = sorted(by_settings) if protocol == FREE else []
    for several in (sorted(rows), settings):
        if len(several) > 1:
            raise ValueError(
                f"There are results of {what} for {' and for '.join(several)}, which are not to be "
                "averaged, nor chosen from. Keep them in files, or under titles, of their own."
            )


def _figure(lines: Sequence[Line], settings: str, score: str) -> Figure:
    known = sorted(lines[0]["scores"])
    check_option("score", score, known)
    values = tuple(float(line["scores"][score]) for line in lines)
    return Figure(values, fmean(float(line["seconds"]) for line in lines), settings)
