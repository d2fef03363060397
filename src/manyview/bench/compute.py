"""Cells -> results: one fit, its scores, its seconds and its memory."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview import datasets, metrics
from manyview.bench.cells import Cell, Line
from manyview.bench.data import Rows, Source, choose_rows, load
from manyview.bench.methods import Method
from manyview.machine import PeakMemory
from manyview.views.container import Views

_LONGEST_WARNING = 300


def measure(views: Views, fit: Callable[[], tuple[Any, Line]]) -> Line:
    """A line: scores of the labels that ``fit`` gives, what it says besides, and what it cost.

    A refusal for want of memory is a result too.
    """
    with PeakMemory() as memory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started, cpu_started = time.perf_counter(), time.process_time()
        try:
            labels, besides = fit()
        except MemoryError as error:
            return {"status": "refused", "reason": str(error) or "memory ran out"}
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    return {
        "status": "done",
        **scored(views, labels, seconds),
        "cpu_seconds": cpu,
        **besides,
        "peak_bytes": memory.bytes,
        "warnings": sorted({str(one.message)[:_LONGEST_WARNING] for one in caught}),
    }


def scored(views: Views, labels: npt.NDArray[Any], seconds: float) -> Line:
    """Scores of labels, and how large the largest cluster is."""
    counts = np.unique(labels, return_counts=True)[1]
    return {
        "scores": metrics.scores(views.target, labels),
        "largest_cluster": float(counts.max() / len(labels)),
        "seconds": seconds,
        "n_rows": views.n_rows,
    }


class Computer:
    """Fits methods to data sets in a process of its own; data is loaded once for cells in a row."""

    def __init__(self, methods: Sequence[Method], sources: Mapping[str, Source]) -> None:
        self._methods = {method.name: method for method in methods}
        self._sources = sources
        self._whole: tuple[str, Views] | None = None
        self._views: tuple[Rows, Views] | None = None
        self._warm: set[str] = set()

    def prepare(self, cells: Sequence[Cell]) -> None:
        """Load the rows of a cell, and let a method of ours compile what it compiles."""
        (cell,) = cells
        if self._whole is None or self._whole[0] != cell.data.name:
            self._whole = self._views = None  # not two at once
            self._whole = cell.data.name, load(self._sources[cell.data.name])
        if self._views is None or self._views[0] != cell.data:
            self._views = cell.data, choose_rows(self._whole[1], cell.data)
        method = self._methods[cell.method]
        if method.is_ours and cell.method not in self._warm:
            self._warm.add(cell.method)
            self._warm_up(method)

    def _warm_up(self, method: Method) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                method.labels(datasets.make_views(60, 3, (5, 6), random_state=0), 3, 0, {})
            except Exception:
                return  # it fails again below, where that is a result

    def compute(self, cells: Sequence[Cell]) -> Iterator[Line]:
        """The result of the cell."""
        (cell,) = cells
        assert self._views is not None
        views = self._views[1]
        target = np.unique(np.asarray(views.target))
        method, k = self._methods[cell.method], len(target)
        if k < 2:
            raise ValueError(f"{cell.data.name!r} has one class: there is nothing to find.")

        def fit() -> tuple[Any, Line]:
            labels = np.asarray(method.labels(views, k, cell.seed, self._given(cell)))
            return labels, {"n_clusters": k, "n_found": len(np.unique(labels))}

        yield measure(views, fit)

    def _given(self, cell: Cell) -> Line:
        """Settings of a cell that its method does not have anyway."""
        own = self._methods[cell.method].settings
        given = cell.settings.items()
        return {name: value for name, value in given if name not in own or own[name] != value}
