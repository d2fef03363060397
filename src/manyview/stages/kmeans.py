"""Lloyd's iterations over rows that may be anywhere: one sweep is one sum over tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.rows import Array, IncompleteRows, ScaledRows

Single = npt.NDArray[np.float32]
Sweep = Callable[[Array], "Assignment"]
"""Centres in, the sums of one assignment of all rows out."""

_LIKELY = 16  # centres that a row may be nearest to after a few sweeps: the best of so many groups
_FEW_PAIRS = 1 << 16  # of a row and a centre: so few are all compared
_COMPARED_BYTES = 2 << 20  # of products with all centres that are made at a time
_VERY_WIDE, _PROJECTED = 512, 256  # columns of rows whose likely centres are found among fewer
_ROWS_AT_A_TIME, _PARTS_OF_SUMS = 2048, 8


@dataclass(frozen=True)
class Assignment:
    """Sums over rows that were each given to their nearest centre; adds up over tiles."""

    sums: Any  # (k, d), of each centre's rows; sparse if these are
    counts: npt.NDArray[Any]  # (k,), of each centre's rows, or their weights
    inertia: float  # sum of squared distances to the nearest centre
    farthest: float  # largest squared distance of a row to its centre,
    farthest_row: Array  # (d,), and that row
    offset: Array | None = (
        None  # (d,), what sums of sparse rows have still to be less, for each row
    )

    def __add__(self, other: Assignment) -> Assignment:
        further = other if other.farthest > self.farthest else self
        return Assignment(
            self.sums + other.sums,
            self.counts + other.counts,
            self.inertia + other.inertia,
            further.farthest,
            further.farthest_row,
            other.offset if self.offset is None else self.offset,
        )

    def means(self) -> Array:
        """Mean of each centre's rows, (k, d); of those without rows anything."""
        means = self.sums.toarray() if sparse.issparse(self.sums) else self.sums.copy()
        means /= np.where(self.counts > 0, self.counts, 1)[:, None]
        if self.offset is not None:
            means -= self.offset
        return np.asarray(means)


def nearest_centers(
    rows: ScaledRows, centers: npt.NDArray[np.floating]
) -> tuple[npt.NDArray[np.int32], Array]:
    """Each row's nearest centre, and x'c - ||c||^2/2 for it. centers : (k, d)."""
    products = np.ascontiguousarray(rows.products(np.ascontiguousarray(centers.T)))
    half_norms = 0.5 * np.einsum("ij,ij->i", centers, centers)
    return _nearest(products, half_norms.astype(products.dtype))


def _nearest(
    products: npt.NDArray[np.floating], half_norms: npt.NDArray[np.floating]
) -> tuple[npt.NDArray[np.int32], Array]:
    products -= half_norms
    labels = products.argmax(axis=1)  # the first of equals
    return labels.astype(np.int32), products[np.arange(len(labels)), labels]


def assign(rows: ScaledRows | IncompleteRows, centers: npt.NDArray[np.floating]) -> Assignment:
    """Sums over rows (n, d), each given to its nearest of ``centers`` (k, d).

    Samples that lack views are compared by the columns they have. What they lack is filled in from their
    centre, so it moves the centre nowhere.
    """
    if len(rows) == 0:  # a tile of samples that all lack the view
        none = np.zeros(len(centers), np.int64)
        return Assignment(np.zeros(centers.shape), none, 0.0, -1.0, np.zeros(centers.shape[1]))
    if isinstance(rows, IncompleteRows):
        return _assign_incomplete(rows, centers)
    labels, scores = nearest_centers(rows, centers)
    distances = np.maximum(rows.square_norms - 2.0 * scores, 0.0)
    counts = np.bincount(labels, minlength=len(centers))
    far = int(np.argmax(distances))
    row = rows[far : far + 1].dense()[0].astype(np.float64)
    inertia, farthest = float(distances.sum(dtype=np.float64)), float(distances[far])
    if rows.offset is None or rows.lean is not None:
        sums = sums_by_label(rows, labels, counts)
        return Assignment(sums, counts, inertia, farthest, row)
    # Centres of wide rows are large: their sums stay sparse until all tiles are added.
    members = indicator(labels, len(centers))
    offset = rows.offset.astype(np.float64)
    return Assignment(members @ rows.matrix, counts, inertia, farthest, row, offset)


