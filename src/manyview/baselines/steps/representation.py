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

from manyview.baselines.steps.spectral import (
    FloatArray,
    bipartite_embedding,
    label_embedding,
    n_components_of,
    spectral_embedding,
)
from manyview.checks import check_count
from manyview.views.container import Block

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Dictionary:
    """The rows that others are written in terms of.

    Attributes
    ----------
    atoms : ndarray or csr_array of shape (m, d)
        Rows of the data.
    rows : ndarray of shape (m,)
        Which rows they are.
    own : ndarray of shape (n,)
        Position of each row of the data in the dictionary, -1 if it is not there: the one atom
        that a row may not use.
    """

    atoms: Block
    rows: IntArray
    own: IntArray

    @property
    def is_whole(self) -> bool:
        """Whether every row is an atom, so that a representation is a square matrix."""
        return len(self.rows) == len(self.own)


def choose_dictionary(X: Block, n_exemplars: int | None, rng: np.random.Generator) -> Dictionary:
    """Give all rows of ``X``, or ``n_exemplars`` of them at random, as a dictionary.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
    n_exemplars : int or None
        None, or n and more, for all rows.
    rng : Generator

    Returns
    -------
    Dictionary

    Examples
    --------
    >>> D = choose_dictionary(np.eye(5), 2, np.random.default_rng(0))
    >>> D.atoms.shape, (D.own[D.rows]).tolist(), int((D.own < 0).sum())
    ((2, 5), [0, 1], 3)
    """
    n = X.shape[0]
    if n_exemplars is None or check_count("n_exemplars", n_exemplars) >= n:
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
    size = max(1, bytes_at_once // max(1, bytes_per_row))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def symmetric_affinity(C: Any) -> Any:
    """Give the graph (|C| + |C|^T) / 2 of a square representation, without self-loops.

    Parameters
    ----------
    C : csr_array of shape (n, n)

    Returns
    -------
    csr_array of shape (n, n)

    Examples
    --------
    >>> symmetric_affinity(sparse.csr_array([[0.0, -2.0], [1.0, 0.0]])).toarray().tolist()
    [[0.0, 1.5], [1.5, 0.0]]
    """
    magnitudes = abs(C)
    return sparse.csr_array((magnitudes + magnitudes.T) / 2)


def neighbor_affinity(C: Any, n_neighbors: int) -> Any:
    """Give the symmetrised nearest-neighbour graph of the rows of a representation.

    Rows that are all zero have no direction and get no edge of their own.

    Parameters
    ----------
    C : csr_array of shape (n, m)
        Rows of unit length.
    n_neighbors : int
        Neighbours a row, at most n - 1.

    Returns
    -------
    csr_array of shape (n, n)

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


def n_pieces(affinity: Any, *, is_bipartite: bool) -> int:
    """Number of connected components that hold samples, of a graph or a bipartite one.

    Examples
    --------
    >>> n_pieces(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), is_bipartite=True)
    2
    """
    if not is_bipartite:
        return n_components_of(affinity)
    B: Any = sparse.csr_array(affinity)
    both: Any = sparse.block_array([[None, B], [B.T, None]], format="csr")
    _, piece = csgraph.connected_components(both, directed=False)
    return len(np.unique(piece[: B.shape[0]]))


def label_affinity(
    affinity: Any,
    n_clusters: int,
    *,
    is_bipartite: bool,
    n_init: int,
    random_state: np.random.Generator,
) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """Labels and embedding of a graph between samples, or between samples and exemplars.

    Parameters
    ----------
    affinity : sparse array of shape (n, n) or (n, m)
        Weights, none negative.
    n_clusters : int
    is_bipartite : bool
        Whether columns are exemplars.
    n_init : int
        Restarts of k-means.
    random_state : Generator

    Returns
    -------
    labels : ndarray of int32 of shape (n,)
    embedding : ndarray of shape (n, n_clusters)
    """
    if is_bipartite:
        embedding = bipartite_embedding(affinity, n_clusters)
    else:
        embedding = spectral_embedding(affinity, n_clusters, random_state=random_state)
    labels = label_embedding(embedding, n_clusters, n_init=n_init, random_state=random_state)
    return labels, embedding
