"""Rows and anchors -> sparse graph rows, by the simplex QP; also of samples that lack views."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.simplex import (
    GroupedAnchors,
    SimplexProblem,
    Solution,
    Solver,
    choose_method,
    prepare,
    product_rows,
    rows_within,
)
from manyview.stages.rows import Array, IncompleteRows, ScaledRows
from manyview.stages.scaling import Scaler, largest_width
from manyview.views.selection import Mask, refuse_samples_without_views

_SCALED_BYTES = 4 << 20  # of rows that are scaled at a time
_MOST_ROWS = 1024  # the same: a tile is several parts, which threads can share
_KEEP_BYTES = 64 << 20  # of problems that are kept for a graph, one for each set of views present
_LARGE_BYTES = 256 << 20  # of the problems of all graphs, which are then kept only while needed
_preparing = threading.Lock()


@dataclass(frozen=True)
class AnchorGraph:
    """One graph between rows and anchors."""

    views: tuple[int, ...]  # those it sees: one, or several side by side
    view_scales: tuple[float, ...]  # what each of them is multiplied by
    anchors: Array  # (m, d), in scaled coordinates; d are the columns of those views together
    alpha: float
    locality: float
    weight: float = 1.0  # share of the fused graph; the weights of one repeat sum to one
    repeat: int = 0  # the anchor seed it belongs to
    method: str = "active-set"  # of solving its simplex problems
    n_neighbors: int | None = None  # nearest anchors that a row may use; None is all
    whitening: float = 0.0  # how far the views' principal axes are evened out


@dataclass(frozen=True)
class GraphTile:
    """Graph rows of one tile, for each repeat: the graphs of that repeat side by side."""

    parts: tuple[sparse.csr_array, ...]  # (n, M), one per repeat
    n_failed: int  # rows whose problem was not solved to tolerance
    n_solved: tuple[int, ...] = ()  # for each graph, the samples that have the views it sees
    # For each repeat, how much of the graphs' weight each sample has, (n,); None if all have all.
    shares: tuple[Array | None, ...] = ()

    def __len__(self) -> int:
        return int(self.parts[0].shape[0])

    def take(self, rows: npt.NDArray[np.int64]) -> GraphTile:
        """Some of the rows, by number; how they were solved is left behind."""
        shares = tuple(None if share is None else share[rows] for share in self.shares)
        return GraphTile(tuple(Z[rows] for Z in self.parts), 0, shares=shares)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(Z.data.nbytes + Z.indices.nbytes + Z.indptr.nbytes for Z in self.parts)


class GraphRows:
    """Raw rows of a tile in, their graph rows out; holds each graph's problem, prepared once.

    Where samples lack views, each graph has rows for those it can see, and a sample counts by the share
    of the views that it has: rows that stand on less are less certain. There is one scaler per view;
    graphs are in the order of their columns, repeat by repeat. Unless it ``is_prepared`` at once, that
    waits for the first tile.
    """

    def __init__(
        self,
        scalers: tuple[Scaler, ...],
        graphs: tuple[AnchorGraph, ...],
        *,
        is_prepared: bool = True,
    ) -> None:
        self._scalers, self._graphs = scalers, graphs
        self._held = self._prepare() if is_prepared else None
        bytes_per_row = 8 * largest_width(scalers)
        self._step = min(rows_within(_SCALED_BYTES, bytes_per_row, least=256), _MOST_ROWS)

    def _prepare(self) -> list[_GraphSolver]:
        return [_GraphSolver(graph, self._scalers) for graph in self._graphs]

    def _prepared(self) -> list[_GraphSolver]:
        found = self._held
        if found is None:
            with _preparing:  # by one of the threads that ask
                found = self._held = self._held or self._prepare()
        return found

    def let_go_of_large(self) -> None:
        """Let go of problems that take much memory, as of wide text, until they are needed again."""
        if sum(solver.nbytes for solver in self._held or ()) > _LARGE_BYTES:
            self._held = None

    def __call__(self, tile: Any, first_row: int) -> GraphTile:
        """Graph rows of a tile, a list with one block per view, some rows maybe missing."""
        return self.join([part() for part in self.parts(tile, first_row)])

    def parts(self, tile: Any, first_row: int) -> list[Callable[[], GraphTile]]:
        """What makes the graph rows of a tile, a few at a time; an engine may use threads for them.

        Few rows are scaled at a time, so that wide views do not fill memory with scaled copies.
        """
        starts = range(0, max(tile[0].shape[0], 1), self._step)
        return [partial(self._part, tile, first_row, start) for start in starts]

    def join(self, parts: list[GraphTile]) -> GraphTile:
        """The tile, from what its :meth:`parts` gave."""
        return stack_tiles(parts)

    def _part(self, tile: Any, first_row: int, start: int) -> GraphTile:
        rows, first = slice(start, start + self._step), first_row + start
        with np.errstate(over="ignore", invalid="ignore"):  # such rows count as not solved
            scaled = [s.apply(X[rows], first) for s, X in zip(self._scalers, tile, strict=True)]
            masks = [view.present for view in scaled if view.present is not None]
            if len(masks) == len(scaled):
                refuse_samples_without_views(np.stack(masks, axis=1), first)
            return self.of_scaled(scaled)

    def of_scaled(self, rows: Sequence[ScaledRows]) -> GraphTile:
        """Graph rows of scaled rows, one :class:`ScaledRows` per view."""
        solved = [solver.solve(rows) for solver in self._prepared()]
        by_repeat: dict[int, list[int]] = {}
        for number, graph in enumerate(self._graphs):
            by_repeat.setdefault(graph.repeat, []).append(number)
        parts, shares = [], []
        for numbers in by_repeat.values():
            parts.append(side_by_side_graphs([solved[g].rows for g in numbers]))
            weights = [self._graphs[g].weight for g in numbers]
            shares.append(_total_shares([solved[g].shares for g in numbers], weights))
        n_failed = sum(each.n_failed for each in solved)
        n_solved = tuple(each.n_solved for each in solved)
        return GraphTile(tuple(parts), n_failed, n_solved, tuple(shares))


def scale_views(
    scalers: Sequence[Scaler],
    views: Sequence[int],
    tile: Sequence[Any],
    first_row: int,
    *,
    whitening: float,
) -> list[ScaledRows]:
    """Scaled rows of some views of a tile of raw rows, their axes evened out."""
    scaled = []
    for v in views:
        rows, weights = scalers[v].apply(tile[v], first_row), scalers[v].axis_weights(whitening)
        scaled.append(rows if weights is None else replace(rows, matrix=rows.matrix * weights))
    return scaled


def scaled_columns(
    graph: AnchorGraph, scalers: Sequence[Scaler], tile: Sequence[Any], first_row: int
) -> Array:
    """Scaled columns (n, d) that a graph sees of a tile of raw rows, zero where a view is missing."""
    views = scale_views(scalers, graph.views, tile, first_row, whitening=graph.whitening)
    return IncompleteRows(tuple(views), graph.view_scales).dense()


def method_for(graph: AnchorGraph, rows: ScaledRows | IncompleteRows) -> str:
    """The method that suits a graph, by a few rows of its views side by side."""
    if graph.n_neighbors is not None:
        return "active-set"
    # Of wide views, whose anchors are in single precision, this would take as long as some graphs.
    problem = prepare(graph.anchors, alpha=graph.alpha, locality=graph.locality, is_rough=True)
    return choose_method(problem, rows.products(problem.weights) + problem.offset)


def stack_tiles(tiles: list[GraphTile]) -> GraphTile:
    """Graph rows of consecutive parts of a tile as one."""
    if len(tiles) == 1:
        return tiles[0]
    parts = zip(*(tile.parts for tile in tiles), strict=True)
    stacked = tuple(sparse.csr_array(sparse.vstack(part, "csr")) for part in parts)
    n_solved = tuple(map(sum, zip(*(tile.n_solved for tile in tiles), strict=True)))
    shares = []
    for each in zip(*(tile.shares for tile in tiles), strict=True):
        known = [np.ones(len(t)) if s is None else s for t, s in zip(tiles, each, strict=True)]
        shares.append(None if all(s is None for s in each) else np.concatenate(known))
    return GraphTile(stacked, sum(tile.n_failed for tile in tiles), n_solved, tuple(shares))


def beside(first: GraphTile, second: GraphTile) -> GraphTile:
    """The same rows in two lists of graphs of one repeat, as if in one; all samples have all views."""
    part = side_by_side_graphs([first.parts[0], second.parts[0]])
    n_failed, n_solved = first.n_failed + second.n_failed, first.n_solved + second.n_solved
    return GraphTile((part,), n_failed, n_solved, (None,))


def side_by_side_graphs(graphs: list[sparse.csr_array]) -> sparse.csr_array:
    """Graphs (n, m) of several views as one (n, sum of m)."""
    return graphs[0] if len(graphs) == 1 else sparse.csr_array(sparse.hstack(graphs, "csr"))


def _total_shares(shares: Sequence[Array | None], weights: Sequence[float]) -> Array | None:
    """How much of all graphs each sample has (n,), from each graph's shares and weight; None if all."""
    if all(each is None for each in shares):
        return None
    total = np.zeros(max(len(each) for each in shares if each is not None))
    for each, weight in zip(shares, weights, strict=True):
        total += weight if each is None else weight * each
    return total / sum(weights)


