"""The algorithm, once: the stages in order, on rows that an engine holds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import Engine, Rows, Run, SampledRows, meanwhile, one_thread_per_product
from manyview.engines.progress import announce
from manyview.machine import Stopwatch
from manyview.pipeline.clusters import (
    Clusters,
    SampleGraph,
    embed_as_published,
    place_as_published,
)
from manyview.pipeline.foretold import foretell
from manyview.pipeline.groups import learn_groups
from manyview.pipeline.model import FittedModel
from manyview.pipeline.oddness import ODDNESS_ROWS, learn_oddness
from manyview.pipeline.outcome import Result
from manyview.pipeline.pilot import settle_counts
from manyview.pipeline.plan import GraphPlan, Rngs, plan_graphs
from manyview.pipeline.settings import Settings
from manyview.pipeline.spectrum import find_bases, suggest
from manyview.pipeline.sureness import count_rows
from manyview.stages.embedding import Basis, Embedding
from manyview.stages.fusion import Moments, graph_moments, with_sampled
from manyview.stages.given import seed_centers, sum_given
from manyview.stages.graph import GraphTile
from manyview.stages.kmeans import Assignment, assign, assign_weighted, lloyd, move_once
from manyview.stages.labels import VERY_MANY_CLUSTERS, Labels
from manyview.stages.oddness import ODD
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.sampling import (
    choose_rows,
    choose_weighted,
    count_sample_rows,
    size_of_sample,
    spread_evenly,
)
from manyview.stages.sureness import label_surely
from manyview.views.selection import refuse_samples_without_views, side_by_side

_NOTICED = 0.05  # seconds of compiling that are told


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """What graph rows were made into: a row per sample, the model's parts, and how it went."""

    embedding: Any
    embedded: Rows  # the same, as the engine holds it
    clusters: Clusters
    bases: tuple[Basis, ...]
    centers: Array
    sizes: Array | None  # rows of each cluster, or their weights; None if it is as published
    inertia: float | None  # None if labels will tell it, and the sizes
    n_iter: int


