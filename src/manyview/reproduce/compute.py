"""Cells -> results: what the worker process does with views that are loaded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview import LMVSC, baselines
from manyview.bench.cells import Cell, Line
from manyview.bench.compute import measure, scored
from manyview.machine import PeakMemory
from manyview.reproduce import methods
from manyview.reproduce.grid import fit_grid
from manyview.reproduce.problems import Data, load
from manyview.reproduce.tensor import cluster_by_tensor
from manyview.simplex import METHODS, solve_simplex_qp
from manyview.views.container import Views


class Computer:
    """Computes cells of the paper's experiments; views are loaded once for batches in a row."""

    def __init__(self) -> None:
        self._loaded: tuple[Data, Views] | None = None

    def prepare(self, cells: Sequence[Cell]) -> None:
        """Compile what is compiled, and load the views of a batch."""
        warm_up()
        self._views(cells[0].data)

    def compute(self, cells: Sequence[Cell]) -> Iterator[Line]:
        """The result of each cell of a batch (see :func:`batches`)."""
        first = cells[0]
        views = self._views(first.data)
        if first.view is not None:
            views = views.select([views.names[first.view]])
        if first.method in methods.PUBLISHED:
            yield from _fit_published(cells, views)
        else:
            yield _fit(first, views)

    def _views(self, data: Data) -> Views:
        if self._loaded is None or self._loaded[0] != data:
            self._loaded = None  # not both at once
            self._loaded = data, load(data)
        return self._loaded[1]


def batches(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Put together the cells that share work: published fits that differ in alpha alone."""
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        key: Any = cell.id
        if cell.method in methods.PUBLISHED:
            key = (cell.data, cell.method, cell.seed, cell.settings["n_anchors"])
        groups.setdefault(key, []).append(cell)
    return list(groups.values())


@cache
def warm_up() -> None:
    """Compile, or load, every loop, so that no measured time includes it."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 6))
    for X in (rng.normal(size=(40, 6)), sparse.csr_array(np.abs(rng.normal(size=(40, 6))))):
        for method in METHODS:
            solve_simplex_qp(X, A, alpha=0.5, method=method)
    rows = np.abs(rng.normal(size=(120, 8)))
    views = [rows, sparse.csr_array(np.where(rows > 1, rows, 0.0))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LMVSC(3, n_anchors=10, n_repeats=1, random_state=0).fit(views)
        list(fit_grid(Views(views), 3, 10, [0.1, 10.0]))


def _fit_published(cells: Sequence[Cell], views: Views) -> Iterator[Line]:
    """Fit cells that share anchors; they come in the order of the grid, so look each one up."""
    first, numbers = cells[0], {cell.settings["alpha"]: i for i, cell in enumerate(cells)}
    k, m = first.data.n_clusters, first.settings["n_anchors"]
    variants = [methods.PUBLISHED[first.method]]
    with PeakMemory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fit in fit_grid(views, k, m, sorted(numbers), variants=variants, seed=first.seed):
            yield {
                "status": "done",
                "number": numbers[fit.alpha],
                **scored(views, fit.labels, sum(fit.stage_seconds.values())),
                "stage_seconds": fit.stage_seconds,
                "spent_seconds": fit.spent_seconds,
                "cpu_seconds": fit.cpu_seconds,
                "peak_bytes": memory.so_far(),
            }


def _fit(cell: Cell, views: Views) -> Line:
    """Fit one model."""
    given: Any = views.arrays[0] if views.n_views == 1 else views
    return measure(views, lambda: _labels(cell, given))


def _labels(cell: Cell, given: Any) -> tuple[npt.NDArray[Any], Line]:
    """Labels by the method of a cell, and the seconds of its stages where it has them."""
    k, seed = cell.data.n_clusters, cell.seed
    if cell.method == "TBGL":
        return cluster_by_tensor(given.arrays, k, seed=seed, **cell.settings), {}
    if cell.method == methods.DEFAULT:
        model = LMVSC(k, random_state=seed, **cell.settings).fit(given)
        return model.labels_, {"stage_seconds": model.stage_seconds_}
    kind = getattr(baselines, cell.method)
    return kind(k, random_state=seed, **cell.settings).fit_predict(given), {}