@dataclass(frozen=True)
class _SolvedRows:
    """Rows of one graph.

    ``rows`` (n, m) sum to each sample's share of the views that the graph sees, from 0 to 1; ``shares``
    are None if all samples have all views.
    """

    rows: sparse.csr_array
    shares: Array | None
    n_failed: int

    @property
    def n_solved(self) -> int:
        """Number of samples that have some of the views."""
        return int(self.rows.shape[0] if self.shares is None else np.count_nonzero(self.shares))

    def spread(self, present: Mask, shares: Array) -> _SolvedRows:
        """Rows of the samples that are present as rows of all samples, which sum to their shares."""
        counts = np.zeros(len(present), np.int32)
        counts[present] = np.diff(self.rows.indptr)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        data = self.rows.data * np.repeat(shares, counts)
        shape = (len(present), self.rows.shape[1])
        rows = sparse.csr_array((data, self.rows.indices, indptr), shape=shape)
        return _SolvedRows(rows, shares, self.n_failed)


class _GraphSolver:
    """Solves rows of one graph, also where samples lack some of its views.

    Samples that have the same views share one problem: that of the anchors' columns in these views. Each
    row counts by the share of the views that the sample has.
    """

    def __init__(self, graph: AnchorGraph, scalers: Sequence[Scaler]) -> None:
        self._graph = graph
        self._widths = [scalers[v].width for v in graph.views]
        # Rows come as the scalers make them: what evens out axes is multiplied into the anchors.
        axes = [scalers[v].axis_weights(graph.whitening) for v in graph.views]
        self._factors = [
            scale if weights is None else (scale * weights)[:, None]
            for scale, weights in zip(graph.view_scales, axes, strict=True)
        ]
        problem = prepare(graph.anchors, alpha=graph.alpha, locality=graph.locality)
        self._whole = self._solver_of(problem, range(len(graph.views)))
        self._kept: dict[tuple[int, ...], tuple[Solver, list[Array]]] = {}
        self._kept_bytes = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the problems, one for each set of views that samples have."""
        problem = self._whole[0].problem
        return int(problem.gram.nbytes + problem.weights.nbytes) + self._kept_bytes

    def solve(self, rows: Sequence[ScaledRows]) -> _SolvedRows:
        """Rows of all samples; those with none of the views, or only of weight 0, are empty."""
        views = [rows[v] for v in self._graph.views]
        if len(views) > 1 and any(view.present is not None for view in views):
            return self._solve_by_pattern(views)
        solved, present = _solve(views, *self._whole), views[0].present
        return solved if present is None else solved.spread(present, present.astype(np.float64))

    def _solve_by_pattern(self, views: list[ScaledRows]) -> _SolvedRows:
        n, m = views[0].n_samples, len(self._graph.anchors)
        masks = [np.ones(n, bool) if v.present is None else v.present for v in views]
        scales = np.array(self._graph.view_scales)
        present = np.stack(masks, axis=1) & (scales > 0)
        places = np.stack([np.cumsum(mask) - 1 for mask in masks], axis=1)
        patterns, which = np.unique(present, axis=0, return_inverse=True)
        solved, members = [], []
        for number, pattern in enumerate(patterns):
            groups = tuple(np.flatnonzero(pattern).tolist())
            if groups:
                samples = np.flatnonzero(which.ravel() == number)
                rows = [views[g][places[samples, g]] for g in groups]
                solved.append(_solve(rows, *self._solver(groups)))
                members.append(samples)
        shares: Array = present @ self._view_shares
        if not solved:
            return _SolvedRows(sparse.csr_array((n, m)), shares, 0)
        stacked = sparse.csr_array(sparse.vstack([each.rows for each in solved], "csr"))
        ordered = stacked[np.argsort(np.concatenate(members), kind="stable")]
        n_failed = sum(each.n_failed for each in solved)
        return _SolvedRows(ordered, None, n_failed).spread(shares > 0, shares)

    @cached_property
    def _view_shares(self) -> Array:
        squares = np.square(self._graph.view_scales)
        shares: Array = squares / squares.sum()
        return shares

    @cached_property
    def _groups(self) -> GroupedAnchors:
        graph = self._graph
        parts = np.split(graph.anchors, np.cumsum(self._widths)[:-1], axis=1)
        return GroupedAnchors(parts, alpha=graph.alpha, locality=graph.locality)

    def _solver(self, groups: tuple[int, ...]) -> tuple[Solver, list[Array]]:
        """The solver of samples with these views, and its problem's weights split by view."""
        found = self._kept.get(groups)
        if found is None:
            share = float(self._view_shares[list(groups)].sum())
            problem, scale = self._groups.problem(groups, share)
            found = self._solver_of(problem, groups, scale)
            if self._kept_bytes < _KEEP_BYTES:
                self._kept[groups] = found
                self._kept_bytes += problem.gram.nbytes + problem.weights.nbytes
        return found

    def _solver_of(
        self, problem: SimplexProblem, groups: Sequence[int], scale: float = 1.0
    ) -> tuple[Solver, list[Array]]:
        solver = Solver(problem, self._graph.method, self._graph.n_neighbors)
        parts = np.split(problem.weights, np.cumsum([self._widths[g] for g in groups])[:-1])
        # In place: anchors of wide views are large, and the problem is this solver's own.
        for W, g in zip(parts, groups, strict=True):
            W *= scale * self._factors[g]
        return solver, parts


