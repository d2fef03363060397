"""How sure the model is of each point and each cluster, from distances to the centres."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

Array = npt.NDArray[np.float64]

UNSURE = 0.2
"""Points surer than this are called sure: their second centre is 1.25 times as far as their own."""

N_BINS = 20
_BLOCK = 8192


class Certainty(NamedTuple):
    """What distances to the centres say of each point; all of shape (n,).

    Sureness is the margin relative to the larger of the two distances: 1 at the centre, 0 half-way
    between two clusters, negative on the wrong side. This is the simplified silhouette.
    """

    distance: Array  # to the centre of its own cluster
    margin: Array  # how much further the nearest other centre is
    sureness: Array
    second: npt.NDArray[np.int64]  # the nearest other cluster; -1 if there is none


def measure_certainty(
    embedding: Array, labels: npt.NDArray[np.integer], centers: Array, sizes: npt.NDArray[np.int64]
) -> Certainty:
    """Measure how sure the label of each embedding row is; clusters of size 0 are nobody's second.

    Examples
    --------
    >>> sure = measure_certainty(
    ...     np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1]), np.array([[0.0], [4.0]]),
    ...     np.array([2, 1]),
    ... )
    >>> sure.sureness.round(2).tolist(), sure.margin.tolist()
    ([1.0, 0.67, 1.0], [4.0, 2.0, 4.0])
    """
    parts = [
        _measure_block(cdist(embedding[block], centers), labels[block], sizes == 0)
        for block in gen_batches(len(embedding), _BLOCK)
    ]
    return Certainty(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _measure_block(
    distances: Array, labels: npt.NDArray[np.integer], is_empty: npt.NDArray[np.bool_]
) -> tuple[Any, ...]:
    each = np.arange(len(labels))
    own = distances[each, labels]
    distances[each, labels] = np.inf
    distances[:, is_empty] = np.inf
    second = distances.argmin(axis=1)
    other = distances[each, second]
    alone = np.isinf(other)
    second, other = np.where(alone, -1, second), np.where(alone, 2 * own + 1, other)
    larger = np.maximum(own, other)
    sureness = np.where(larger > 0, (other - own) / np.where(larger > 0, larger, 1.0), 0.0)
    return own, other - own, np.where(alone, 1.0, sureness), second


def describe_certainty(certainty: Certainty) -> dict[str, Any]:
    """Facts about all points: median, mean, share of unsure ones, histogram."""
    sureness = certainty.sureness
    counts, edges = np.histogram(np.clip(sureness, 0.0, 1.0), bins=N_BINS, range=(0.0, 1.0))
    return {
        "median": _rounded(np.median(sureness)),
        "mean": _rounded(sureness.mean()),
        "unsure_below": UNSURE,
        "unsure_share": _rounded((sureness < UNSURE).mean()),
        "histogram": {"edges": edges.round(3).tolist(), "counts": counts.tolist()},
    }


def describe_cluster(
    members: npt.NDArray[np.int64], certainty: Certainty, *, n_listed: int = 5
) -> dict[str, Any]:
    """Facts about one cluster, from the positions of its members among the measured points.

    ``typical`` and ``borderline`` are positions: the nearest to the centre, the least sure.
    """
    if len(members) == 0:
        return {
            "sureness": None, "unsure_share": None, "margin": None, "neighbour": None,
            "neighbour_share": None, "typical": [], "borderline": [],
        }  # fmt: skip
    sureness, second = certainty.sureness[members], certainty.second[members]
    low, middle, high = np.quantile(sureness, (0.1, 0.5, 0.9))
    counts = np.bincount(second + 1)
    neighbour = int(counts.argmax()) - 1
    typical = members[np.argsort(certainty.distance[members], kind="stable")[:n_listed]]
    least = members[np.argsort(sureness, kind="stable")[:n_listed]]
    return {
        "sureness": {"low": _rounded(low), "median": _rounded(middle), "high": _rounded(high)},
        "unsure_share": _rounded((sureness < UNSURE).mean()),
        "margin": _rounded(np.median(certainty.margin[members])),
        "neighbour": neighbour if neighbour >= 0 else None,
        "neighbour_share": _rounded(counts.max() / len(members)),
        "typical": [int(i) for i in typical],
        "borderline": [int(i) for i in least if i not in set(typical.tolist())],
    }


def _rounded(value: Any) -> float:
    return round(float(value), 4)