def fit(
    arrays: Sequence[Any],
    names: Sequence[str],
    settings: Settings,
    *,
    engine: Engine,
    run: Run,
    rng: np.random.Generator,
    weights: Array | None = None,
    groups: npt.NDArray[np.str_] | None = None,
    hints: Labels | None = None,
) -> Result:
    """Fit the whole pipeline to row-aligned arrays, some of which may lack rows.

    Rows count by their ``weights`` (n,); those that are marked as odd do not. What is common to rows of
    one of the ``groups`` (n,) is taken off them before all else. Where clusters of rows are
    known, ``hints`` (n,) are their numbers, else -1.
    """
    compiling = run.notes.get("compiling")
    watch = Stopwatch(
        track_memory=getattr(engine, "track_memory", False),
        progress=run.progress,
        uncounted=lambda: 0.0 if compiling is None else float(compiling.seconds),
    )
    announce(run.progress, foretell(int(arrays[0].shape[0])))
    suggestion = None
    with one_thread_per_product():
        rngs = Rngs.spawned(rng, settings)
        open_ = partial(
            open_sample, engine=engine, run=run, rng=rngs.sample, watch=watch, weights=weights
        )
        rows, sample, numbers = open_(arrays, settings)
        settings, known = settle_counts(sample.arrays, settings), None
        if groups is not None:
            with watch.stage("groups"):
                known, codes = learn_groups(rows, sample, names, groups, settings, weights)
                corrected = known.correct(rows, codes)
            settings = replace(
                settings, scaling=("energy",) * len(names), had_genes=settings.counts_genes
            )
            rows, sample, numbers = open_(corrected, settings)
        oddness, scores, is_odd = None, None, None
        if settings.marks_outliers:
            with watch.stage("oddness"):
                distinct = sample.sample_rows(_first_of_each(numbers))
                oddness = learn_oddness(distinct, names, settings, n_jobs=run.n_jobs)
                scores = rows.map_rows(oddness, stage="oddness")
                is_odd = np.asarray(scores) > ODD
            weights = np.where(is_odd, 0.0, 1.0 if weights is None else weights)
            kept = np.flatnonzero(~is_odd[numbers])
            sample, numbers = sample.sample_rows(kept), numbers[kept]
        if settings.n_clusters is None:
            with watch.stage("number of clusters"):
                suggestion = suggest(sample, names, settings, n_jobs=run.n_jobs, rng=rngs.pilot)
                least = 1 if hints is None else int(hints.max()) + 1
                settings = replace(settings, n_clusters=max(suggestion.n_clusters, least))
        plan, scaled = plan_graphs(
            rows, sample, numbers, names, settings, run=run, rngs=rngs, watch=watch,
            n_kept=settings.count_kept(rows.n_rows),
        )  # fmt: skip
        learns = oddness is None and not settings.is_litekmeans
        beside: Any = nullcontext()
        if learns:
            own = _first_of_each(numbers)
            own = own[spread_evenly(len(own), ODDNESS_ROWS)]
            looked_at = (sample.sample_rows(own), names, settings, scaled.sample_rows(own))
            beside = meanwhile(partial(learn_oddness, *looked_at), run.n_jobs)
            del looked_at
        del sample  # of the other rows, all that is needed is scaled already
        with watch.stage("graph"):
            graph, tile = rows.derive(plan.build), None
            moments = graph.map_reduce(partial(graph_moments, weights=weights), stage="graph")
            if not settings.is_litekmeans:
                tile = plan.gather(graph, scaled, is_weighted=weights is not None)
            plan.build.let_go_of_large()
        few = spread_evenly(len(numbers), count_rows(settings.known_clusters))
        scaled = scaled.sample_rows(few)  # no other row is looked at again
        with beside as learned:  # clusters leave a thread idle now and then
            found = cluster_graph(
                graph, tile, moments, plan, settings,
                engine=engine, run=run, rng=rngs.labels, watch=watch, weights=weights, hints=hints,
            )  # fmt: skip
        if learns:
            with watch.stage("oddness"):
                oddness = learned()
                scores = rows.map_rows(oddness, stage="oddness")
        del beside, learned, tile
        with watch.stage("confidence"):
            some = _take(found.embedded, numbers[few]).arrays[0]
            model = plan.model(
                found.clusters, found.centers, scaled.rows.arrays, some,
                scalers=scaled.applied, sizes=found.sizes, oddness=oddness,
            )  # fmt: skip
            inertia = found.inertia
            label = partial(_label, model=model, is_odd=is_odd, measures=inertia is None)
            labelled = engine.open([found.embedded.map_rows(label, stage="confidence")], run)
            labels = labelled.map_rows(partial(_column, number=0, dtype=np.int32), stage="labels")
            confidence = labelled.map_rows(
                partial(_column, number=1, dtype=np.float64), stage="confidence"
            )
            if inertia is None:
                tally = partial(_tally, n_clusters=len(found.centers))
                *sizes, inertia = labelled.map_reduce(tally, stage="confidence").tolist()
                model = replace(model, sizes=np.array(sizes), build=plan.build)
            leaves = None
            if model.hierarchy is not None and model.hierarchy.of_columns:
                leaves = rows.map_rows(model.leaves, stage="confidence")
            elif model.hierarchy is not None:
                leaf = partial(_column, number=2, dtype=np.int32)
                leaves = labelled.map_rows(leaf, stage="confidence")
        plan.build.let_go_of_large()  # if it was needed again since
    if compiling is not None and compiling.seconds > _NOTICED:
        watch.seconds["compiling"] = float(compiling.seconds)
    return Result(
        model=model,
        bases=found.bases,
        view_weights=plan.view_weights,
        inertia=inertia,
        n_failed=moments.n_failed,
        settings=settings,
        decision=plan.decision,
        tried=found.clusters.tried,
        embedding=found.embedding,
        labels=labels,
        confidence=confidence,
        outlier_score=scores,
        leaves=leaves,
        n_iter=found.n_iter,
        n_entries=np.concatenate(moments.n_entries),
        n_solved=moments.n_solved,
        suggestion=suggestion,
        groups=known,
        stage_seconds=watch.seconds,
        stage_memory=watch.peak_bytes,
    )


def open_sample(
    arrays: Sequence[Any],
    settings: Settings,
    *,
    engine: Engine,
    run: Run,
    rng: np.random.Generator,
    watch: Stopwatch,
    weights: Array | None = None,
) -> tuple[Rows, SampledRows, npt.NDArray[np.int64]]:
    """The rows, a sample of them in memory, and its rows' numbers; these repeat if rows weigh more."""
    with watch.stage("sample"):
        rows = engine.open(arrays, run)
        most, k = settings.most_anchors, settings.n_clusters
        if weights is None:
            numbers = choose_rows(rows.n_rows, size_of_sample(rows.n_rows, most, k), rng)
        else:
            numbers = choose_weighted(weights, count_sample_rows(most, k), rng)
        sample = _take(rows, numbers)
        present = side_by_side(sample.arrays)
        if present is not None:  # here, where rows' own numbers are known
            refuse_samples_without_views(present, numbers)
    return rows, sample, numbers


def _take(rows: Rows, numbers: npt.NDArray[np.int64]) -> SampledRows:
    """Rows with these numbers, some maybe several times, in memory."""
    distinct, places = np.unique(numbers, return_inverse=True)
    found = rows.sample_rows(distinct)
    return found if len(distinct) == len(numbers) else found.sample_rows(places)


