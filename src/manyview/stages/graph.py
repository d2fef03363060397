"""Rows and anchors -> sparse graph rows, by the simplex QP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.simplex import Solution, Solver, choose_method, prepare, product_rows
from manyview.stages.scaling import Array, ScaledRows


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
    """Graph rows of one tile, for each repeat: the graphs of that repeat side by side."""

    parts: tuple[sparse.csr_array, ...]
    n_failed: int

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(Z.data.nbytes + Z.indices.nbytes + Z.indptr.nbytes for Z in self.parts)


@dataclass(frozen=True)
class GraphBuilder:
    """Makes graph rows; holds each graph's problem, prepared once.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "_prepared", tuple(map(self._prepare, self.graphs)))

    def _prepare(self, graph: AnchorGraph) -> tuple[Solver, list[Array]]:
        """Give the solver of a graph, and its problem's weights split by view."""
        problem = prepare(graph.anchors, alpha=graph.alpha, locality=graph.locality)
        ends = np.cumsum([self.n_features[v] for v in graph.views])
        parts = np.split(problem.weights, ends[:-1])
        weights = [W if s == 1.0 else W * s for W, s in zip(parts, graph.view_scales, strict=True)]
        return Solver(problem, graph.method), weights

    def __call__(self, rows: Sequence[ScaledRows]) -> GraphTile:
        """Give the graph rows of scaled rows, one :class:`ScaledRows` per view."""
        by_repeat: dict[int, list[sparse.csr_array]] = {}
        n_failed = 0
        for graph, (solver, weights) in zip(self.graphs, self._prepared, strict=True):
            solutions = _solve([rows[v] for v in graph.views], solver, weights)
            by_repeat.setdefault(graph.repeat, []).append(_stack(solutions, len(graph.anchors)))
            n_failed += sum(solution.n_failed for solution in solutions)
        return GraphTile(tuple(map(side_by_side_graphs, by_repeat.values())), n_failed)


def _solve(views: list[ScaledRows], solver: Solver, weights: list[Array]) -> list[Solution]:
    """Multiply and solve a cache-sized number of rows at a time."""
    offset = solver.problem.offset
    width = 1
    for rows, W in zip(views, weights, strict=True):
        if rows.offset is None:
            width = max(width, W.shape[0])
        else:  # the centre of sparse rows
            offset = offset - rows.offset @ W
    step = product_rows(width, solver.problem.n_anchors)
    solutions = []
    for start in range(0, len(views[0]), step):
        part = slice(start, start + step)
        B = views[0].matrix[part] @ weights[0]
        for rows, W in zip(views[1:], weights[1:], strict=True):
            B += rows.matrix[part] @ W
        B += offset
        solutions.append(solver.solve(B))
    return solutions


def method_for(graph: AnchorGraph, rows: ScaledRows) -> str:
    """Give the name of the method that suits a graph, by a few rows of its views side by side."""
    problem = prepare(graph.anchors, alpha=graph.alpha, locality=graph.locality)
    return choose_method(problem, rows.products(problem.weights) + problem.offset)


def _stack(solutions: list[Solution], m: int) -> sparse.csr_array:
    starts = np.cumsum([0, *(solution.indptr[-1] for solution in solutions)])
    indptr = np.concatenate(
        [[0], *(s.indptr[1:] + start for s, start in zip(solutions, starts, strict=False))]
    ).astype(np.int32)
    indices = np.concatenate([solution.indices for solution in solutions])
    data = np.concatenate([solution.data for solution in solutions])
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, m))


def stack_tiles(tiles: list[GraphTile]) -> GraphTile:
    """Give the graph rows of consecutive parts of a tile as one."""
    if len(tiles) == 1:
        return tiles[0]
    parts = zip(*(tile.parts for tile in tiles), strict=True)
    stacked = tuple(sparse.csr_array(sparse.vstack(part, "csr")) for part in parts)
    return GraphTile(stacked, sum(tile.n_failed for tile in tiles))


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
    """

    grams: tuple[Array, ...]
    column_sums: tuple[Array, ...]
    n_entries: tuple[npt.NDArray[np.integer], ...]
    n_failed: int

    def __add__(self, other: Moments) -> Moments:
        def add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(x + y for x, y in zip(a, b, strict=True))

        return Moments(
            add(self.grams, other.grams),
            add(self.column_sums, other.column_sums),
            add(self.n_entries, other.n_entries),
            self.n_failed + other.n_failed,
        )


def graph_moments(tile: GraphTile, first_row: int = 0) -> Moments:
    """Give Z'Z and Z'1 of a tile's graph rows."""
    sums = [
        np.bincount(Z.indices, weights=Z.data, minlength=Z.shape[1]).astype(np.float64)
        for Z in tile.parts
    ]
    entries = [np.bincount(Z.indices, minlength=Z.shape[1]) for Z in tile.parts]
    grams = tuple(map(_gram, tile.parts))
    return Moments(grams, tuple(sums), tuple(entries), tile.n_failed)


def _gram(Z: sparse.csr_array) -> Array:
    from manyview.stages import kernels

    counts = np.diff(Z.indptr).astype(np.float64)
    m = Z.shape[1]
    # Scattered updates cost about eight times those of a dense product.
    if 4.0 * (counts * counts).sum() > len(counts) * float(m) ** 2:
        dense = Z.toarray()
        return np.triu(dense.T @ dense)
    gram = np.zeros((m, m))
    kernels.add_outer_products(Z.indptr, Z.indices, Z.data, gram)
    return gram
