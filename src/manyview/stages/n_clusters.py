"""Embeddings and graphs of a sample -> a suggested number of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from manyview.stages.valleys import count_apart
from manyview.stages.ward import cut_tree, ward_tree

MOST_APART = 28
"""Clusters between which valleys are looked for."""

Labels = npt.NDArray[np.int32]
Embed = Callable[[int], Sequence[Array]]
"""Embeddings (n, c) of the same rows for so many clusters, from each anchor seed."""

_NODES, _NODE_SWEEPS = 400, 5  # small groups of rows that a tree merges
_SWEEPS = 10  # of k-means from the tree's groups
_SILHOUETTE_ROWS, _SILHOUETTE_EACH = 500, 10  # at least, in all and of a cluster
_MOST = 150
_EVERY_UNTIL = 20
_GROWTH = 1.12
_LEAST_ROWS = 8
_LEAST_STABILITY = 0.25
_LESS_CLEAR, _LESS_STABLE = 0.1, 0.05  # share of the score, and stability, that fewer may lack
_BEYOND = 1.25  # times the score of as many clusters of rows that have none
_TINY = np.finfo(np.float64).tiny
_CLEAR = 0.5  # silhouette of clusters that are finer than pieces
_TELLING = 100  # rows a cluster, in which a valley would be seen
_PRICE = 0.07  # power of their number that clusters' scores are divided by: 5 % for twice as many
_BY_CHANCE = (
    0.7  # silhouette of k clusters of Gaussian rows on a sphere in 1.5 k directions, times k
)


@dataclass(frozen=True, repr=False)
class Suggestion:
    r"""A suggested number of clusters, with the curves it was decided from.

    Attributes
    ----------
    n_clusters : int
        The suggestion. It is 1 if two anchor seeds do not find the best number of clusters alike, if
        clusters are no clearer than in rows that have none, or if a narrow table has no valleys.
    candidates : list of int
        Numbers that were tried, ascending.
    silhouette : list of float
        For each of them, how far clusters are apart in the embeddings of the anchor seeds.
    modularity : list of float
        For each of them, how much more of the graph of another anchor seed lies inside clusters than by
        chance.
    score : list of float
        Silhouette times modularity, divided by the number of clusters to the power .07, so that twice
        as many must be better by 5 %; smoothed.
    stability : float
        How far clusterings of the best number from two anchor seeds agree (adjusted Rand index).
    n_pieces : int
        Number of separate or loosely joined pieces of the rows, if these are the answer; else 1.
    n_apart : int or None
        Number of clusters that have valleys between them, where rows thin out, if this decided; None
        if it did not.
    beyond : float or None
        The product of silhouette and modularity, divided by that of as many clusters of Gaussian rows
        with the same covariances, which have none; None where clusters are clear, or not computed.

    See Also
    --------
    manyview.LMVSC : with ``n_clusters="auto"``, keeps it as ``suggestion_``.

    Notes
    -----
    The silhouette of a row is :math:`(b - a) / \max(a, b)`, where a and b are its mean
    distances to its own and to the next cluster; the mean over rows is taken. The modularity of labels
    in a graph with weights W is :math:`\sum_{ij} [y_i = y_j] \, (W_{ij} / s - d_i d_j / s^2)`, with d
    the row sums of W and s their sum. The score of k clusters is their product over :math:`k^{0.07}`.
    ``votes`` tells which numbers the score, modularity alone, and the score with a silhouette above
    chance prefer.

    Examples
    --------
    >>> from manyview.stages.n_clusters import Suggestion
    >>> silhouette, modularity, score = [0.5, 0.7, 0.6], [0.3, 0.6, 0.6], [0.15, 0.42, 0.36]
    >>> Suggestion(3, [2, 3, 4], silhouette, modularity, score, 0.9).runners_up()
    [4, 2]
    """

    n_clusters: int
    candidates: list[int]
    silhouette: list[float]
    modularity: list[float]
    score: list[float]
    stability: float
    n_pieces: int = 1
    beyond: float | None = None
    n_apart: int | None = None

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

    def votes(self) -> list[int]:
        """The numbers that three criteria prefer, the middle one of which is usually taken.

        These are the score, which leans to few clusters; modularity alone, which cannot see very many;
        and the score with the silhouette above what chance gives, which leans to many. Where modularity
        prefers fewer than the middle one, and score and stability are hardly less there, it decides.
        All curves are smoothed.
        """
        if not self.candidates:
            return []
        return [
            self.candidates[at] for at in _votes(self.candidates, self.silhouette, self.modularity)
        ]

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
            return f"rows fall, or are bound, into so many pieces; next: {others}"
        if self.n_clusters == self.n_apart:
            valleys = "rows thin out between them" if self.n_apart > 1 else "rows thin out nowhere"
            return f"{valleys}; next: {others}"
        found = f"anchor seeds agree on them by {self.stability:.2f}"
        if self.n_clusters == 1 and self.beyond is not None:
            return (
                f"clusters are as clear in rows without any (score {self.beyond:.2f} times theirs); "
                f"the best number was {others}"
            )
        if self.n_clusters == 1:
            return f"no clusters are found twice alike ({found}); the best number was {others}"
        at, votes = self.candidates.index(self.n_clusters), self.votes()
        taken = "the middle one" if self.n_clusters == sorted(votes)[1] else "modularity's"
        return (
            f"silhouette {self.silhouette[at]:.2f} and modularity {self.modularity[at]:.2f}; three "
            f"criteria prefer {', '.join(map(str, votes))}, {taken} is taken, {found}; next: {others}"
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
    embeddings_for: Embed,
    graphs: Sequence[sparse.csr_array],
    candidates: Sequence[int],
    *,
    seed: int,
    each: Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]] = map,
    n_pieces: int = 1,
    columns: Callable[[], Array] | None = None,
    is_narrow: bool = False,
    more: Callable[[], tuple[Embed, Sequence[int]]] | None = None,
    blur: Callable[[int], tuple[Embed, Sequence[sparse.csr_array]]] | None = None,
) -> Suggestion:
    """Suggest a number of clusters that are apart in the embedding and dense in the graph.

    The silhouette prefers few clusters, and less so above what chance gives; modularity cannot see very
    many small ones. So three criteria vote, and the middle number is taken, or fewer if they are hardly
    worse: see :meth:`Suggestion.votes`. Clusters of one anchor seed are judged by the graph of another,
    without what ties rows to themselves: what only one seed sees, or only a row, counts for nothing.

    ``graphs`` (n, M) are the fused graphs of the anchor seeds, columns scaled. ``each`` maps a function
    over the candidates in their order; a thread pool's map will do. ``n_pieces`` that rows fall into are
    the answer if there are more than the best number of clusters. If there are fewer, finer clusters
    must be clear in the embedding, or have valleys between them in the rows' own ``columns``: what
    curves are cut into has none. Where columns are few (``is_narrow``), valleys and pieces alone decide,
    if there are any or rows are so many that they would be seen.

    Where the score is largest among the larger half of the candidates, as if many cost nothing, ``more``
    are asked for: greater ones, and the embeddings for any number up to them.

    Even rows without clusters are cut in much the same way by all seeds if they have few columns. So
    where clusters are not clear, ``blur`` tells the embeddings for their number and the graphs of such
    rows, and if the score is not much larger than theirs, the answer is one cluster.
    """
    candidates = list(candidates)
    middling = max((k for k in candidates if k <= _EVERY_UNTIL), default=1)
    judge = _Judge.of(embeddings_for, graphs, middling, seed)
    judged = list(each(judge, candidates))
    # A hundred clusters may be hardly clearer than three when cut into twenty.
    free = [a * b for a, b, _ in judged]
    if more is not None and candidates and 2 * candidates[int(np.argmax(free))] > candidates[-1]:
        embeddings_for, greater = more()
        judged += each(replace(judge, embeddings_for=embeddings_for), greater)
        candidates += greater
    silhouettes, modularities = [a for a, *_ in judged], [b for _, b, _ in judged]
    best, clear, inside, stability = 1, 0.0, 0.0, 0.0
    if candidates:
        at = _best(candidates, judged)
        clear, inside, stability = judged[at]
        best = candidates[at] if stability >= _LEAST_STABILITY else 1
    n_apart, beyond = None, None
    is_doubtful = 1 < n_pieces < best and clear < _CLEAR
    if columns is not None and best <= MOST_APART and (is_narrow or is_doubtful):
        rows = columns()
        n_apart = judge.count_apart(rows, candidates, each)
        if is_narrow and max(n_apart, n_pieces) == 1 and len(rows) < _TELLING * best:
            n_apart = None  # too few rows to show a valley
    if is_narrow and n_apart is not None:
        best = n_apart
    elif is_doubtful:
        best = min(best, n_apart or 1)
    elif best > n_pieces and clear < _CLEAR and blur is not None:
        by_chance = _Judge.of(*blur(best), best, seed)(best)
        beyond = clear * inside / max(by_chance[0] * by_chance[1], _TINY)
        best = best if beyond >= _BEYOND else 1
    best = max(best, n_pieces)
    n_pieces = best if best == n_pieces else 1
    score = _criteria(candidates, silhouettes, modularities)[0].tolist()
    return Suggestion(
        best, candidates, silhouettes, modularities, score, stability, n_pieces, beyond, n_apart
    )


@dataclass(frozen=True)
class _Judge:
    """How clear and dense clusters of rows are, and how alike from seed to seed, by their number."""

    embeddings_for: Embed
    graphs: Sequence[sparse.csr_array]
    trees: Sequence[_Tree]  # of each seed's rows, which say where k-means starts for any number

    @classmethod
    def of(
        cls, embeddings_for: Embed, graphs: Sequence[sparse.csr_array], middling: int, seed: int
    ) -> _Judge:
        """With trees of the embedding for a middling number."""
        trees = [_Tree.of(part, seed) for part in _single(embeddings_for(middling))]
        return cls(embeddings_for, graphs, trees)

    def __call__(self, k: int) -> tuple[float, float, float]:
        """Silhouette, modularity in another seed's graph, and agreement, of k clusters."""
        parts = _single(self.embeddings_for(k))
        found = [tree.fit(part, k).labels_ for tree, part in zip(self.trees, parts, strict=True)]
        few = spread_evenly(len(parts[0]), max(_SILHOUETTE_ROWS, _SILHOUETTE_EACH * k))
        clear = [silhouette(part[few], each[few]) for part, each in zip(parts, found, strict=True)]
        others = [self.graphs[(i + 1) % len(self.graphs)] for i in range(len(found))]
        inside = map(partial(modularity, has_loops=False), others, found)
        return float(np.mean(clear)), float(np.mean(list(inside))), _agreement(found)

    def count_apart(self, rows: Array, candidates: Sequence[int], each: Any) -> int:
        """Most clusters with valleys between them in the rows' columns that three candidates show.

        They are clusters of the embedding, which follow curves, or of the columns themselves.
        """
        (single,) = _single([rows])
        tree = _Tree.of(single, 0)

        def in_columns(k: int) -> int:
            return count_apart(rows, tree.fit(single, k).labels_)

        def in_embedding(k: int) -> int:
            seed = k % len(self.trees)
            part = _single(self.embeddings_for(k))[seed]
            return count_apart(rows, self.trees[seed].fit(part, k).labels_)

        few = [k for k in candidates if k <= MOST_APART]
        counts = [each(in_columns, candidate_numbers(len(rows), most=MOST_APART))]
        counts.append(each(in_embedding, few))
        return max((found[-3] for found in map(sorted, counts) if len(found) > 2), default=1)


