"""Leading eigenvectors of the matrices that sums over graph rows make."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from manyview.stages.rows import Array

_DENSE_BELOW = 1000  # rows up to which all of a matrix is reduced at once
_BLOCKS, _SPARE = 5, 8  # of the Krylov space, and vectors in each beyond those wanted
_RESTARTS, _TOLERANCE = 30, 1e-6
_SPARSE_BELOW = 0.1  # share of entries that are not zero
_USELESS = 1e-10  # eigenvalues below this share of the largest carry only rounding


def leading_eigenvectors(gram: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues and their vectors, descending; none that is rounding.

    ``gram`` (M, M) is symmetric without negative eigenvalues. Eigenvalues that repeat are all found.
    """
    M = len(gram)
    count = min(count, M)
    if M <= _DENSE_BELOW or 2 * _BLOCKS * (count + _SPARE) > M:
        values, vectors = linalg.eigh(gram, subset_by_index=(M - count, M - 1))
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        values, vectors = _block_krylov(gram, count)
    useful = values > _USELESS * max(values[0], np.finfo(float).tiny)
    return values[useful], vectors[:, useful]


def _block_krylov(gram: Array, count: int) -> tuple[Array, Array]:
    """Restarted block Krylov iterations from a fixed start.

    A block has more vectors than are wanted, so that it cannot miss a repeated eigenvalue as a single
    Lanczos vector does, and the matrix is read once for all of them.
    """
    M = len(gram)
    is_sparse = np.count_nonzero(gram) < _SPARSE_BELOW * M * M
    G: Any = sparse.csr_array(gram) if is_sparse else gram
    X = linalg.qr(np.random.default_rng(0).standard_normal((M, count + _SPARE)), mode="economic")[0]
    for _ in range(_RESTARTS):
        V, images = X, [G @ X]
        for _ in range(_BLOCKS - 1):
            Y = images[-1]
            for _ in range(2):  # the second time for what rounding leaves
                Y = linalg.qr(Y - V @ (V.T @ Y), mode="economic")[0]
            V = np.hstack([V, Y])
            images.append(G @ V[:, -X.shape[1] :])
        W = np.hstack(images)
        projected = V.T @ W
        values, S = linalg.eigh(0.5 * (projected + projected.T))
        values, S = values[::-1][: X.shape[1]], S[:, ::-1][:, : X.shape[1]]
        X = V @ S
        residuals = np.linalg.norm(W @ S - X * values, axis=0)[:count]
        if residuals.max() <= _TOLERANCE * values[0]:
            break
        X = linalg.qr(X, mode="economic")[0]
    return values[:count], X[:, :count]
