"""Graph rows -> their sums -> the fused graph's sums, by degrees and view weights."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.graph import AnchorGraph, GraphTile
from manyview.stages.rows import Array

Gram = Any
"""A symmetric matrix (M, M), dense, or sparse while a small part of it is filled."""

_SPARSE = 0.15  # share of a Gram matrix that may be filled before it is stored whole
EARLY_SHARE = 0.5
"""Share of the graph of all views side by side where it is fused with one graph a view."""


@dataclass(frozen=True)
class Moments:
    """Sums over graph rows: all that the spectral step needs; adds up over tiles."""

    grams: tuple[Gram, ...]  # Z'Z of each repeat, (M, M), upper triangle
    column_sums: tuple[Array, ...]  # Z'1 of each repeat
    n_entries: tuple[npt.NDArray[np.integer], ...]  # stored entries of each repeat's columns
    n_failed: int  # rows whose problem was not solved to tolerance
    n_solved: npt.NDArray[np.int64]  # for each graph, the rows that have the views it sees

    def __add__(self, other: Moments) -> Moments:
        return self._joined(other, operator.add)

    def __iadd__(self, other: Moments) -> Moments:
        return self._joined(other, operator.iadd)  # in the same arrays: Grams are large

    def _joined(self, other: Moments, add: Callable[[Any, Any], Any]) -> Moments:
        return Moments(
            tuple(_add_grams(a, b, add) for a, b in zip(self.grams, other.grams, strict=True)),
            tuple(map(add, self.column_sums, other.column_sums)),
            tuple(map(add, self.n_entries, other.n_entries)),
            self.n_failed + other.n_failed,
            add(self.n_solved, other.n_solved),
        )


def graph_moments(tile: GraphTile, first_row: int = 0) -> Moments:
    """Z'Z and Z'1 of a tile's graph rows."""
    parts = tile.parts
    sums: Any = tuple(np.bincount(Z.indices, weights=Z.data, minlength=Z.shape[1]) for Z in parts)
    entries = tuple(np.bincount(Z.indices, minlength=Z.shape[1]) for Z in parts)
    n_solved = np.array(tile.n_solved, np.int64)
    return Moments(tuple(map(_gram, parts)), sums, entries, tile.n_failed, n_solved)


def _gram(Z: sparse.csr_array) -> Gram:
    from manyview.stages import kernels

    counts = np.diff(Z.indptr).astype(np.float64)
    m = Z.shape[1]
    n_products = float((counts * counts).sum())
    if n_products < _SPARSE * float(m) ** 2:
        return sparse.csr_array(sparse.triu(Z.T @ Z, format="csr"))
    # Scattered updates cost about eight times those of a dense product.
    if 4.0 * n_products > len(counts) * float(m) ** 2:
        dense = Z.toarray()
        gram: Array = dense.T @ dense
        gram[np.tri(m, k=-1, dtype=bool)] = 0.0  # in place: np.triu would copy it
        return gram
    gram = np.zeros((m, m))
    kernels.add_outer_products(Z.indptr, Z.indices, Z.data, gram)
    return gram


def _add_grams(a: Gram, b: Gram, add: Callable[[Any, Any], Any]) -> Gram:
    """Sums stay sparse while they are: rows that use few of many anchors fill a small part."""
    if sparse.issparse(a) and sparse.issparse(b):
        total: Any = a + b
        return total.toarray() if total.nnz > _SPARSE * float(total.shape[0]) ** 2 else total
    if sparse.issparse(a):
        return add(b, a.toarray())
    return add(a, b.toarray() if sparse.issparse(b) else b)


def column_scales(
    column_sums: Array,
    sizes: Sequence[int],
    weights: Sequence[float],
    *,
    degree_norm: bool,
) -> Array:
    """What each anchor's column is multiplied by in the fused graph; shape (M,).

    Columns are scaled after summing over rows, so one pass over the data is enough: the inverse
    square root of the anchor's degree (Sigma^-1/2 of the paper's Eq. 4), times the square root of the
    graph's weight.

    Examples
    --------
    >>> column_scales(np.array([4.0, 0.0, 1.0]), [2, 1], [0.5, 0.5], degree_norm=True).round(3)
    array([0.354, 0.   , 0.707])
    """
    scales = np.ones_like(column_sums)
    if degree_norm:
        used = column_sums > 0  # an anchor no row uses has no say
        scales = np.where(used, 1.0 / np.sqrt(np.where(used, column_sums, 1.0)), 0.0)
    return scales * np.sqrt(np.repeat(np.asarray(weights, dtype=np.float64), sizes))


def repeat_scales(
    column_sums: Sequence[Array], graphs: Sequence[AnchorGraph], *, degree_norm: bool
) -> list[Array]:
    """Column scales of each repeat, from the sums of its columns over all rows."""
    scales = []
    for repeat, sums in enumerate(column_sums):
        fused = [graph for graph in graphs if graph.repeat == repeat]
        sizes, weights = [len(g.anchors) for g in fused], [g.weight for g in fused]
        scales.append(column_scales(sums, sizes, weights, degree_norm=degree_norm))
    return scales


def fused_gram(gram: Gram, scales: Array) -> Gram:
    """Zbar' Zbar of the fused graph, from the upper triangle of Z'Z (M, M) and column scales."""
    if sparse.issparse(gram):
        full: Any = gram + sparse.triu(gram, 1, format="csr").T
        return sparse.csr_array(full.multiply(scales[None, :]).multiply(scales[:, None]))
    full = np.triu(gram) + np.triu(gram, 1).T
    full *= scales
    full *= scales[:, None]
    return full


def normalised(weights: npt.ArrayLike) -> Array:
    """Weights scaled to sum to one."""
    values = np.asarray(weights, dtype=np.float64)
    return np.asarray(values / values.sum())
