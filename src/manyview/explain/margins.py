"""How much each graph contributes to a row lying in its cluster and not in the next.

A row's embedding is a sum over graphs: graph rows times their part of the transform. So is the margin,
how much nearer its own centre is than the next one, and each graph has a share of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manyview.pipeline.model import FittedModel
from manyview.stages.embedding import embed_rows
from manyview.stages.graph import AnchorGraph, GraphTile
from manyview.stages.labels import label_rows
from manyview.stages.scaling import Array

Labels = npt.NDArray[np.int64]


class Margins(NamedTuple):
    """Margins of some rows."""

    labels: Labels  # (n,), cluster of each row
    second: Labels  # (n,), the cluster with the next centre; -1 if there is one cluster
    margin: Array  # (n,), squared distance to the next centre less that to the own
    by_graph: Array  # (n, g), each graph's share of the margin; they sum to it


class GraphPart(NamedTuple):
    """Where a graph stands among those of its repeat, and its repeat in the embedding."""

    graph: AnchorGraph
    anchors: slice  # its columns among the graph rows of its repeat
    columns: slice  # the repeat's columns in the embedding
    transform: Array  # (m, c), what its graph rows are multiplied by


def graph_parts(model: FittedModel) -> Iterator[GraphPart]:
    """The place of every graph of a model, in their order."""
    widths = [transform.shape[1] for transform in model.transforms]
    ends = [0, *np.cumsum(widths).tolist()]
    used = [0] * len(widths)
    for graph in model.graphs:
        start = used[graph.repeat]
        used[graph.repeat] = stop = start + len(graph.anchors)
        columns = slice(ends[graph.repeat], ends[graph.repeat + 1])
        transform = model.transforms[graph.repeat][start:stop]
        yield GraphPart(graph, slice(start, stop), columns, transform)


def margins_by_graph(model: FittedModel, tile: GraphTile) -> Margins:
    """The margins of the rows of a tile, and what each graph contributes to them."""
    rows = embed_rows(tile, model.transforms, row_norm=model.row_norm)
    labels = label_rows(rows, model.centers).astype(np.int64)
    by_graph = np.zeros((len(rows), len(model.graphs)))
    if len(model.centers) == 1:
        return Margins(labels, np.full_like(labels, -1), np.zeros(len(rows)), by_graph)
    second = _second_nearest(rows, labels, model.centers)
    lengths, shares = _lengths(model, tile), _weight_shares(model, tile)
    for g, part in enumerate(graph_parts(model)):
        own, other = (model.centers[which][:, part.columns] for which in (labels, second))
        of_graph = tile.parts[part.graph.repeat][:, part.anchors] @ part.transform
        of_graph = np.asarray(of_graph) / lengths[part.graph.repeat][:, None]
        # |q - other|^2 - |q - own|^2 = 2 q (own - other) + |other|^2 - |own|^2, and q is the sum.
        constant = (other**2).sum(axis=1) - (own**2).sum(axis=1)
        by_graph[:, g] = 2 * (of_graph * (own - other)).sum(axis=1) + shares[:, g] * constant
    return Margins(labels, second, by_graph.sum(axis=1), by_graph)


def _second_nearest(rows: Array, labels: Labels, centers: Array) -> Labels:
    squares = (centers**2).sum(axis=1) - 2 * rows @ centers.T
    squares[np.arange(len(rows)), labels] = np.inf
    return np.asarray(squares.argmin(axis=1))


def _lengths(model: FittedModel, tile: GraphTile) -> list[Array]:
    """What each repeat's embedding rows were divided by: their lengths, or the weight they have."""
    if model.row_norm:
        products = (Z @ T for Z, T in zip(tile.parts, model.transforms, strict=True))
        lengths = [np.linalg.norm(rows, axis=1) for rows in products]
    else:
        shares = tile.shares or (None,) * len(tile.parts)
        n = tile.parts[0].shape[0]
        lengths = [np.ones(n) if share is None else share for share in shares]
    return [np.where(each > 0, each, 1.0) for each in lengths]


def _weight_shares(model: FittedModel, tile: GraphTile) -> Array:
    """Each graph's weight among those of its repeat that describe the row, shape (n, g)."""
    parts = list(graph_parts(model))
    describes = [np.diff(tile.parts[p.graph.repeat][:, p.anchors].indptr) > 0 for p in parts]
    shares = np.column_stack(describes) * [part.graph.weight for part in parts]
    repeats = np.array([part.graph.repeat for part in parts])
    for repeat in range(len(model.transforms)):
        mine = repeats == repeat
        total = shares[:, mine].sum(axis=1, keepdims=True)
        shares[:, mine] /= np.where(total > 0, total, 1.0)
    return shares
