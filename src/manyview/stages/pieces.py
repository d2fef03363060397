"""Rows -> the pieces they fall into when only near neighbours hold together.

Neighbours are tied in the order of their distances, as in single linkage. Where clusters are apart,
whatever their shapes and sizes, there is a wide range of distances at which just they are left. A few
rows between two of them join them there; their neighbours' graph still shows them, by its eigenvalues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.neighbors import NearestNeighbors

from manyview.stages.eigen import leading_eigenvectors
from manyview.stages.labels import corner_centers, label_rows
from manyview.stages.mapping import unit_rows
from manyview.stages.rows import Array

Labels = npt.NDArray[np.int32]

_NEIGHBORS = 10
_COVERED = 0.95  # least share of the rows that are in some piece
_LEAST_ROWS = 5
_LEAST_COUNTED, _LEAST_SHARE = 8, 0.002  # rows of a piece where the number of them is not known
SIZES = ((0.05, 1.05), (0.015, 1.3))
"""A few odd rows are a piece as well, so small ones must stand farther apart."""
_EVIDENCE = 10.0  # least, by which pieces are no chance; rows without any reach 6, seldom 8
# Least ratio of what is lost by one more cut to what is lost by the last; a string cut in two, or a ring
# in three, has four.
_BOUND = 5.0
_MOST_BOUND = 20  # pieces: eigenvectors cost time


@dataclass(frozen=True)
class Pieces:
    """A partition of rows, and how clear it is."""

    labels: Labels
    apart: float  # distance that joins two of them over that which ties the loosest


def find_pieces(
    rows: Array,
    n_pieces: int,
    sizes: Sequence[tuple[float, float]] = SIZES,
    *,
    evidence: float = _EVIDENCE,
    tree: Tree | None = None,
) -> Pieces | None:
    """So many pieces that rows (n, d) fall into; None if they do not.

    ``sizes`` are least shares of an average cluster that a piece has, and how far apart pieces must
    then be; ``evidence`` is the least by which they are no chance. ``tree`` is that of the rows, if it
    is known.

    Examples
    --------
    >>> rows = np.r_[np.arange(20.0), 30 + np.arange(20.0)][:, None]
    >>> np.bincount(find_pieces(rows, 2).labels)
    array([20, 20])
    >>> find_pieces(np.arange(40.0)[:, None], 2)
    """
    tree = Tree.of(rows) if tree is None else tree
    found = [tree.cut(n_pieces, share, apart) for share, apart in sizes]
    wide = [pieces for pieces in found if pieces is not None]
    if not wide:
        return None
    return _completed(rows, max(wide, key=lambda pieces: pieces.apart), evidence)


def find_bound(tree: Tree, n_pieces: int) -> Pieces | None:
    """So many pieces, each bound together far more than to the others; None if rows are not so.

    One minus the eigenvalues of the neighbours' graph tell what cuts lose: up to as many as there are
    pieces little, then much. ``apart`` is by how many times.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.r_[rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + [6, 0]]
    >>> np.bincount(find_bound(Tree.of(rows), 2).labels)
    array([50, 50])
    """
    if not 1 < n_pieces <= _most_bound(tree):
        return None
    ratios, vectors = _weigh_cuts(tree, n_pieces)
    labels = _bind(tree, vectors, n_pieces) if ratios[-1] >= _BOUND else None
    return None if labels is None else Pieces(labels, float(ratios[-1]))


def _bind(tree: Tree, vectors: Array, n_pieces: int) -> Labels | None:
    """So many pieces by the leading eigenvectors; None if one of them is but a few odd rows."""
    embedded = unit_rows(vectors[:, :n_pieces])
    labels = label_rows(embedded, corner_centers(embedded, n_pieces))[tree.nodes]
    least = max(_LEAST_ROWS, SIZES[0][0] * len(labels) / n_pieces)
    return labels if np.bincount(labels, minlength=n_pieces).min() >= least else None


def count_bound(tree: Tree) -> int:
    """The largest number of pieces that rows are bound into; 1 if they are not."""
    most = _most_bound(tree)
    if most < 2:
        return 1
    ratios, vectors = _weigh_cuts(tree, most)
    bound = (k for k, ratio in enumerate(ratios, 2) if ratio >= _BOUND)
    return max((k for k in bound if _bind(tree, vectors, k) is not None), default=1)


def _most_bound(tree: Tree) -> int:
    return min(_MOST_BOUND, len(tree.lengths) // _NEIGHBORS)


def _weigh_cuts(tree: Tree, most: int) -> tuple[Array, Array]:
    """For 2, 3, ... pieces, what one more cut loses over what the last does; and eigenvectors."""
    lengths = np.asarray(tree.graph.sum(axis=1)).ravel() ** -0.5
    scaled = tree.graph.multiply(lengths[:, None]).multiply(lengths).tocsr()
    values, vectors = leading_eigenvectors(scaled, most + 1, rng=np.random.default_rng(0))
    lost = np.maximum(1.0 - values, np.finfo(np.float32).eps)
    return lost[2:] / lost[1:-1], vectors


def count_pieces(rows: Array, apart: float, *, tree: Tree | None = None) -> int:
    """The largest number of pieces, that far apart, that rows (n, d) fall into; 1 if they do not.

    ``tree`` is that of the rows, if it is known.

    Examples
    --------
    >>> count_pieces(np.r_[np.arange(20.0), 30 + np.arange(20.0)][:, None], 2.0)
    2
    """
    tree = Tree.of(rows) if tree is None else tree
    least = max(_LEAST_COUNTED, _LEAST_SHARE * len(rows))
    found = tree.distances(least)
    for count in sorted((count for count, ratio in found.items() if ratio >= apart), reverse=True):
        pieces = tree.cut(count, least * count / len(rows), apart)
        if pieces is not None and _completed(rows, pieces) is not None:
            return count
    return 1


@dataclass(frozen=True)
class Tree:
    """The shortest ties that hold rows together, nearest first; rows that are alike are one node."""

    nodes: npt.NDArray[np.intp]  # (n,), the node of each row
    ends: npt.NDArray[np.int32]  # (ties, 2)
    lengths: Array  # (ties,), ascending
    graph: sparse.csr_matrix  # of near neighbours; those of each other count twice

    @classmethod
    def of(cls, rows: Array) -> Tree:
        """The tree of rows (n, d)."""
        distinct, nodes = distinct_rows(rows)
        n = len(distinct)
        if n < 2:
            return cls(nodes, np.empty((0, 2), np.int32), np.empty(0), sparse.csr_matrix((n, n)))
        near = NearestNeighbors(n_neighbors=min(_NEIGHBORS, n - 1)).fit(distinct)
        graph = near.kneighbors_graph(mode="distance")
        tree = minimum_spanning_tree(_tied(distinct, graph.maximum(graph.T))).tocoo()
        order = np.argsort(tree.data, kind="stable")
        graph.data = np.ones_like(graph.data)
        ends = np.column_stack([tree.row, tree.col])[order]
        return cls(nodes, ends, tree.data[order], graph + graph.T)

    def cut(self, n_pieces: int, share: float, apart: float) -> Pieces | None:
        """So many pieces, each with that share of an average cluster, if they are that far apart.

        Rows in none of them are -1.
        """
        least = max(_LEAST_ROWS, share * len(self.nodes) / n_pieces)
        widest = self._ranges(least).get(n_pieces)
        if widest is None or widest[0] < apart:
            return None
        ratio, n_ties = widest
        return Pieces(self._labels(n_ties, least), ratio)

    def distances(self, least: float) -> dict[int, float]:
        """For each number of pieces of at least that size, two or more, how far they are apart."""
        return {count: ratio for count, (ratio, _) in self._ranges(least).items() if count > 1}

    def _ranges(self, least: float) -> dict[int, tuple[float, int]]:
        """For each number of pieces, the widest range that has it, and the number of ties at its end."""
        counts, covered = self._count_pieces(least)
        held = np.where(covered >= _COVERED * len(self.nodes), counts, -1)
        firsts = np.flatnonzero(np.diff(held, prepend=-2))
        ends = np.append(firsts[1:], len(held)) - 1
        lengths = np.concatenate([[0.0], self.lengths, [np.inf]])
        with np.errstate(over="ignore"):  # nothing is farther apart
            ratios = lengths[ends + 1] / np.maximum(lengths[firsts], np.finfo(np.float64).tiny)
        ranges: dict[int, tuple[float, int]] = {}
        for first, ratio, end in zip(firsts, ratios.tolist(), ends.tolist(), strict=True):
            count = int(held[first])
            if count >= 0 and ratio >= ranges.get(count, (0.0, 0))[0]:
                ranges[count] = ratio, end
        return ranges

    def _count_pieces(self, least: float) -> tuple[Array, Array]:
        """Number of pieces of at least that size and of rows in them, before each tie and at the end."""
        sizes = np.bincount(self.nodes)
        large = sizes[sizes >= least]
        merged, whole = self._merged_sizes, self._merged_sizes.sum(axis=1)
        is_large, is_whole = merged >= least, whole >= least
        counts = is_whole - is_large.sum(axis=1)
        covered = whole * is_whole - (merged * is_large).sum(axis=1)
        start = np.array([[len(large)], [large.sum()]])
        both = np.cumsum(np.hstack([start, [counts, covered]]), axis=1)
        return both[0], both[1]

    @cached_property
    def _merged_sizes(self) -> npt.NDArray[np.int64]:
        """Numbers of rows (ties, 2) in the two pieces that each tie joins."""
        sizes = np.bincount(self.nodes).tolist()
        parents = list(range(len(sizes)))

        def top(node: int) -> int:
            while parents[node] != node:
                parents[node] = parents[parents[node]]
                node = parents[node]
            return node

        merged = []
        for a, b in self.ends.tolist():
            a, b = top(a), top(b)
            merged.append((sizes[a], sizes[b]))
            if sizes[a] < sizes[b]:
                a, b = b, a
            parents[b] = a
            sizes[a] += sizes[b]
        return np.array(merged, np.int64).reshape(-1, 2)

    def _labels(self, n_ties: int, least: float) -> Labels:
        n = int(self.nodes.max()) + 1
        ties = (np.ones(n_ties), self.ends[:n_ties].T)
        part = connected_components(sparse.coo_array(ties, shape=(n, n)), directed=False)[1]
        part = part[self.nodes]
        is_large = np.bincount(part) >= least
        numbers = np.where(is_large, np.cumsum(is_large) - 1, -1)
        labels: Labels = numbers[part].astype(np.int32)
        return labels


def distinct_rows(rows: Array) -> tuple[Array, npt.NDArray[np.intp]]:
    """The rows (n, d) that differ, in ascending order, and which of them each row is: (n,).

    Examples
    --------
    >>> distinct_rows(np.array([[2.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))
    (array([[1., 0.],
           [2., 0.]]), array([1, 0, 1]))
    """
    first, nodes = np.unique(rows[:, 0], return_inverse=True)
    if len(first) == len(rows):  # as nearly always; comparing whole rows takes far longer
        return rows[np.argsort(nodes)], nodes
    distinct, nodes = np.unique(rows, axis=0, return_inverse=True)
    return distinct, nodes.ravel()


def _tied(rows: Array, graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """A graph of near neighbours whose parts are tied together where they are nearest."""
    n = len(rows)
    while (found := connected_components(graph, directed=False))[0] > 1:
        ties = []
        for part in range(found[0]):
            inside, outside = np.flatnonzero(found[1] == part), np.flatnonzero(found[1] != part)
            near = NearestNeighbors(n_neighbors=1).fit(rows[outside])
            distances, places = near.kneighbors(rows[inside])
            first = int(distances.argmin())
            ties.append((distances[first, 0], inside[first], outside[places[first, 0]]))
        lengths, starts, ends = zip(*ties, strict=True)
        more = sparse.csr_matrix((lengths, (starts, ends)), shape=(n, n))
        graph = graph.maximum(more).maximum(more.T)
    return graph


def _completed(rows: Array, pieces: Pieces, evidence: float = _EVIDENCE) -> Pieces | None:
    """The pieces with all rows in them, if they are no chance."""
    whole = Pieces(_complete(rows, pieces.labels), pieces.apart)
    return whole if _measure_evidence(rows, whole) >= evidence else None


def _measure_evidence(rows: Array, pieces: Pieces) -> float:
    """How far pieces are from what chance cuts off: logarithm of a gap, by its rows and directions.

    A gap between two rows is a chance in one column, but not where many rows face each other across it,
    in many directions. Of several pieces, the one with the fewest such rows counts.
    """
    centered = rows - rows.mean(axis=0)
    wide = centered if rows.shape[0] < rows.shape[1] else centered.T
    squares = wide @ wide.T
    n_directions = np.trace(squares) ** 2 / max(np.sum(squares**2), np.finfo(np.float64).tiny)
    facing = []
    for piece in range(int(pieces.labels.max()) + 1):
        is_own = pieces.labels == piece
        others = NearestNeighbors(n_neighbors=1).fit(rows[~is_own])
        distances = others.kneighbors(rows[is_own])[0].ravel()
        facing.append(np.count_nonzero(distances <= 2 * distances.min()))
    return float(min(facing) * np.log(pieces.apart) * n_directions)


def _complete(rows: Array, labels: Labels) -> Labels:
    """Labels, rows without one (-1) like the nearest that has one."""
    is_open = labels < 0
    if not is_open.any():
        return labels
    near = NearestNeighbors(n_neighbors=1).fit(rows[~is_open])
    labels = labels.copy()
    labels[is_open] = labels[~is_open][near.kneighbors(rows[is_open])[1].ravel()]
    return labels
