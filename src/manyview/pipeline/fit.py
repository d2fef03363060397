"""The algorithm, once: the stages in order, on rows that an engine holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import (
    Engine,
    Rows,
    Run,
    SampledRows,
    one_thread_per_product,
    thread_pool,
)
from manyview.machine import Stopwatch
from manyview.pipeline.graphs import choose_graphs, spread_evenly
from manyview.pipeline.model import FittedModel, GraphRows
from manyview.pipeline.settings import Settings, n_vectors_for
from manyview.stages.anchors import SAMPLE_ROWS_PER_ANCHOR, choose_rows
from manyview.stages.embedding import (
    Basis,
    count_spare,
    embed_rows,
    quartic_sums,
    spectral_basis,
    weigh_vectors,
)
from manyview.stages.fusion import fused_gram, repeat_scales
from manyview.stages.graph import AnchorGraph, GraphTile, Moments, graph_moments
from manyview.stages.kmeans import Assignment, assign
from manyview.stages.labels import (
    MIN_START_ROWS,
    START_ROWS_PER_CLUSTER,
    Each,
    label_rows,
    refine_centers,
    start_centers,
)
from manyview.stages.n_clusters import Suggestion, candidate_numbers, suggest_n_clusters
from manyview.stages.scaling import Array, ScaledRows, fit_scaler, unit_rows
from manyview.views.selection import refuse_samples_without_views, side_by_side

_MIN_SAMPLE_ROWS = 10_000
_SUGGESTING_ROWS = 2_000


@dataclass(frozen=True)
class Result:
    """What a fit gives: the model, results that have a row per sample, and how it went."""

    model: FittedModel
    embedding: Any
    labels: Any
    bases: tuple[Basis, ...]
    rank: int
    view_weights: Array
    inertia: float
    n_iter: int
    n_entries: Array
    n_solved: npt.NDArray[np.int64]
    n_failed: int
    n_clusters: int
    suggestion: Suggestion | None
    stage_seconds: dict[str, float]
    stage_memory: dict[str, int]


@dataclass(frozen=True)
class Clustering:
    """What graph rows were made into: a row per sample, the model's parts, and how it went."""

    embedding: Any
    labels: Any
    bases: tuple[Basis, ...]
    rank: int
    centers: Array
    inertia: float
    n_iter: int


def fit(
    arrays: Sequence[Any],
    names: Sequence[str],
    settings: Settings,
    *,
    engine: Engine,
    run: Run,
    rng: np.random.Generator,
) -> Result:
    """Fit the whole pipeline to row-aligned arrays, some of which may lack rows."""
    watch = Stopwatch()
    sample_rng, *repeat_rngs, label_rng = rng.spawn(settings.n_repeats + 2)
    with one_thread_per_product():
        with watch.stage("sample"):
            rows = engine.open(arrays, run)
            numbers = sample_numbers(rows.n_rows, settings, sample_rng)
            sample = rows.sample_rows(numbers)
            present = side_by_side(sample.arrays)
            if present is not None:  # here, where rows' own numbers are known
                refuse_samples_without_views(present, numbers)
            scalers = tuple(
                fit_scaler(array, name=name, kind=kind, impute=settings.impute, numbers=numbers)
                for array, name, kind in zip(sample.arrays, names, settings.scaling, strict=True)
            )
        with watch.stage("anchors"):
            graphs, weights = choose_graphs(rows, sample, scalers, settings, repeat_rngs)
            build = GraphRows(scalers, graphs)
        suggestion = None
        if settings.n_clusters is None:
            with watch.stage("number of clusters"):
                suggestion = _suggest(sample, build, graphs, settings, run, label_rng)
                settings = replace(settings, n_clusters=suggestion.n_clusters)
        with watch.stage("graph"):
            graph = rows.derive(build)
            moments = graph.map_reduce(graph_moments, stage="graph")
        found = cluster_graph(
            graph, moments, graphs, settings, engine=engine, run=run, rng=label_rng, watch=watch
        )
    transforms = tuple(basis.transform for basis in found.bases)
    model = FittedModel(scalers, graphs, transforms, settings.row_norm, found.centers, build)
    return Result(
        model, found.embedding, found.labels, found.bases, found.rank, weights, found.inertia,
        found.n_iter, np.concatenate(moments.n_entries), moments.n_solved, moments.n_failed,
        settings.known_clusters, suggestion, watch.seconds, watch.peak_bytes,
    )  # fmt: skip


def cluster_graph(
    graph: Rows,
    moments: Moments,
    graphs: Sequence[AnchorGraph],
    settings: Settings,
    *,
    engine: Engine,
    run: Run,
    rng: np.random.Generator,
    watch: Stopwatch,
) -> Clustering:
    """Give the labels of graph rows whose sums are known: the stages after the graph."""
    with watch.stage("spectrum"):
        bases, rank = find_bases(moments, graph, graphs, settings)
        transforms = tuple(basis.transform for basis in bases)
    with watch.stage("embedding"):
        embed = partial(_embed, transforms=transforms, row_norm=settings.row_norm)
        embedding = graph.map_rows(embed, stage="embedding")
    with watch.stage("labels"):
        embedded = engine.open([embedding], run)
        with thread_pool(run.n_jobs) as pool:
            centers, inertia, n_iter = _cluster(embedded, settings, rng, pool.map)
        labels = embedded.map_rows(partial(_label, centers=centers), stage="labels")
    return Clustering(embedding, labels, bases, rank, centers, inertia, n_iter)


def embed(model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run) -> Any:
    """Embedding of new rows."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(model.embed, stage="embedding")


def predict(model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run) -> Any:
    """Labels of new rows."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(model.label, stage="labels")


