"""New rows for a fitted model: its clusters stay, and rows that nothing explains open new ones.

Anchors, scaling and embedding of the known clusters stay as they are. A new cluster brings anchors of
its own into every graph and a column of its own into the embedding, which is zero for rows that do
not use them. Centres become the means of all rows, old and new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import Engine, Run, one_thread_per_product
from manyview.errors import InputError
from manyview.pipeline.graphs import Columns
from manyview.pipeline.model import FittedModel
from manyview.pipeline.sureness import leading_columns
from manyview.stages.embedding import Embedding
from manyview.stages.graph import AnchorGraph, GraphRows
from manyview.stages.hierarchy import cluster_means, extend_tree
from manyview.stages.kmeans import Assignment, assign, assign_weighted, lloyd
from manyview.stages.novelty import Known, find_new_clusters
from manyview.stages.oddness import extend_oddness
from manyview.stages.rows import Array, IncompleteRows, ScaledRows
from manyview.stages.sampling import spread_evenly

_ROWS = 4000  # that are looked at for new clusters
_ROWS_PER_ANCHOR, _SWEEPS = 3, 10


@dataclass(frozen=True, kw_only=True)
class Updated:
    """The model of old and new rows, and what it makes of the new ones."""

    model: FittedModel
    labels: Any
    confidence: Any
    outlier_score: Any
    leaves: Any  # None without a tree
    inertia: float  # of the new rows


def update(
    model: FittedModel,
    arrays: Sequence[Any],
    *,
    view_weights: Array,
    engine: Engine,
    run: Run,
) -> Updated:
    """A model with the sums of new rows added, and clusters for those that nothing explains."""
    if model.oddness is None or model.sizes is None:
        raise ValueError(
            "This model cannot be updated: it was fitted as published, or on a stream (go on with "
            "partial_fit). Fit LMVSC(...) on all rows."
        )
    if arrays[0].shape[0] == 0:
        raise InputError("There are no new rows to update the model with.")
    with one_thread_per_product():
        rows = engine.open(arrays, run)
        sample = rows.sample_rows(spread_evenly(rows.n_rows, _ROWS)).arrays
        columns = leading_columns(sample, model.oddness.scalers, view_weights)
        found = find_new_clusters(Known(model.oddness, view_weights), sample, columns)
        n_new = int(found.max()) + 1
        new = [_take(sample, np.flatnonzero(found == cluster)) for cluster in range(n_new)]
        before = model
        if new:
            oddness = extend_oddness(model.oddness, _take(sample, np.flatnonzero(found >= 0)))
            model = replace(_open_clusters(model, new), oddness=oddness)
        added = rows.map_reduce(partial(_assign, model=model), stage="k-means")
        model = _with_sums(model, added, new, before)
        labelled = rows.map_rows(model.label_surely, stage="labels")
        leaves = None
        if model.hierarchy is not None:
            leaves = rows.map_rows(model.leaves, stage="labels")
        scores = rows.map_rows(model.outlier_scores, stage="oddness")
    return Updated(
        model=model,
        labels=labelled[:, 0].astype(np.int32),
        confidence=labelled[:, 1],
        outlier_score=scores,
        leaves=leaves,
        inertia=added.inertia,
    )


def _assign(tile: Any, first_row: int, *, model: FittedModel) -> Assignment:
    """Sums over a tile's rows by cluster; odd rows count nothing where they are marked."""
    rows = model.embed(tile, first_row)
    if model.oddness is None or not model.oddness.marks:
        return assign(ScaledRows(rows), model.centers)
    is_odd = model.oddness.is_odd(tile, first_row)
    return assign_weighted(rows, model.centers, np.where(is_odd, 0.0, 1.0))


def _with_sums(
    model: FittedModel, added: Assignment, new: Sequence[Sequence[Any]], before: FittedModel
) -> FittedModel:
    """A model whose centres are the means of all rows; those of new clusters join the tree."""
    assert model.sizes is not None
    sizes = model.sizes + added.counts
    sums = model.sizes[:, None] * model.centers + added.sums
    centers = np.where(
        sizes[:, None] > 0, sums / np.where(sizes > 0, sizes, 1.0)[:, None], model.centers
    )
    tree = before.hierarchy
    if new and tree is not None and tree.of_columns:
        rows = [model.columns(each, 0) for each in new]
        means = cluster_means(tree.leaves, tree.clusters, len(before.centers))
        places = np.stack([*means, *(each.mean(axis=0) for each in rows)])
        tree = extend_tree(tree, rows, places, sizes)
    elif new and tree is not None:
        leaves = _widened(tree.leaves, before.embedding.widths, len(new))
        rows = [model.embed(each, 0) for each in new]
        tree = extend_tree(replace(tree, leaves=leaves), rows, centers, sizes)
    return replace(model, centers=centers, sizes=sizes, hierarchy=tree)


