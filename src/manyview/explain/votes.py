"""What each graph says of each row's cluster.

A row's embedding is a sum over graphs: graph rows times their part of the transform. So is how much
nearer its own centre is than the next one, and each graph's share of that is its vote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.pipeline.model import FittedModel
from manyview.stages.embedding import embed_rows
from manyview.stages.graph import AnchorGraph, GraphTile
from manyview.stages.labels import label_rows
from manyview.stages.scaling import Array

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Votes:
    """Votes on some rows.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each row.
    second : ndarray of shape (n,)
        The cluster with the next centre; -1 if there is one cluster.
    margin : ndarray of shape (n,)
        Squared distance to the next centre less that to the own.
    by_graph : ndarray of shape (n, g)
        Each graph's share of the margin; they sum to it.
    """

    labels: Labels
    second: Labels
    margin: Array
    by_graph: Array


@dataclass(frozen=True)
class GraphPart:
    """Where a graph stands among those of its repeat, and its repeat in the embedding.

    Attributes
    ----------
    graph : AnchorGraph
        The graph.
    anchors : slice
        Its columns among the graph rows of its repeat.
    columns : slice
        The repeat's columns in the embedding.
    transform : ndarray of shape (m, c)
        What its graph rows are multiplied by.
    """

    graph: AnchorGraph
    anchors: slice
    columns: slice
    transform: Array


def graph_parts(model: FittedModel) -> Iterator[GraphPart]:
    """Give the place of every graph of a model, in their order."""
    widths = [transform.shape[1] for transform in model.transforms]
    ends = np.concatenate([[0], np.cumsum(widths)])
    used = dict.fromkeys(range(len(widths)), 0)
    for graph in model.graphs:
        start = used[graph.repeat]
        used[graph.repeat] = stop = start + len(graph.anchors)
        columns = slice(int(ends[graph.repeat]), int(ends[graph.repeat + 1]))
        transform = model.transforms[graph.repeat][start:stop]
        yield GraphPart(graph, slice(start, stop), columns, transform)


def cast_votes(model: FittedModel, tile: GraphTile) -> Votes:
    """Give what each graph says of the rows of a tile.

    Parameters
    ----------
    model : FittedModel
        The model.
    tile : GraphTile
        Graph rows of n rows.
    """
    rows = embed_rows(tile, model.transforms, row_norm=model.row_norm)
    labels = label_rows(rows, model.centers).astype(np.int64)
    second = _second_nearest(rows, labels, model.centers)
    by_graph = np.zeros((len(rows), len(model.graphs)))
    if len(model.centers) == 1:
        return Votes(labels, np.full_like(labels, -1), np.zeros(len(rows)), by_graph)
    shares = _shares(model, tile)
    lengths = [
        _lengths(np.asarray(Z @ T)) if model.row_norm else _divisors(share, len(rows))
        for Z, T, share in zip(
            tile.parts, model.transforms, tile.shares or (None,) * len(tile.parts), strict=True
        )
    ]
    for g, part in enumerate(graph_parts(model)):
        own, other = (model.centers[which][:, part.columns] for which in (labels, second))
        of_graph = tile.parts[part.graph.repeat][:, part.anchors] @ part.transform
        of_graph = np.asarray(of_graph) / lengths[part.graph.repeat][:, None]
        # |q - other|^2 - |q - own|^2 = 2 q (own - other) + |other|^2 - |own|^2, and q is the sum.
        constant = (other**2).sum(axis=1) - (own**2).sum(axis=1)
        by_graph[:, g] = 2 * (of_graph * (own - other)).sum(axis=1) + shares[:, g] * constant
    return Votes(labels, second, by_graph.sum(axis=1), by_graph)


def _second_nearest(rows: Array, labels: Labels, centers: Array) -> Labels:
    squares = (centers**2).sum(axis=1) - 2 * rows @ centers.T
    squares[np.arange(len(rows)), labels] = np.inf
    second: Labels = squares.argmin(axis=1)
    return second


def _lengths(rows: Array) -> Array:
    lengths = np.sqrt((rows**2).sum(axis=1))
    return np.where(lengths > 0, lengths, 1.0)


def _divisors(share: Array | None, n: int) -> Array:
    """What the embedding of samples that lack views is divided by."""
    return np.ones(n) if share is None else np.where(share > 0, share, 1.0)


def _shares(model: FittedModel, tile: GraphTile) -> Array:
    """Each graph's weight among those of its repeat that describe the row, shape (n, g)."""
    parts = list(graph_parts(model))
    shares = np.column_stack(
        [p.graph.weight * _has_entries(tile.parts[p.graph.repeat][:, p.anchors]) for p in parts]
    )
    for repeat in range(len(model.transforms)):
        mine = [g for g, part in enumerate(parts) if part.graph.repeat == repeat]
        total = shares[:, mine].sum(axis=1, keepdims=True)
        shares[:, mine] /= np.where(total > 0, total, 1.0)
    return shares


def _has_entries(Z: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(np.diff(Z.indptr) > 0)
