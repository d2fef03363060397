"""Embeddings and graphs of a sample -> a suggested number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from manyview.stages.labels import fit_kmeans
from manyview.stages.rows import Array
from manyview.stages.sampling import spread_evenly
from manyview.stages.ward import cut_tree, ward_tree

Labels = npt.NDArray[np.int32]

_NODES, _NODE_SWEEPS = 400, 5  # small groups of rows that a tree merges
_SWEEPS = 10  # of k-means from the tree's groups
_SILHOUETTE_ROWS = 1000
_MOST = 150
_EVERY_UNTIL = 20
_GROWTH = 1.12
_LEAST_ROWS = 8
_LEAST_STABILITY = 0.25
_CLEAR = 0.5  # silhouette of clusters that are finer than pieces
_PRICE = 0.15  # power of their number that clusters' scores are divided by


@dataclass(frozen=True, repr=False)
class Suggestion:
    """A suggested number of clusters, with the curves it was decided from.

    Attributes
    ----------
    n_clusters : int
        The suggestion; 1 if the best number of clusters is not found twice alike.
    candidates : list of int
        Numbers that were tried, ascending.
    silhouette : list of float
        For each of them, how far clusters are apart in the embedding.
    modularity : list of float
        For each of them, how much more of the graph lies inside clusters than by chance.
    score : list of float
        The product of both over a power of the number, .15, whose maximum is taken.
    stability : float
        How far clusterings of the best number from two anchor seeds agree (adjusted Rand index).
    n_pieces : int
        Number of pieces that the rows themselves fall into and that are the answer; 1 if they are not.

    See Also
    --------
    manyview.LMVSC : with ``n_clusters="auto"``, keeps it as ``suggestion_``.

    Examples
    --------
    >>> Suggestion(3, [2, 3, 4], [0.5, 0.7, 0.6], [0.3, 0.6, 0.6], [0.15, 0.42, 0.36], 0.9).runners_up()
    [4, 2]
    """

    n_clusters: int
    candidates: list[int]
    silhouette: list[float]
    modularity: list[float]
    score: list[float]
    stability: float
    n_pieces: int = 1

    def __repr__(self) -> str:
        shown = [self.n_clusters, *self.runners_up()]
        lines = [f"{self.n_clusters} clusters: {self.why()}"]
        for k in (k for k in shown if k in self.candidates):
            at = self.candidates.index(k)
            figures = (self.silhouette[at], self.modularity[at], self.score[at])
            lines.append(f"{k:>8}" + "".join(f"{figure:12.3f}" for figure in figures))
        if len(lines) > 1:
            lines.insert(1, "clusters  silhouette  modularity       score")
        return "\n".join(lines)

    def runners_up(self, count: int = 3) -> list[int]:
        """The next best candidates: peaks of the score first, then by score."""
        padded = [-np.inf, *self.score, -np.inf]
        peaks = [a <= b >= c for a, b, c in zip(padded, self.score, padded[2:], strict=False)]
        order = sorted(range(len(peaks)), key=lambda i: (not peaks[i], -self.score[i]))
        others = [self.candidates[i] for i in order if self.candidates[i] != self.n_clusters]
        return others[:count]

    def why(self) -> str:
        """The evidence in a sentence."""
        if not self.candidates and self.n_pieces == 1:
            return "too few rows to tell clusters apart"
        others = ", ".join(map(str, self.runners_up())) or "none"
        if self.n_clusters == self.n_pieces > 1:
            return f"rows fall into so many pieces that are far apart; next: {others}"
        found = f"anchor seeds agree on them by {self.stability:.2f}"
        if self.n_clusters == 1:
            return f"no clusters are found twice alike ({found}); the best number was {others}"
        at = self.candidates.index(self.n_clusters)
        return (
            f"silhouette {self.silhouette[at]:.2f} times modularity {self.modularity[at]:.2f} is "
            f"largest, less 10 % for twice as many, {found}; next: {others}"
        )


def candidate_numbers(n_rows: int, *, most: int = _MOST) -> list[int]:
    """The numbers of clusters to try: all up to 20, then an eighth more each time, up to 150.

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
    graphs: Sequence[sparse.csr_array],
    candidates: Sequence[int],
    *,
    seed: int,
    each: Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]] = map,
    n_pieces: int = 1,
    columns: Callable[[], Array] | None = None,
    more: Callable[[], tuple[Callable[[int], Sequence[Array]], Sequence[int]]] | None = None,
) -> Suggestion:
    """Suggest a number of clusters that are apart in the embedding and dense in the graph.

    The silhouette alone prefers few clusters and modularity many; their product has its maximum
    near the number of classes more often than either, the eigengap or stability. Where it stays about
    the same from a few to many, as with groups that fall into small tight ones, the few are meant: twice
    as many must be better by 11 %.

    ``embeddings_for`` a number of clusters are the embeddings (n, c) of the same rows for each anchor
    seed, and ``graphs`` (n, M) their fused graphs, columns scaled. ``each`` maps a function over the
    candidates in their order; a thread pool's map will do. ``n_pieces`` that rows fall into are
    the answer if there are more than the best number of clusters. If there are fewer, finer clusters
    must be clear in the embedding, or clearer than the pieces by k-means on the rows' own ``columns``,
    which are asked for then: what curves are cut into is neither.

    Where the product itself is largest among the larger half of the candidates, ``more`` are asked for:
    greater ones, and the embeddings for any number up to them.

    One tree of the rows, in the embedding for a middling number, says where k-means starts for all.
    """
    candidates = list(candidates)
    middling = max((k for k in candidates if k <= _EVERY_UNTIL), default=1)
    tree = _Tree.of(_joined(embeddings_for(middling)), seed) if candidates else None

    def judge(k: int) -> tuple[float, float]:
        assert tree is not None
        joined = _joined(embeddings_for(k))
        labels = tree.fit(joined, k).labels_
        inside = [modularity(graph, labels) for graph in graphs]
        few = spread_evenly(len(joined), _SILHOUETTE_ROWS)
        return silhouette(joined[few], labels[few]), float(np.mean(inside))

    judged = list(each(judge, candidates))
    score = _scores(candidates, judged)
    # As if many cost nothing: a hundred clusters may be hardly clearer than three when cut into twenty.
    free = [a * b for a, b in judged]
    if more is not None and candidates and 2 * candidates[int(np.argmax(free))] > candidates[-1]:
        embeddings_for, greater = more()
        judged += each(judge, greater)
        candidates += greater
        score = _scores(candidates, judged)
    best, clear, stability = 1, 0.0, 0.0
    if candidates:
        at = int(np.argmax(score))
        best, clear = candidates[at], judged[at][0]
        stability = _stability(embeddings_for(best), best, seed)
        best = best if stability >= _LEAST_STABILITY else 1
    if 1 < n_pieces < best and clear < _CLEAR:
        rows = None if columns is None else columns()
        if rows is None or _clearness(rows, n_pieces, seed) >= _clearness(rows, best, seed):
            best = n_pieces
    best = max(best, n_pieces)
    n_pieces = best if best == n_pieces else 1
    silhouettes, modularities = [a for a, _ in judged], [b for _, b in judged]
    return Suggestion(best, candidates, silhouettes, modularities, score, stability, n_pieces)


