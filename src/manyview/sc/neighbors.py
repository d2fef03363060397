"""Graph rows of cells -> what each modality says of a cell, and which cells are neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from manyview.explain.margins import margins_by_graph
from manyview.pipeline.graphs import Columns
from manyview.pipeline.model import FittedModel
from manyview.stages.fusion import repeat_scales
from manyview.stages.graph import AnchorGraph, GraphRows
from manyview.stages.sampling import spread_evenly
from manyview.views.container import Views

Array = npt.NDArray[np.float64]

_ROWS = 4096
_REPEATS = 3  # whose graphs tell neighbours
_PER_ANCHOR = 64  # cells of an anchor that are looked at; of more, others for each block of cells
_MOST_EXACT = 50_000
_MOST_PIECES, _WEAK = 1000, 1e-3  # pieces of a graph that are joined, and the weight of a link
_ANCHORS, _CELLS_PER_ANCHOR = 1000, 6  # where the model has too few of its own
_NEAREST, _ALPHA = 3, 0.1  # as in fits of many rows


@dataclass(frozen=True)
class Neighbours:
    """Sparse matrices (n, n): the nearest cells of each, and how closely any two are linked."""

    distances: sparse.csr_matrix
    connectivities: sparse.csr_matrix


def look_at_cells(model: FittedModel, views: Views) -> tuple[Array, sparse.csr_array]:
    """What each view says of each cell (n, v), and the fused graph (n, M), block by block.

    A view's say is its share of what keeps the cell in its cluster rather than in the next, among the
    views that speak for it. Where none does, or views are only looked at together, all say the same.
    """
    said, parts, finer = [], [], _find_finer(model, views)
    build = None if finer is None else GraphRows(model.scalers, finer)
    for start in range(0, views.n_rows, _ROWS):
        arrays = views[start : start + _ROWS].load().arrays
        tile = model.graph_rows(arrays, start)
        said.append(_say(model, margins_by_graph(model, tile).by_graph))
        tile = tile if build is None else build(arrays, start)
        parts.append([sparse.csr_array(part) for part in tile.parts[:_REPEATS]])
    graphs = [sparse.csr_array(sparse.vstack(blocks, "csr")) for blocks in zip(*parts, strict=True)]
    chosen = [graph for graph in finer or model.graphs if graph.repeat < len(graphs)]
    sums = [np.asarray(Z.sum(axis=0)).ravel() for Z in graphs]
    scales = repeat_scales(sums, chosen, degree_norm=True)
    scaled = [Z * scale[None, :] for Z, scale in zip(graphs, scales, strict=True)]
    return np.concatenate(said), sparse.csr_array(sparse.hstack(scaled, "csr"))


def _find_finer(model: FittedModel, views: Views) -> tuple[AnchorGraph, ...] | None:
    """Graphs with some of the cells as anchors, where the model's do not tell a cluster's cells apart.

    So it is where clusters are evident: each cell has the nearest anchor, and a cluster one or a few.
    """
    if any(graph.n_neighbors != 1 for graph in model.graphs):
        return None
    count = max(min(_ANCHORS, views.n_rows // _CELLS_PER_ANCHOR), 1)
    some = views[spread_evenly(views.n_rows, count)].load().arrays
    finer = []
    for graph in model.graphs:
        anchors = np.unique(Columns.of(model.scalers, graph)(some, 0).dense(), axis=0)
        finer.append(replace(graph, anchors=anchors, n_neighbors=_NEAREST, alpha=_ALPHA))
    return tuple(finer)


def _say(model: FittedModel, by_graph: Array) -> Array:
    n_views = len(model.scalers)
    found = np.zeros((len(by_graph), n_views))
    for g, graph in enumerate(model.graphs):
        if len(graph.views) == 1:
            found[:, graph.views[0]] += by_graph[:, g]
    found = np.maximum(found, 0.0)
    total = found.sum(axis=1, keepdims=True)
    return np.where(total > 0, found / np.where(total > 0, total, 1.0), 1.0 / n_views)


def linked_neighbours(graph: sparse.csr_array, count: int, *, seed: int = 0) -> Neighbours:
    """The ``count`` cells that each is linked with most in B B', by a fused graph B (n, M).

    Examples
    --------
    >>> B = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 1))))
    >>> linked_neighbours(B, 2).connectivities[0].toarray()
    array([[0., 1., 1., 0., 0., 0.]])
    """
    n = graph.shape[0]
    columns = sparse.csc_array(graph)
    lengths = np.diff(columns.indptr)
    kept_share = np.repeat(np.minimum(1.0, _PER_ANCHOR / np.maximum(lengths, 1)), lengths)
    rng = np.random.default_rng(seed)
    found = []
    for start in range(0, n, _ROWS):
        links = graph[start : start + _ROWS] @ _thinned(columns, kept_share, rng).T
        found.append(_strongest(sparse.csr_array(links), start, count))
    return _as_neighbours(sparse.csr_matrix(sparse.vstack(found, "csr")))


def exact_neighbours(embedding: Array, count: int) -> Neighbours:
    """The ``count`` nearest cells of each in the embedding (n, c)."""
    n = len(embedding)
    search = NearestNeighbors(n_neighbors=min(count, n - 1)).fit(embedding)
    links = sparse.csr_matrix(search.kneighbors_graph(mode="distance"))
    apart = links.data.reshape(n, -1)
    farthest = np.maximum(apart.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    links.data = np.exp(-2.0 * (apart / farthest) ** 2).ravel()
    return _as_neighbours(links)


def refuse_too_many(n: int) -> None:
    """Refuse to look for exact neighbours where it would take long."""
    if n > _MOST_EXACT:
        raise ValueError(
            f"Exact neighbours of {n} cells would take long; they are for {_MOST_EXACT} at most. "
            "Leave exact_neighbors out, and they are found by shared anchors."
        )


def _thinned(columns: sparse.csc_array, share: Array, rng: np.random.Generator) -> sparse.csr_array:
    """A graph in which no anchor has many more rows than are looked at."""
    if (share == 1.0).all():
        return sparse.csr_array(columns)
    kept = rng.random(len(share)) < share
    ends = np.concatenate([[0], np.cumsum(kept)])[columns.indptr]
    parts = (columns.data[kept], columns.indices[kept], ends)
    return sparse.csr_array(sparse.csc_array(parts, shape=columns.shape))


def _strongest(links: sparse.csr_array, first_row: int, count: int) -> sparse.csr_array:
    """Each row's largest links with others, the strongest of them 1."""
    indptr, indices, data = [0], [], []
    for row in range(links.shape[0]):
        span = slice(links.indptr[row], links.indptr[row + 1])
        others, values = links.indices[span], links.data[span]
        is_other = others != first_row + row
        others, values = others[is_other], values[is_other]
        if len(values) > count:
            best = np.argpartition(-values, count - 1)[:count]
            others, values = others[best], values[best]
        order = np.argsort(others)
        indices.append(others[order])
        data.append(values[order] / max(values.max(initial=0.0), 1e-300))
        indptr.append(indptr[-1] + len(others))
    parts = (np.concatenate(data), np.concatenate(indices), indptr)
    return sparse.csr_array(parts, shape=links.shape)


