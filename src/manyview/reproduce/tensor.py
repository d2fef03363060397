"""TBGL, a published method whose labels depend on the order of rows: an experiment, not an estimator.

It learns one bipartite graph a view, between rows and anchors, and asks that the tensor of all graphs
have low rank: a t-SVD whose Fourier transform runs along the rows. Where a file has its classes one
after the other, graphs that are alike within a class have energy in few frequencies only, so the
step pulls neighbours *in the file* together. ``tensor_step=False`` leaves the shrinkage out, and all
else as it is.

W. Xia et al., Tensorized bipartite graph learning for multi-view clustering, TPAMI 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from manyview.baselines.steps.projections import simplex_rows

Array = npt.NDArray[np.float64]

# The authors' settings for MSRC-v1.
_ANCHOR_SHARE, _N_NEIGHBOURS, _N_SWEEPS = 0.5, 10, 52
_NOISE_WEIGHT, _COLUMN_WEIGHT, _POWER = 0.025, 1e-4, 0.9
_PENALTY, _PENALTY_GROWTH, _RANK_WEIGHT = 1e-4, 1.1, 10.0
_TINY = np.finfo(float).eps


def cluster_by_tensor(
    views: Sequence[Any], n_clusters: int, *, tensor_step: bool = True, seed: int = 0
) -> npt.NDArray[np.int32]:
    """Labels of rows by TBGL; views are divided by their largest value, as the authors do."""
    arrays = [np.asarray(X, dtype=float) / np.max(X) for X in views]
    with threadpool_limits(limits=1):  # thousands of small products: threads would only wait
        graph = _learn_graph(_make_graphs(arrays), n_clusters, tensor_step)
        degrees = graph.sum(axis=1, keepdims=True) + _TINY
        scaled = graph / np.sqrt(degrees) / np.sqrt(graph.sum(axis=0) + _TINY)
        vectors = np.linalg.svd(scaled, full_matrices=False)[0][:, :n_clusters]
        labels = KMeans(n_clusters, n_init=20, random_state=seed).fit_predict(vectors)
    return np.asarray(labels, dtype=np.int32)


def _learn_graph(B: Array, n_clusters: int, tensor_step: bool) -> Array:
    """The common graph (n, m), from graphs B (v, n, m): alternate directions with three copies of it."""
    n_views, k = len(B), n_clusters
    noise, low_rank, spread = (np.zeros_like(B) for _ in range(3))
    to_noise, to_low_rank, to_spread = (np.zeros_like(B) for _ in range(3))
    weights, rank_weight, penalty = np.full(n_views, 1 / n_views), _RANK_WEIGHT, _PENALTY
    graphs, rows, columns, _ = B, *_leading_vectors(B, weights, k)
    for _ in range(_N_SWEEPS):
        pull = 2 * rank_weight * _by_degree(rows @ columns.T, graphs) / weights[:, None, None]
        copies = B - noise + low_rank + spread
        wanted = penalty * copies + to_noise + to_low_rank - to_spread + pull
        graphs = np.stack([simplex_rows(each) for each in wanted / (3 * penalty)])
        low_rank = graphs - to_low_rank / penalty
        if tensor_step:
            low_rank = shrink_along_rows(low_rank, 1 / penalty)
        spread = shrink_columns(graphs + to_spread / penalty, 2 * _COLUMN_WEIGHT / penalty)
        rest = B - graphs + to_noise / penalty
        noise = np.sign(rest) * np.maximum(np.abs(rest) - _NOISE_WEIGHT / penalty, 0)
        rows, columns, values = _leading_vectors(graphs, weights, k)
        if values[:k].sum() < k - 1e-7:
            rank_weight *= 2  # fewer than k parts are apart
        elif values[: k + 1].sum() > k + 1 - 1e-7:
            rank_weight /= 2
        else:
            break
        weights = _view_weights(graphs, rows, columns)
        to_noise += penalty * (B - noise - graphs)
        to_low_rank += penalty * (low_rank - graphs)
        to_spread += penalty * (graphs - spread)
        penalty *= _PENALTY_GROWTH
    shares = (1 / weights) / (1 / weights).sum()
    return np.tensordot(shares, graphs, axes=1)


def shrink_along_rows(graphs: Array, threshold: float) -> Array:
    """The step in question: singular values of every frequency along the rows of (v, n, m), shrunk."""
    spectrum = np.fft.rfft(graphs, axis=1).transpose(1, 2, 0)
    U, values, Vt = np.linalg.svd(spectrum, full_matrices=False)
    shrunk = (U * _shrink_power(values, threshold)[:, None, :]) @ Vt
    return np.fft.irfft(shrunk.transpose(2, 0, 1), n=graphs.shape[1], axis=1)


def _shrink_power(values: Array, threshold: float) -> Array:
    """The minimiser x of (x - value)^2 / 2 + threshold x^p, by a few fixed-point steps."""
    p = _POWER
    least = (2 * threshold * (1 - p)) ** (1 / (2 - p))
    least += p * threshold * (2 * (1 - p) * threshold) ** ((p - 1) / (2 - p))
    kept = values[values > least]
    x = kept.copy()
    for _ in range(4):
        x = kept - p * threshold * x ** (p - 1)
    shrunk = np.zeros_like(values)
    shrunk[values > least] = x
    return shrunk


def shrink_columns(Y: Array, threshold: float) -> Array:
    """The minimiser of ||X - Y||^2 + threshold times the squared sum of each column's magnitudes."""
    ordered = -np.sort(-np.abs(Y), axis=1)
    ranks = np.arange(1, Y.shape[1] + 1)[:, None]
    levels = threshold * np.cumsum(ordered, axis=1) / (1 + threshold * ranks)
    n_kept = np.maximum((ordered >= levels).sum(axis=1, keepdims=True), 1)
    kept = np.maximum(np.abs(Y) - np.take_along_axis(levels, n_kept - 1, axis=1), 0.0)
    return np.asarray(np.sign(Y) * kept)


