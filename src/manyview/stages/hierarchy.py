"""Centres of clusters -> a tree that can be cut at any number of them: coarser ones, and finer ones.

Each cluster is divided into a few finer centres, the leaves of the tree. Leaves of one cluster are
merged first, by Ward's criterion; only then whole clusters are. So a cut at as many groups as there are
clusters is the clusters themselves, and any two cuts are nested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.stages.kmeans import indicator, sweep_likely
from manyview.stages.labels import Labels
from manyview.stages.rows import Array
from manyview.stages.sampling import spread_evenly
from manyview.stages.sureness import square_distances
from manyview.stages.ward import cut_tree, ward_tree

_LEAVES_PER_CLUSTER, _ROWS_PER_LEAF = 8, 4
_SWEEPS = 20
MOST_CLUSTERS = 3000
"""More have no tree: merging asks for the distance of every pair."""


@dataclass(frozen=True)
class Hierarchy:
    """Leaves, the cluster of each, and the tree that merges them."""

    leaves: Array  # (l, c), finer centres, cluster by cluster
    clusters: npt.NDArray[np.int32]  # (l,)
    tree: Array  # (l - 1, 4), as SciPy writes linkages
    of_columns: bool = False  # leaves are in scaled columns, not in the embedding

    def check(self, n_clusters: int, width: int) -> None:
        """Raise ValueError unless the arrays fit together, as those of a damaged file may not."""
        n, clusters = len(self.leaves), self.clusters
        is_sorted = len(clusters) == n and bool((np.diff(clusters) >= 0).all())
        if not is_sorted or not np.array_equal(np.unique(clusters), np.arange(n_clusters)):
            raise ValueError("the leaves of the tree do not fit the clusters")
        if self.leaves.shape[1] != width or self.tree.shape != (n - 1, 4):
            raise ValueError("the tree does not fit its leaves")

    def groups(self, n_groups: int) -> Labels:
        """The group of each leaf when so many are left, numbered as their first leaves come."""
        found = cut_tree(self.tree, len(self.leaves), n_groups)
        firsts = np.unique(found, return_index=True)[1]
        return np.argsort(np.argsort(firsts)).astype(np.int32)[found]

    def nearest(self, rows: Array, clusters: Labels) -> Labels:
        """The nearest leaf of each row (n, c) among those of its cluster; -1 stays -1."""
        found = np.full(len(rows), -1, np.int32)
        if rows.dtype == np.float32:
            self._find_nearest(rows, clusters, found)
            return found
        for cluster in np.unique(clusters[clusters >= 0]):
            own = np.flatnonzero(clusters == cluster)
            first, end = np.searchsorted(self.clusters, [cluster, cluster + 1])
            distances = square_distances(rows[own], self.leaves[first:end])
            found[own] = first + distances.argmin(axis=1)
        return found

    def _find_nearest(self, rows: Any, clusters: Labels, found: Labels) -> None:
        """The same of very wide rows, whose clusters are so many that each has few of them."""
        from manyview.stages import kernels

        ends = np.searchsorted(self.clusters, np.arange(self.clusters[-1] + 2))
        kernels.nearest_of_group(rows, clusters, ends, *self._in_single, found)

    @cached_property
    def _in_single(self) -> tuple[Any, Any]:
        leaves = self.leaves.astype(np.float32)
        return leaves, 0.5 * np.einsum("ij,ij->i", leaves, leaves)


def cluster_means(rows: Array, labels: Labels, n_clusters: int) -> Array:
    """Means (k, c) of the rows of each cluster; of all rows where a cluster has none.

    Examples
    --------
    >>> cluster_means(np.array([[0.0], [2.0], [4.0]]), np.array([0, 0, 2]), 3).tolist()
    [[1.0], [2.0], [4.0]]
    """
    members = indicator(labels, n_clusters)
    counts = members.sum(axis=1)[:, None]
    means: Array = members @ rows / np.maximum(counts, 1)
    return np.where(counts > 0, means, rows.mean(axis=0))


def grow(rows: Array, labels: Labels, centers: Array) -> Hierarchy:
    """The tree of clusters with ``centers`` (k, c), and of finer ones in their rows (n, c)."""
    k = len(centers)
    parts = [
        _divide(rows[labels == cluster], centers[cluster], len(rows), k) for cluster in range(k)
    ]
    leaves = np.concatenate([leaves for leaves, _ in parts])
    clusters = np.repeat(np.arange(k, dtype=np.int32), [len(leaves) for leaves, _ in parts])
    merges = sorted(_merges_within(parts), key=lambda merge: merge[0])
    top = ward_tree(centers, np.bincount(labels, minlength=k).astype(np.float64))
    return Hierarchy(leaves, clusters, _join(merges, top, clusters))


def extend_tree(
    hierarchy: Hierarchy, new: Sequence[Array], centers: Array, sizes: Array
) -> Hierarchy:
    """A tree with more clusters: those of the rows of ``new`` (n, c), which come last.

    ``centers`` (k, c) and ``sizes`` (k,) are of all clusters, known ones first: the tree above whole
    clusters is made anew, those inside known ones stay.
    """
    k, n_rows = len(centers), float(sizes.sum())
    parts = [_divide(rows, c, n_rows, k) for rows, c in zip(new, centers[-len(new) :], strict=True)]
    n_known, known = len(hierarchy.leaves), k - len(new)
    merges = [
        *_as_sides(hierarchy.tree[: n_known - known], list(range(n_known))),
        *_merges_within(parts, n_known),
    ]
    counts = [len(leaves) for leaves, _ in parts]
    clusters = np.repeat(np.arange(known, k, dtype=np.int32), counts)
    return replace(
        hierarchy,
        leaves=np.concatenate([hierarchy.leaves, *(leaves for leaves, _ in parts)]),
        clusters=np.concatenate([hierarchy.clusters, clusters]),
        tree=_join(
            sorted(merges, key=lambda merge: merge[0]),
            ward_tree(centers, sizes),
            np.concatenate([hierarchy.clusters, clusters]),
        ),
    )


def _divide(rows: Array, center: Array, n_rows: float, n_clusters: int) -> tuple[Array, Array]:
    """Finer centres (l, c) of a cluster's rows, and how many rows each has: more for large clusters."""
    wanted = round(_LEAVES_PER_CLUSTER * n_clusters * len(rows) / n_rows)
    count = min(wanted, len(rows) // _ROWS_PER_LEAF)
    if count <= 1:
        return center[None], np.array([max(len(rows), 1.0)])
    single = rows.astype(np.float32, copy=False)
    starts = single[spread_evenly(len(rows), count)]
    centers, labels = sweep_likely(single, starts, n_sweeps=_SWEEPS)
    sizes = np.bincount(labels, minlength=count).astype(np.float64)
    used = sizes > 0  # rows that are alike leave some without any
    return centers[used].astype(np.float64), sizes[used]


def _merges_within(
    parts: Sequence[tuple[Array, Array]], first: int = 0
) -> Iterator[tuple[float, int, int]]:
    """Cost and the first leaf of either side of every merge inside clusters, from a leaf's number on."""
    for leaves, sizes in parts:
        yield from _as_sides(ward_tree(leaves, sizes), list(range(first, first + len(leaves))))
        first += len(leaves)


def _as_sides(tree: Array, sides: list[int]) -> Iterator[tuple[float, int, int]]:
    """Cost and the first leaf of either side of every merge of leaves with these numbers."""
    for left, right, cost, _ in tree:
        yield float(cost), sides[int(left)], sides[int(right)]
        sides.append(min(sides[int(left)], sides[int(right)]))


def _join(merges: list[tuple[float, int, int]], top: Array, clusters: Labels) -> Array:
    """One linkage (l - 1, 4): the merges inside clusters, and above them those of clusters."""
    above = merges[-1][0] if merges else 0.0
    firsts = np.searchsorted(clusters, np.arange(int(clusters.max()) + 1)).tolist()
    for left, right, cost, _ in top:
        sides = firsts[int(left)], firsts[int(right)]
        merges.append((above + float(cost), *sides))
        firsts.append(min(sides))
    n = len(clusters)
    names, sizes, tree = np.arange(n), np.ones(n), np.empty((n - 1, 4))  # by first leaves
    for number, (cost, left, right) in enumerate(merges):
        first, total = min(left, right), sizes[left] + sizes[right]
        tree[number] = (*sorted((names[left], names[right])), cost, total)
        names[first], sizes[first] = n + number, total
    return tree
