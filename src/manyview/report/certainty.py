"""How sure the model is of each point and each cluster, from distances to the centres."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from manyview.stages.rows import Array

UNSURE = 0.6
"""Points with less confidence are called unsure: other clusters have two chances in five."""

N_BINS = 20
_BLOCK = 8192


class Certainty(NamedTuple):
    """What distances to the centres say of each point; all of shape (n,)."""

    distance: Array  # to the centre of its own cluster
    margin: Array  # how much further the nearest other centre is
    confidence: Array  # how probable its cluster is
    second: npt.NDArray[np.int64]  # the nearest other cluster; -1 if there is none


def measure_certainty(
    embedding: Array,
    labels: npt.NDArray[np.integer],
    centers: Array,
    sizes: npt.NDArray[np.int64],
    *,
    confidence: Array,
) -> Certainty:
    """Measure how clear the label of each embedding row is; clusters of size 0 are nobody's second.

    ``confidence`` is the model's own.

    Examples
    --------
    >>> sure = measure_certainty(
    ...     np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1]), np.array([[0.0], [4.0]]),
    ...     np.array([2, 1]), confidence=np.array([0.9, 0.7, 0.9]),
    ... )
    >>> sure.margin.tolist(), sure.second.tolist()
    ([4.0, 2.0, 4.0], [1, 1, 0])
    """
    parts = [
        _measure_block(
            cdist(embedding[block], centers), labels[block], confidence[block], sizes == 0
        )
        for block in gen_batches(len(embedding), _BLOCK)
    ]
    return Certainty(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _measure_block(
    distances: Array,
    labels: npt.NDArray[np.integer],
    confidence: Array,
    is_empty: npt.NDArray[np.bool_],
) -> tuple[Any, ...]:
    each = np.arange(len(labels))
    own = distances[each, labels]
    distances[each, labels] = np.inf
    distances[:, is_empty] = np.inf
    second = distances.argmin(axis=1)
    other = distances[each, second]
    alone = np.isinf(other)
    second, other = np.where(alone, -1, second), np.where(alone, 2 * own + 1, other)
    return own, other - own, confidence, second


def describe_certainty(certainty: Certainty) -> dict[str, Any]:
    """Facts about all points: median, mean, share of unsure ones, histogram."""
    confidence = certainty.confidence
    counts, edges = np.histogram(confidence, bins=N_BINS, range=(0.0, 1.0))
    return {
        "median": _rounded(np.median(confidence)),
        "mean": _rounded(confidence.mean()),
        "unsure_below": UNSURE,
        "unsure_share": _rounded((confidence < UNSURE).mean()),
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
            "confidence": None, "unsure_share": None, "margin": None, "neighbour": None,
            "neighbour_share": None, "typical": [], "borderline": [],
        }  # fmt: skip
    confidence, second = certainty.confidence[members], certainty.second[members]
    low, middle, high = np.quantile(confidence, (0.1, 0.5, 0.9))
    counts = np.bincount(second + 1)
    neighbour = int(counts.argmax()) - 1
    typical = members[np.argsort(certainty.distance[members], kind="stable")[:n_listed]]
    least = members[np.argsort(confidence, kind="stable")[:n_listed]]
    return {
        "confidence": {"low": _rounded(low), "median": _rounded(middle), "high": _rounded(high)},
        "unsure_share": _rounded((confidence < UNSURE).mean()),
        "margin": _rounded(np.median(certainty.margin[members])),
        "neighbour": neighbour if neighbour >= 0 else None,
        "neighbour_share": _rounded(counts.max() / len(members)),
        "typical": [int(i) for i in typical],
        "borderline": [int(i) for i in least if i not in set(typical.tolist())],
    }


def _rounded(value: Any) -> float:
    return round(float(value), 4)
