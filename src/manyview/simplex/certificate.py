"""Proof that a solved batch is solved: feasibility, KKT residual and duality gap of every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.simplex.problem import Array

_ROWS = 2048


@dataclass(frozen=True)
class Certificate:
    r"""How far each row is from optimal: violations of the conditions, and the duality gap.

    Attributes
    ----------
    objective : ndarray of shape (n,)
        Value of the problem at the solution (not relative).
    kkt : ndarray of shape (n,)
        Largest violation of the optimality conditions, relative to the scale of the row.
    gap : ndarray of shape (n,)
        Duality gap: the objective is at most this far above the minimum, relative to the same scale.
    infeasibility : ndarray of shape (n,)
        How far the weights are from summing to one, or below zero, whichever is more (not relative).

    See Also
    --------
    certify : makes it.
    solve_simplex_qp : what it judges.

    Notes
    -----
    With g half the gradient of the objective at z, z is optimal if and only if :math:`z \ge 0`,
    :math:`\sum_j z_j = 1`, and :math:`g_j` is the same for all j with :math:`z_j > 0` and no smaller for
    the others. The objective is convex, so it lies at most :math:`2 (g^T z - \min_j g_j)` above its
    minimum. ``kkt`` is twice the largest violation, and ``gap`` this bound, both divided by the scale:
    :math:`\|x\|^2` plus the mean :math:`\|a_j\|^2`, measured from the anchors' mean.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.simplex import certify, solve_simplex_qp
    >>> X, A = np.array([[0.2, 0.1]]), np.eye(2)
    >>> certify(solve_simplex_qp(X, A, alpha=0.1), X, A, alpha=0.1).worst < 1e-9
    True
    """

    objective: Array
    kkt: Array
    gap: Array
    infeasibility: Array

    @property
    def worst(self) -> float:
        """The largest of all violations, gaps and infeasibilities."""
        return float(max(self.kkt.max(), self.gap.max(), self.infeasibility.max()))


def certify(
    Z: sparse.csr_array,
    X: npt.NDArray[np.floating] | sparse.csr_array,
    A: npt.ArrayLike,
    *,
    alpha: float = 0.0,
    locality: float = 0.0,
    among: npt.NDArray[np.integer] | None = None,
) -> Certificate:
    """Certify weights ``Z`` (n, m) of rows ``X`` (n, d) over anchors ``A`` (m, d).

    With ``among`` (n, r), the numbers of the anchors that each row was allowed to use, weights of others
    are infeasible, and optimal is what is optimal among these. It is computed from the problem as
    stated, not from anything the solver prepared.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from manyview.simplex import certify
    >>> corners = np.eye(2)
    >>> certify(sparse.csr_array([[0.5, 0.5]]), np.array([[0.5, 0.5]]), corners).worst < 1e-15
    True
    >>> certify(sparse.csr_array([[1.0, 0.0]]), np.array([[0.5, 0.5]]), corners).worst > 0.1
    True
    """
    A = np.asarray(A, dtype=np.float64)
    parts = []
    for i in range(0, X.shape[0], _ROWS):
        rows = slice(i, i + _ROWS)
        own = None if among is None else among[rows]
        parts.append(_certify_rows(Z[rows], X[rows], A, alpha, locality, own))
    return Certificate(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _certify_rows(
    Z: sparse.csr_array,
    X: Any,
    A: Array,
    alpha: float,
    locality: float,
    among: npt.NDArray[np.integer] | None,
) -> tuple[Array, Array, Array, Array]:
    center = A.mean(axis=0)
    anchors = A - center
    z = Z.toarray()
    if sparse.issparse(X):
        products = X @ anchors.T - center @ anchors.T
        norms = X.multiply(X).sum(axis=1) - 2 * (X @ center) + center @ center
    else:
        rows = np.asarray(X, dtype=np.float64) - center
        products = rows @ anchors.T
        norms = (rows**2).sum(axis=1)
    square_norms = (anchors**2).sum(axis=1)
    distances = norms[:, None] - 2 * products + square_norms
    # Half the gradient of the objective, which is 2 (z'Gz/2 - b'z) + ||x||^2.
    gradient = (z @ anchors) @ anchors.T + alpha * z - products + 0.5 * locality * distances
    linear = -products + 0.5 * locality * distances
    objective = norms + ((gradient + linear) * z).sum(axis=1)
    scale = norms + square_norms.mean()
    size = float((A**2).sum(axis=1).mean())
    # Where the row equals every anchor, what is left is rounding, and no scale.
    scale = np.where(scale > 1e-26 * size, scale, (size + alpha) or 1.0)
    if not sparse.issparse(X):
        fit = (((rows - z @ anchors) ** 2).sum(axis=1)) + alpha * (z**2).sum(axis=1)
        objective = fit + locality * (z * distances).sum(axis=1)
    level = (gradient * z).sum(axis=1)  # the multiplier of sum z = 1
    negative = np.maximum(-z.min(axis=1), 0.0)
    infeasibility = np.maximum(np.abs(z.sum(axis=1) - 1.0), negative)
    if among is not None:
        infeasibility = np.maximum(infeasibility, _others(z, among).max(axis=1, initial=0.0))
        gradient, z = (np.take_along_axis(each, among, axis=1) for each in (gradient, z))
    gap = 2 * np.maximum(level - gradient.min(axis=1), 0.0)
    above = np.where(z > 0, np.abs(gradient - level[:, None]), level[:, None] - gradient)
    kkt = 2 * np.maximum(above.max(axis=1), 0.0)
    return objective, kkt / scale, gap / scale, infeasibility


def _others(z: Array, among: npt.NDArray[np.integer]) -> Array:
    """Weights of anchors that a row was not allowed to use; the others as zero."""
    left = z.copy()
    np.put_along_axis(left, among, 0.0, axis=1)
    return left