def _criteria(
    candidates: Sequence[int], silhouettes: Sequence[float], modularities: Sequence[float]
) -> list[Array]:
    """Silhouette times modularity, modularity, and the first again above chance; less their price."""
    k, clear = np.array(candidates, dtype=np.float64), np.maximum(silhouettes, 0.0)
    inside = np.maximum(modularities, 0.0) / k**_PRICE
    above = np.maximum((clear - _BY_CHANCE / k) / (1.0 - _BY_CHANCE / k), 0.0)
    return [_smooth(each) for each in (clear * inside, inside, above * inside)]


def _smooth(curve: Array) -> Array:
    """Means of each value, twice, and its neighbours: k-means makes curves jagged.

    Those of two and three clusters stay, as their neighbours tell of quite other ones; so does the last.
    """
    smoothed = curve.copy()
    smoothed[2:-1] = (curve[1:-2] + 2.0 * curve[2:-1] + curve[3:]) / 4.0
    return smoothed


def _best(candidates: Sequence[int], judged: Sequence[tuple[float, float, float]]) -> int:
    """The place of the middle vote, or of modularity's if that is less and hardly worse."""
    silhouettes, modularities, stabilities = zip(*judged, strict=True)
    score, *_ = _criteria(candidates, silhouettes, modularities)
    votes = _votes(candidates, silhouettes, modularities)
    middle, fewer, stable = sorted(votes)[1], votes[1], _smooth(np.array(stabilities))
    is_as_clear = score[fewer] >= (1.0 - _LESS_CLEAR) * score[middle]
    is_as_stable = stable[fewer] >= stable[middle] - _LESS_STABLE
    return min(fewer, middle) if is_as_clear and is_as_stable else middle


