"""Rows of a view -> its anchors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.cluster import KMeans

from manyview.stages.kmeans import Sweep, assign, lloyd, nearest_centers, sweep_likely
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.sampling import spread_evenly
from manyview.views.container import with_short_indices

_SWEEPS = 7  # that compare every row with every anchor
_FIRST_SWEEPS, _LAST_SWEEPS = 4, 10  # that compare it with likely ones: over few rows, over all
FEW_ROWS = 2000
"""Most rows whose distances are looked at as they are, where columns are many more."""
WIDE = 4000
"""Columns of text from which :func:`anchors_of_wide` looks at fewer of more rows."""
_FEW_PER_ANCHOR = 8  # rows that the first sweeps look at
_PROJECTED, _ENTRIES = 256, 4  # columns that many are projected to; those that one adds to
_JITTER = 1e-9  # of the mean squared distance; keeps the root real where rows are alike


def place_anchors(starts: Array, sweep: Sweep) -> Array:
    """Anchors by a few sweeps of k-means from ``starts`` (m, d).

    They need to lie where rows are, not to be a perfect k-means solution. An anchor that no row is
    nearest to is left out, as the second of two that are alike: rows would share their weights out among
    them.
    """
    centers, last, _ = lloyd(sweep, starts, max_iter=_SWEEPS)
    return centers[last.counts > 0]


def place_dense_anchors(starts: Array, rows: npt.NDArray[np.float32], *, each: Any = map) -> Array:
    """The same of dense rows (n, d), which are compared with few anchors in most sweeps.

    ``each`` maps over parts of the rows, in threads if it likes.
    """
    few = rows[spread_evenly(len(rows), _FEW_PER_ANCHOR * len(starts))]
    centers, _ = sweep_likely(few, starts.astype(np.float32), n_sweeps=_FIRST_SWEEPS, each=each)
    centers, labels = sweep_likely(rows, centers, n_sweeps=_LAST_SWEEPS, each=each)
    return centers[np.unique(labels)].astype(np.float64)


def anchors_of_wide(rows: ScaledRows, starts: npt.NDArray[np.int64]) -> Array:
    """Anchors (m, d) of n rows with many columns, from the rows numbered ``starts``.

    Those of more rows than a few are in single precision.
    """
    is_few = len(rows) <= FEW_ROWS
    groups, counts = group_wide(rows, starts, is_exact=is_few)
    if not is_few:
        return groups.single().dense()[counts > 0]
    means = groups.dense()
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        means[empty] = rows[starts[empty]].dense()
    return means


def group_wide(
    rows: ScaledRows, starts: npt.NDArray[np.int64], *, is_exact: bool
) -> tuple[ScaledRows, npt.NDArray[np.int64]]:
    """Means of the groups that k-means finds from the rows numbered ``starts``, and their sizes.

    K-means only asks for distances, and n rows have the same in n dimensions: those of a root of
    their Gram matrix. Unless it is to be exact, they have nearly the same in some hundred dimensions, by
    random signs. So no sweep touches m x d numbers; the means are made once.
    """
    if is_exact:
        placed = ScaledRows(_few_dimensions(rows))
        centers = place_anchors(placed.matrix[starts], partial(assign, placed))
    else:
        placed = ScaledRows(_projected(rows))
        centers = place_dense_anchors(placed.matrix[starts], placed.matrix)
    labels, _ = nearest_centers(placed, centers.astype(placed.dtype))
    counts = np.bincount(labels, minlength=len(starts))
    shares = 1.0 / np.maximum(counts, 1)[labels]
    numbers = np.arange(len(rows))
    members = sparse.csr_array((shares, (labels, numbers)), shape=(len(starts), len(rows)))
    return ScaledRows(members @ rows.matrix, rows.offset), counts


def _projected(rows: ScaledRows) -> npt.NDArray[np.float32]:
    """Points (n, 256) with nearly the distances of the rows (n, d), always by the same signs."""
    rng, d = np.random.default_rng(0), int(rows.matrix.shape[1])
    size = d * _ENTRIES
    places = rng.integers(_PROJECTED, size=size, dtype=np.int32)
    signs = rng.choice(np.array([-1.0, 1.0]) / np.sqrt(_ENTRIES), size)
    ends = np.arange(0, size + 1, _ENTRIES, dtype=np.int32)
    projection = sparse.csr_array((signs, places, ends), shape=(d, _PROJECTED))
    projected = rows.matrix @ projection  # the centre of sparse rows changes no distance
    return np.asarray(projected.toarray() if sparse.issparse(projected) else projected, np.float32)


def _few_dimensions(rows: ScaledRows) -> Array:
    """Points (n, n) with the distances of the rows."""
    X = rows.matrix
    products = X @ X.T
    gram: Array = products.toarray() if sparse.issparse(products) else products
    gram = gram - gram.mean(axis=0)
    gram -= gram.mean(axis=1)[:, None]  # as if their mean were zero
    scale = float(np.diagonal(gram).mean())
    gram[np.diag_indices_from(gram)] += _JITTER * scale if scale > 0 else 1.0
    try:
        return np.asarray(np.linalg.cholesky(gram), np.float64)
    except np.linalg.LinAlgError:
        # Sparse rows far from zero: rounding outweighs the jitter, so this root leaves out what is
        # negative by it.
        values, vectors = np.linalg.eigh(gram)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), np.float64)


def first_of_alike(rows: Array) -> npt.NDArray[np.int64]:
    """Numbers of the rows (n, d) that no row before them is equal to, ascending.

    Examples
    --------
    >>> first_of_alike(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0]]))
    array([0, 1])
    """
    if len(np.unique(rows.sum(axis=1))) == len(rows):  # as nearly always
        return np.arange(len(rows))
    firsts: dict[bytes, int] = {}
    for number, row in enumerate(rows):
        firsts.setdefault((row + 0.0).tobytes(), number)  # no zero has a sign
    return np.fromiter(firsts.values(), np.int64)


def best_start(sample: ScaledRows, n_anchors: int, *, seed: int) -> Array:
    """The best of ten k-means solutions on sampled rows: where k-means on all rows starts."""
    kmeans = KMeans(n_anchors, n_init=10, max_iter=100, random_state=seed)
    kmeans.fit(with_short_indices(sample.matrix))
    centers: Array = kmeans.cluster_centers_
    return centers if sample.offset is None else centers - sample.offset
