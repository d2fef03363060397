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
from manyview.pipeline.graphs import choose_graphs
from manyview.pipeline.model import FittedModel
from manyview.pipeline.settings import Settings
from manyview.pipeline.spectrum import find_bases, suggest
from manyview.stages.embedding import Basis, embed_rows, quartic_sums
from manyview.stages.fusion import Moments, graph_moments
from manyview.stages.graph import AnchorGraph, GraphRows, GraphTile
from manyview.stages.kmeans import Assignment, assign, lloyd
from manyview.stages.labels import label_rows, start_centers, warn_of_alike
from manyview.stages.litekmeans import draw_starts, litekmeans
from manyview.stages.n_clusters import Suggestion
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.sampling import choose_rows, count_sample_rows, count_start_rows
from manyview.stages.scaling import Scaler, fit_scaler
from manyview.views.selection import refuse_samples_without_views, side_by_side


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The model that rows were made into, and how it went."""

    model: FittedModel
    bases: tuple[Basis, ...]
    rank: int
    view_weights: Array
    inertia: float
    n_failed: int
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class Result(Outcome):
    """What a fit gives: results that have a row per sample, too."""

    embedding: Any
    labels: Any
    n_iter: int
    n_entries: Array
    n_solved: npt.NDArray[np.int64]
    suggestion: Suggestion | None
    stage_seconds: dict[str, float]
    stage_memory: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class GraphPlan:
    """How rows become graph rows, by what a sample of them tells."""

    scalers: tuple[Scaler, ...]
    graphs: tuple[AnchorGraph, ...]
    view_weights: Array
    build: GraphRows

    def model(self, bases: Sequence[Basis], centers: Array, settings: Settings) -> FittedModel:
        """The model of rows with these vectors and centres."""
        return FittedModel(
            self.scalers,
            self.graphs,
            tuple(basis.transform for basis in bases),
            settings.row_norm,
            centers,
            self.build,
        )


@dataclass(frozen=True, kw_only=True)
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
    watch = Stopwatch(track_memory=getattr(engine, "track_memory", False))
    *rngs, label_rng = rng.spawn(settings.n_repeats + 2)
    suggestion = None
    with one_thread_per_product():
        rows, sample, plan = plan_graphs(
            arrays, names, settings, engine=engine, run=run, rngs=rngs, watch=watch
        )
        if settings.n_clusters is None:
            with watch.stage("number of clusters"):
                suggestion = suggest(
                    sample, plan.build, plan.graphs, settings, run=run, rng=label_rng
                )
                settings = replace(settings, n_clusters=suggestion.n_clusters)
        with watch.stage("graph"):
            graph = rows.derive(plan.build)
            moments = graph.map_reduce(graph_moments, stage="graph")
        found = cluster_graph(
            graph, moments, plan.graphs, settings,
            engine=engine, run=run, rng=label_rng, watch=watch,
        )  # fmt: skip
    return Result(
        model=plan.model(found.bases, found.centers, settings),
        bases=found.bases,
        rank=found.rank,
        view_weights=plan.view_weights,
        inertia=found.inertia,
        n_failed=moments.n_failed,
        settings=settings,
        embedding=found.embedding,
        labels=found.labels,
        n_iter=found.n_iter,
        n_entries=np.concatenate(moments.n_entries),
        n_solved=moments.n_solved,
        suggestion=suggestion,
        stage_seconds=watch.seconds,
        stage_memory=watch.peak_bytes,
    )


def plan_graphs(
    arrays: Sequence[Any],
    names: Sequence[str],
    settings: Settings,
    *,
    engine: Engine,
    run: Run,
    rngs: Sequence[np.random.Generator],
    watch: Stopwatch,
) -> tuple[Rows, SampledRows, GraphPlan]:
    """Open rows, take a sample, scale and choose graphs by it.

    ``rngs`` are one for the sample and one for each repeat.
    """
    sample_rng, *repeat_rngs = rngs
    with watch.stage("sample"):
        rows = engine.open(arrays, run)
        n_wanted = count_sample_rows(max(settings.n_anchors))
        numbers = choose_rows(rows.n_rows, n_wanted, sample_rng)
        sample = rows.sample_rows(numbers)
        present = side_by_side(sample.arrays)
        if present is not None:  # here, where rows' own numbers are known
            refuse_samples_without_views(present, numbers)
        scalers = tuple(
            fit_scaler(array, name=name, kind=kind, numbers=numbers)
            for array, name, kind in zip(sample.arrays, names, settings.scaling, strict=True)
        )
    with watch.stage("anchors"):
        graphs, weights = choose_graphs(rows, sample, scalers, settings, repeat_rngs)
        plan = GraphPlan(
            scalers=scalers,
            graphs=graphs,
            view_weights=weights,
            build=GraphRows(scalers, graphs),
        )
    return rows, sample, plan


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
    """Embed and label graph rows whose sums are known."""
    with watch.stage("spectrum"):

        def sum_quartics(transforms: Sequence[Array]) -> Array:
            return graph.map_reduce(partial(_quartics, transforms=transforms), stage="vectors")

        bases, rank = find_bases(
            moments, graphs, settings, n_rows=graph.n_rows, sum_quartics=sum_quartics
        )
    with watch.stage("embedding"):
        transforms = tuple(basis.transform for basis in bases)
        embed = partial(_embed, transforms=transforms, row_norm=settings.row_norm)
        embedding = graph.map_rows(embed, stage="embedding")
    with watch.stage("labels"):
        embedded = engine.open([embedding], run)
        centers, inertia, n_iter = _place_centers(embedded, settings, rng, run.n_jobs)
        labels = embedded.map_rows(partial(_label, centers=centers), stage="labels")
    return Clustering(
        embedding=embedding,
        labels=labels,
        bases=bases,
        rank=rank,
        centers=centers,
        inertia=inertia,
        n_iter=n_iter,
    )


def _place_centers(
    embedded: Rows, settings: Settings, rng: np.random.Generator, n_jobs: int
) -> tuple[Array, float, int]:
    """Centres (k, c) of embedding rows, the rows' inertia, and the number of sweeps over them."""
    k = settings.known_clusters
    numbers = choose_rows(embedded.n_rows, count_start_rows(k), rng)
    sample = embedded.sample_rows(numbers).arrays[0]
    if settings.is_litekmeans:
        warn_of_alike(sample, k)
        starts = (sample[chosen] for chosen in draw_starts(len(sample), k, rng))

        def over(function: Any) -> Any:
            return embedded.map_reduce(partial(_on_rows, function=function), stage="k-means")

        best = litekmeans(over, starts)
        return best.compared, best.inertia, best.n_iter

    def sweep(centers: Array) -> Assignment:
        return embedded.map_reduce(partial(_assign, centers=centers), stage="k-means")

    start = find_centers(sample, settings, seed=int(rng.integers(2**30)), n_jobs=n_jobs)
    centers, last, n_iter = lloyd(sweep, start, max_iter=settings.max_iter, tol=settings.tol)
    return centers, last.inertia, n_iter


