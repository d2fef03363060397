"""Weights between rows and anchors whose graph falls into exactly k parts.

The inner problem of EOMSC-CA: of all rows Z on the simplex near a target, those whose graph
[0 Z; Z' 0] has k connected components, which is when its normalised Laplacian has k zero eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.projections import simplex_rows
from manyview.baselines.steps.scaling import inverse_roots

_FIRST_PENALTY = 0.1
_MOST_ROUNDS = 50
_EXACT = 1e-7


@dataclass(frozen=True)
class Components:
    """A graph and what its rank says."""

    weights: FloatArray  # Z (n, m)
    cut: float  # ||U||^2 + ||V||^2 - tr(U' S V), what the penalty of the objective multiplies
    is_exact: bool  # the rank is that of k components


def solve_components(
    B: FloatArray, masses: FloatArray, start: FloatArray, n_components: int
) -> Components:
    r"""The graph nearest to ``B / masses`` (n, m) that has ``n_components`` connected components.

    Minimises :math:`s \|Z\|^2 - 2 \langle Z, B \rangle + \lambda\, \mathrm{tr}(F^T L F)` over Z and
    orthonormal F in turn, ``masses`` (n, 1) being s, and doubles lambda while components are too few.
    Edges are kept where B is positive. As in the authors' program, Z is the mean of the solution for its
    rows and of that for its columns. ``start`` (n, m) is the graph that the first F comes from.
    """
    k, m = n_components, B.shape[1]
    penalty, allowed = _FIRST_PENALTY, B > 0
    Z, is_exact = start, False
    U, V, values, cut = _bipartite_vectors(start, k)
    for _ in range(_MOST_ROUNDS):
        target = (B - penalty / 2 * _squared_distances(Z, U, V)) / masses
        Z = (simplex_rows(target, allowed) + simplex_rows(target.T, allowed.T).T) / 2
        U, V, values, cut = _bipartite_vectors(Z, k)
        if values[:k].sum() < k - _EXACT:
            penalty *= 2
        elif m > k and values[: k + 1].sum() > k + 1 - _EXACT:
            penalty /= 2
        else:
            is_exact = True
            break
    return Components(Z, cut, is_exact)


def anchor_components(Z: FloatArray, n_components: int) -> tuple[npt.NDArray[np.int64], list[int]]:
    """The component of each anchor (m,), and the number of rows of each, largest first.

    Components beyond the ``n_components`` largest, and anchors that no row uses, are -1.

    Examples
    --------
    >>> anchor_components(np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 2)
    (array([0, 0, 1]), [2, 1])
    """
    n = len(Z)
    links = sparse.csr_array(Z > 0)
    count, found = connected_components(sparse.block_array([[None, links], [links.T, None]]))
    sizes = np.bincount(found[:n], minlength=count)
    order = np.argsort(-sizes, kind="stable")
    rank = np.full(count, -1)
    kept = order[: min(n_components, np.count_nonzero(sizes))]
    rank[kept] = np.arange(len(kept))
    return rank[found[n:]], sizes[order[: np.count_nonzero(sizes)]].tolist()


def _bipartite_vectors(Z: FloatArray, k: int) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Singular vectors U (n, k) and V (m, k) of the normalised graph over root 2, and all squares."""
    S = inverse_roots(Z.sum(axis=1))[:, None] * Z * inverse_roots(Z.sum(axis=0))
    values, vectors = linalg.eigh(S.T @ S)
    values, V = np.maximum(values[::-1], 0.0), vectors[:, ::-1][:, :k]
    roots = np.sqrt(values[:k])
    U = S @ V / np.where(roots > 0, roots, 1.0) / np.sqrt(2)
    V = V / np.sqrt(2)
    cut = float((U**2).sum() + (V**2).sum() - np.sum(U * (S @ V)))
    return U, V, values, cut


def _squared_distances(Z: FloatArray, U: FloatArray, V: FloatArray) -> FloatArray:
    """||U_i / sqrt(d_i) - V_j / sqrt(d_j)||^2, with d the degrees of rows and of anchors."""
    U = U * inverse_roots(Z.sum(axis=1))[:, None]
    V = V * inverse_roots(Z.sum(axis=0))[:, None]
    squares = (U**2).sum(axis=1)[:, None] - 2 * U @ V.T + (V**2).sum(axis=1)
    return np.asarray(np.maximum(squares, 0.0))
