"""Embedding rows -> centres and labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from manyview.errors import warn_user
from manyview.stages.kmeans import nearest_centers
from manyview.stages.rows import Array, ScaledRows

Each = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]


def start_centers(
    sample: Array,
    n_clusters: int,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    seed: int,
    each: Each = map,
) -> Array:
    """The best of ``n_init`` k-means solutions on sampled embedding rows (n, c).

    ``each`` maps a function over the starts, in their order; a thread pool's map will do.
    """
    n_distinct = len(np.unique(sample, axis=0)) if len(sample) <= 10 * n_clusters else n_clusters
    if n_distinct < n_clusters:
        warn_user(
            f"The embedding has only {n_distinct} distinct rows for {n_clusters} clusters: some of "
            "them stay empty.",
            ConvergenceWarning,
        )

    def solve(seed: int) -> KMeans:
        kmeans = KMeans(n_clusters, n_init=1, max_iter=max_iter, tol=tol, random_state=seed)
        return kmeans.fit(sample)

    # Around all threads, not inside each: the filters belong to the process.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solutions = list(each(solve, [seed + start for start in range(n_init)]))
    return np.asarray(min(solutions, key=lambda solution: solution.inertia_).cluster_centers_)


def label_rows(rows: Array, centers: Array) -> npt.NDArray[np.int32]:
    """The label of each embedding row: its nearest centre."""
    return nearest_centers(ScaledRows(rows), centers)[0]
