"""Rows and anchors -> sparse graph rows, by the simplex QP."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.simplex import Solver, choose_method, prepare
from manyview.stages.patchy import PatchyRows
from manyview.stages.scaling import Array, ScaledRows
from manyview.stages.solving import PatternSolvers, SolvedRows, solve, split_by_view, total_shares


@dataclass(frozen=True)
class AnchorGraph:
    """One graph between rows and anchors.

    Attributes
    ----------
    views : tuple of int
        The views it sees: one, or several side by side.
    view_scales : tuple of float
        What each of them is multiplied by.
    anchors : ndarray of shape (m, d)
        Anchors in scaled coordinates, d the columns of those views together.
    alpha, locality : float
        Of the simplex problem.
    weight : float
        Share of the fused graph; the weights of one repeat sum to one.
    repeat : int
        Which anchor seed it belongs to.
    method : str
        How its simplex problems are solved.
    """

    views: tuple[int, ...]
    view_scales: tuple[float, ...]
    anchors: Array
    alpha: float
    locality: float
    weight: float = 1.0
    repeat: int = 0
    method: str = "active-set"


@dataclass(frozen=True)
class GraphTile:
    """Graph rows of one tile, for each repeat: the graphs of that repeat side by side.

    Attributes
    ----------
    parts : tuple of csr_array of shape (n, M)
        One per repeat.
    n_failed : int
        Rows whose problem was not solved to tolerance.
    n_solved : tuple of int
        For each graph, the number of samples that have the views it sees.
    shares : tuple of (ndarray of shape (n,), or None)
        For each repeat, how much of the graphs' weight each sample has; None if all have all.
    """

    parts: tuple[sparse.csr_array, ...]
    n_failed: int
    n_solved: tuple[int, ...] = ()
    shares: tuple[Array | None, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(Z.data.nbytes + Z.indices.nbytes + Z.indptr.nbytes for Z in self.parts)


@dataclass(frozen=True)
class GraphBuilder:
    """Makes graph rows; holds each graph's problem, prepared once.

    Where samples lack views, each graph has rows for those it can see, and a sample counts by the share
    of the views that it has: rows that stand on less are less certain.

    Attributes
    ----------
    graphs : tuple of AnchorGraph
        In the order of their columns, repeat by repeat.
    n_features : tuple of int
        Columns of each view.
    """

    graphs: tuple[AnchorGraph, ...]
    n_features: tuple[int, ...]
    _prepared: tuple[tuple[Solver, list[Array]], ...] = field(init=False, repr=False)
    _patterns: tuple[PatternSolvers, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_prepared", tuple(map(self._prepare, self.graphs)))
        patterns = tuple(PatternSolvers(graph, self._widths(graph)) for graph in self.graphs)
        object.__setattr__(self, "_patterns", patterns)

    def _prepare(self, graph: AnchorGraph) -> tuple[Solver, list[Array]]:
        """Give the solver of a graph, and its problem's weights split by view."""
        problem = prepare(graph.anchors, alpha=graph.alpha, locality=graph.locality)
        weights = split_by_view(problem.weights, self._widths(graph), graph.view_scales)
        return Solver(problem, graph.method), weights

    def _widths(self, graph: AnchorGraph) -> list[int]:
        return [self.n_features[v] for v in graph.views]

    def __call__(self, rows: Sequence[ScaledRows]) -> GraphTile:
        """Give the graph rows of scaled rows, one :class:`ScaledRows` per view."""
        solved = [self._rows_of(number, rows) for number in range(len(self.graphs))]
        by_repeat: dict[int, list[int]] = {}
        for number, graph in enumerate(self.graphs):
            by_repeat.setdefault(graph.repeat, []).append(number)
        parts, shares = [], []
        for numbers in by_repeat.values():
            parts.append(side_by_side_graphs([solved[g].rows for g in numbers]))
            weights = [self.graphs[g].weight for g in numbers]
            shares.append(total_shares([solved[g].shares for g in numbers], weights))
        n_failed = sum(each.n_failed for each in solved)
        n_solved = tuple(each.n_solved for each in solved)
        return GraphTile(tuple(parts), n_failed, n_solved, tuple(shares))

    def _rows_of(self, number: int, rows: Sequence[ScaledRows]) -> SolvedRows:
        """Give the rows of one graph for all samples, also those it does not see."""
        graph, (solver, weights) = self.graphs[number], self._prepared[number]
        views = [rows[v] for v in graph.views]
        if len(views) > 1 and any(view.present is not None for view in views):
            return self._patterns[number].solve(views)
        return solve(views, solver, weights).spread(views[0].present)


