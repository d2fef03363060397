"""Real rows and anchors that benchmarks share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.record import Report
from manyview import Views, datasets
from manyview.errors import DatasetNotFoundError

Array = np.ndarray[Any, np.dtype[np.float64]]

_ANCHOR_ROWS = 20_000


def find(report: Report, name: str) -> Views | None:
    """Give a data set, or report that it is not on this machine. Nothing is downloaded."""
    try:
        return datasets.load(name, download=False)
    except DatasetNotFoundError:
        report.add(f"{name}: not on this machine", note="missing data")
        return None


def standardised(X: Any) -> Array:
    """Columns of mean 0 and variance 1, constant ones left out; rows of unit mean squared norm."""
    rows = np.asarray(X, dtype=np.float64)
    deviation = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0))[:, deviation > 0] / deviation[deviation > 0]
    rows /= np.sqrt(np.einsum("ij,ij->", rows, rows) / len(rows))
    return rows


def shuffled(X: Array, *, seed: int = 0) -> Array:
    """Rows in random order."""
    return X[np.random.default_rng(seed).permutation(len(X))]


def find_anchors(X: Array, n_anchors: int, *, seed: int = 0) -> Array:
    """Anchors (m, d) by k-means from random rows, on the first rows."""
    kmeans = KMeans(n_anchors, init="random", n_init=1, max_iter=20, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct rows than anchors, or not converged: fine
        centers: Array = kmeans.fit(X[:_ANCHOR_ROWS]).cluster_centers_
    return centers