def _votes(
    candidates: Sequence[int], silhouettes: Sequence[float], modularities: Sequence[float]
) -> list[int]:
    """The place of each criterion's largest value among the candidates."""
    return [int(each.argmax()) for each in _criteria(candidates, silhouettes, modularities)]


def _single(parts: Sequence[Array]) -> list[Any]:
    """Embeddings in single precision: enough to compare them."""
    return [part.astype(np.float32) for part in parts]


def _agreement(labels: Sequence[Labels]) -> float:
    """Mean adjusted Rand index of the clusterings from each anchor seed; 1 if there is one."""
    pairs = combinations(labels, 2)
    return float(np.mean([adjusted_rand_score(a, b) for a, b in pairs] or [1.0]))


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


def modularity(graph: sparse.csr_array, labels: Labels, *, has_loops: bool = True) -> float:
    """Share of the graph B B' inside clusters, less what chance would put there.

    ``graph`` is B (n, M), the fused graph with columns scaled. Rows of B B' sum to one, or to less for
    samples that lack views. What ties rows to themselves is left out unless it ``has_loops``.

    Examples
    --------
    >>> B = sparse.csr_array(np.kron(np.eye(2), np.full((3, 1), 3**-0.5)))
    >>> round(modularity(B, np.array([0, 0, 0, 1, 1, 1])), 6)
    0.5
    """
    own = 0.0 if has_loops else np.asarray(graph.power(2).sum(axis=1)).ravel()
    degrees = graph @ np.asarray(graph.sum(axis=0)).ravel() - own
    total = max(float(degrees.sum()), np.finfo(np.float64).tiny)
    shares = np.bincount(labels, weights=degrees) / total
    inside = (kept_inside(graph, labels, len(shares)).sum() - np.sum(own)) / total
    return float(inside - (shares**2).sum())


def kept_inside(graph: sparse.csr_array, labels: Labels, n_clusters: int) -> Array:
    """For each cluster, the sum of B B' over pairs of its members."""
    return np.asarray((_members(labels, n_clusters) @ graph).power(2).sum(axis=1)).ravel()


def silhouette(rows: Array, labels: Labels) -> float:
    """Mean silhouette; 0 where it is not defined."""
    n_found = len(np.unique(labels))
    return float(silhouette_score(rows, labels)) if 1 < n_found < len(rows) else 0.0