def join_pieces(found: Neighbours, embedding: Array) -> Neighbours:
    """The same with one weak link from each piece of the graph to the nearest that is joined already.

    Nothing leads from one cluster to another where they are far apart, and PAGA and diffusion maps
    fail then. Pieces are as far apart as the means of their rows in the embedding (n, c).
    """
    n_pieces, pieces = connected_components(found.connectivities, directed=False)
    if n_pieces == 1 or n_pieces > _MOST_PIECES:
        return found
    sizes = np.bincount(pieces)
    means = np.stack([embedding[pieces == piece].mean(axis=0) for piece in range(n_pieces)])
    apart = cdist(means, means)
    joined, ends = [int(sizes.argmax())], []
    while len(joined) < n_pieces:
        others = np.setdiff1d(np.arange(n_pieces), joined)
        at = apart[joined][:, others]
        inside, outside = np.unravel_index(at.argmin(), at.shape)
        pair = joined[inside], int(others[outside])
        ends.append([_nearest_of(embedding, pieces == a, means[b]) for a, b in (pair, pair[::-1])])
        joined.append(pair[1])
    rows, columns = np.array([*ends, *(pair[::-1] for pair in ends)]).T
    links = sparse.csr_matrix((np.full(len(rows), _WEAK), (rows, columns)), found.distances.shape)
    distances = found.distances.copy()
    left = distances.data.copy()
    for row, column in zip(rows, columns, strict=True):  # instead of its farthest: all have as many
        start, stop = distances.indptr[row : row + 2]
        if start < stop and left[start:stop].max() > 0:
            place = start + int(left[start:stop].argmax())
            distances.indices[place], distances.data[place], left[place] = column, 1.0, 0.0
    distances.has_sorted_indices = False
    distances.sort_indices()
    return Neighbours(distances, sparse.csr_matrix(found.connectivities + links))


def _nearest_of(embedding: Array, is_inside: npt.NDArray[np.bool_], point: Array) -> int:
    """The number of the row inside that is nearest to a point."""
    rows = np.flatnonzero(is_inside)
    return int(rows[((embedding[rows] - point) ** 2).sum(axis=1).argmin()])


def _as_neighbours(links: sparse.csr_matrix) -> Neighbours:
    distances = links.copy()
    distances.data = 1.0 - links.data + 1e-6  # a stored zero would be no neighbour
    return Neighbours(distances, sparse.csr_matrix(links.maximum(links.T)))


def write_neighbours(data: Any, found: Neighbours, key: str, *, count: int) -> None:
    """Put neighbours where scanpy looks for them."""
    data.obsp["distances"] = found.distances
    data.obsp["connectivities"] = found.connectivities
    data.uns["neighbors"] = {
        "connectivities_key": "connectivities",
        "distances_key": "distances",
        "params": {
            "n_neighbors": int(count),
            "method": "umap",  # whose form the weights have; scanpy warns of any other
            "metric": "euclidean",
            "random_state": 0,
            "use_rep": f"X_{key}",
        },
    }
