"""How rows become graph rows, and these clusters: what a sample decides before all rows are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import Rows, Run, SampledRows
from manyview.machine import Stopwatch
from manyview.pipeline.clusters import (
    Clusters,
    Communities,
    SampleGraph,
    by_first_repeat,
    cluster_by_gap,
    cluster_by_modularity,
    search_communities,
)
from manyview.pipeline.graphs import ScaledSample, apply_scalers, choose_graphs, scale_sample
from manyview.pipeline.model import FittedModel
from manyview.pipeline.pilot import Decision, decide
from manyview.pipeline.settings import Settings
from manyview.pipeline.sureness import find_sharpness
from manyview.stages.graph import AnchorGraph, GraphRows, GraphTile, scaled_columns, stack_tiles
from manyview.stages.hierarchy import MOST_CLUSTERS, cluster_means, grow
from manyview.stages.labels import label_rows
from manyview.stages.oddness import Oddness
from manyview.stages.rows import Array
from manyview.stages.scaling import Scaler, usable_rows


@dataclass(frozen=True)
class Rngs:
    """Randomness, split so that what one part draws changes nothing for the others."""

    sample: np.random.Generator
    pilot: np.random.Generator
    labels: np.random.Generator
    repeats: tuple[np.random.Generator, ...]

    @classmethod
    def spawned(cls, rng: np.random.Generator, settings: Settings) -> Rngs:
        """One generator for each part, and for each repeat."""
        sample, pilot, labels, *repeats = rng.spawn(settings.n_repeats + 3)
        return cls(sample, pilot, labels, tuple(repeats))


@dataclass(frozen=True, kw_only=True)
class GraphPlan:
    """How rows become graph rows, by what a sample of them tells."""

    scalers: tuple[Scaler, ...]
    graphs: tuple[AnchorGraph, ...]
    view_weights: Array
    decision: Decision
    build: GraphRows
    others: tuple[AnchorGraph, ...] = ()  # of further repeats, which have a say on the sample alone

    def gather(self, graph: Rows, scaled: ScaledSample, *, is_weighted: bool = False) -> GraphTile:
        """Rows of a sample in all graphs, in one; if it is all rows, those are not built again."""
        few = graph
        if is_weighted or self.others or scaled.rows.n_rows < graph.n_rows:
            few = scaled.rows.derive(GraphRows(scaled.applied, self.graphs + self.others))
        return stack_tiles(few.map_reduce(_gather, stage="sample's graph"))

    def communities(
        self, sample: SampleGraph, settings: Settings, *, seed: int, n_jobs: int
    ) -> Communities:
        """Communities of the anchors, if the way that was decided asks for them."""
        decided = self.decision.evident is not None or self.decision.by_gap
        if decided or not settings.is_open or settings.known_clusters == 1:
            return ()
        return search_communities(sample, settings.known_clusters, seed=seed, n_jobs=n_jobs)

    def cluster(
        self,
        sample: SampleGraph,
        communities: Callable[[], Communities],
        settings: Settings,
        *,
        seed: int,
        n_jobs: int,
    ) -> Clusters:
        """Clusters of a sample's graph rows, in the way that was decided."""
        if self.decision.evident is not None:
            return self.decision.evident.cluster(sample.tile)
        if self.decision.by_gap:
            return cluster_by_gap(sample, settings)
        found = cluster_by_modularity(
            sample, settings, communities=communities(), seed=seed, n_jobs=n_jobs
        )
        return by_first_repeat(found, sample.tile) if self.others else found

    def model(
        self,
        clusters: Clusters,
        centers: Array,
        arrays: Sequence[Any],
        rows: Array,
        *,
        scalers: tuple[Scaler, ...] | None = None,
        sizes: Array | None = None,
        oddness: Oddness | None = None,
    ) -> FittedModel:
        """The model of rows that are embedded like this, with these centres.

        ``arrays`` are views of some rows, with ``scalers`` of their own if they are scaled already, and
        ``rows`` their embedding: by these it is decided how sure labels are, and how clusters divide.
        """
        sharpness = find_sharpness(
            arrays, rows, centers,
            scalers=scalers or self.scalers, view_weights=self.view_weights,
        )  # fmt: skip
        labels, hierarchy = label_rows(rows, centers), None
        if len(centers) <= MOST_CLUSTERS and self.decision.evident is None:
            hierarchy = grow(rows, labels, centers)
        elif len(centers) <= MOST_CLUSTERS:  # their embedding tells nothing but the clusters
            columns = scaled_columns(self.graphs[0], scalers or self.scalers, arrays, 0)
            means = cluster_means(columns, labels, len(centers))
            hierarchy = replace(grow(columns, labels, means), of_columns=True)
        return FittedModel(
            self.scalers, self.graphs, clusters.embedding, centers, self.build,
            sharpness=sharpness, oddness=oddness, hierarchy=hierarchy, sizes=sizes,
        )  # fmt: skip


def plan_graphs(
    rows: Rows,
    sample: SampledRows,
    numbers: npt.NDArray[np.int64],
    names: Sequence[str],
    settings: Settings,
    *,
    run: Run,
    rngs: Rngs,
    watch: Stopwatch,
    n_kept: int | None = None,
) -> tuple[GraphPlan, ScaledSample]:
    """Decide which way to go, scale and choose graphs, all by the sample; also that, scaled.

    All rows will go through the graphs of the first ``n_kept`` repeats, if not of all of them.
    """
    for array, name in zip(sample.arrays, names, strict=True):
        usable_rows(array, name=name, numbers=numbers)  # or raises, before anything is tried
    with watch.stage("pilot"):
        decision = decide(sample, names, settings, rng=rngs.pilot, n_jobs=run.n_jobs)
    with watch.stage("anchors"):
        evident = decision.evident
        known = decision.scalers if evident is None else evident.scalers
        if known is None:
            scaled = scale_sample(sample, names, decision.kinds, settings, n_jobs=run.n_jobs)
        else:
            scaled = apply_scalers(sample, known, n_jobs=run.n_jobs)
        if evident is None:
            # Where a gap tells clusters apart, other anchors tell nothing new.
            is_one = decision.by_gap and settings.may_repeat_less
            repeats = rngs.repeats[:1] if is_one else rngs.repeats
            graphs, weights, _ = choose_graphs(rows, scaled, settings, repeats, n_jobs=run.n_jobs)
        else:
            graphs, weights = (evident.graph(),), evident.view_weights
    kept = tuple(graph for graph in graphs if n_kept is None or graph.repeat < n_kept)
    plan = GraphPlan(
        scalers=scaled.scalers,
        graphs=kept,
        view_weights=weights,
        decision=decision,
        build=GraphRows(scaled.scalers, kept),
        others=graphs[len(kept) :],
    )
    return plan, scaled


def _gather(tile: GraphTile, first_row: int) -> list[GraphTile]:
    return [tile]  # lists add up in the order of rows
