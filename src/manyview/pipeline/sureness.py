"""How sharply embedding rows tell clusters apart, as a sample's columns say."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from manyview.engines.dask_graphs import is_dask
from manyview.stages.axes import find_axes
from manyview.stages.labels import label_rows
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import Scaler
from manyview.stages.sureness import fit_sharpness, gaussian_posteriors, square_distances

_ROWS, _ROWS_PER_CLUSTER = 4000, 10
_VALUES = 2_000_000  # of distances between rows and centres
_AXES_PER_VIEW, _AXES = 50, 200
_ROWS_PER_AXIS = 10
_ROUGHLY = 1e-4  # error of axes, as a share of their energy


def count_rows(n_clusters: int) -> int:
    """How many rows are enough to find the sharpness."""
    return max(_ROWS, _ROWS_PER_CLUSTER * n_clusters)


def find_sharpness(
    arrays: Sequence[Any],
    rows: Array,
    centers: Array,
    *,
    scalers: Sequence[Scaler],
    view_weights: Array,
) -> float:
    """The sharpness for embedding rows (n, c) and centres (k, c); ``arrays`` are the rows' views."""
    labels, k = label_rows(rows, centers), len(centers)
    columns = leading_columns(arrays, scalers, view_weights)
    counts = np.bincount(labels, minlength=k)
    known = np.flatnonzero(counts[labels] > 1)  # a row alone tells nothing of its cluster
    if len(known) == 0 or k == 1:
        return 1.0
    some = known[spread_evenly(len(known), max(_VALUES // k, 100))]
    posteriors = gaussian_posteriors(columns, labels, k, some)
    return fit_sharpness(square_distances(rows[some], centers), posteriors)


def as_sparse(packed: Any, n_clusters: int) -> Any:
    """Largest probabilities, packed as (n, 2 t), as a sparse matrix (n, k); lazily of a Dask array."""
    if is_dask(packed):
        return packed.map_blocks(
            as_sparse,
            n_clusters,
            dtype=packed.dtype,
            chunks=(packed.chunks[0], (n_clusters,)),
            meta=sparse.csr_array((0, n_clusters)),
        )
    n, n_top = len(packed), packed.shape[1] // 2
    clusters, values = packed[:, :n_top].astype(np.int32), packed[:, n_top:]
    ends = n_top * np.arange(n + 1)
    found = sparse.csr_array((values.ravel(), clusters.ravel(), ends), shape=(n, n_clusters))
    found.sort_indices()
    return found


def leading_columns(arrays: Sequence[Any], scalers: Sequence[Scaler], view_weights: Array) -> Array:
    """Scaled columns of the views that count, few of each; zero, the mean, where a view is missing."""
    parts = []
    for array, scaler, weight in zip(arrays, scalers, view_weights, strict=True):
        if weight > 0:
            scaled = scaler.apply(array, 0)
            part = _leading(scaled, min(_AXES_PER_VIEW, max(len(scaled) // _ROWS_PER_AXIS, 2)))
            if scaled.present is not None:
                part, few = np.zeros((scaled.n_samples, part.shape[1])), part
                part[scaled.present] = few
            parts.append(part)
    return _leading(ScaledRows(np.concatenate(parts, axis=1)), _AXES)


def _leading(rows: ScaledRows, n_axes: int) -> Array:
    """The rows turned to their strongest axes, if they have more columns than that."""
    n, d = rows.matrix.shape
    if d <= n_axes and rows.offset is None:
        return np.asarray(rows.matrix, np.float64)
    if rows.offset is not None and n_axes < n < d:
        with suppress(ArpackError):  # rows that are alike, in which it finds no start
            return _leading_of_wide(rows, n_axes)
    axes = find_axes(rows, n_axes) if len(rows) else None
    if axes is None:
        return np.zeros((len(rows), 1))
    return rows.products(axes.directions)


def _leading_of_wide(rows: ScaledRows, n_axes: int) -> Array:
    """The same of sparse rows with many columns, by products between rows: no axes are formed."""

    def gram(vector: Array) -> Array:
        return rows.products(rows.transposed_products(vector.reshape(len(rows), -1)))

    operator = LinearOperator((len(rows),) * 2, matvec=gram, matmat=gram, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(len(rows))
    values, vectors = eigsh(operator, n_axes, v0=start, tol=_ROUGHLY)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
