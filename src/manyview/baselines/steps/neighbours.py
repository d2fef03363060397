"""Rows of a view -> probabilistic nearest-neighbour graph, without a bandwidth to choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from manyview.baselines.steps import FloatArray
from manyview.views.container import Block

_BLOCK_BYTES = 64 * 2**20


def neighbour_weights(X: Block, n_neighbors: int) -> Any:
    r"""Weights of each row's nearest neighbours, which sum to one; csr_array (n, n), not symmetric.

    The weights solve :math:`\min_w \sum_j w_j d_j + \gamma w_j^2` on the simplex, with gamma such
    that q weights are not zero (Nie, Wang and Huang, KDD 2014): with squared distances
    :math:`d_{(1)} \le d_{(2)} \le \ldots`,

    .. math:: w_{ij} = (d_{(q+1)} - d_{ij}) / (q\, d_{(q+1)} - \sum_{l \le q} d_{(l)}).

    Where the q + 1 nearest are all equally far, duplicates for example, each of q gets 1/q. With n
    rows, at least two, q is at most n - 2, or 1 if n is 2.

    Examples
    --------
    >>> W = neighbour_weights(np.array([[0.0], [1.0], [2.0], [10.0]]), 2)
    >>> W.toarray().round(2).tolist()
    [[0.0, 0.51, 0.49, 0.0], [0.5, 0.0, 0.5, 0.0], [0.49, 0.51, 0.0, 0.0], [0.0, 0.35, 0.65, 0.0]]
    """
    n = X.shape[0]
    q = max(1, min(n_neighbors, n - 2))
    points = X if sparse.issparse(X) else X - X.mean(axis=0, dtype=np.float64)
    # With no rows given, scikit-learn leaves out each row itself by its number: among duplicates
    # the row itself may stand anywhere in the list.
    distances, nearest = NearestNeighbors(n_neighbors=min(q + 1, n - 1)).fit(points).kneighbors()
    squares = distances**2 if sparse.issparse(X) else _squared_distances(points, nearest)
    order = np.argsort(squares, axis=1, kind="stable")
    squares = np.take_along_axis(squares, order, axis=1)
    nearest = np.take_along_axis(nearest, order, axis=1)
    gaps = squares[:, -1:] - squares[:, :q]
    totals = gaps.sum(axis=1, keepdims=True)
    spread = totals > np.finfo(float).eps * q * squares[:, -1:]
    weights = np.where(spread, gaps / np.where(spread, totals, 1.0), 1 / q)
    indptr = q * np.arange(n + 1)
    return sparse.csr_array((weights.ravel(), nearest[:, :q].ravel(), indptr), shape=(n, n))


def normalised_graph(W: Any) -> Any:
    """D^(-1/2) W D^(-1/2) of the symmetric part of ``W``; its Laplacian is I minus that.

    ``W`` is a csr_array (n, n) of weights, none negative, with at least one in every row.

    Examples
    --------
    >>> normalised_graph(sparse.csr_array([[0.0, 1.0], [3.0, 0.0]])).toarray().round(6).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    symmetric = sparse.csr_array((W + W.T) / 2)
    scale = sparse.diags_array(1 / np.sqrt(np.asarray(symmetric.sum(axis=1)).ravel()))
    return sparse.csr_array(scale @ symmetric @ scale)


def _squared_distances(X: FloatArray, nearest: npt.NDArray[np.intp]) -> FloatArray:
    """Squared distances to the listed rows, from differences: exactly zero for duplicates."""
    n, d = X.shape
    squares = np.empty(nearest.shape)
    size = max(1, _BLOCK_BYTES // (8 * d * nearest.shape[1]))
    for rows in gen_batches(n, size):
        differences = X[nearest[rows]] - X[rows, None, :]
        squares[rows] = np.einsum("ijk,ijk->ij", differences, differences)
    return squares
