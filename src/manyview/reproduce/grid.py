"""The published method over a grid of settings, sharing all work that settings have in common.

Anchors are found once for each variant, view, number of anchors and seed, and products of rows and
anchors are made once for each of them; only the simplex problems are solved again for every alpha. The
variants share nothing, because their k-means starts from other rows. Labels are those of
``LMVSC.as_published`` with the same seed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_random_state

from manyview.engines import Memory
from manyview.engines.base import Run, one_thread_per_product
from manyview.machine import Stopwatch, count_jobs
from manyview.pipeline import fit as pipeline
from manyview.pipeline.plan import Rngs, plan_graphs
from manyview.pipeline.settings import published_parameters, resolve
from manyview.simplex import Solver, prepare, product_rows
from manyview.stages.fusion import graph_moments
from manyview.stages.graph import AnchorGraph, GraphTile, side_by_side_graphs
from manyview.stages.labels import Labels, label_rows
from manyview.stages.scaling import Array, Scaler
from manyview.views.container import Views

VARIANTS = ("paper", "released")


@dataclass(frozen=True)
class GridFit:
    """One setting of the grid, its labels and its cost.

    ``stage_seconds`` and ``cpu_seconds`` (of all threads) are those of a whole fit, shared work in
    full; ``spent_seconds`` is what it cost beyond work that was already done for others.
    """

    alpha: float
    variant: str
    labels: npt.NDArray[np.int32]
    stage_seconds: dict[str, float]
    spent_seconds: float
    cpu_seconds: float


def fit_grid(
    views: Views,
    n_clusters: int,
    n_anchors: int,
    alphas: Sequence[float],
    *,
    variants: Sequence[str] = VARIANTS,
    seed: int = 0,
) -> Iterator[GridFit]:
    """Fit the published method with one number of anchors and every alpha and variant, on all cores.

    ``seed`` is as ``random_state`` of the estimator.

    Examples
    --------
    >>> from manyview import datasets
    >>> views = datasets.make_views(200, 3, (4, 5), random_state=0)
    >>> [(fit.alpha, fit.variant) for fit in fit_grid(views, 3, 6, [0.1, 1.0])]
    [(0.1, 'paper'), (1.0, 'paper'), (0.1, 'released'), (1.0, 'released')]
    """
    for variant in variants:
        params = published_parameters(n_clusters, n_anchors, alphas, variant)
        yield from _fit_variant(views, params, alphas, seed=seed)


def _fit_variant(
    views: Views, params: dict[str, Any], alphas: Sequence[float], *, seed: int
) -> Iterator[GridFit]:
    settings = resolve(params, views)
    first = check_random_state(seed).randint(np.iinfo(np.int32).max)
    rngs = Rngs.spawned(np.random.default_rng(first), settings)
    run, watch = Run(count_jobs()), Stopwatch()
    engine = Memory()
    shared: dict[str, float] = {}
    with one_thread_per_product():
        started, cpu_started = time.perf_counter(), time.process_time()
        rows, sample, numbers = pipeline.open_sample(
            views.arrays, settings, engine=engine, run=run, rng=rngs.sample, watch=watch
        )
        plan, _ = plan_graphs(
            rows, sample, numbers, views.names, settings, run=run, rngs=rngs, watch=watch
        )
        scalers, graphs = plan.scalers, plan.graphs
        shared["anchors"] = time.perf_counter() - started
        started = time.perf_counter()
        of_view = [[g for g in graphs if g.views == (v,)] for v in range(views.n_views)]
        products = [
            rows.map_rows(partial(_multiply, view=v, scaler=scalers[v], anchors=same[0].anchors),
                          stage="products")
            for v, same in enumerate(of_view)
        ]  # fmt: skip
        shared["products"] = time.perf_counter() - started
        spent, cpu_shared = sum(shared.values()), time.process_time() - cpu_started
        for number, alpha in enumerate(alphas):
            chosen = tuple(replace(same[number], weight=1.0 / views.n_views) for same in of_view)
            started, cpu_started = time.perf_counter(), time.process_time()
            graph = engine.open(products, run).derive(_Solved(chosen, views.n_features))
            moments = graph.map_reduce(graph_moments, stage="graph")
            solved = time.perf_counter() - started
            cpu_solved = cpu_shared + time.process_time() - cpu_started
            spent += solved
            watch, cpu_started = Stopwatch(), time.process_time()
            found = pipeline.cluster_graph(
                graph, None, moments, replace(plan, graphs=chosen), settings,
                engine=engine, run=run, watch=watch,
                rng=Rngs.spawned(np.random.default_rng(first), settings).labels,
            )  # fmt: skip
            with watch.stage("labels"):
                label = partial(_label, centers=found.centers)
                labels = found.embedded.map_rows(label, stage="labels")
            spent += sum(watch.seconds.values())
            seconds = {**shared, "graph": solved, **watch.seconds}
            cpu = cpu_solved + time.process_time() - cpu_started
            yield GridFit(alpha, params["variant"], labels, seconds, spent, cpu)
            spent = 0.0


def _label(tile: list[Array], first_row: int, *, centers: Array) -> Labels:
    return label_rows(tile[0], centers)


def _multiply(
    tile: list[Any], first_row: int, *, view: int, scaler: Scaler, anchors: Array
) -> Array:
    """Products of a tile's rows and centred anchors, (n, m): what no alpha changes."""
    return scaler.apply(tile[view], first_row).products((anchors - anchors.mean(axis=0)).T)


class _Solved:
    """Products of a tile in, its graph rows out, for one alpha."""

    def __init__(self, graphs: Sequence[AnchorGraph], widths: Sequence[int]) -> None:
        self._problems = [
            (Solver(prepare(g.anchors, alpha=g.alpha), g.method), product_rows(d, len(g.anchors)))
            for g, d in zip(graphs, widths, strict=True)
        ]

    def __call__(self, tile: list[Array], first_row: int) -> GraphTile:
        parts, n_failed = [], 0
        for P, (solver, step) in zip(tile, self._problems, strict=True):
            problem, blocks = solver.problem, []
            for start in range(0, len(P), step):
                solution = solver.solve(P[start : start + step] / problem.unit + problem.offset)
                n_failed += solution.n_failed
                blocks.append(solution.rows(problem.n_anchors))
            Z = sparse.vstack(blocks, "csr")
            parts.append(
                sparse.csr_array((Z.data, Z.indices, Z.indptr.astype(np.int32)), shape=Z.shape)
            )
        return GraphTile((side_by_side_graphs(parts),), n_failed)
