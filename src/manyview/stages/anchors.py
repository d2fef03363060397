"""Rows of a view -> its anchors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from manyview.stages.kmeans import Sweep, lloyd
from manyview.stages.scaling import Array, ScaledRows

SAMPLE_ROWS_PER_ANCHOR = 256
_FIRST_ROWS_PER_ANCHOR = 32
_FIRST_SWEEPS, _LAST_SWEEPS = 10, 3


def n_first_rows(n_anchors: int) -> int:
    """Number of sampled rows that the first sweeps of the anchors' k-means see."""
    return n_anchors * _FIRST_ROWS_PER_ANCHOR


def choose_rows(n_rows: int, n_wanted: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Give distinct row numbers, ascending.

    Examples
    --------
    >>> choose_rows(3, 3, np.random.default_rng(0))
    array([0, 1, 2])
    """
    if n_wanted >= n_rows:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, n_wanted, replace=False, shuffle=False))


def refine_anchors(starts: Array, first: Sweep, last: Sweep) -> Array:
    """Give anchors by k-means from ``starts`` (m, d): most sweeps over few rows, the last over all.

    Anchors need to lie where rows are, not to be a perfect k-means solution: sweeps over an eighth
    of the sample bring them there, and a few over all of it settle them.
    """
    centers, _, _ = lloyd(first, starts, max_iter=_FIRST_SWEEPS)
    centers, _, _ = lloyd(last, centers, max_iter=_LAST_SWEEPS)
    return centers


def best_start(sample: ScaledRows, n_anchors: int, *, seed: int) -> Array:
    """Give the best of ten k-means solutions on sampled rows: where k-means on all rows starts."""
    kmeans = KMeans(n_anchors, n_init=10, max_iter=100, random_state=seed).fit(sample.matrix)
    centers: Array = kmeans.cluster_centers_
    return centers if sample.offset is None else centers - sample.offset
