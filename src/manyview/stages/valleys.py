"""Clusters of rows -> how many of them have a valley between: a stretch where rows thin out.

K-means cuts anything into any number of parts. Between two parts of one cluster there are as many rows
as inside them; between two clusters there are fewer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manyview.stages.pieces import distinct_rows
from manyview.stages.rows import Array

Labels = npt.NDArray[np.int32]

_LEAST_ROWS = 10  # of a cluster that counts
_RIDGE = 0.1  # of the mean variance, added to all: directions of few rows fit them too well
# Along the line from one cluster's median, 0, to the other's, 1. Hills are not looked for at the very
# medians: an arc, seen along its chord, is denser towards its ends.
_HILLS, _VALLEYS, _WIDTH = (0.15, 0.85), np.linspace(0.35, 0.65, 11), 0.16
_DEPTH = 0.6  # most rows of a valley, over those of the lower of its two hills
_EVIDENCE = 2.5  # deviations by which they must be fewer
_EPS = np.finfo(np.float64).eps  # rows of a cluster may all be alike


def count_apart(rows: Array, labels: Labels) -> int:
    """How many groups are left if clusters of rows (n, d) without a valley between are one.

    Rows of two clusters are looked at in the direction that tells the clusters apart best. It is found
    on one half of the rows, and the other half must show the valley.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + [6, 0]])
    >>> count_apart(rows, np.repeat([0, 1], 200))
    2
    >>> count_apart(rows[:200], (rows[:200, 0] > 0).astype(np.int32))
    1
    """
    numbers = np.flatnonzero(np.bincount(labels) >= _LEAST_ROWS)
    clusters = [_Cluster(rows[labels == number]) for number in numbers]
    if len(clusters) < 2:
        return 1
    means = np.stack([cluster.mean for cluster in clusters])
    distances = ((means[:, None] - means) ** 2).sum(axis=2)
    a, b = np.triu_indices(len(clusters), 1)
    groups = np.arange(len(clusters))
    for pair in np.argsort(distances[a, b], kind="stable"):  # near ones first: they merge sooner
        i, j = a[pair], b[pair]
        if groups[i] != groups[j] and not _has_valley(clusters[i], clusters[j]):
            groups[groups == groups[j]] = groups[i]
    return len(np.unique(groups))


class _Cluster:
    """The rows of a cluster in two halves, and what each tells of its place and spread."""

    def __init__(self, rows: Array) -> None:
        self.mean = rows.mean(axis=0)
        distinct, nodes = distinct_rows(rows)
        self.copies = len(rows) / len(distinct)
        order = np.arange(len(rows))
        if (
            1 < len(distinct) < len(rows)
        ):  # copies go with the first: beside it, they are no evidence
            order = np.argsort(np.argsort(np.unique(nodes, return_index=True)[1]))[nodes]
        odd = order % 2 == 1
        self.halves = rows[~odd], rows[odd]
        self.means = [half.mean(axis=0) for half in self.halves]
        self.squares = [
            (half - mean).T @ (half - mean)
            for half, mean in zip(self.halves, self.means, strict=True)
        ]


def _has_valley(a: _Cluster, b: _Cluster) -> bool:
    places = np.concatenate([_place(a, b, half) for half in (0, 1)])

    def count(place: float) -> int:
        return int(np.count_nonzero(np.abs(places - place) < _WIDTH))

    hill, valley = min(map(count, _HILLS)), min(map(count, _VALLEYS))
    chance = np.sqrt(max(a.copies, b.copies) * (hill + valley))
    return bool(valley < _DEPTH * hill and hill - valley > _EVIDENCE * chance)


def _place(a: _Cluster, b: _Cluster, half: int) -> Array:
    """Where rows of the other halves lie on a line on which this half's medians are 0 and 1."""
    n = len(a.halves[half]) + len(b.halves[half])
    spread = (a.squares[half] + b.squares[half]) / n
    spread.flat[:: len(spread) + 1] += _RIDGE * np.trace(spread) / len(spread) + _EPS
    direction = np.linalg.solve(spread, b.means[half] - a.means[half])
    start, end = (np.median(each.halves[half] @ direction) for each in (a, b))
    rows = np.concatenate([a.halves[1 - half], b.halves[1 - half]])
    places: Array = (rows @ direction - start) / max(end - start, _EPS)
    return places