# What follows are the steps named above, in that order.


def sample_numbers(
    n_rows: int, settings: Settings, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Numbers of the rows that scaling and anchors are worked out on."""
    return choose_rows(n_rows, min(n_rows, count_sample_rows(settings)), rng)


def count_sample_rows(settings: Settings) -> int:
    """Number of rows that scaling and anchors are worked out on."""
    return max(_MIN_SAMPLE_ROWS, SAMPLE_ROWS_PER_ANCHOR * max(settings.n_anchors))


def find_bases(
    moments: Moments, graph: Rows, graphs: Sequence[AnchorGraph], settings: Settings
) -> tuple[tuple[Basis, ...], int]:
    """Give each repeat's basis from the sums over graph rows, and the smallest rank among them."""
    wanted = settings.n_components or count_spare(settings.n_vectors)
    bases = _spectral_bases(moments, graphs, settings, wanted)
    rank = min(len(basis.singular_values) for basis in bases)
    if settings.n_components is None:
        bases = _weigh_vectors(graph, bases, settings)
    return bases, rank


def _suggest(
    sample: SampledRows,
    build: GraphRows,
    graphs: tuple[AnchorGraph, ...],
    settings: Settings,
    run: Run,
    rng: np.random.Generator,
) -> Suggestion:
    """Suggest a number of clusters from the graph of a few sampled rows."""
    some = sample.sample_rows(spread_evenly(sample.n_rows, _SUGGESTING_ROWS))
    tile = build(some.arrays, 0)
    moments = graph_moments(tile)
    most = max(candidate_numbers(some.n_rows), default=1)
    wanted = settings.n_components or count_spare(n_vectors_for(most))
    bases = _spectral_bases(moments, graphs, settings, wanted)
    # Rows times transforms are the vectors themselves: few rows, so all of them are kept.
    vectors = [
        Basis(Z @ basis.transform, basis.singular_values)
        for Z, basis in zip(tile.parts, bases, strict=True)
    ]

    def embeddings_for(k: int) -> list[Array]:
        chosen = vectors
        if settings.n_components is None:
            quartics = [(basis.transform**4).sum(axis=0) for basis in vectors]
            chosen = [
                weigh_vectors(
                    basis, part, n_rows=some.n_rows, n_clusters=k, n_components=n_vectors_for(k)
                )
                for basis, part in zip(vectors, quartics, strict=True)
            ]
        parts = [basis.transform for basis in chosen]
        return [unit_rows(part) for part in parts] if settings.row_norm else parts

    scales = repeat_scales(moments.column_sums, graphs, degree_norm=settings.degree_norm)
    fused = [Z * each[None, :] for Z, each in zip(tile.parts, scales, strict=True)]
    rank = min(len(basis.singular_values) for basis in bases)
    with thread_pool(run.n_jobs) as pool:
        return suggest_n_clusters(
            embeddings_for,
            fused,
            candidate_numbers(some.n_rows, most=rank),
            seed=int(rng.integers(2**30)),
            each=pool.map,
        )


def _spectral_bases(
    moments: Moments, graphs: Sequence[AnchorGraph], settings: Settings, wanted: int
) -> tuple[Basis, ...]:
    """Give the leading singular vectors of each repeat."""
    scales = repeat_scales(moments.column_sums, graphs, degree_norm=settings.degree_norm)
    return tuple(
        spectral_basis(fused_gram(gram, each), each, wanted)
        for gram, each in zip(moments.grams, scales, strict=True)
    )


def _weigh_vectors(graph: Rows, bases: tuple[Basis, ...], settings: Settings) -> tuple[Basis, ...]:
    """Leave out vectors that sit on a handful of rows, and weight the others."""
    transforms = [basis.transform for basis in bases]
    quartics = graph.map_reduce(partial(_quartic_sums, transforms=transforms), stage="vectors")
    ends = np.cumsum([len(basis.singular_values) for basis in bases])
    return tuple(
        weigh_vectors(
            basis,
            part,
            n_rows=graph.n_rows,
            n_clusters=settings.known_clusters,
            n_components=settings.n_vectors,
        )
        for basis, part in zip(bases, np.split(quartics, ends[:-1]), strict=True)
    )


def _quartic_sums(tile: GraphTile, first_row: int, *, transforms: Sequence[Array]) -> Array:
    return quartic_sums(tile, transforms)


def _embed(
    tile: GraphTile, first_row: int, *, transforms: Sequence[Array], row_norm: bool
) -> Array:
    return embed_rows(tile, transforms, row_norm=row_norm)


def _cluster(
    embedded: Rows, settings: Settings, rng: np.random.Generator, each: Each
) -> tuple[Array, float, int]:
    """Many starts on a sample, the best finished over all rows."""
    k = settings.known_clusters
    wanted = max(MIN_START_ROWS, START_ROWS_PER_CLUSTER * k)
    numbers = choose_rows(embedded.n_rows, min(embedded.n_rows, wanted), rng)
    centers = start_centers(
        embedded.sample_rows(numbers).arrays[0],
        k,
        n_init=settings.n_init,
        max_iter=settings.max_iter,
        tol=settings.tol,
        seed=int(rng.integers(2**30)),
        each=each,
    )

    def sweep(centers: Array) -> Assignment:
        return embedded.map_reduce(partial(_assign, centers=centers), stage="k-means")

    return refine_centers(sweep, centers, max_iter=settings.max_iter, tol=settings.tol)


def _assign(tile: list[Array], first_row: int, *, centers: Array) -> Assignment:
    return assign(ScaledRows(tile[0]), centers)


def _label(tile: list[Array], first_row: int, *, centers: Array) -> npt.NDArray[np.int32]:
    return label_rows(tile[0], centers)