def _by_degree(matrices: Array, graphs: Array) -> Array:
    """Columns divided by the roots of the anchors' degrees."""
    return np.asarray(matrices / np.sqrt(graphs.sum(axis=1, keepdims=True) + _TINY))


def _leading_vectors(graphs: Array, weights: Array, k: int) -> tuple[Array, Array, Array]:
    joined = (_by_degree(graphs, graphs) / weights[:, None, None]).sum(axis=0)
    U, values, Vt = np.linalg.svd(joined, full_matrices=False)
    return U[:, :k] / np.sqrt(2), Vt[:k].T / np.sqrt(2), values


def _view_weights(graphs: Array, rows: Array, columns: Array) -> Array:
    """Each view's share of the roots of what its Laplacian leaves of the vectors."""
    scaled = _by_degree(graphs, graphs) / np.sqrt(graphs.sum(axis=2, keepdims=True))
    kept = 2 * ((scaled @ columns) * rows).sum(axis=(1, 2))
    roots = np.sqrt(np.maximum((rows**2).sum() + (columns**2).sum() - kept, _TINY))
    return np.asarray(roots / roots.sum())


def _make_graphs(arrays: Sequence[Array]) -> Array:
    """A graph of nearest anchors for each view, with weights that fall to the next one's."""
    n = len(arrays[0])
    chosen = _choose_anchors(np.hstack(arrays), int(n * _ANCHOR_SHARE))
    q = min(_N_NEIGHBOURS, len(chosen) - 1)
    graphs = np.zeros((len(arrays), n, len(chosen)))
    for graph, X in zip(graphs, arrays, strict=True):
        A = X[chosen]
        distances = np.maximum((X**2).sum(axis=1)[:, None] - 2 * X @ A.T + (A**2).sum(axis=1), 0)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, : q + 1]
        near = np.take_along_axis(distances, nearest, axis=1)
        total = q * near[:, q:] - near[:, :q].sum(axis=1, keepdims=True) + _TINY
        np.put_along_axis(graph, nearest, (near[:, q:] - near) / total, axis=1)
    return graphs


def _choose_anchors(X: Array, m: int) -> npt.NDArray[np.intp]:
    """Rows whose variances stand out, each taking from the score of those like it."""
    score = X.var(axis=1)
    chosen = [int(score.argmax())]
    while len(chosen) < m:
        score = score / score.max()
        likeness = 1 / (1 + np.sqrt(np.abs(score - score[chosen[-1]])))
        score = score * (1 - likeness)
        chosen.append(int(score.argmax()))
    return np.sort(chosen)