def assign_weighted(rows: Array, centers: npt.NDArray[np.floating], weights: Array) -> Assignment:
    """Sums over dense rows (n, d), which count by their weights (n,); those of weight 0 do not."""
    labels, scores = nearest_centers(ScaledRows(rows), centers)
    squares = np.einsum("ij,ij->i", rows, rows)
    distances = np.where(weights > 0, np.maximum(squares - 2.0 * scores, 0.0), -1.0)
    counts = np.bincount(labels, weights, len(centers))
    sums = sums_by_label(ScaledRows(rows * weights[:, None]), labels, np.zeros(len(centers), int))
    far = int(np.argmax(distances))
    return Assignment(sums, counts, float(distances @ weights), float(distances[far]), rows[far])


def indicator(labels: npt.NDArray[np.int32], k: int) -> sparse.csr_array:
    """Ones (k, n) at each row's label: times rows, their sums by label."""
    n = len(labels)
    return sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(k, n))


def _assign_incomplete(rows: IncompleteRows, centers: npt.NDArray[np.floating]) -> Assignment:
    k = len(centers)
    products = rows.products(np.ascontiguousarray(centers.T))
    squares = np.zeros(len(rows))
    for view, factor, columns, there in rows.parts():
        part = centers[:, columns]
        products[there] -= 0.5 * np.einsum("ij,ij->i", part, part)
        squares[there] += factor * factor * view.square_norms
    labels, scores = _nearest(products, np.zeros(k, products.dtype))
    distances = np.maximum(squares - 2.0 * scores, 0.0)
    counts = np.bincount(labels, minlength=k)
    sums = np.empty(centers.shape)
    for view, factor, columns, there in rows.parts():
        own = np.bincount(labels[there], minlength=k)
        sums[:, columns] = factor * sums_by_label(view, labels[there], own)
        sums[:, columns] += (counts - own)[:, None] * centers[:, columns]
    far = int(np.argmax(distances))
    row = rows.one(far).dense(centers[labels[far]][None])[0]
    return Assignment(sums, counts, float(distances.sum()), float(distances[far]), row)


def sums_by_label(
    rows: ScaledRows, labels: npt.NDArray[np.int32], counts: npt.NDArray[np.int64]
) -> Array:
    """Sum of each label's rows, shape (k, d)."""
    from manyview.stages import kernels

    X = rows.matrix
    sums = np.zeros((len(counts), X.shape[1]))
    if rows.offset is None:
        kernels.add_rows_by_label(np.asarray(X, np.float64), labels, 0, sums)
    else:
        kernels.add_sparse_rows_by_label(X.indptr, X.indices, X.data, labels, sums)
        sums -= counts[:, None] * rows.offset
        if rows.lean is not None:
            tilts = np.zeros((len(counts), rows.lean[0].shape[1]))
            np.add.at(tilts, labels, rows.lean[0])
            sums -= tilts @ rows.lean[1]
    return sums


def lloyd(
    sweep: Sweep, centers: Array, *, max_iter: int, tol: float = 0.0
) -> tuple[Array, Assignment, int]:
    """Move centres (k, d) to the mean of their rows until they rest, or ``max_iter`` sweeps are over.

    They rest when the summed squared moves are at most the share ``tol`` of the mean squared distance of
    a row to its centre. What you get are the last centres that rows were assigned to, that assignment,
    and the number of sweeps.
    """
    for iteration in range(1, max_iter + 1):
        assignment = sweep(centers)
        if iteration == max_iter:
            break
        moved = _moved(centers, assignment, tol)
        if moved is None:
            break
        centers = moved
    return centers, assignment, iteration


