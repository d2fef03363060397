"""Which way a fit goes, by a few rows: evident clusters, a clear gap, or the kind of scaling.

Every kind of scaling that applies is tried on a small part of the sample, with one set of anchors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyview.engines.base import Run, SampledRows, thread_pool
from manyview.engines.memory import Memory
from manyview.engines.progress import SilentProgress
from manyview.errors import silenced
from manyview.pipeline.clusters import SampleGraph, cluster_by_gap, cluster_by_modularity
from manyview.pipeline.evident import MOST_ROWS, Evident, find_evident
from manyview.pipeline.graphs import choose_graphs, scale_sample
from manyview.pipeline.settings import Settings
from manyview.pipeline.spectrum import find_bases
from manyview.stages.counts import recognise_counts
from manyview.stages.fusion import graph_moments
from manyview.stages.sampling import choose_rows, spread_evenly
from manyview.stages.scaling import (
    Scaler,
    is_like_text,
    is_mostly_binary,
    is_principal,
)
from manyview.views.selection import split_rows

KINDS = ("auto", "standard", "log", "clr")
"""Kinds of scaling that are tried, where it is left open."""

_ANCHORS, _FEW_ANCHORS = 300, 100  # where rows use the nearest, and where they use all
_ANCHORS_PER_CLUSTER = 2  # at least: one for each tells nothing of how clusters hang together
_ROWS, _FEW_ROWS = 2_000, 1_000  # that kinds are tried on; the same where rows use all anchors
_MOST_CLUSTERS = 100  # with more, so few rows say nothing unless there are some of each
_GAP = 0.1  # least fall of the eigenvalues after the k-th for exactly k vectors
_SPECKS = 0.6  # least modularity of labels by the gap, as a share of that of the other labels
_LEAST_ROWS = 20  # a cluster
LEAD = 0.015
"""Modularity by which "auto" must beat other kinds: one more trial of a kind changes it as much."""


@dataclass(frozen=True)
class Trial:
    """What a kind of scaling showed on a few rows."""

    gap: float  # fall of the eigenvalues after the k-th; 0 if what it cuts off are specks
    modularity: float  # of the labels, in the graph that this scaling gives
    scalers: tuple[Scaler, ...] = field(default=(), repr=False)  # that the few rows have


@dataclass(frozen=True)
class Decision:
    """Which way a fit goes."""

    kinds: tuple[str | None, ...]  # of scaling, one per view
    evident: Evident | None = None  # clusters that need no graph
    by_gap: bool = False  # whether exactly k vectors tell clusters apart
    trials: dict[str, Trial] = field(default_factory=dict)  # by kind
    # Of these kinds, if the few rows are the whole sample; they say nothing that the kinds do not.
    scalers: tuple[Scaler, ...] | None = field(default=None, compare=False, repr=False)


def settle_counts(arrays: Sequence[Any], settings: Settings) -> Settings:
    """Settings in which views that count molecules in cells have the scaling that suits them."""
    if "auto" not in settings.scaling:
        return settings
    found = [
        known if kind == "auto" else None
        for known, kind in zip(recognise_counts(arrays), settings.scaling, strict=True)
    ]
    if not any(found):
        return settings
    each = zip(found, settings.scaling, strict=True)
    scaling = tuple(known[0] if known else kind for known, kind in each)
    return replace(
        settings, scaling=scaling, counts=tuple(known[1] if known else "" for known in found)
    )


def decide(
    sample: SampledRows,
    names: Sequence[str],
    settings: Settings,
    *,
    rng: np.random.Generator,
    n_jobs: int,
) -> Decision:
    """What a part of the sample says about the way to go."""
    few = sample.sample_rows(choose_rows(sample.n_rows, MOST_ROWS, rng))
    k = settings.known_clusters
    if not settings.is_open or k == 1 or (k > _MOST_CLUSTERS and few.n_rows < _LEAST_ROWS * k):
        return Decision(settings.scaling)
    look: Callable[[], Evident | None] = _see_nothing
    if settings.may_be_evident:
        seed = int(rng.integers(2**30))
        counted = settings.scaling if settings.counts_genes else None
        look = partial(find_evident, few.arrays, names, k, seed=seed, counted=counted)
    by_kind = _applicable(few.arrays, settings.scaling)
    n_tried = max(_ROWS if settings.has_many_rows else _FEW_ROWS, _LEAST_ROWS * k)
    few = few.sample_rows(spread_evenly(few.n_rows, n_tried))
    try_kinds = partial(_try, few.arrays, names, settings, seed=int(rng.integers(2**30)))
    # What is doubtful here the fit itself will say, once and at the user's line.
    with silenced(ConvergenceWarning), thread_pool(n_jobs) as pool:
        looked = pool.submit(look)
        is_enough = n_jobs == 1 and looked.result() is not None  # on more threads, both go on
        kinds = () if is_enough else by_kind.values()
        tried = [pool.submit(try_kinds, each) for each in kinds]
        evident = looked.result()
        if evident is not None:
            for each in tried:
                each.cancel()
            return Decision(evident.kinds, evident)
        trials = {kind: each.result() for kind, each in zip(by_kind, tried, strict=True)}
    widest = max(trials, key=lambda kind: trials[kind].gap)
    # Among so few cells a rare kind has a handful, so that no gap tells of it.
    if trials[widest].gap >= _GAP and not settings.counts_genes:
        best, by_gap = widest, True
    else:
        best, by_gap = _steadiest(trials), False
    scalers = trials[best].scalers if few.n_rows == sample.n_rows else None
    trials = {kind: replace(trial, scalers=()) for kind, trial in trials.items()}  # let them go
    return Decision(by_kind[best], by_gap=by_gap, trials=trials, scalers=scalers)


def _steadiest(trials: Mapping[str, Trial]) -> str:
    """The kind with the greatest modularity; "auto", which may be ranks, only if it is clearly ahead."""
    return max(trials, key=lambda kind: trials[kind].modularity - LEAD * (kind == "auto"))


def _see_nothing() -> None:
    """Where clusters cannot be evident."""


def _applicable(
    arrays: Sequence[Any], scaling: Sequence[str | None]
) -> dict[str, tuple[str | None, ...]]:
    """For each kind that some view can have, the kinds of all views."""
    open_views = [v for v, kind in enumerate(scaling) if kind == "auto"]
    fits = {v: _kinds_for(arrays[v]) for v in open_views}
    found = {}
    for kind in KINDS:
        if kind == "auto" or any(kind in fits[v] for v in open_views):
            found[kind] = tuple(
                _nearest_kind(kind, fits[v]) if v in fits else scaling[v]
                for v in range(len(scaling))
            )
    if "log" in found:  # which has "standard" for the views without a logarithm
        found.pop("standard", None)
    return found


def _nearest_kind(kind: str, fits: Sequence[str]) -> str:
    """A kind, or the one that is most like it among those that fit a view."""
    if kind == "log" and kind not in fits:
        kind = "standard"
    return kind if kind in fits else "auto"


def _kinds_for(array: Any) -> tuple[str, ...]:
    rows, _ = split_rows(array)
    if is_like_text(rows) or is_principal(rows):
        return ("auto",)
    values = rows.data if sparse.issparse(rows) else rows
    is_open = values.size > 0 and values.min() >= 0 and values.max() > 0
    kinds = ("auto", "log", "clr") if is_open else ("auto", "standard")
    by_column = ("standard", "log") if is_mostly_binary(rows) else ()
    return tuple(kind for kind in kinds if kind not in by_column)


def _try(
    arrays: Sequence[Any],
    names: Sequence[str],
    settings: Settings,
    kinds: tuple[str | None, ...],
    *,
    seed: int,
) -> Trial:
    """One repeat of the whole way, without communities, on a few rows."""
    rng = np.random.default_rng(seed)
    n_few = max(_FEW_ANCHORS, _ANCHORS_PER_CLUSTER * settings.known_clusters)
    settings = replace(settings, many_anchors=_ANCHORS, few_anchors=n_few)
    raw = Memory().open(arrays, Run(1, SilentProgress()))
    scaled = scale_sample(raw, names, kinds, settings)
    chosen = choose_graphs(raw, scaled, settings, [rng])
    graphs, tile = chosen.graphs, chosen.tile(scaled.applied, scaled.rows.arrays)
    moments = graph_moments(tile)
    bases = find_bases(moments, graphs, settings)
    sample = SampleGraph.of(tile, moments.column_sums, graphs, settings, bases)
    found = cluster_by_modularity(sample, settings, seed=0)
    gap = sample.gap(settings.known_clusters)
    if gap >= _GAP and cluster_by_gap(sample, settings).modularity < _SPECKS * found.modularity:
        gap = 0.0  # a few rows that hang together by themselves, not clusters
    return Trial(gap, found.modularity, scaled.scalers)
