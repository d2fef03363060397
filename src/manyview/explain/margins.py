"""How much each graph contributes to a row lying in its cluster and not in the next.

A row's embedding is a sum over graphs: graph rows times what their anchors stand for. So is the margin,
how much nearer its own centre is than the next one, and each graph has a share of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manyview.pipeline.model import FittedModel
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
    """Where a graph stands among those of its repeat."""

    graph: AnchorGraph
    anchors: slice  # its columns among the graph rows of its repeat


def graph_parts(model: FittedModel) -> Iterator[GraphPart]:
    """The place of every graph of a model, in their order."""
    used = [0] * len(model.embedding.transforms)
    for graph in model.graphs:
        start = used[graph.repeat]
        used[graph.repeat] = stop = start + len(graph.anchors)
        yield GraphPart(graph, slice(start, stop))


def margins_by_graph(model: FittedModel, tile: GraphTile) -> Margins:
    """The margins of the rows of a tile, and what each graph contributes to them."""
    rows = model.embedding.rows(tile)
    labels = label_rows(rows, model.centers).astype(np.int64)
    by_graph = np.zeros((len(rows), len(model.graphs)))
    if len(model.centers) == 1:
        return Margins(labels, np.full_like(labels, -1), np.zeros(len(rows)), by_graph)
    second = _second_nearest(rows, labels, model.centers)
    # |q - other|^2 - |q - own|^2 = 2 q (own - other) + |other|^2 - |own|^2, and q is a sum.
    own, other = model.centers[labels], model.centers[second]
    constant = (other**2).sum(axis=1) - (own**2).sum(axis=1)
    places = [(part.graph.repeat, part.anchors) for part in graph_parts(model)]
    parts = model.embedding.contributions(tile, places)
    shares = _weight_shares(model, tile)
    for g, part in enumerate(parts):
        by_graph[:, g] = 2 * (part * (own - other)).sum(axis=1) + shares[:, g] * constant
    return Margins(labels, second, by_graph.sum(axis=1), by_graph)


def _second_nearest(rows: Array, labels: Labels, centers: Array) -> Labels:
    squares = (centers**2).sum(axis=1) - 2 * rows @ centers.T
    squares[np.arange(len(rows)), labels] = np.inf
    return np.asarray(squares.argmin(axis=1))


def _weight_shares(model: FittedModel, tile: GraphTile) -> Array:
    """Each graph's share of the weight of all graphs that describe the row, shape (n, g)."""
    parts = list(graph_parts(model))
    describes = [np.diff(tile.parts[p.graph.repeat][:, p.anchors].indptr) > 0 for p in parts]
    shares = np.column_stack(describes) * [part.graph.weight for part in parts]
    total = shares.sum(axis=1, keepdims=True)
    return np.asarray(shares / np.where(total > 0, total, 1.0))
