"""Scaled rows of some views -> solved graph rows, also of samples that lack views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manyview.simplex import GroupedAnchors, Solution, Solver, product_rows
from manyview.stages.scaling import Array, ScaledRows
from manyview.views.selection import Mask

if TYPE_CHECKING:
    from manyview.stages.graph import AnchorGraph

_KEEP_BYTES = 64 << 20  # of problems that are kept for a graph, one for each set of views present


@dataclass(frozen=True)
class SolvedRows:
    """Rows of one graph.

    Attributes
    ----------
    rows : csr_array of shape (n, m)
        One row a sample, which sums to its share; empty where it lacks the views.
    shares : ndarray of shape (n,), or None
        How much of the views each sample has, from 0 to 1; None if all have all.
    n_failed : int
        Rows whose problem was not solved to tolerance.
    """

    rows: sparse.csr_array
    shares: Array | None
    n_failed: int

    @property
    def n_solved(self) -> int:
        """Number of samples that have some of the views."""
        return int(self.rows.shape[0] if self.shares is None else np.count_nonzero(self.shares))

    def spread(self, present: Mask | None) -> SolvedRows:
        """Give rows of the samples that are present as rows of all samples."""
        if present is None:
            return self
        counts = np.zeros(len(present), np.int32)
        counts[present] = np.diff(self.rows.indptr)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        shape = (len(present), self.rows.shape[1])
        rows = sparse.csr_array((self.rows.data, self.rows.indices, indptr), shape=shape)
        return replace(self, rows=rows, shares=present.astype(np.float64))

    def scaled(self, shares: Array) -> SolvedRows:
        """Give rows that sum to these shares, not to one."""
        Z = self.rows
        data = Z.data * np.repeat(shares, np.diff(Z.indptr))
        rows = sparse.csr_array((data, Z.indices, Z.indptr), shape=Z.shape)
        return replace(self, rows=rows, shares=shares)


def solve(views: list[ScaledRows], solver: Solver, weights: list[Array]) -> SolvedRows:
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
    n_failed = sum(solution.n_failed for solution in solutions)
    return SolvedRows(_stack(solutions, solver.problem.n_anchors), None, n_failed)


def split_by_view(weights: Array, widths: Sequence[int], scales: Sequence[float]) -> list[Array]:
    """Give a problem's weights (d, m) view by view, each times its scale."""
    parts = np.split(weights, np.cumsum(widths)[:-1])
    return [W if s == 1.0 else W * s for W, s in zip(parts, scales, strict=True)]


class PatternSolvers:
    """Solves rows of several views side by side where samples lack some of them.

    Samples that have the same views share one problem: that of the anchors' columns in these views. Each
    row counts by the share of the views that the sample has.

    Parameters
    ----------
    graph : AnchorGraph
        The graph; it sees several views.
    n_features : sequence of int
        Columns of each of its views.
    """

    def __init__(self, graph: AnchorGraph, n_features: Sequence[int]) -> None:
        self._graph, self._widths = graph, list(n_features)
        self._kept: dict[tuple[int, ...], tuple[Solver, list[Array]]] = {}
        self._kept_bytes = 0

    def solve(self, views: list[ScaledRows]) -> SolvedRows:
        """Give the rows of all samples; those with none of the views, or only of weight 0, are empty."""
        n = views[0].n_samples
        seen = [s > 0 for s in self._graph.view_scales]
        present = np.stack(
            [_mask(view, n) & is_seen for view, is_seen in zip(views, seen, strict=True)], axis=1
        )
        places = np.stack([np.cumsum(_mask(view, n)) - 1 for view in views], axis=1)
        patterns, which = np.unique(present, axis=0, return_inverse=True)
        solved, members = [], []
        for number, pattern in enumerate(patterns):
            groups = tuple(np.flatnonzero(pattern).tolist())
            if groups:
                samples = np.flatnonzero(which.ravel() == number)
                rows = [views[g][places[samples, g]] for g in groups]
                solved.append(solve(rows, *self._solver(groups)))
                members.append(samples)
        there = np.asarray(present.any(axis=1))
        shares: Array = present @ self._view_shares
        if not solved:
            return SolvedRows(sparse.csr_array((n, len(self._graph.anchors))), shares, 0)
        stacked = sparse.csr_array(sparse.vstack([each.rows for each in solved], "csr"))
        ordered = stacked[np.argsort(np.concatenate(members), kind="stable")]
        n_failed = sum(each.n_failed for each in solved)
        return SolvedRows(ordered, None, n_failed).spread(there).scaled(shares)

    @property
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
        """Give the solver of samples with these views, and its problem's weights split by view."""
        found = self._kept.get(groups)
        if found is None:
            share = float(self._view_shares[list(groups)].sum())
            problem, scale = self._groups.problem(groups, share)
            factors = [scale * self._graph.view_scales[g] for g in groups]
            weights = split_by_view(problem.weights, [self._widths[g] for g in groups], factors)
            found = Solver(problem, self._graph.method), weights
            if self._kept_bytes < _KEEP_BYTES:
                self._kept[groups] = found
                self._kept_bytes += problem.gram.nbytes + 2 * problem.weights.nbytes
        return found


def total_shares(shares: Sequence[Array | None], weights: Sequence[float]) -> Array | None:
    """How much of all graphs each sample has (n,), from each graph's shares and weight; None if all."""
    if all(each is None for each in shares):
        return None
    total = np.zeros(max(len(each) for each in shares if each is not None))
    for each, weight in zip(shares, weights, strict=True):
        total += weight if each is None else weight * each
    return total / sum(weights)


def _mask(view: ScaledRows, n: int) -> Mask:
    return np.ones(n, bool) if view.present is None else view.present


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
