"""Embedding rows of a sample -> centres that k-means starts from; embedding rows -> labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from manyview.errors import silenced, warn_user
from manyview.stages.kmeans import nearest_centers, sweep_likely
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.sampling import choose_rows, spread_evenly
from manyview.stages.ward import cut_tree, ward_tree

Labels = npt.NDArray[np.int32]
Floats = npt.NDArray[np.floating[Any]]

_CENTERS_PER_CLUSTER = 3
_MANY_CENTERS = 200  # from here on they start at random rows, and have few sweeps among likely ones
_LEAST_ROWS, _ROWS_PER_CENTER = 20_000, 20  # that very many centres are found among
VERY_MANY_CLUSTERS = 200
"""With more, Ward's criterion alone merges centres."""
_FIRST_SWEEPS, _FEW_SWEEPS = 3, 10
# Fewer rows are a few odd ones: of an average cluster's the first share; and ten, where ten are not more
# than the second.
_LEAST_SHARE, _LEAST_MEMBERS, _MOST_SHARE = 0.03, 10, 0.1
_POWER = 0.1  # of sizes where the nearest are merged: of two that are as near, rare ones go first


def find_starts(
    rows: Floats,
    graph: sparse.csr_array | None,
    n_clusters: int,
    *,
    seed: int,
    places: Callable[[sparse.csr_array], Array] | None = None,
    each: Any = map,
) -> dict[str, Array]:
    """Centres (k, c) of sampled embedding rows (n, c), found in up to three ways, by name.

    K-means with three centres a cluster sees what is dense; these are merged to k groups, by Ward's
    criterion, by average linkage, and by their links in ``graph`` (n, M), the fused graph with columns
    scaled; very many, or without a graph, by the first alone. With ``places``, which tells where means
    of rows lie in the views (members (g, n) in, (g, p) out), those that are nearest there are merged
    instead, so that what differs most stays apart, however rare. The means of the groups are what
    k-means starts from.
    """
    k = n_clusters
    count = max(k, min(_CENTERS_PER_CLUSTER * k, len(rows) // 4))
    few = spread_evenly(len(rows), max(_LEAST_ROWS, _ROWS_PER_CENTER * count))
    n = len(rows)
    if len(few) < n:
        rows, graph = rows[few], None if graph is None else graph[few]
    placed, labels = _place_centers(rows, count, seed, each)
    centers = placed.astype(np.float64)
    sizes = np.bincount(labels, minlength=count).astype(np.float64)
    groups = {"ward": cut_tree(ward_tree(centers, sizes), count, k)}
    if places is not None and k <= VERY_MANY_CLUSTERS:
        shares = 1.0 / np.maximum(sizes, 1.0)[labels]
        means = places(sparse.csr_array((shares, (labels, few)), shape=(count, n)))
        groups = {"places": merge_nearest(means, sizes, k, least=_least_members(len(rows) / k))}
    elif graph is not None and k <= VERY_MANY_CLUSTERS:
        average = linkage(pdist(centers), "average") if count > 1 else np.empty((0, 4))
        groups["average"] = cut_tree(average, count, k)
        groups["graph"] = merge_linked(graph, labels, count, k)
    return {name: _means(centers, sizes, merged, k) for name, merged in groups.items()}


def _least_members(average: float) -> float:
    """The rows that a group of its own must have, where clusters have so many in the mean."""
    return max(_LEAST_SHARE * average, min(_LEAST_MEMBERS, _MOST_SHARE * average))


def _place_centers(rows: Floats, count: int, seed: int, each: Any) -> tuple[Floats, Labels]:
    """Centres of what is dense, and the rows' nearest ones."""
    if count < _MANY_CENTERS:
        found = fit_kmeans(rows, count, init="k-means++", max_iter=30, seed=seed)
        return found.cluster_centers_, found.labels_
    single = rows.astype(np.float32, copy=False)
    starts = single[choose_rows(len(rows), count, np.random.default_rng(seed))]
    moved, _ = sweep_likely(single, starts, n_sweeps=_FIRST_SWEEPS, each=each)
    return sweep_likely(single, moved, n_sweeps=_FEW_SWEEPS, each=each)


def fit_kmeans(
    rows: Floats, n_clusters: int, *, init: str | Floats, max_iter: int, seed: int
) -> KMeans:
    """scikit-learn's k-means from one start; silent about rows that are alike."""
    # BLAS now and then says "invalid" of finite numbers: of what is beside them in its registers.
    with silenced(ConvergenceWarning), np.errstate(invalid="ignore"):
        kmeans = KMeans(n_clusters, init=init, n_init=1, max_iter=max_iter, random_state=seed)
        return kmeans.fit(rows)


def warn_of_alike(sample: Array, n_clusters: int) -> None:
    """Warn where embedding rows (n, c) are so much alike that clusters will stay empty."""
    n_distinct = len(np.unique(sample, axis=0)) if len(sample) <= 10 * n_clusters else n_clusters
    if n_distinct < n_clusters:
        warn_user(
            f"The embedding has only {n_distinct} distinct rows for {n_clusters} clusters: some of "
            "them stay empty.",
            ConvergenceWarning,
        )


def improve_centers(
    rows: Floats, centers: Array, *, max_iter: int = 100, each: Any = map
) -> tuple[Labels, Array]:
    """Labels and centres (k, c) by k-means from a start; of many, by a few sweeps."""
    k = len(centers)
    if _CENTERS_PER_CLUSTER * k >= _MANY_CENTERS:  # more sweeps follow, over all rows
        single, start = (each.astype(np.float32, copy=False) for each in (rows, centers))
        moved, labels = sweep_likely(single, start, n_sweeps=min(max_iter, _FEW_SWEEPS), each=each)
        return labels, moved.astype(np.float64)
    start = centers.astype(rows.dtype, copy=False)
    found = fit_kmeans(rows, k, init=start, max_iter=min(max_iter, 100), seed=0)
    return found.labels_, found.cluster_centers_.astype(np.float64)


def count_specks(labels: Labels, n_clusters: int) -> int:
    """How many clusters have hardly any rows, or none.

    Examples
    --------
    >>> count_specks(np.repeat([0, 1, 2], [500, 490, 2]), 4)
    2
    """
    sizes = np.bincount(labels, minlength=n_clusters)
    return int((sizes < _LEAST_SHARE * len(labels) / n_clusters).sum())


def _means(centers: Array, sizes: Array, groups: Labels, n_groups: int) -> Array:
    weights = sizes + 1e-9  # a centre without rows stands where it stands
    totals = np.bincount(groups, weights, minlength=n_groups)
    members = sparse.csr_array(
        (weights, (groups, np.arange(len(groups)))), shape=(n_groups, len(groups))
    )
    return np.asarray(members @ centers / totals[:, None])


def merge_linked(graph: sparse.csr_array, labels: Labels, count: int, n_groups: int) -> Labels:
    """Merge ``count`` groups of rows until so many are left, each time the two most linked.

    That is the link in the graph B B' over the volume of the smaller one.
    """
    n, tiny = len(labels), np.finfo(np.float64).tiny
    members = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(count, n))
    sums = members @ graph
    W = (sums @ sums.T).toarray()
    volume, group = W.sum(axis=0), np.arange(count)
    np.fill_diagonal(W, -np.inf)  # as what was merged into another
    linked = W / np.maximum(np.minimum(volume[:, None], volume), tiny)
    for _ in range(count - n_groups):
        i, j = divmod(int(linked.argmax()), count)
        W[i] += W[j]
        W[:, i] += W[:, j]
        volume[i] += volume[j]
        W[j] = W[:, j] = linked[j] = linked[:, j] = -np.inf
        smaller = np.maximum(np.minimum(volume, volume[i]), tiny)
        linked[i], linked[:, i] = W[i] / smaller, W[:, i] / smaller
        group[group == j] = i
    return np.unique(group, return_inverse=True)[1].astype(np.int32)


def merge_nearest(points: Array, sizes: Array, n_groups: int, *, least: float) -> Labels:
    """Merge points (c, p), each the mean of so many rows, until so many are left: the nearest first.

    Their squared distance counts, the more the larger the smaller of the two, but hardly: Ward's
    criterion has the first power of the size. Those of fewer than ``least`` rows go before all others.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [9.0], [20.0]])
    >>> merge_nearest(points, np.array([50, 50, 50, 1]), 2, least=3).tolist()
    [0, 0, 1, 1]
    """
    points, sizes = points.copy(), np.maximum(sizes, 1e-9)
    group, is_left = np.arange(len(points)), np.ones(len(points), bool)

    def apart_from(i: int) -> Array:
        both = sizes[i] * sizes / (sizes[i] + sizes)
        cost = ((points - points[i]) ** 2).sum(axis=1) * both**_POWER
        return np.where(is_left & (np.arange(len(points)) != i), cost, np.inf)

    apart = np.stack([apart_from(i) for i in range(len(points))])
    for _ in range(len(points) - n_groups):
        few = np.flatnonzero(is_left & (sizes < least))
        few = few if len(few) else np.flatnonzero(is_left)
        place, j = divmod(int(apart[few].argmin()), len(points))
        i = int(few[place])
        points[i] += (points[j] - points[i]) * sizes[j] / (sizes[i] + sizes[j])
        sizes[i] += sizes[j]
        is_left[j], group[group == j] = False, i
        apart[j] = apart[:, j] = np.inf
        apart[i] = apart[:, i] = apart_from(i)
    return np.unique(group, return_inverse=True)[1].astype(np.int32)


def corner_centers(rows: Array, n_clusters: int) -> Array:
    """Centres (k, k) of rows (n, k) near k corners at right angles: the rows that differ most.

    They come in the order in which rows are near them: which row is the farthest, among many that are as
    long, is a matter of rounding.
    """
    pivots = linalg.qr(rows.T, pivoting=True, mode="economic")[2][:n_clusters]
    left, _, right = linalg.svd(rows[pivots].T)
    labels = np.abs(rows @ (left @ right)).argmax(axis=1)
    counts = np.bincount(labels, minlength=n_clusters)
    members = sparse.csr_array(
        (np.ones(len(rows)), (labels, np.arange(len(rows)))), shape=(n_clusters, len(rows))
    )
    means: Array = members @ rows / np.maximum(counts, 1)[:, None]
    firsts = np.full(n_clusters, len(rows))
    np.minimum.at(firsts, labels, np.arange(len(rows)))
    order = np.argsort(firsts, kind="stable")
    return np.where((counts > 0)[:, None], means, rows[pivots])[order]


def label_rows(rows: Array, centers: Array) -> Labels:
    """The label of each embedding row: its nearest centre.

    Rows in single precision are compared in it, and again in double where two centres are as near.
    """
    return labels_by_scores(rows, centers, score_centers(rows, centers))


def score_centers(rows: Array, centers: Array) -> Floats:
    """Greater for what is nearer, (n, k): x'c - ||c||^2/2 of embedding rows x and centres c.

    They are in the rows' precision.
    """
    scores: Floats = rows @ centers.T.astype(rows.dtype)
    scores -= (0.5 * np.square(centers).sum(axis=1)).astype(rows.dtype)
    return scores


def labels_by_scores(rows: Array, centers: Array, scores: Floats) -> Labels:
    """The same labels, where scores are known."""
    labels: Labels = scores.argmax(axis=1).astype(np.int32)
    if rows.dtype != np.float32:
        return labels
    numbers = np.arange(len(rows))
    best = scores[numbers, labels]
    scores[numbers, labels] = -np.inf
    second = scores.max(axis=1)
    scores[numbers, labels] = best
    # Each of a product's terms, and what is done with them, may be rounded.
    longest = np.sqrt(np.square(centers).sum(axis=1).max())
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    doubts = (rows.shape[1] + 4) * np.finfo(np.float32).eps * longest * (lengths + longest)
    close = np.flatnonzero(~(best - second > doubts))
    labels[close] = nearest_centers(ScaledRows(rows[close].astype(np.float64)), centers)[0]
    return labels
