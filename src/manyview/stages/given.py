"""A few rows whose cluster is known -> where centres start, and what keeps such rows together."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from manyview.stages.kmeans import Assignment, sums_by_label
from manyview.stages.labels import Labels, label_rows
from manyview.stages.rows import Array, ScaledRows

_WEIGHT = 5.0  # of a row whose cluster is known, beside its part as any other row


def sum_given(rows: Array, labels: Labels, weights: Array, n_clusters: int) -> Assignment:
    """What embedding rows (g, c) of known clusters (g,) add to every sweep of k-means.

    They count as several more rows of their cluster, wherever they lie, so that its centre stays near
    them. Their own label is that of the nearest centre, like that of others.
    """
    weights = _WEIGHT * weights
    sums = sums_by_label(
        ScaledRows(rows * weights[:, None]), labels, np.zeros(n_clusters, np.int64)
    )
    counts = np.bincount(labels, weights, n_clusters)
    return Assignment(sums, counts, 0.0, -1.0, np.zeros(rows.shape[1]))


def seed_centers(centers: Array, rows: Array, labels: Labels, given: Assignment) -> Array:
    """Centres (k, c) in the order of the known clusters, near their rows, whose sums are ``given``.

    Each known cluster takes the centre that most of its rows are nearest to, no two the same; the
    others keep what is left.
    """
    votes = np.zeros((len(centers), len(centers)))
    np.add.at(votes, (label_rows(rows, centers), labels), 1.0)
    found, known = linear_sum_assignment(-votes)
    start = np.empty_like(centers)
    start[known] = centers[found]
    return np.asarray((start + given.sums) / (1.0 + given.counts)[:, None])