def _solve(views: list[ScaledRows], solver: Solver, weights: list[Array]) -> _SolvedRows:
    """Multiply and solve a cache-sized number of rows at a time."""
    n_features, is_dense = sum(map(len, weights)), all(rows.offset is None for rows in views)
    if is_dense and solver.can_solve_dense(n_features):
        return _solve_dense(views, solver)
    offset = solver.problem.offset
    width, leans = 1, []
    for rows, W in zip(views, weights, strict=True):
        if rows.offset is None:
            width = max(width, W.shape[0])
        else:  # the centre of sparse rows
            offset = offset - rows.offset @ W
        if rows.lean is not None:
            leans.append((rows.lean[0], rows.lean[1] @ W))
    step = product_rows(width, solver.problem.n_anchors)
    solutions = []
    for start in range(0, len(views[0]), step):
        part = slice(start, start + step)
        B = views[0].matrix[part] @ weights[0]
        for rows, W in zip(views[1:], weights[1:], strict=True):
            B += rows.matrix[part] @ W
        B += offset
        for tilts, slopes in leans:
            B -= tilts[part] @ slopes
        solutions.append(solver.solve(B))
    n_failed = sum(solution.n_failed for solution in solutions)
    return _SolvedRows(_stack(solutions, solver.problem.n_anchors), None, n_failed)


def _solve_dense(views: list[ScaledRows], solver: Solver) -> _SolvedRows:
    """The same of dense rows that use their nearest anchors."""
    m, solutions = solver.problem.n_anchors, []
    step = product_rows(1, m // 4)  # products are in single precision, and few are looked at again
    for start in range(0, len(views[0]), step):
        parts = [rows.matrix[start : start + step] for rows in views]
        X = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        solutions.append(solver.solve_dense(np.ascontiguousarray(X, np.float64)))
    n_failed = sum(solution.n_failed for solution in solutions)
    return _SolvedRows(_stack(solutions, m), None, n_failed)


def _stack(solutions: list[Solution], m: int) -> sparse.csr_array:
    if not solutions:
        return sparse.csr_array((0, m))
    starts = np.cumsum([0, *(solution.indptr[-1] for solution in solutions)])
    indptr = np.concatenate(
        [[0], *(s.indptr[1:] + start for s, start in zip(solutions, starts, strict=False))]
    ).astype(np.int32)
    indices = np.concatenate([solution.indices for solution in solutions])
    data = np.concatenate([solution.data for solution in solutions])
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, m))