def move_once(sweep: Sweep, centers: Array, *, tol: float = 0.0) -> tuple[Array, int]:
    """The centres (k, d) of two sweeps of :func:`lloyd`, and its number of sweeps.

    The second one, which would tell only where rows belong, is left to whoever labels them.
    """
    moved = _moved(centers, sweep(centers), tol)
    return (centers, 1) if moved is None else (moved, 2)


def _moved(centers: Array, assignment: Assignment, tol: float) -> Array | None:
    """Centres (k, d) at the means of their rows; None if they rest where they are."""
    counts, moved = assignment.counts, assignment.means()
    empty = np.flatnonzero(counts == 0)
    moved[empty] = centers[empty]
    if empty.size and assignment.farthest > 0:
        # One empty centre a sweep takes the worst served row; the next sweep sees the effect.
        moved[empty[0]] = assignment.farthest_row
    if np.array_equal(moved, centers):
        return None
    if tol > 0 and _squared(moved - centers) <= tol * assignment.inertia / counts.sum():
        return None
    return moved


def sweep_likely(
    rows: Single, centers: Single, *, n_sweeps: int, each: Any = map
) -> tuple[Single, npt.NDArray[np.int32]]:
    """Centres (k, d) after some sweeps over dense rows (n, d), and each row's centre in the last one.

    A row is compared with all centres once, and then with the nearest of each of a few groups of them:
    centres move so little in a few sweeps that its next one is nearly always among these. Where rows
    and centres are few, it is compared with all of them always. Of very wide rows, likely ones are found
    in a fixed random projection. Centres without rows stay where they are. ``each``
    maps over parts, in threads if it likes: the answer is the same.
    """
    from manyview.stages import kernels

    k = len(centers)
    n_likely = k if len(rows) * k <= _FEW_PAIRS else min(_LIKELY, k)
    likely = np.empty((len(rows), n_likely), np.int32)
    likely[:] = np.arange(n_likely)
    labels = np.empty(len(rows), np.int32)
    project = _projection(rows.shape[1], k)
    compared = project(centers)
    half_norms = _half_norms(compared)

    def choose(part: slice) -> None:
        tops, places = np.empty(kernels.LANES, np.float32), np.empty(kernels.LANES, np.int32)
        products = project(rows[part]) @ compared.T
        kernels.choose_likely(products, half_norms, tops, places, likely[part])

    def label(part: slice) -> None:
        kernels.nearest_likely(rows[part], likely[part], centers, half_norms, labels[part])

    def add(part: slice) -> None:
        kernels.add_rows_by_label(rows, labels, part.start, sums[part])

    if k > n_likely:
        _do(each, choose, len(rows), max(_COMPARED_BYTES // (4 * k), 64))
    for _ in range(n_sweeps):
        half_norms, sums = _half_norms(centers), np.zeros(centers.shape)
        _do(each, label, len(rows), _ROWS_AT_A_TIME)
        _do(each, add, k, k if each is map else -(-k // _PARTS_OF_SUMS))
        counts = np.bincount(labels, minlength=k)[:, None]
        means = sums / np.maximum(counts, 1)
        centers = np.where(counts > 0, means, centers).astype(np.float32)
    return centers, labels


def _do(each: Any, task: Callable[[slice], None], end: int, step: int) -> None:
    """A task for each part of a range."""
    list(each(task, [slice(start, min(start + step, end)) for start in range(0, end, step)]))


def _projection(width: int, n_centers: int) -> Callable[[Single], Single]:
    """What makes very wide rows narrow, nearly keeping distances, where centres are many."""
    if width <= _VERY_WIDE or n_centers <= _PROJECTED:
        return lambda rows: rows
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (width, _PROJECTED))
    directions = (signs / np.sqrt(_PROJECTED)).astype(np.float32)
    return lambda rows: rows @ directions


def _half_norms(centers: Single) -> Single:
    norms: Single = 0.5 * np.einsum("ij,ij->i", centers, centers)
    return norms


def _squared(values: Array) -> float:
    return float(np.einsum("ij,ij->", values, values))