def find_centers(sample: Array, settings: Settings, *, seed: int, n_jobs: int) -> Array:
    """Centres (k, c) of sampled embedding rows: the best of many starts of k-means."""
    with thread_pool(n_jobs) as pool:
        return start_centers(
            sample,
            settings.known_clusters,
            n_init=settings.n_init,
            max_iter=settings.max_iter,
            tol=settings.tol,
            seed=seed,
            each=pool.map,
        )


def embed(model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run) -> Any:
    """Embedding of new rows."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(model.embed, stage="embedding")


def predict(model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run) -> Any:
    """Labels of new rows."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(model.label, stage="labels")


# Engines call these with a tile and the number of its first row, wherever the tile is.


def _quartics(tile: GraphTile, first_row: int, *, transforms: Sequence[Array]) -> Array:
    return quartic_sums(tile, transforms)


def _embed(
    tile: GraphTile, first_row: int, *, transforms: Sequence[Array], row_norm: bool
) -> Array:
    return embed_rows(tile, transforms, row_norm=row_norm)


def _on_rows(tile: list[Array], first_row: int, *, function: Any) -> Any:
    return function(ScaledRows(tile[0]), first_row)


def _assign(tile: list[Array], first_row: int, *, centers: Array) -> Assignment:
    return assign(ScaledRows(tile[0]), centers)


def _label(tile: list[Array], first_row: int, *, centers: Array) -> npt.NDArray[np.int32]:
    return label_rows(tile[0], centers)
