"""Embedding rows and centres -> how probable each cluster is, and how sharp that should be.

A row's probabilities fall with its squared distances to the centres: softmax(-b d^2). The nearest centre
is the most probable, so they never contradict a label. The embedding draws clusters together, and tells
nothing of how far they overlap; the columns do. So the sharpness b is the one that agrees best with
clusters which are Gaussian in the scaled columns, all with the same covariance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.covariance import ledoit_wolf

from manyview.stages.labels import labels_by_scores, score_centers
from manyview.stages.rows import Array

Labels = npt.NDArray[np.int32]

_LOG_SHARPNESS = (-6.0, 14.0)
_BLOCK_VALUES = 4_000_000  # of distances that are held at a time


def square_distances(rows: Array, centers: Array) -> Array:
    """Squared distances (n, k) of embedding rows (n, c) to centres (k, c).

    Rows in single precision are multiplied in it.
    """
    norms = (
        np.einsum("ij,ij->i", centers, centers)
        + np.square(rows, dtype=np.float64).sum(axis=1)[:, None]
    )
    return np.asarray(
        np.maximum(norms - 2.0 * (rows @ centers.T.astype(rows.dtype, copy=False)), 0.0)
    )


def probabilities(rows: Array, centers: Array, sharpness: float) -> Array:
    """How probable it is that each row (n, c) belongs to each cluster, shape (n, k).

    Examples
    --------
    >>> rows, centers = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [2.0]])
    >>> probabilities(rows, centers, 1.0).round(2).tolist()
    [[0.98, 0.02], [0.5, 0.5], [0.02, 0.98]]
    """
    _, likely = _label_and_compare(rows, centers, sharpness)
    return np.asarray(likely / likely.sum(axis=1)[:, None], np.float64)


def _label_and_compare(rows: Array, centers: Array, sharpness: float) -> tuple[Labels, Array]:
    """Labels of rows (n, c), and how probable clusters are over how probable the label is: (n, k)."""
    scores: Any = score_centers(rows, centers)
    labels = labels_by_scores(rows, centers, scores)
    scores -= scores[np.arange(len(rows)), labels][:, None]
    np.minimum(scores, 0.0, out=scores)  # near ties are settled in double precision: none is above
    scores *= 2.0 * sharpness
    return labels, np.exp(scores, out=scores)


def top_probabilities(rows: Array, centers: Array, sharpness: float, n_top: int) -> Array:
    """The clusters that are most probable for each row, and how probable they are: (n, 2 n_top).

    Clusters come first, then probabilities, descending. Few rows are looked at at a time, so that
    clusters may be many.

    Examples
    --------
    >>> rows, centers = np.array([[0.0], [1.9]]), np.array([[0.0], [2.0], [9.0]])
    >>> top_probabilities(rows, centers, 1.0, 2).round(2).tolist()
    [[0.0, 1.0, 0.98, 0.02], [1.0, 0.0, 0.97, 0.03]]
    """
    step = max(_BLOCK_VALUES // len(centers), 1)
    found = np.empty((len(rows), 2 * n_top))
    for start in range(0, len(rows), step):
        part = probabilities(rows[start : start + step], centers, sharpness)
        order = np.argsort(-part, axis=1, kind="stable")[:, :n_top]
        found[start : start + step, :n_top] = order
        found[start : start + step, n_top:] = np.take_along_axis(part, order, axis=1)
    return found


def label_surely(rows: Array, centers: Array, sharpness: float) -> Array:
    """The label of each embedding row (n, c), and how probable it is: (n, 2).

    Examples
    --------
    >>> rows, centers = np.array([[0.0], [1.9]]), np.array([[0.0], [2.0], [9.0]])
    >>> label_surely(rows, centers, 1.0).round(2).tolist()
    [[0.0, 0.98], [1.0, 0.97]]
    """
    step = max(_BLOCK_VALUES // len(centers), 1)
    found = np.empty((len(rows), 2))
    for start in range(0, len(rows), step):
        labels, likely = _label_and_compare(rows[start : start + step], centers, sharpness)
        found[start : start + step, 0] = labels
        found[start : start + step, 1] = 1.0 / likely.sum(axis=1)
    return found


def gaussian_posteriors(
    rows: Array, labels: Labels, n_clusters: int, some: npt.NDArray[np.integer]
) -> Array:
    """How probable each cluster is for the rows numbered ``some``, shape (len(some), k).

    Clusters are taken for Gaussian with means and one covariance as the labels of all rows (n, d) have
    them. A row does not speak for its own cluster: its distance to it is that to the mean of the others.
    """
    counts = np.bincount(labels, minlength=n_clusters)
    means = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(means, labels, rows)
    means /= np.maximum(counts, 1)[:, None]
    root = _root_of_covariance(rows - means[labels])
    white = linalg.solve_triangular(root, np.concatenate([rows[some], means]).T, lower=True).T
    distances = square_distances(white[: len(some)], white[len(some) :])
    own, each = counts[labels[some]], np.arange(len(some))
    distances[each, labels[some]] *= (own / np.maximum(own - 1, 1)) ** 2
    with np.errstate(divide="ignore"):  # a cluster without rows is impossible
        logs = np.log(counts / len(rows))
    return np.asarray(softmax(logs - 0.5 * distances, axis=1))


def _root_of_covariance(residuals: Array) -> Array:
    """A triangular root (d, d) of the rows' covariance, shrunk to what rows so few can tell."""
    spread = np.sqrt(np.maximum(np.mean(residuals**2, axis=0), np.finfo(np.float32).tiny))
    shrunk = ledoit_wolf(residuals / spread, assume_centered=True)[0]
    shrunk[np.diag_indices_from(shrunk)] += 1e-9
    return np.asarray(linalg.cholesky(shrunk, lower=True) * spread[:, None])


def fit_sharpness(distances: Array, posteriors: Array) -> float:
    """The b for which softmax(-b distances) agrees best with given probabilities, both (n, k).

    That is where the cross-entropy is least: where both expect the same distance.
    """
    wanted = float((posteriors * distances).sum(axis=1).mean())

    def excess(log_sharpness: float) -> float:
        found = softmax(-np.exp(log_sharpness) * distances, axis=1)
        return float((found * distances).sum(axis=1).mean()) - wanted

    low, high = _LOG_SHARPNESS
    if excess(high) >= 0.0:
        return float(np.exp(high))
    if excess(low) <= 0.0:
        return float(np.exp(low))
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))
