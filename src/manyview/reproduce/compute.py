"""Cells -> results: what the worker process does with views that are loaded."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview import LMVSC, baselines, metrics
from manyview.baselines.steps.memory import TooLargeError, assume_free, free_bytes
from manyview.machine import PeakMemory
from manyview.reproduce import methods, pictures
from manyview.reproduce.cells import Cell, Line
from manyview.reproduce.grid import fit_grid
from manyview.reproduce.made import WORDS_FROM
from manyview.reproduce.problems import PROBLEMS, Data, load
from manyview.simplex import METHODS, solve_simplex_qp
from manyview.views.container import Views


class Loaded:
    """The views that were asked for last, so that cells of one data set load it once."""

    def __init__(self) -> None:
        self._data: Data | None = None
        self._views: Views | None = None

    def views(self, data: Data) -> Views:
        """The views of ``data``."""
        if self._views is None or self._data != data:
            self._views = None  # not both at once
            self._views, self._data = load(data), data
        return self._views


def compute(cells: Sequence[Cell], loaded: Loaded) -> Iterator[Line]:
    """The result of each cell; all of them are of one batch (see :func:`batches`)."""
    first = cells[0]
    if first.method == "refusal":
        yield _probe(first)
        return
    views = loaded.views(first.data)
    if first.view is not None:
        name = views.names[first.view]
        views = Views({name: views.arrays[first.view]}, target=views.target)
    if first.method == methods.PUBLISHED:
        yield from _fit_published(cells, views)
    elif first.method in _OTHERS:
        yield {"status": "done", **_OTHERS[first.method](views, first)}
    else:
        yield _fit(first, views)


def batches(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Put together the cells that share work: published fits that differ in alpha and variant only."""
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        key: Any = cell.id
        if cell.method == methods.PUBLISHED:
            s = cell.settings
            key = (cell.data, cell.view, cell.seed, s["n_anchors"], s["standardised"])
        groups.setdefault(key, []).append(cell)
    return list(groups.values())


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


def standardised(views: Views) -> Views:
    """Views with columns of variance 1, and mean 0 where they are dense."""
    from sklearn.preprocessing import StandardScaler

    arrays = [
        StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X.astype(np.float64))
        for X in views.arrays
    ]
    return Views(arrays, names=views.names, target=views.target)


def _fit_published(cells: Sequence[Cell], views: Views) -> Iterator[Line]:
    """Fit cells that share anchors; they come in the order of the grid, so look each one up."""
    settings = cells[0].settings
    wanted = {(cell.settings["alpha"], cell.settings["variant"]): i for i, cell in enumerate(cells)}
    alphas = sorted({alpha for alpha, _ in wanted})
    variants = sorted({variant for _, variant in wanted})
    if settings["standardised"]:
        views = standardised(views)
    k, m, seed = cells[0].data.n_clusters, settings["n_anchors"], cells[0].seed
    with PeakMemory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fit in fit_grid(views, k, m, alphas, variants=variants, seed=seed):
            if (fit.alpha, fit.variant) not in wanted:
                continue
            yield {
                "status": "done",
                "number": wanted[fit.alpha, fit.variant],
                **_scored(views, fit.labels, sum(fit.stage_seconds.values())),
                "stage_seconds": fit.stage_seconds,
                "spent_seconds": fit.spent_seconds,
                "cpu_seconds": fit.cpu_seconds,
                "peak_bytes": memory.so_far(),
            }


def _fit(cell: Cell, views: Views) -> Line:
    """Fit one model; a refusal for want of memory is a result too."""
    name = methods.KMEANS if cell.method == methods.KMEANS_STANDARDISED else cell.method
    kind: Any = LMVSC if name == methods.DEFAULT else getattr(baselines, name)
    model = kind(cell.data.n_clusters, random_state=cell.seed, **cell.settings)
    given: Any = views.arrays[0] if views.n_views == 1 else views
    with PeakMemory() as memory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started, cpu_started = time.perf_counter(), time.process_time()
        try:
            if cell.method == methods.KMEANS_STANDARDISED:
                given = _side_by_side(standardised(views))
            labels = model.fit_predict(given)
        except (MemoryError, TypeError) as error:
            if isinstance(error, TypeError) and not any(map(sparse.issparse, views.arrays)):
                raise  # only sparse views are what a method may not take
            return {"status": "refused", "reason": str(error)}
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    return {
        "status": "done",
        **_scored(views, labels, seconds),
        "cpu_seconds": cpu,
        **({"stage_seconds": model.stage_seconds_} if cell.method == methods.DEFAULT else {}),
        "peak_bytes": memory.bytes,
        "warnings": sorted({str(one.message)[:300] for one in caught}),
    }


def _side_by_side(views: Views) -> Any:
    if any(sparse.issparse(X) for X in views.arrays):
        return sparse.csr_array(sparse.hstack(views.arrays, "csr"))
    return np.concatenate(views.arrays, axis=1)


def _scored(views: Views, labels: npt.NDArray[Any], seconds: float) -> Line:
    return {
        "scores": metrics.scores(views.target, labels),
        "largest_cluster": float(np.bincount(labels).max() / len(labels)),
        "largest_class": float(np.bincount(np.asarray(views.target)).max() / len(labels)),
        "seconds": seconds,
        "n_rows": views.n_rows,
    }


def _probe(cell: Cell) -> Line:
    """Ask a method how much memory it would need for the whole data set, on rows of zeros."""
    problem = PROBLEMS[cell.data.problem]
    n = problem.info.n_samples
    widths = problem.widths if cell.view is None else problem.widths[cell.view : cell.view + 1]
    arrays: list[Any] = [
        sparse.csr_array((n, d), dtype=np.float32)
        if problem.registry in WORDS_FROM
        else np.zeros((n, d), dtype=np.float32)
        for d in widths
    ]
    model = getattr(baselines, cell.settings["method"])(cell.data.n_clusters, random_state=0)
    free = free_bytes()
    try:
        with assume_free(0):
            model.fit(arrays[0] if len(arrays) == 1 else Views(arrays))
    except TooLargeError as refusal:
        needed = refusal.bytes_needed
        status = "refused" if free is not None and needed > free else "fits"
        return {"status": status, "bytes_needed": needed, "bytes_free": free, "n_rows": n}
    raise AssertionError(f"{cell.settings['method']} does not say what it needs")


def _describe(views: Views, cell: Cell) -> Line:
    """Shape and classes of loaded data."""
    counts = np.bincount(np.asarray(views.target))
    return {
        "n_rows": views.n_rows,
        "n_clusters": int((counts > 0).sum()),
        "views": [[name, int(X.shape[1])] for name, X in views.items()],
        "largest_class": float(counts.max() / views.n_rows),
    }


_OTHERS = {"describe": _describe, "t-SNE": pictures.place, "digits": pictures.draw_digits}
"""What is computed besides fits."""
