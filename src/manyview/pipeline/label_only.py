"""Labels of rows, and nothing else that a fit finds: no confidence, tree or odd rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from manyview.engines.base import Engine, Run, one_thread_per_product, run_side_by_side
from manyview.engines.progress import SilentProgress
from manyview.machine import Stopwatch
from manyview.pipeline.clusters import (
    SampleGraph,
    cluster_by_modularity,
    search_communities,
)
from manyview.pipeline.fit import cluster_graph, open_sample
from manyview.pipeline.model import FittedModel
from manyview.pipeline.pilot import settle_counts
from manyview.pipeline.plan import Rngs, plan_graphs
from manyview.pipeline.settings import Settings
from manyview.pipeline.spectrum import find_bases
from manyview.stages.fusion import graph_moments
from manyview.stages.graph import AnchorGraph, GraphRows
from manyview.stages.labels import Labels, label_rows
from manyview.views.container import Views


def find_labels(
    views: Views, settings: Settings, *, engine: Engine, seed: int, n_jobs: int
) -> Labels:
    """The labels (n,) that a fit with these settings and this ``random_state`` gives."""
    drawn = np.random.RandomState(seed).randint(np.iinfo(np.int32).max)
    rngs, watch = Rngs.spawned(np.random.default_rng(drawn), settings), Stopwatch()
    run = Run(n_jobs, SilentProgress())
    with run.resources, one_thread_per_product():
        rows, sample, numbers = open_sample(
            views.arrays, settings, engine=engine, run=run, rng=rngs.sample, watch=watch
        )
        settings = settle_counts(sample.arrays, settings)
        plan, scaled = plan_graphs(
            rows, sample, numbers, views.names, settings, run=run, rngs=rngs, watch=watch,
            n_kept=settings.count_kept(rows.n_rows),
        )  # fmt: skip
        graph = rows.derive(plan.build)
        moments = graph.map_reduce(partial(graph_moments, weights=None), stage="graph")
        found = cluster_graph(
            graph, plan.gather(graph, scaled), moments, plan, settings,
            engine=engine, run=run, rng=rngs.labels, watch=watch,
        )  # fmt: skip
    return label_rows(np.asarray(found.embedding), found.centers)


def graphs_of_view(model: FittedModel, view: int, n_repeats: int) -> tuple[AnchorGraph, ...]:
    """A model's graphs of one view alone, as if there were no other; empty unless each view has some.

    Where clusters are evident in one view, that has the only graph, which ties rows to one anchor each.
    """
    alone = {g.views for g in model.graphs if len(g.views) == 1}
    if len(alone) < len(model.scalers):
        return ()
    found = [g for g in model.graphs if g.views == (view,) and g.repeat < n_repeats]
    n_each = len([graph for graph in found if graph.repeat == 0])
    return tuple(
        replace(graph, views=(0,), view_scales=(1.0,), weight=1.0 / n_each) for graph in found
    )


def find_labels_of_view(
    views: Views,
    settings: Settings,
    model: FittedModel,
    graphs: Sequence[AnchorGraph],
    *,
    view: int,
    seed: int,
    n_jobs: int,
) -> Labels:
    """The labels (n,) of one of a model's views alone, ``views``, by its ``graphs`` of that view.

    Its scaling and its anchors are the model's, so that half the work of :func:`find_labels` is done.
    """
    settings = settle_counts(views.arrays, settings)
    with one_thread_per_product():
        build = GraphRows((model.scalers[view],), tuple(graphs))
        tile = build.join(run_side_by_side(build.parts(views.arrays, 0), n_jobs))
        moments = graph_moments(tile)
        bases, k = find_bases(moments, graphs, settings, n_jobs=n_jobs), settings.known_clusters
        sample = SampleGraph.of(tile, moments.column_sums, graphs, settings, bases)
        known = search_communities(sample, k, seed=seed, n_jobs=n_jobs) if k > 1 else ()
        found = cluster_by_modularity(sample, settings, communities=known, seed=seed, n_jobs=n_jobs)
        return label_rows(found.embedding.rows(tile), found.centers)
