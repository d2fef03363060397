"""Summed Gram -> spectral basis; graph rows -> embedding rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from manyview.stages.graph import GraphTile
from manyview.stages.rows import Array
from manyview.stages.scaling import unit_rows

_USELESS = 1e-10  # squared singular values below this share of the largest carry only rounding
_POWER = 1.5  # of the squared singular values that weight vectors


@dataclass(frozen=True)
class Basis:
    """The leading left singular vectors of the fused graph, as a map from graph rows."""

    transform: Array  # (M, c): graph rows times this are rows of the left singular vectors Q
    singular_values: Array  # (c,), descending


def spectral_basis(gram: Array, scales: Array, n_components: int) -> Basis:
    """The basis of the fused graph with Gram matrix ``gram`` (M, M) (Proposition 1).

    ``gram = V diag(s^2) V'`` has Zbar's right singular vectors, so Q = Zbar V / s. Directions without
    weight are left out, so there may be fewer than ``n_components``.
    """
    values, vectors = leading_eigenvectors(gram, n_components)
    singular_values = np.sqrt(values)
    return Basis(scales[:, None] * canonical(vectors, values) / singular_values, singular_values)


def leading_eigenvectors(gram: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues and their vectors, descending; none that is rounding."""
    M = len(gram)
    values, vectors = linalg.eigh(gram, subset_by_index=(M - min(count, M), M - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    useful = values > _USELESS * max(values[0], np.finfo(float).tiny)
    return values[useful], vectors[:, useful]


def count_spare(n_components: int) -> int:
    """Number of vectors to compute so that enough are left when some are left out."""
    return n_components + max(8, n_components // 4)


def quartic_sums(tile: GraphTile, transforms: Sequence[Array]) -> Array:
    """Sum of the fourth powers of each repeat's embedding columns over a tile's rows."""
    return np.concatenate(
        [(_times(Z, T) ** 4).sum(axis=0) for Z, T in zip(tile.parts, transforms, strict=True)]
    )


def weigh_vectors(
    basis: Basis, quartics: Array, *, n_rows: int, n_clusters: int, n_components: int
) -> Basis:
    """Leave out vectors that sit on a handful of rows, and weight the others by their strength.

    A unit vector spread evenly over a share p of the rows has participation ratio
    1 / (n sum u^4) = p. Below a tenth of an average cluster it tells of a few odd rows, not of a
    cluster. The first vectors that pass are kept, each times (lambda / lambda_1)^1.5 with lambda its
    squared singular value, so that vectors beyond the k-th add what they know and no more.

    ``basis`` has vectors to spare; ``quartics`` (c,) are the sums of their fourth powers.
    """
    participation = 1.0 / (n_rows * np.maximum(quartics, np.finfo(float).tiny))
    kept = np.flatnonzero(participation >= 0.1 / n_clusters)[:n_components]
    if len(kept) < 2:
        kept = np.arange(min(n_components, len(quartics)))
    values = basis.singular_values[kept]
    return Basis(basis.transform[:, kept] * (values / values[0]) ** (2 * _POWER), values)


def canonical(vectors: Array, values: Array) -> Array:
    """The same vectors whatever signs and bases the eigensolver chose.

    Where values repeat, any rotation of their vectors is as good: the one chosen has a lower
    triangle with positive diagonal at the rows where the subspace is strongest. A single vector gets
    its largest entry positive.

    Examples
    --------
    >>> canonical(np.array([[0.6], [-0.8]]), np.array([1.0])).ravel()
    array([-0.6,  0.8])
    """
    result = vectors.copy()
    gaps = np.flatnonzero(np.diff(values) < -1e-9 * values[:1]) + 1
    for group in np.split(np.arange(len(values)), gaps):
        U = vectors[:, group]
        *_, pivots = linalg.qr(U.T, mode="economic", pivoting=True)
        rotation, triangle = linalg.qr(U[pivots[: len(group)]].T)
        result[:, group] = U @ (rotation * np.where(np.diagonal(triangle) < 0, -1.0, 1.0))
    return result


def embed_rows(tile: GraphTile, transforms: Sequence[Array], *, row_norm: bool) -> Array:
    """Embedding rows of a tile: each repeat's rows of Q (unit length if ``row_norm``), side by side.

    A sample that lacks views has the average over those it has.
    """
    parts = []
    shares = tile.shares or (None,) * len(tile.parts)
    for Z, transform, share in zip(tile.parts, transforms, shares, strict=True):
        rows = _times(Z, transform)
        if share is not None:
            rows /= np.where(share > 0, share, 1.0)[:, None]
        parts.append(unit_rows(rows) if row_norm else rows)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _times(Z: sparse.csr_array, transform: Array) -> Array:
    from manyview.stages import kernels

    rows = np.empty((Z.shape[0], transform.shape[1]))
    kernels.times_dense(Z.indptr, Z.indices, Z.data, np.ascontiguousarray(transform), rows)
    return rows
