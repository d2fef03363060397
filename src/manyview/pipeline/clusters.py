"""Graph rows of a sample -> how rows are embedded, and the centres that label them.

What is decided here is decided on the sample alone, so that it is the same wherever the rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.engines.base import Rows, thread_pool
from manyview.pipeline.settings import Settings, n_vectors_for
from manyview.stages.communities import anchor_graph, find_communities
from manyview.stages.embedding import (
    Basis,
    Embedding,
    leading_rotation,
    participation,
    weigh_vectors,
)
from manyview.stages.fusion import repeat_scales
from manyview.stages.graph import AnchorGraph, GraphTile
from manyview.stages.kmeans import indicator
from manyview.stages.labels import (
    VERY_MANY_CLUSTERS,
    Labels,
    corner_centers,
    count_specks,
    find_starts,
    fit_kmeans,
    improve_centers,
    warn_of_alike,
)
from manyview.stages.litekmeans import draw_starts, litekmeans
from manyview.stages.n_clusters import modularity
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.sampling import choose_rows, count_sample_rows, spread_evenly

_WIDE = 128  # columns; a joined embedding that is wider is turned and cut
_TURNING_ROWS = 5000  # that tell how, at least; ten a column
_COMMUNITY_REPEATS, _COMMUNITY_ANCHORS = 3, 10_000
_EMBEDDED_AT_A_TIME = 8192  # rows
_ROWS_PER_CLUSTER = 50  # that starts are found on where clusters are very many
_MARGIN = 0.02  # of modularity, by which another start must be better than Ward's


Communities = Sequence[Sequence[Array]]
"""Of each search: what each repeat's anchors give to each community (m, c)."""


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """How rows become labels, and the labels of the sample that it was decided on."""

    embedding: Embedding
    centers: Array
    labels: Labels
    tried: dict[str, float]  # modularity of the sample's labels from each start, the best first

    @property
    def modularity(self) -> float:
        """Of the sample's labels in the graph."""
        return next(iter(self.tried.values()))


