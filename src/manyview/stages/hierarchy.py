"""Centres of clusters -> a tree that can be cut at any number of them: coarser ones, and finer ones.

Each cluster is divided into a few finer centres, the leaves of the tree. Leaves of one cluster are
merged first, by Ward's criterion; only then whole clusters are. So a cut at as many groups as there are
clusters is the clusters themselves, and any two cuts are nested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.utils import gen_batches

from manyview.stages.labels import Labels, fit_kmeans
from manyview.stages.rows import Array
from manyview.stages.sureness import square_distances
from manyview.stages.ward import cut_tree, ward_tree

_LEAVES_PER_CLUSTER, _ROWS_PER_LEAF = 8, 4
_SWEEPS = 20
_BLOCK_VALUES = 4_000_000  # of distances that are held at a time
MOST_CLUSTERS = 3000
"""More have no tree: merging asks for the distance of every pair."""


@dataclass(frozen=True)
class Hierarchy:
    """Leaves, the cluster of each, and the tree that merges them."""

    leaves: Array  # (l, c), finer centres in the embedding, cluster by cluster
    clusters: npt.NDArray[np.int32]  # (l,)
    tree: Array  # (l - 1, 4), as SciPy writes linkages

    def groups(self, n_groups: int) -> Labels:
        """The group of each leaf when so many are left, numbered as their first leaves come."""
        found = cut_tree(self.tree, len(self.leaves), n_groups)
        firsts = np.unique(found, return_index=True)[1]
        return np.argsort(np.argsort(firsts)).astype(np.int32)[found]

    def labels(self, rows: Array, clusters: Labels, n_groups: int) -> Labels:
        """The group of each embedding row (n, c), whose cluster is known; -1 stays -1."""
        groups, n_clusters = self.groups(n_groups), int(self.clusters.max()) + 1
        if n_groups <= n_clusters:  # all leaves of a cluster are in one group
            of_cluster = np.zeros(n_clusters, np.int32)
            of_cluster[self.clusters] = groups
            return np.where(clusters >= 0, of_cluster[clusters], -1).astype(np.int32)
        found = np.full(len(rows), -1, np.int32)
        for block in gen_batches(len(rows), max(_BLOCK_VALUES // len(self.leaves), 1)):
            distances = square_distances(rows[block], self.leaves)
            distances[clusters[block, None] != self.clusters] = np.inf
            found[block] = np.where(clusters[block] >= 0, groups[distances.argmin(axis=1)], -1)
        return found


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
    return Hierarchy(
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
    found = fit_kmeans(rows, count, init="k-means++", max_iter=_SWEEPS, seed=0)
    sizes = np.bincount(found.labels_, minlength=count).astype(np.float64)
    used = sizes > 0  # rows that are alike leave some without any
    return found.cluster_centers_[used].astype(np.float64), sizes[used]


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