def _open_clusters(model: FittedModel, new: Sequence[Sequence[Any]]) -> FittedModel:
    """A model with a cluster more for the rows of each entry of ``new``, one array a view."""
    assert model.sizes is not None
    k, n_new = len(model.centers), len(new)
    graphs, added = [], []
    for graph in model.graphs:
        columns = Columns.of(model.scalers, graph)
        n_anchors = max(round(len(graph.anchors) / k), 1)
        more = [_anchors_of(columns(rows, 0), n_anchors) for rows in new]
        graphs.append(replace(graph, anchors=np.concatenate([graph.anchors, *more])))
        added.append([len(anchors) for anchors in more])
    embedding = extend_embedding(model.embedding, model.graphs, added)
    known = _widened(model.centers, model.embedding.widths, n_new)
    build = GraphRows(model.scalers, tuple(graphs))
    means = [embedding.rows(build(rows, 0)).mean(axis=0) for rows in new]
    return replace(
        model,
        graphs=tuple(graphs),
        embedding=embedding,
        centers=np.concatenate([known, np.stack(means)]),
        hierarchy=None,  # until the new clusters' centres and sizes are known
        sizes=np.concatenate([model.sizes, np.zeros(n_new)]),
        build=build,
    )


def _take(arrays: Sequence[Any], numbers: npt.NDArray[np.int64]) -> list[Any]:
    """Rows with these numbers of each view."""
    return [array[numbers] for array in arrays]


def _anchors_of(rows: ScaledRows | IncompleteRows, n_anchors: int) -> Array:
    """Anchors (m, d) that stand for a few scaled rows, by k-means; none if no row has the view."""
    dense = rows.dense()
    if len(rows) == 0:
        return dense
    count = min(n_anchors, max(len(rows) // _ROWS_PER_ANCHOR, 1))
    start = dense[spread_evenly(len(rows), count)]
    return lloyd(partial(assign, rows), start, max_iter=_SWEEPS)[0]


def extend_embedding(
    embedding: Embedding, graphs: Sequence[AnchorGraph], added: Sequence[Sequence[int]]
) -> Embedding:
    """The embedding with a column for each new cluster, which its anchors alone give to.

    ``added`` are the numbers of anchors that each graph has got, for each new cluster. They give what is
    usual in their graph.
    """
    n_new, n_repeats = len(added[0]), len(embedding.transforms)
    by_repeat = [
        [(graph, more) for graph, more in zip(graphs, added, strict=True) if graph.repeat == r]
        for r in range(n_repeats)
    ]
    lengths = partial(np.linalg.norm, axis=1)
    transforms = [
        _with_anchors(T, own, lengths)
        for T, own in zip(embedding.transforms, by_repeat, strict=True)
    ]
    communities = [
        _with_anchors(C, own, partial(np.sum, axis=1))
        for C, own in zip(embedding.communities, by_repeat, strict=False)
    ]
    rotation = embedding.rotation
    if rotation is not None:
        widths = [transform.shape[1] for transform in embedding.transforms]
        rotation = _widened(rotation.T, widths, n_new).T
        more = np.zeros((len(rotation), n_new))
        for end in np.cumsum([width + n_new for width in widths]):
            more[end - n_new : end] = np.eye(n_new) / np.sqrt(n_repeats)
        rotation = np.concatenate([rotation, more], axis=1)
    return replace(
        embedding,
        transforms=tuple(transforms),
        rotation=rotation,
        communities=tuple(communities),
    )


def _with_anchors(
    given: Array, graphs: Sequence[tuple[AnchorGraph, Sequence[int]]], measure: Any
) -> Array:
    """What anchors give (M, c), with rows for new anchors of each graph and columns for new clusters."""
    ends = np.cumsum([0, *(len(graph.anchors) for graph, _ in graphs)])
    n_new, width = len(graphs[0][1]), given.shape[1]
    parts = []
    for (_, added), (start, end) in zip(graphs, pairwise(ends), strict=True):
        known = given[start:end]
        sizes = measure(known)
        usual = float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 0.0
        own = usual * np.eye(n_new)[np.repeat(np.arange(n_new), added)]
        parts += [np.pad(known, ((0, 0), (0, n_new))), np.pad(own, ((0, 0), (width, 0)))]
    return np.concatenate(parts)


def _widened(rows: Array, widths: Sequence[int], n_new: int) -> Array:
    """Rows with ``n_new`` columns of zeros after each part of their columns."""
    parts = np.split(rows, np.cumsum(widths)[:-1], axis=1)
    return np.concatenate([np.pad(part, ((0, 0), (0, n_new))) for part in parts], axis=1)
