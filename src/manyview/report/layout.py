"""Places on the map: t-SNE for some points, beside their neighbours for the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from manyview.report.samples import choose_balanced
from manyview.stages.rows import Array

GRID = 65_535
_N_ITERATIONS = 300
_N_NEIGHBOURS = 5
_DRAWN_POINTS = 5_000


def lay_out(embedding: Array, placed: npt.NDArray[np.int64], *, seed: int) -> Array:
    """Positions (n, 2) in the plane of embedding rows, of which t-SNE places those in ``placed``.

    Every other row goes to where its nearest neighbours in the embedding are, a little aside so that
    points do not hide each other.
    """
    # One thread: the same map every time.
    with threadpool_limits(limits=1):
        points = _run_tsne(embedding[placed], seed)
        if len(placed) == len(embedding):
            return points
        return _place_beside(embedding, placed, points, np.random.default_rng(seed))


def quantise(points: Array) -> npt.NDArray[np.int64]:
    """Positions as whole numbers from 0 to 65535, x and y in the same unit, y upwards.

    Examples
    --------
    >>> quantise(np.array([[0.0, 0.0], [2.0, 1.0]])).tolist()
    [[0, 16384], [65535, 49151]]
    """
    low, high = points.min(axis=0), points.max(axis=0)
    unit = GRID / (float((high - low).max()) or 1.0)
    centred = (points - (low + high) / 2) * unit + GRID / 2
    whole: npt.NDArray[np.int64] = np.clip(np.rint(centred), 0, GRID).astype(np.int64)
    return whole


def draw_points(points: dict[str, Any], n_clusters: int) -> dict[str, Any]:
    """The map as SVG paths, one a cluster, of at most 5000 points: for pages without a script."""
    labels = np.asarray(points["cluster"])
    rows = choose_balanced(labels, _DRAWN_POINTS, np.random.default_rng(0))
    places = np.column_stack([points["x"], points["y"]])[rows]
    x, y = np.rint(places * (1000 / GRID)).astype(int).T * [[1], [-1]] + [[20], [1020]]
    clusters = []
    for cluster in range(n_clusters):
        mine = np.column_stack([x, y])[labels[rows] == cluster]
        if len(mine):
            middle = mine[((mine - np.median(mine, axis=0)) ** 2).sum(axis=1).argmin()]
            path = "".join(f"M{a} {b}h0" for a, b in mine)
            clusters.append({"cluster": cluster, "path": path, "x": middle[0], "y": middle[1]})
    return {
        "box": f"{x.min() - 20} {y.min() - 20} {np.ptp(x) + 40} {np.ptp(y) + 40}",
        "size": min(max(300 / np.sqrt(len(rows)), 4), 11),
        "n_points": len(rows),
        "clusters": clusters,
        "has_names": n_clusters <= 40,
    }


def _run_tsne(rows: Array, seed: int) -> Array:
    from sklearn.manifold import TSNE

    n = len(rows)
    if n < 8 or not np.ptp(rows, axis=0).any():  # nothing to lay out
        angles = 2 * np.pi * np.arange(n) / n
        return np.column_stack([np.cos(angles), np.sin(angles)])
    if rows.shape[1] < 2:
        rows = np.column_stack([rows, np.zeros(n)])
    perplexity = min(30.0, (n - 1) / 3)
    tsne = TSNE(
        perplexity=perplexity,
        angle=0.8,  # nearer to 0 is slower, and places no better
        early_exaggeration=4.0,  # after which few iterations are enough for groups to unfold
        max_iter=_N_ITERATIONS,
        init="pca",
        random_state=seed,
    )
    points: Array = tsne.fit_transform(rows).astype(np.float64)
    return points


def _place_beside(
    embedding: Array, placed: npt.NDArray[np.int64], points: Array, rng: np.random.Generator
) -> Array:
    """Places of all rows, given those of some."""
    from sklearn.neighbors import NearestNeighbors

    result = np.empty((len(embedding), 2))
    result[placed] = points
    others = np.setdiff1d(np.arange(len(embedding)), placed)
    count = min(_N_NEIGHBOURS, len(placed))
    finder = NearestNeighbors(n_neighbors=count, algorithm="brute").fit(embedding[placed])
    spacing = NearestNeighbors(n_neighbors=min(4, len(points))).fit(points).kneighbors(points)[0]
    typical = float(np.median(spacing[:, -1]))
    for start in range(0, len(others), 20_000):
        block = others[start : start + 20_000]
        distances, neighbours = finder.kneighbors(embedding[block])
        places = points[neighbours]
        # Neighbours that t-SNE put elsewhere would pull a point into the empty space between.
        away = np.linalg.norm(places - places[:, :1], axis=2) > 8 * typical
        weights = np.where(away, 0.0, 1.0 / (distances + distances[:, :1] + 1e-12))
        weights /= weights.sum(axis=1, keepdims=True)
        around = np.linalg.norm(places[:, :1] - places, axis=2) * (weights > 0)
        aside = np.maximum(around.max(axis=1, keepdims=True) * 0.45, 0.4 * typical)
        aside = np.minimum(aside, 2.5 * typical)
        result[block] = np.einsum("ij,ijk->ik", weights, places)
        result[block] += aside * rng.normal(size=(len(block), 2))
    return result
