"""Each row written in terms of a few others -> graph -> labels: what SSC methods share.

A representation is a sparse matrix C whose row i holds the weights with which the rows of a
dictionary make up row i: all rows but itself (n x n), or m exemplars (n x m).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import gen_batches

from manyview.views.container import Block

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Dictionary:
    """The rows that others are written in terms of; the one atom that a row may not use is itself."""

    atoms: Block  # (m, d), rows of the data
    rows: IntArray  # (m,), which rows they are
    own: IntArray  # (n,), the place of each row of the data among them, -1 if it is not there

    @property
    def is_whole(self) -> bool:
        """Whether every row is an atom, so that a representation is a square matrix."""
        return len(self.rows) == len(self.own)


def choose_dictionary(X: Block, n_exemplars: int | None, rng: np.random.Generator) -> Dictionary:
    """All rows of ``X`` (n, d) as a dictionary, or ``n_exemplars`` of them at random if that is less.

    Examples
    --------
    >>> D = choose_dictionary(np.eye(5), 2, np.random.default_rng(0))
    >>> D.atoms.shape, (D.own[D.rows]).tolist(), int((D.own < 0).sum())
    ((2, 5), [0, 1], 3)
    """
    n = X.shape[0]
    if n_exemplars is None or n_exemplars >= n:
        everyone = np.arange(n)
        return Dictionary(X, everyone, everyone)
    rows = np.sort(rng.choice(n, n_exemplars, replace=False))
    own = np.full(n, -1)
    own[rows] = np.arange(n_exemplars)
    return Dictionary(X[rows], rows, own)


def block_slices(n: int, *, bytes_per_row: int, bytes_at_once: int) -> list[slice]:
    """Split n rows into blocks that need about ``bytes_at_once`` bytes of work space each.

    Examples
    --------
    >>> block_slices(5, bytes_per_row=10, bytes_at_once=25)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return list(gen_batches(n, max(1, bytes_at_once // max(1, bytes_per_row))))


def symmetric_affinity(C: Any) -> Any:
    """The graph (|C| + |C|^T) / 2 of a square representation, csr_array (n, n).

    Examples
    --------
    >>> symmetric_affinity(sparse.csr_array([[0.0, -2.0], [1.0, 0.0]])).toarray().tolist()
    [[0.0, 1.5], [1.5, 0.0]]
    """
    magnitudes = abs(C)
    return sparse.csr_array((magnitudes + magnitudes.T) / 2)


def neighbor_affinity(C: Any, n_neighbors: int) -> Any:
    """The symmetrised graph (n, n) of the nearest neighbours of a representation's rows (n, m).

    Rows are of unit length, or all zero: these have no direction and get no edge of their own. Rows
    that share no atom are all equally far from each other.

    Examples
    --------
    >>> C = sparse.csr_array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> neighbor_affinity(C, 1).toarray().astype(int).tolist()
    [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    """
    n = C.shape[0]
    used = np.flatnonzero(np.diff(C.indptr))
    if len(used) < 2:
        return sparse.csr_array((n, n))
    graph = kneighbors_graph(C[used], min(n_neighbors, len(used) - 1), include_self=False).tocoo()
    edges = (used[graph.row], used[graph.col])
    directed = sparse.csr_array((graph.data, edges), shape=(n, n))
    return sparse.csr_array((directed + directed.T) / 2)


def n_pieces(affinity: Any, *, is_bipartite: bool = False) -> int:
    """Number of connected components that hold samples; an isolated sample is one.

    Any weight that is not zero, in either direction, is an edge: between samples (n, n), or between
    samples and exemplars (n, m) if ``is_bipartite``.

    Examples
    --------
    >>> n_pieces(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), is_bipartite=True)
    2
    """
    W: Any = sparse.csr_array(affinity)
    n = W.shape[0]
    if is_bipartite:
        W = sparse.block_array([[None, W], [W.T, None]], format="csr")
    _, piece = csgraph.connected_components(W, directed=False)
    return len(np.unique(piece[:n]))
