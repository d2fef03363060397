"""Graph rows -> their sums; how columns are scaled in the fused graph, by degrees and view weights."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.grams import Gram, add_grams, gram_of, upper_triangle
from manyview.stages.graph import AnchorGraph, GraphTile
from manyview.stages.rows import Array

EARLY_SHARE = 0.5
"""Share of the graph of all views side by side where it is fused with one graph a view."""


@dataclass(frozen=True)
class Moments:
    """Sums over graph rows: all that the spectral step needs; adds up over tiles."""

    grams: tuple[Gram, ...]  # Z'Z of each repeat, (M, M)
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
            tuple(add_grams(a, b, add) for a, b in zip(self.grams, other.grams, strict=True)),
            tuple(map(add, self.column_sums, other.column_sums)),
            tuple(map(add, self.n_entries, other.n_entries)),
            self.n_failed + other.n_failed,
            add(self.n_solved, other.n_solved),
        )


def graph_moments(tile: GraphTile, first_row: int = 0, *, weights: Array | None = None) -> Moments:
    """Z'Z and Z'1 of a tile's graph rows; with ``weights`` (n,) of all rows, Z'WZ and Z'w."""
    parts = tile.parts
    if weights is not None:
        own = weights[first_row : first_row + len(tile)]
        return _weighted_moments(tile, own)
    sums: Any = tuple(np.bincount(Z.indices, weights=Z.data, minlength=Z.shape[1]) for Z in parts)
    entries = tuple(np.bincount(Z.indices, minlength=Z.shape[1]) for Z in parts)
    n_solved = np.array(tile.n_solved, np.int64)
    return Moments(tuple(map(gram_of, parts)), sums, entries, tile.n_failed, n_solved)


def _weighted_moments(tile: GraphTile, weights: Array) -> Moments:
    """Sums over a tile's graph rows, each of which counts by its weight (n,)."""
    roots, used = np.sqrt(weights)[:, None], weights > 0
    parts = [sparse.csr_array(Z * roots)[used] for Z in tile.parts]
    # Of all rows: those that count nothing are solved too.
    entries = tuple(np.bincount(Z.indices, minlength=Z.shape[1]) for Z in tile.parts)
    sums: Any = tuple(Z.T @ weights for Z in tile.parts)
    n_solved = np.array(tile.n_solved, np.int64)
    return Moments(tuple(map(gram_of, parts)), sums, entries, tile.n_failed, n_solved)


def with_sampled(moments: Moments, tile: GraphTile) -> Moments:
    """Sums over all rows, with those of repeats that only a sample's ``tile`` has, as if of all rows."""
    own = tile.parts[len(moments.grams) :]
    share = moments.column_sums[0].sum() / tile.parts[0].sum()
    # As matrices: where rows are in pieces, their vectors are found much faster.
    grams = tuple(map(upper_triangle, own))
    for gram in grams:
        gram *= share
    sums: Any = tuple(share * np.asarray(Z.sum(axis=0)).ravel() for Z in own)
    return replace(moments, grams=moments.grams + grams, column_sums=moments.column_sums + sums)


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


def normalised(weights: npt.ArrayLike) -> Array:
    """Weights scaled to sum to one."""
    values = np.asarray(weights, dtype=np.float64)
    return np.asarray(values / values.sum())