def method_for(graph: AnchorGraph, rows: ScaledRows | PatchyRows) -> str:
    """Give the name of the method that suits a graph, by a few rows of its views side by side."""
    problem = prepare(graph.anchors, alpha=graph.alpha, locality=graph.locality)
    return choose_method(problem, rows.products(problem.weights) + problem.offset)


def stack_tiles(tiles: list[GraphTile]) -> GraphTile:
    """Give the graph rows of consecutive parts of a tile as one."""
    if len(tiles) == 1:
        return tiles[0]
    parts = zip(*(tile.parts for tile in tiles), strict=True)
    stacked = tuple(sparse.csr_array(sparse.vstack(part, "csr")) for part in parts)
    n_solved = tuple(map(sum, zip(*(tile.n_solved for tile in tiles), strict=True)))
    shares = tuple(_stack_shares(tiles, repeat) for repeat in range(len(tiles[0].shares)))
    return GraphTile(stacked, sum(tile.n_failed for tile in tiles), n_solved, shares)


def _stack_shares(tiles: list[GraphTile], repeat: int) -> Array | None:
    each = [tile.shares[repeat] for tile in tiles]
    if all(shares is None for shares in each):
        return None
    return np.concatenate(
        [
            np.ones(tile.parts[repeat].shape[0]) if shares is None else shares
            for tile, shares in zip(tiles, each, strict=True)
        ]
    )


def side_by_side_graphs(graphs: list[sparse.csr_array]) -> sparse.csr_array:
    """Give the graphs (n, m) of several views as one (n, sum of m)."""
    return graphs[0] if len(graphs) == 1 else sparse.csr_array(sparse.hstack(graphs, "csr"))


@dataclass(frozen=True)
class Moments:
    """Sums over graph rows: all that the spectral step needs; adds up over tiles.

    Attributes
    ----------
    grams : tuple of ndarray of shape (M, M)
        Z'Z of each repeat, upper triangle.
    column_sums : tuple of ndarray of shape (M,)
        Z'1 of each repeat.
    n_entries : tuple of ndarray of shape (M,)
        Stored entries of each repeat's columns.
    n_failed : int
        Rows whose problem was not solved to tolerance.
    n_solved : ndarray of int
        For each graph, the number of rows that have the views it sees.
    """

    grams: tuple[Array, ...]
    column_sums: tuple[Array, ...]
    n_entries: tuple[npt.NDArray[np.integer], ...]
    n_failed: int
    n_solved: npt.NDArray[np.int64]

    def __add__(self, other: Moments) -> Moments:
        return self._joined(other, operator.add)

    def __iadd__(self, other: Moments) -> Moments:
        return self._joined(other, operator.iadd)  # in the same arrays: Grams are large

    def _joined(self, other: Moments, add: Callable[[Any, Any], Any]) -> Moments:
        return Moments(
            tuple(map(add, self.grams, other.grams)),
            tuple(map(add, self.column_sums, other.column_sums)),
            tuple(map(add, self.n_entries, other.n_entries)),
            self.n_failed + other.n_failed,
            add(self.n_solved, other.n_solved),
        )


def graph_moments(tile: GraphTile, first_row: int = 0) -> Moments:
    """Give Z'Z and Z'1 of a tile's graph rows."""
    sums = [
        np.bincount(Z.indices, weights=Z.data, minlength=Z.shape[1]).astype(np.float64)
        for Z in tile.parts
    ]
    entries = [np.bincount(Z.indices, minlength=Z.shape[1]) for Z in tile.parts]
    grams = tuple(map(_gram, tile.parts))
    n_solved = np.array(tile.n_solved, np.int64)
    return Moments(grams, tuple(sums), tuple(entries), tile.n_failed, n_solved)


def _gram(Z: sparse.csr_array) -> Array:
    from manyview.stages import kernels

    counts = np.diff(Z.indptr).astype(np.float64)
    m = Z.shape[1]
    # Scattered updates cost about eight times those of a dense product.
    if 4.0 * (counts * counts).sum() > len(counts) * float(m) ** 2:
        dense = Z.toarray()
        gram: Array = dense.T @ dense
        gram[np.tri(m, k=-1, dtype=bool)] = 0.0  # in place: np.triu would copy it
        return gram
    gram = np.zeros((m, m))
    kernels.add_outer_products(Z.indptr, Z.indices, Z.data, gram)
    return gram
