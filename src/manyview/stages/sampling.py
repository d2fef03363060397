"""Which rows stand for all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ROWS_PER_ANCHOR = 32
"""Sampled rows for each anchor that k-means places."""
_ROWS_PER_CLUSTER, _LEAST_ROWS = 100, 20_000
_COPIES = 4  # of a row of average weight, where weights are not whole
_MOST = 0.75


def count_sample_rows(n_anchors: int, n_clusters: int | None) -> int:
    """Number of rows that everything is worked out on which needs no more than a sample."""
    wanted = (ROWS_PER_ANCHOR * n_anchors, _ROWS_PER_CLUSTER * (n_clusters or 0), _LEAST_ROWS)
    return max(wanted)


def size_of_sample(n_rows: int, n_anchors: int, n_clusters: int | None) -> int:
    """How many of all rows a fit samples.

    All of them if it would be most: then what is worked out for all serves for the sample too.

    Examples
    --------
    >>> size_of_sample(26_000, 300, 10), size_of_sample(27_000, 300, 10)
    (26000, 20000)
    """
    wanted = count_sample_rows(n_anchors, n_clusters)
    return n_rows if wanted >= _MOST * n_rows else wanted


def choose_rows(n_rows: int, n_wanted: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Distinct row numbers, ascending; all of them if as many are wanted.

    Examples
    --------
    >>> choose_rows(3, 3, np.random.default_rng(0))
    array([0, 1, 2])
    """
    if n_wanted >= n_rows:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, n_wanted, replace=False, shuffle=False))


def choose_weighted(
    weights: npt.NDArray[np.float64], n_wanted: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Row numbers, ascending, each as often as its weight asks for; those of weight 0 never.

    Whole weights that are not too many in all are taken as they are. Else at most ``n_wanted`` numbers
    are drawn at equal distances along the summed weights.

    Examples
    --------
    >>> choose_weighted(np.array([1.0, 0.0, 2.0]), 10, np.random.default_rng(0))
    array([0, 2, 2])
    """
    ends, total = np.cumsum(weights), float(weights.sum())
    if total <= n_wanted and np.array_equal(weights, np.rint(weights)):
        return np.repeat(np.arange(len(weights)), weights.astype(np.int64))
    count = min(n_wanted, _COPIES * int(np.count_nonzero(weights)))
    places = (np.arange(count) + rng.random()) * (ends[-1] / count)
    found = np.searchsorted(ends, places, side="right")
    return np.asarray(np.minimum(found, np.flatnonzero(weights)[-1]))


def spread_evenly(n_rows: int, n_wanted: int) -> npt.NDArray[np.int64]:
    """Row numbers at equal distances, ascending.

    Examples
    --------
    >>> spread_evenly(9, 3)
    array([0, 4, 8])
    """
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, n_wanted)).astype(np.int64))