def _first_of_each(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Each row of a sample once: an anchor on copies of a row would explain it perfectly."""
    return np.sort(np.unique(numbers, return_index=True)[1])


def cluster_graph(
    graph: Rows,
    tile: GraphTile | None,
    moments: Moments,
    plan: GraphPlan,
    settings: Settings,
    *,
    engine: Engine,
    run: Run,
    rng: np.random.Generator,
    watch: Stopwatch,
    weights: Array | None = None,
    hints: Labels | None = None,
) -> Clustering:
    """Embed graph rows whose sums are known, and place the centres that label them.

    How is decided by the graph rows of a sample, ``tile``; as published, it is by all rows.
    """
    graphs, n_kept = plan.graphs + plan.others, len(moments.grams)
    if tile is None:
        with watch.stage("spectrum"):
            bases = find_bases(moments, graphs, settings, n_jobs=run.n_jobs)
        with watch.stage("clusters"):
            found = embed_as_published(bases)
    else:
        if plan.others:
            moments = with_sampled(moments, tile)
        seed = int(rng.integers(2**30))
        of_sample = SampleGraph.of(tile, moments.column_sums, graphs, settings)
        search = partial(plan.communities, of_sample, settings, seed=seed, n_jobs=run.n_jobs)
        with meanwhile(search, run.n_jobs) as communities:  # they need no vectors
            with watch.stage("spectrum"):
                bases = find_bases(moments, graphs, settings, n_jobs=run.n_jobs)
            with watch.stage("clusters"):
                found = plan.cluster(
                    replace(of_sample, bases=bases), communities, settings,
                    seed=seed, n_jobs=run.n_jobs,
                )  # fmt: skip
    with watch.stage("embedding"):
        embedding = graph.map_rows(partial(_embed, embedding=found.embedding), stage="embedding")
    with watch.stage("labels"):
        embedded = engine.open([embedding], run)
        placed = _place_centers(embedded, found.centers, settings, rng, weights, hints)
        centers, inertia, n_iter, sizes = placed
    return Clustering(
        embedding=embedding,
        embedded=embedded,
        clusters=found,
        bases=bases[:n_kept],
        centers=centers,
        sizes=sizes,
        inertia=inertia,
        n_iter=n_iter,
    )


def _place_centers(
    embedded: Rows,
    start: Array,
    settings: Settings,
    rng: np.random.Generator,
    weights: Array | None,
    hints: Labels | None,
) -> tuple[Array, float | None, int, Array | None]:
    """Centres (k, c) of embedding rows, the rows' inertia, the number of sweeps, the clusters' sizes.

    Of very many, inertia and sizes are None: rows are compared with all of them once less.
    """
    if settings.is_litekmeans:
        return place_as_published(embedded, settings.known_clusters, rng)

    given = None
    if hints is not None:
        numbers = np.flatnonzero(hints >= 0)
        rows = embedded.sample_rows(numbers).arrays[0]
        own = np.ones(len(numbers)) if weights is None else weights[numbers]
        given = sum_given(rows, hints[numbers], own, len(start))
        start = seed_centers(start, rows, hints[numbers], given)

    def sweep(centers: Array) -> Assignment:
        assign = partial(_assign, centers=centers, weights=weights)
        found: Assignment = embedded.map_reduce(assign, stage="k-means")
        return found if given is None else found + given

    # Sweeps over enough rows of each placed very many: they move once to the means of all rows.
    is_placed = len(start) > VERY_MANY_CLUSTERS and weights is None and given is None
    if is_placed and settings.max_iter > 1:
        centers, n_iter = move_once(sweep, start, tol=settings.tol)
        return centers, None, n_iter, None
    max_iter = 1 if is_placed else settings.max_iter
    centers, last, n_iter = lloyd(sweep, start, max_iter=max_iter, tol=settings.tol)
    # Rows whose clusters are known count once in the sizes, however they pull at centres.
    sizes = last.counts if given is None else last.counts - given.counts
    return centers, last.inertia, n_iter, sizes.astype(np.float64)


# Engines call these with a tile and the number of its first row, wherever the tile is.


def _embed(tile: GraphTile, first_row: int, *, embedding: Embedding) -> Array:
    return embedding.rows(tile)


def _assign(
    tile: list[Array], first_row: int, *, centers: Array, weights: Array | None
) -> Assignment:
    if weights is None:
        return assign(ScaledRows(tile[0]), centers.astype(tile[0].dtype, copy=False))
    return assign_weighted(tile[0], centers, weights[first_row : first_row + len(tile[0])])


def _label(
    tile: list[Array], first_row: int, *, model: FittedModel, is_odd: Any, measures: bool
) -> Array:
    """Labels of a tile of embedding rows, how probable they are, and leaves of a tree in them.

    If it ``measures``, squared distances to the rows' centres come last.
    """
    labels, confidence = label_surely(tile[0], model.centers, model.sharpness).T
    if is_odd is not None:
        labels[is_odd[first_row : first_row + len(labels)]] = -1
    found = [labels, confidence]
    if model.hierarchy is not None and not model.hierarchy.of_columns:
        found.append(model.hierarchy.nearest(tile[0], labels.astype(np.int32)))
    if measures:
        left = model.centers.astype(tile[0].dtype)[labels.astype(np.int32)]
        left -= tile[0]
        found.append(np.einsum("ij,ij->i", left, left))
    return np.column_stack(found)


def _tally(tile: list[Array], first_row: int, *, n_clusters: int) -> Array:
    """How many rows of a labelled tile each cluster has, and last their squared distances' sum."""
    labels, distances = tile[0][:, 0].astype(np.int64), tile[0][:, -1]
    return np.append(np.bincount(labels, minlength=n_clusters), distances.sum())


def _column(tile: list[Array], first_row: int, *, number: int, dtype: type) -> Any:
    return tile[0][:, number].astype(dtype)
