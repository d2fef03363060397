"""Which way a fit goes, by a few rows: evident clusters, a clear gap, and the kind of scaling.

Every kind of scaling that applies is tried on a small part of the sample, with one set of anchors.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from manyview.engines.base import Run, SampledRows, thread_pool
from manyview.engines.memory import Memory
from manyview.engines.progress import SilentProgress
from manyview.pipeline.clusters import SampleGraph, cluster_by_gap, cluster_by_modularity
from manyview.pipeline.graphs import choose_graphs, fit_scalers
from manyview.pipeline.settings import Settings
from manyview.pipeline.spectrum import find_bases
from manyview.stages.fusion import graph_moments
from manyview.stages.graph import AnchorGraph, GraphRows
from manyview.stages.rows import Array, side_by_side
from manyview.stages.sampling import choose_rows
from manyview.stages.scaling import Scaler, fit_scaler
from manyview.views.selection import find_present, split_rows

KINDS = ("auto", "standard", "log", "clr")
"""Kinds of scaling that are tried, where it is left open."""

_ROWS = 4000
_ANCHORS = 300
_MOST_CLUSTERS = 100  # with more, so few rows say nothing unless there are some of each
_CLEAR = 0.65  # least mean simplified silhouette of every cluster for k-means to be the answer
_GAP = 0.1  # least fall of the eigenvalues after the k-th for exactly k vectors
_SPECKS = 0.6  # least modularity of labels by the gap, as a share of that of the other labels
_STARTS, _SWEEPS = 5, 20
_MOST_COLUMNS, _LEAST_ROWS = 4000, 20  # of tables whose clusters may be evident; rows a cluster


@dataclass(frozen=True)
class Trial:
    """What a kind of scaling showed on a few rows."""

    gap: float  # fall of the eigenvalues after the k-th; 0 if what it cuts off are specks
    modularity: float  # of the labels, in the graph that this scaling gives


@dataclass(frozen=True)
class Decision:
    """Which way a fit goes."""

    kinds: tuple[str | None, ...]  # of scaling, one per view
    way: str = "modularity"  # or "gap", or "evident"
    trials: dict[str, Trial] = field(default_factory=dict)  # by kind
    clearness: float | None = (
        None  # least mean silhouette of k-means' clusters, if it was looked at
    )
    centers: Array | None = None  # of evident clusters, in scaled columns side by side
    scalers: tuple[Scaler, ...] = ()  # of evident clusters


def decide(
    sample: SampledRows,
    names: Sequence[str],
    settings: Settings,
    *,
    rng: np.random.Generator,
    n_jobs: int,
) -> Decision:
    """What a part of the sample says about the way to go."""
    few = sample.sample_rows(choose_rows(sample.n_rows, _ROWS, rng)).arrays
    k = settings.known_clusters
    if not settings.is_open or k == 1 or (k > _MOST_CLUSTERS and few[0].shape[0] < _LEAST_ROWS * k):
        return Decision(settings.scaling)
    found = Decision(settings.scaling)
    if settings.may_be_evident:
        found = _find_evident(few, names, settings, seed=int(rng.integers(2**30)))
        if found.way == "evident":
            return found
    by_kind = _applicable(few, settings.scaling)
    try_kinds = partial(_try, few, names, settings, seed=int(rng.integers(2**30)))
    with thread_pool(n_jobs) as pool:
        tried = pool.map(try_kinds, by_kind.values())
        trials = dict(zip(by_kind, tried, strict=True))
    widest = max(trials, key=lambda kind: trials[kind].gap)
    if trials[widest].gap >= _GAP:
        return replace(found, kinds=by_kind[widest], way="gap", trials=trials)
    best = max(trials, key=lambda kind: trials[kind].modularity)
    return replace(found, kinds=by_kind[best], trials=trials)


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
                kind if v in fits and kind in fits[v] else scaling[v] for v in range(len(scaling))
            )
    return found


def _kinds_for(array: Any) -> tuple[str, ...]:
    scaler = fit_scaler(array, name="", kind=None)
    if scaler.is_like_text:
        return ("auto",)
    rows, _ = split_rows(array)
    values = rows.data if sparse.issparse(rows) else rows
    is_open = values.size > 0 and values.min() >= 0 and values.max() > 0
    return KINDS if is_open else ("auto", "standard")


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
    settings = replace(settings, many_anchors=_ANCHORS)
    rows = Memory().open(arrays, Run(1, SilentProgress()))
    scalers = fit_scalers(rows, names, kinds, settings)
    graphs, _ = choose_graphs(rows, rows, scalers, settings, [rng])
    tile = GraphRows(scalers, graphs)(rows.arrays, 0)
    moments = graph_moments(tile)
    bases = find_bases(moments, graphs, settings)
    sample = SampleGraph.of(tile, bases, moments.column_sums, graphs, settings)
    found = cluster_by_modularity(sample, settings, has_communities=False, seed=0)
    gap = sample.gap(settings.known_clusters)
    if gap >= _GAP and cluster_by_gap(sample, settings).modularity < _SPECKS * found.modularity:
        gap = 0.0  # a few rows that hang together by themselves, not clusters
    return Trial(gap, found.modularity)


def _find_evident(
    arrays: Sequence[Any], names: Sequence[str], settings: Settings, *, seed: int
) -> Decision:
    """K-means of the standardised columns, if each of its clusters stands clear."""
    k, n = settings.known_clusters, arrays[0].shape[0]
    found = Decision(settings.scaling)
    n_columns = sum(array.shape[1] for array in arrays)
    if n < _LEAST_ROWS * k or n_columns > _MOST_COLUMNS:
        return found
    if any(find_present(array) is not None for array in arrays):
        return found
    each = zip(arrays, names, strict=True)
    scalers = tuple(fit_scaler(array, name=name, kind="standard") for array, name in each)
    if any(scaler.is_like_text for scaler in scalers):
        return found
    factors = [len(scalers) ** -0.5] * len(scalers)
    rows = side_by_side([s.apply(X) for s, X in zip(scalers, arrays, strict=True)], factors).dense()
    # Where clusters are evident, k-means settles in a few sweeps.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(k, n_init=_STARTS, max_iter=_SWEEPS, random_state=seed).fit(rows)
    clearness = _clearness(np.asarray(model.transform(rows)), model.labels_)
    if clearness < _CLEAR:
        return replace(found, clearness=clearness)
    return Decision(
        ("standard",) * len(arrays),
        "evident",
        clearness=clearness,
        centers=model.cluster_centers_,
        scalers=scalers,
    )


def _clearness(distances: Array, labels: Any) -> float:
    """The least of the clusters' mean 1 - distance to own centre / to the next."""
    rows = np.arange(len(labels))
    own = distances[rows, labels]
    others = distances.copy()
    others[rows, labels] = np.inf
    clear = 1.0 - own / np.maximum(others.min(axis=1), np.finfo(np.float64).tiny)
    counts = np.bincount(labels, minlength=distances.shape[1])
    return float((np.bincount(labels, clear, len(counts)) / np.maximum(counts, 1)).min())


def evident_graph(decision: Decision) -> AnchorGraph:
    """The graph in which every row is tied to the evident centre that is nearest to it."""
    assert decision.centers is not None
    n_views = len(decision.kinds)
    return AnchorGraph(
        views=tuple(range(n_views)),
        view_scales=(n_views**-0.5,) * n_views,
        anchors=decision.centers,
        alpha=0.0,
        locality=0.0,
        n_neighbors=1,
    )
