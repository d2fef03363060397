"""The tree in which clusters are merged, as lines to draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyview.stages.hierarchy import Hierarchy

_MOST = 60  # clusters; the lines of more run into each other


def describe_tree(hierarchy: Hierarchy | None, n_clusters: int) -> dict[str, Any] | None:
    """Clusters in the order of the tree, and its joins; None where it cannot be drawn.

    Of a join, ``ends`` are the places of its two sides in that order (between two clusters where a side
    is a group), ``depths`` how far along they start, and ``depth`` where they meet: 0 are the clusters,
    1 is where all are one.
    """
    if hierarchy is None or not 2 <= n_clusters <= _MOST:
        return None
    n_leaves, tree = len(hierarchy.leaves), hierarchy.tree
    first = n_leaves - n_clusters  # joins of clusters come last
    base, top = float(tree[first - 1, 2]) if first else 0.0, float(tree[-1, 2])

    def is_cluster(node: int) -> bool:
        return node < n_leaves + first

    def children(node: int) -> list[int]:
        return [int(side) for side in tree[node - n_leaves, :2]]

    def cluster_of(node: int) -> int:
        while node >= n_leaves:
            node = children(node)[0]
        return int(hierarchy.clusters[node])

    order: list[int] = []
    waiting = [2 * n_leaves - 2]
    while waiting:
        node = waiting.pop()
        if is_cluster(node):
            order.append(cluster_of(node))
        else:
            waiting += children(node)[::-1]
    places = {cluster: float(place) for place, cluster in enumerate(order)}
    at: dict[int, tuple[float, float]] = {}  # of groups: place and depth
    joins = []
    for number in range(first, n_leaves - 1):
        sides = [
            (places[cluster_of(node)], 0.0) if is_cluster(node) else at[node]
            for node in children(n_leaves + number)
        ]
        depth = float((tree[number, 2] - base) / (top - base)) if top > base else 1.0
        ends, depths = [place for place, _ in sides], [round(deep, 4) for _, deep in sides]
        at[n_leaves + number] = float(np.mean(ends)), depth
        joins.append({"ends": ends, "depths": depths, "depth": round(depth, 4)})
    return {"order": order, "joins": joins}
