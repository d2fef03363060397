"""Labels of rows, and nothing else that a fit finds: no confidence, tree or odd rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from manyview.engines.base import Engine, Run, one_thread_per_product
from manyview.engines.progress import SilentProgress
from manyview.machine import Stopwatch
from manyview.pipeline.fit import Rngs, cluster_graph, open_sample, plan_graphs
from manyview.pipeline.pilot import settle_counts
from manyview.pipeline.settings import Settings
from manyview.stages.fusion import graph_moments
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
        plan, _ = plan_graphs(
            rows, sample, numbers, views.names, settings, run=run, rngs=rngs, watch=watch
        )
        graph = rows.derive(plan.build)
        moments = graph.map_reduce(partial(graph_moments, weights=None), stage="graph")
        found = cluster_graph(
            graph, sample, moments, plan, settings,
            engine=engine, run=run, rng=rngs.labels, watch=watch,
        )  # fmt: skip
    return label_rows(np.asarray(found.embedding), found.centers)
