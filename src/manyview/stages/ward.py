"""Weighted points -> the tree in which Ward's criterion merges them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manyview.stages.rows import Array


def ward_tree(points: Array, sizes: Array) -> Array:
    """Merges of points (n, c) that stand for ``sizes`` (n,) rows each, as SciPy's linkage writes them.

    Each merge costs the least inertia of all. They are found along chains of nearest neighbours, so
    that the time is quadratic in n; sorted by their cost, they are those that a search for the cheapest
    one at a time would make.

    Examples
    --------
    >>> ward_tree(np.array([[0.0], [1.0], [9.0]]), np.ones(3))[:, :2].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    n, sizes = len(points), np.maximum(sizes, 1e-9)
    norms = np.einsum("ij,ij->i", points, points)
    cost = np.maximum(norms[:, None] + norms - 2.0 * points @ points.T, 0.0)
    cost *= sizes[:, None] * sizes / (sizes[:, None] + sizes)
    np.fill_diagonal(cost, np.inf)
    merges: list[tuple[float, int, int]] = []
    chain: list[int] = []
    is_left, heights = np.ones(n, bool), np.zeros(n)
    while len(merges) < n - 1:
        if not chain:
            chain.append(int(is_left.argmax()))
        here = chain[-1]
        following = int(cost[here].argmin())
        # On a tie go back: a chain must not run in circles.
        if len(chain) > 1 and cost[here, chain[-2]] <= cost[here, following]:
            following = chain[-2]
        if len(chain) < 2 or following != chain[-2]:
            chain.append(following)
            continue
        i, j = sorted((chain.pop(), chain.pop()))
        # Rounding may make a merge cheaper than those it is made of, and it must come after them.
        heights[i] = max(float(cost[i, j]), heights[i], heights[j])
        merges.append((float(heights[i]), i, j))
        _merge(cost, sizes, i, j)
        is_left[j] = False
    return _as_linkage(merges, n)


def _merge(cost: Array, sizes: Array, i: int, j: int) -> None:
    """Put j into i (cost (n, n) and sizes (n,): in and out), by the formula of Lance and Williams."""
    with np.errstate(invalid="ignore"):  # of what was merged before: it stays infinite
        total = sizes[i] + sizes[j] + sizes
        row = (
            (sizes[i] + sizes) * cost[i] + (sizes[j] + sizes) * cost[j] - sizes * cost[i, j]
        ) / total
    row[np.isnan(row)] = np.inf
    row[[i, j]] = np.inf
    cost[i] = cost[:, i] = row
    cost[j] = cost[:, j] = np.inf
    sizes[i] += sizes[j]


def _as_linkage(merges: list[tuple[float, int, int]], n: int) -> Array:
    tree, names = np.empty((n - 1, 4)), list(range(n))
    counts = np.ones(n)
    for number, (height, i, j) in enumerate(sorted(merges, key=lambda merge: merge[0])):
        counts[i] += counts[j]
        tree[number] = (*sorted((names[i], names[j])), height, counts[i])
        names[i] = n + number
    return tree


def cut_tree(tree: Array, n_points: int, n_groups: int) -> npt.NDArray[np.int32]:
    """The groups (n_points,) that are left when the first merges have made exactly ``n_groups``.

    Examples
    --------
    >>> cut_tree(ward_tree(np.array([[0.0], [9.0], [1.0]]), np.ones(3)), 3, 2).tolist()
    [1, 0, 1]
    """
    parent = np.arange(2 * n_points)
    for number, (first, second) in enumerate(tree[: n_points - n_groups, :2].astype(np.int64)):
        parent[[first, second]] = n_points + number
    for node in range(2 * n_points - 1, -1, -1):  # parents have larger numbers
        parent[node] = parent[parent[node]]
    return np.unique(parent[:n_points], return_inverse=True)[1].astype(np.int32)
