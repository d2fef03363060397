"""Embeddings of a sample from several anchor seeds -> a suggested number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from manyview.stages.scaling import Array

_N_INIT = 3
_MOST = 150
_EVERY_UNTIL = 20
_GROWTH = 1.12
_LEAST_ROWS = 8
_LEAST_STABILITY = 0.4


@dataclass(frozen=True)
class Suggestion:
    """A suggested number of clusters, with the curves it was decided from.

    Attributes
    ----------
    n_clusters : int
        The suggestion; 1 if nothing better was found.
    candidates : list of int
        Numbers that were tried, ascending.
    silhouette : list of float
        For each of them, how far clusters are apart in the embedding.
    stability : list of float
        For each of them, how far clusterings from two anchor seeds agree (adjusted Rand index).
    score : list of float
        Their sum, which the suggestion maximises.
    """

    n_clusters: int
    candidates: list[int]
    silhouette: list[float]
    stability: list[float]
    score: list[float]

    def runners_up(self, count: int = 3) -> list[int]:
        """Give the next best candidates: peaks of the score first, then by score."""
        padded = [-np.inf, *self.score, -np.inf]
        peaks = [a <= b >= c for a, b, c in zip(padded, self.score, padded[2:], strict=False)]
        order = sorted(range(len(peaks)), key=lambda i: (not peaks[i], -self.score[i]))
        others = [self.candidates[i] for i in order if self.candidates[i] != self.n_clusters]
        return others[:count]

    def why(self) -> str:
        """Give the evidence in a sentence."""
        if not self.candidates:
            return "too few rows to tell clusters apart"
        if self.n_clusters == 1:
            return f"no number of clusters from 2 to {self.candidates[-1]} is found twice alike"
        at = self.candidates.index(self.n_clusters)
        others = ", ".join(map(str, self.runners_up()))
        return (
            f"silhouette {self.silhouette[at]:.2f} and stability between anchor seeds "
            f"{self.stability[at]:.2f} are best together; next: {others or 'none'}"
        )


def candidate_numbers(n_rows: int, *, most: int = _MOST) -> list[int]:
    """Give the numbers of clusters to try: all up to 20, then an eighth more each time, up to 150.

    Examples
    --------
    >>> candidate_numbers(100)[-3:], candidate_numbers(10_000)[17:22]
    ([10, 11, 12], [19, 20, 22, 25, 28])
    """
    most = min(_MOST, n_rows // _LEAST_ROWS, most)
    numbers = list(range(2, min(_EVERY_UNTIL, most) + 1))
    while numbers and (following := round(numbers[-1] * _GROWTH)) <= most:
        if numbers[-1] < _EVERY_UNTIL:
            break
        numbers.append(following)
    return numbers


def suggest_n_clusters(
    embeddings_for: Callable[[int], Sequence[Array]],
    candidates: Sequence[int],
    *,
    seed: int,
    each: Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]] = map,
) -> Suggestion:
    """Suggest the number of clusters that are apart and found alike from every anchor seed.

    Parameters
    ----------
    embeddings_for : callable
        Given a number of clusters, the embedding (n, c) of the same rows for each anchor seed.
    candidates : sequence of int
        Numbers to try.
    seed : int
        Of the k-means starts.
    each : callable
        Maps a function over the candidates in their order; a thread pool's map will do.
    """

    def judge(k: int) -> tuple[float, float]:
        parts = embeddings_for(k)
        joined = np.concatenate(parts, axis=1)
        if len(parts) > 1:
            labels = [_cluster(part, part, k, seed) for part in parts]
        else:  # one anchor seed: from either half of the rows
            labels = [_cluster(joined[half::2], joined, k, seed) for half in (0, 1)]
        stability = np.mean([adjusted_rand_score(a, b) for a, b in combinations(labels, 2)])
        return _silhouette(joined, _cluster(joined, joined, k, seed)), float(stability)

    judged = list(each(judge, candidates))
    silhouette = [a for a, _ in judged]
    stability = [b for _, b in judged]
    score = [a + b for a, b in judged]
    best = 1
    if score:
        at = int(np.argmax(score))
        best = candidates[at] if stability[at] >= _LEAST_STABILITY else 1
    return Suggestion(best, list(candidates), silhouette, stability, score)


def _cluster(seen: Array, rows: Array, k: int, seed: int) -> npt.NDArray[np.int32]:
    """Labels of rows by k-means on those that are seen."""
    kmeans = KMeans(k, n_init=_N_INIT, random_state=seed).fit(seen)
    labels: npt.NDArray[np.int32] = kmeans.predict(rows)
    return labels


def _silhouette(rows: Array, labels: npt.NDArray[np.int32]) -> float:
    n_found = len(np.unique(labels))
    return float(silhouette_score(rows, labels)) if 1 < n_found < len(rows) else 0.0