@dataclass(frozen=True, kw_only=True)
class SampleGraph:
    """Graph rows of a sample, and the vectors that all rows' sums give."""

    tile: GraphTile
    scales: Sequence[Array]  # of each repeat's columns
    graphs: Sequence[AnchorGraph]
    bases: tuple[Basis, ...] = ()  # none until they are found

    @classmethod
    def of(
        cls,
        tile: GraphTile,
        column_sums: Sequence[Array],
        graphs: Sequence[AnchorGraph],
        settings: Settings,
        bases: tuple[Basis, ...] = (),
    ) -> SampleGraph:
        """With the column scales that the sums over all rows give."""
        scales = repeat_scales(column_sums, graphs, degree_norm=settings.degree_norm)
        return cls(tile=tile, scales=scales, graphs=graphs, bases=bases)

    def take(self, rows: npt.NDArray[np.int64]) -> SampleGraph:
        """Some of the rows, by number."""
        return replace(self, tile=self.tile.take(rows))

    def fused(self, first: int = 0) -> sparse.csr_array:
        """The fused graphs of a few repeats side by side, columns scaled."""
        few = slice(first, first + self.n_first)
        parts = zip(self.tile.parts[few], self.scales[few], strict=True)
        return sparse.csr_array(sparse.hstack([Z * scale[None, :] for Z, scale in parts], "csr"))

    def places(self, members: sparse.csr_array) -> Array:
        """Where means of rows lie in the views, as anchors tell: (g, p) of members (g, n).

        Of a view that a row lacks, it lies in the middle.
        """
        first = [graph for graph in self.graphs if graph.repeat == 0]
        ends = np.cumsum([len(graph.anchors) for graph in first])[:-1]
        shares = np.split((members @ self.tile.parts[0]).toarray(), ends, axis=1)
        each = zip(shares, first, strict=True)
        return np.hstack([np.sqrt(graph.weight) * (part @ graph.anchors) for part, graph in each])

    @property
    def n_first(self) -> int:
        """How many repeats modularity and a search for communities look at."""
        width = max(int(self.tile.parts[0].shape[1]), 1)
        return min(
            max(1, min(_COMMUNITY_REPEATS, _COMMUNITY_ANCHORS // width)), len(self.tile.parts)
        )

    def gap(self, k: int) -> float:
        """How much the eigenvalues fall after the k-th, in the first repeat."""
        values = self.bases[0].singular_values ** 2
        return float(values[k - 1] - values[k]) if len(values) > k else 0.0


def embed_as_published(bases: Sequence[Basis]) -> Clusters:
    """Embedding rows as they are; their centres are found on all rows."""
    embedding = Embedding(tuple(basis.transform for basis in bases), row_norm=False)
    nothing = np.empty((0, embedding.width))
    return Clusters(embedding=embedding, centers=nothing, labels=np.empty(0, np.int32), tried={})


def place_as_published(
    embedded: Rows, k: int, rng: np.random.Generator
) -> tuple[Array, float, int, None]:
    """Centres (k, c) by the authors' k-means on all embedding rows, their inertia, and its rounds."""
    numbers = choose_rows(embedded.n_rows, count_sample_rows(0, k), rng)
    sample = embedded.sample_rows(numbers).arrays[0]
    warn_of_alike(sample, k)
    starts = (sample[chosen] for chosen in draw_starts(len(sample), k, rng))

    def over(function: Any) -> Any:
        return embedded.map_reduce(partial(_on_rows, function=function), stage="k-means")

    best = litekmeans(over, starts)
    return best.compared, best.inertia, best.n_iter, None


def _on_rows(tile: list[Array], first_row: int, *, function: Any) -> Any:
    return function(ScaledRows(tile[0]), first_row)


def cluster_by_gap(sample: SampleGraph, settings: Settings) -> Clusters:
    """Clusters that the k leading vectors tell apart by themselves.

    Rows then lie near k corners at right angles, so k rows that differ most are where k-means starts.
    """
    k = settings.known_clusters
    embedding = Embedding(tuple(basis.transform[:, :k] for basis in sample.bases))
    rows = embedding.joined(sample.tile)
    rotation = leading_rotation(rows, k)
    embedding, rows = replace(embedding, rotation=rotation), rows @ rotation
    found = fit_kmeans(rows, k, init=corner_centers(rows, k), max_iter=100, seed=0)
    q = modularity(sample.fused(), found.labels_)
    return Clusters(
        embedding=embedding, centers=found.cluster_centers_, labels=found.labels_, tried={"gap": q}
    )


def cluster_by_modularity(
    sample: SampleGraph,
    settings: Settings,
    *,
    seed: int,
    communities: Communities = (),
    n_jobs: int = 1,
) -> Clusters:
    """Clusters of the weighted vectors and the anchors' communities, from the best of three starts."""
    k = settings.known_clusters
    given = tuple(part for parts in communities for part in parts)
    embedding = replace(
        _embedding(sample, settings), communities=given, n_searches=max(len(communities), 1)
    )
    if k > VERY_MANY_CLUSTERS:
        sample = sample.take(spread_evenly(len(sample.tile), _ROWS_PER_CLUSTER * k))
    fused = sample.fused()
    # Kinds of cells are uneven: Ward's criterion, links and modularity would rather halve a large one
    # than keep a rare one. Of genes alone, noise would decide where centres lie.
    is_told_twice = settings.counts_genes and len(settings.scaling) > 1
    places = sample.places if is_told_twice else None
    with thread_pool(n_jobs) as pool:
        rows = _embed_in_single(embedding, sample.tile, each=pool.map)
        warn_of_alike(rows, k)
        starts = find_starts(rows, fused, k, seed=seed, places=places, each=pool.map)
        # The threads are busy with starts, or with the parts of one.
        outer, inner = (pool.map, map) if len(starts) > 1 else (map, pool.map)
        solve = partial(improve_centers, rows, max_iter=settings.max_iter, each=inner)
        solved = dict(zip(starts, outer(solve, starts.values()), strict=True))
    tried = {name: modularity(fused, labels) for name, (labels, _) in solved.items()}
    # Clusters given to a few odd rows cost no modularity, and two merged for each of them gain some.
    n_specks = {name: count_specks(labels, k) for name, (labels, _) in solved.items()}
    most = next(iter(n_specks.values()))
    worth = {name: q - (name != "ward") * _MARGIN for name, q in tried.items()}
    order = sorted(tried, key=lambda name: (n_specks[name] <= most, worth[name]), reverse=True)
    labels, centers = solved[order[0]]
    return Clusters(
        embedding=embedding,
        centers=centers,
        labels=labels,
        tried={name: tried[name] for name in order},
    )


def by_first_repeat(found: Clusters, tile: GraphTile) -> Clusters:
    """Clusters of a sample, told by the graph rows of the first repeat alone.

    Its vectors tell less than those of all repeats, so its anchors remember what all have found: in
    place of its shares in communities, a row has its shares in the clusters of its anchors' rows.
    """
    first = replace(tile, parts=tile.parts[:1], shares=tile.shares[:1])
    one = first.take(spread_evenly(len(tile), len(found.labels)))  # the rows that were clustered
    members = indicator(found.labels, len(found.centers))
    votes = (members @ one.parts[0]).T.toarray()
    totals = votes.sum(axis=1, keepdims=True)
    embedding = replace(
        found.embedding,
        transforms=found.embedding.transforms[:1],
        rotation=None,
        communities=(votes / np.where(totals > 0, totals, 1.0),),
        n_searches=1,
    )
    sizes = np.bincount(found.labels, minlength=len(found.centers))[:, None]
    centers = members @ embedding.rows(one) / np.maximum(sizes, 1)
    return replace(found, embedding=embedding, centers=centers)


def _embed_in_single(embedding: Embedding, tile: GraphTile, *, each: Any) -> Any:
    """Embedding rows, made a few at a time, as those of many clusters are wide."""
    rows = np.empty((len(tile), embedding.width), np.float32)

    def embed(start: int) -> None:
        part = np.arange(start, min(start + _EMBEDDED_AT_A_TIME, len(tile)))
        rows[part] = embedding.rows(tile.take(part))

    list(each(embed, range(0, len(tile), _EMBEDDED_AT_A_TIME)))
    return rows


def weigh_bases(sample: SampleGraph, settings: Settings) -> tuple[Basis, ...]:
    """The vectors that are kept, weighted by their strength; all, if their number was given."""
    if settings.n_components is not None:
        return sample.bases
    k = settings.known_clusters
    shares = participation(sample.tile, [basis.transform for basis in sample.bases])
    weigh = partial(weigh_vectors, n_clusters=k, n_components=n_vectors_for(k))
    return tuple(weigh(basis, each) for basis, each in zip(sample.bases, shares, strict=True))


def _embedding(sample: SampleGraph, settings: Settings) -> Embedding:
    bases = weigh_bases(sample, settings)
    embedding = Embedding(tuple(basis.transform for basis in bases), settings.row_norm)
    if settings.n_components is None and embedding.width > max(_WIDE, settings.n_vectors):
        few = spread_evenly(len(sample.tile), max(_TURNING_ROWS, 10 * embedding.width))
        rows = embedding.joined(sample.tile.take(few))
        embedding = replace(embedding, rotation=leading_rotation(rows, settings.n_vectors))
    return embedding


def search_communities(sample: SampleGraph, k: int, *, seed: int, n_jobs: int = 1) -> Communities:
    """What graph rows give to communities of their anchors, one search for every few repeats.

    Where there are few rows, communities of other anchors are others: several opinions vary less.
    """
    has_several = sample.n_first == _COMMUNITY_REPEATS  # anchors of fewer are many already
    n_searches = len(sample.tile.parts) // _COMMUNITY_REPEATS if has_several else 1
    firsts = range(0, n_searches * sample.n_first, sample.n_first)
    with thread_pool(n_jobs) as pool:
        each = map if n_searches > 1 else pool.map  # the threads are busy with searches, or not
        search = partial(_search_communities, sample, k, seed, each)
        return list((pool.map if n_searches > 1 else map)(search, firsts))


def _search_communities(
    sample: SampleGraph, k: int, seed: int, each: Any, first: int
) -> list[Array]:
    """For a few repeats from the ``first`` on, what graph rows give to communities of their anchors."""
    found = find_communities(anchor_graph(sample.fused(first), each=each), k, seed=seed + first)
    n_found = int(found.max()) + 1
    # Anchors without links, -1, give nothing.
    indicator = np.eye(n_found + 1)[found][:, :n_found]
    scales = sample.scales[first : first + sample.n_first]
    parts = np.split(indicator, np.cumsum([len(scale) for scale in scales])[:-1])
    return [part * scale[:, None] for part, scale in zip(parts, scales, strict=True)]