def _scores(candidates: Sequence[int], judged: Sequence[tuple[float, float]]) -> list[float]:
    each = zip(candidates, judged, strict=True)
    return [max(a, 0.0) * max(b, 0.0) / k**_PRICE for k, (a, b) in each]


def _joined(parts: Sequence[Array]) -> Any:
    """Embeddings side by side, in single precision: enough to compare them."""
    return np.concatenate(parts, axis=1).astype(np.float32)


@dataclass(frozen=True)
class _Tree:
    """Small groups of rows, and how Ward's criterion merges them: a start for any number of clusters."""

    nodes: Labels  # (n,), the group of each row
    merges: Array

    @classmethod
    def of(cls, rows: Array, seed: int) -> _Tree:
        """The tree of rows (n, c)."""
        count = min(_NODES, len(rows))
        found = fit_kmeans(rows, count, init="random", max_iter=_NODE_SWEEPS, seed=seed)
        sizes = np.bincount(found.labels_, minlength=count).astype(np.float64)
        return cls(found.labels_, ward_tree(found.cluster_centers_.astype(np.float64), sizes))

    def fit(self, rows: Array, k: int) -> KMeans:
        """K-means of rows (n, c) from the tree's k groups; they may be other columns of its rows."""
        groups = cut_tree(self.merges, len(self.merges) + 1, k)[self.nodes]
        members = _members(groups, k)
        counts = np.maximum(members.sum(axis=1), 1.0)
        start: Any = (members @ rows / counts[:, None]).astype(rows.dtype)
        return fit_kmeans(rows, k, init=start, max_iter=_SWEEPS, seed=0)


def _members(labels: Labels, n_clusters: int) -> sparse.csr_array:
    """Which rows are in which cluster: (k, n)."""
    n = len(labels)
    return sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))


def modularity(graph: sparse.csr_array, labels: Labels) -> float:
    """Share of the graph B B' inside clusters, less what chance would put there.

    ``graph`` is B (n, M), the fused graph with columns scaled. Rows of B B' sum to one, or to less for
    samples that lack views.

    Examples
    --------
    >>> B = sparse.csr_array(np.kron(np.eye(2), np.full((3, 1), 3**-0.5)))
    >>> round(modularity(B, np.array([0, 0, 0, 1, 1, 1])), 6)
    0.5
    """
    degrees = graph @ np.asarray(graph.sum(axis=0)).ravel()
    total = max(float(degrees.sum()), np.finfo(np.float64).tiny)
    shares = np.bincount(labels, weights=degrees) / total
    inside = kept_inside(graph, labels, len(shares)).sum() / total
    return float(inside - (shares**2).sum())


def kept_inside(graph: sparse.csr_array, labels: Labels, n_clusters: int) -> Array:
    """For each cluster, the sum of B B' over pairs of its members."""
    return np.asarray((_members(labels, n_clusters) @ graph).power(2).sum(axis=1)).ravel()


def _stability(parts: Sequence[Array], k: int, seed: int) -> float:
    """Mean agreement of the clusterings from each anchor seed; of either half of rows if one."""
    if len(parts) > 1:
        labels = [_fit(part, k, seed).labels_ for part in parts]
    else:
        labels = [_fit(parts[0][half::2], k, seed).predict(parts[0]) for half in (0, 1)]
    return float(np.mean([adjusted_rand_score(a, b) for a, b in combinations(labels, 2)]))


def _fit(rows: Array, k: int, seed: int) -> KMeans:
    return _Tree.of(rows, seed).fit(rows, k)


def _clearness(rows: Array, k: int, seed: int) -> float:
    return silhouette(rows, _fit(rows, k, seed).labels_)


def silhouette(rows: Array, labels: Labels) -> float:
    """Mean silhouette; 0 where it is not defined."""
    n_found = len(np.unique(labels))
    return float(silhouette_score(rows, labels)) if 1 < n_found < len(rows) else 0.0
