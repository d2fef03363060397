"""One simplex problem, prepared for many rows.

For a row x and anchors a_1 ... a_m the graph weights are the solution of

    min_z  ||x - A'z||^2 + alpha ||z||^2 + gamma sum_j z_j ||x - a_j||^2   s.t.  z >= 0, sum z = 1.

Dropping what does not depend on z it is ``min z'Gz/2 - b'z`` with ``G = AA' + alpha I`` shared by all
rows and ``b_j = (1 + gamma) a_j'x - gamma ||a_j||^2 / 2``. Because sum z = 1, nothing changes when
anchors and rows are moved together, nor when a constant is added to every entry of G or b. So
anchors are centred, which keeps the products accurate, and G is shifted by a constant, after which
it is singular on a support only if the support's anchors are affinely dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SimplexProblem:
    """What every row shares: ``B = X @ weights + offset`` are the linear terms of rows X.

    Objective values are measured in ``unit``, an energy: anchors' mean squared norm plus alpha.
    """

    gram: Array  # (m, m), G in that unit, shifted by a constant
    weights: Array  # (d, m), turns rows into linear terms
    offset: Array  # (m,), added to every row's linear terms
    unit: float
    ridge: float  # alpha in that unit
    constants: Array  # (m,), of the linear terms what no row changes: -gamma ||a_j||^2 / 2, centred

    @property
    def n_anchors(self) -> int:
        """Number of anchors, m."""
        return int(self.gram.shape[0])

    @property
    def n_dimensions(self) -> int:
        """Largest possible rank of the centred anchors."""
        return max(min(int(self.weights.shape[0]), self.n_anchors - 1), 1)

    def linear_terms(self, X: npt.NDArray[np.floating]) -> Array:
        """Linear terms of dense or CSR rows X, shape (n, m)."""
        B: Array = np.asarray(X @ self.weights, dtype=np.float64)
        B += self.offset
        return B


def prepare(
    A: npt.NDArray[np.floating], *, alpha: float, locality: float = 0.0, is_rough: bool = False
) -> SimplexProblem:
    """Prepare the problem of anchors ``A`` (m, d) for any number of rows.

    Parameters
    ----------
    A : ndarray of shape (m, d)
        The anchors.
    alpha : float
        Weight of ||z||^2; zero or more.
    locality : float
        Weight gamma of the distances to the anchors used; zero or more.
    is_rough : bool
        Whether products have the anchors' precision: enough to see what rows are like, not to solve
        them.

    Examples
    --------
    >>> problem = prepare(np.eye(3), alpha=0.1)
    >>> problem.linear_terms(np.eye(3)).shape
    (3, 3)
    """
    center, turned = _centered(A, A.dtype if is_rough else np.float64)
    gram = np.asarray(turned.T @ turned, np.float64)
    return _problem(gram, center, turned, alpha, locality)


class GroupedAnchors:
    """Anchors whose columns come in groups, for rows that have only some of the groups.

    The products of each group are kept, so that the problem of any set of groups is a sum.

    Parameters
    ----------
    parts : sequence of ndarray of shape (m, d)
        The anchors' columns, group by group.
    alpha, locality : float
        As in :func:`prepare`.

    Examples
    --------
    >>> groups = GroupedAnchors([np.eye(3), np.eye(3)], alpha=0.1)
    >>> problem, scale = groups.problem((1,), share=0.5)
    >>> np.allclose(problem.gram, prepare(np.eye(3) * 2**0.5, alpha=0.1).gram), round(scale, 3)
    (True, 1.414)
    """

    def __init__(self, parts: Sequence[Array], *, alpha: float, locality: float = 0.0) -> None:
        self._alpha, self._locality = alpha, locality
        centered = [_centered(A) for A in parts]
        self._centers = [center for center, _ in centered]
        self._turned = [turned for _, turned in centered]
        self._grams = [turned.T @ turned for _, turned in centered]

    def problem(self, groups: Sequence[int], share: float) -> tuple[SimplexProblem, float]:
        """The problem of rows that have these groups of columns, and what scales the rows.

        What is there stands for all: anchors and rows are divided by the root of the groups' ``share``
        of the energy, so that alpha keeps its meaning.
        """
        scale = share**-0.5
        gram = sum((self._grams[g] for g in groups), np.zeros_like(self._grams[0]))
        gram *= scale * scale
        center = np.concatenate([self._centers[g] for g in groups]) * scale
        turned = np.concatenate([self._turned[g] for g in groups])
        turned *= scale
        return _problem(gram, center, turned, self._alpha, self._locality), scale


def _centered(
    A: npt.NDArray[np.floating], dtype: npt.DTypeLike = np.float64
) -> tuple[Array, npt.NDArray[Any]]:
    """The mean of anchors (m, d), and the anchors less the mean, turned (d, m): the only copy."""
    center = np.asarray(A.mean(axis=0, dtype=np.float64))
    turned = np.empty(A.shape[::-1], dtype)
    np.subtract(A.T, center[:, None].astype(dtype), out=turned)
    if np.vdot(turned, turned) <= 1e-26 * float(np.einsum("ij,ij->", A, A)):
        turned[:] = 0.0  # all anchors alike: what is left is rounding
    return center, turned


def _problem(
    gram: Array, center: Array, turned: npt.NDArray[Any], alpha: float, locality: float
) -> SimplexProblem:
    """The problem of anchors with these products, mean, and columns less the mean (d, m)."""
    square_norms = np.diagonal(gram).copy()
    unit = float(square_norms.mean()) + alpha
    if unit <= 0.0:  # all anchors alike and no ridge: every z is a solution
        unit = 1.0
    gram[np.diag_indices_from(gram)] += alpha
    gram /= unit
    gram += 1.0  # the mean of the diagonal is 1 in this unit (or 0 where every z is a solution)
    turned *= (1.0 + locality) / unit
    constants = (-0.5 * locality / unit) * square_norms
    offset = constants - center @ turned
    return SimplexProblem(gram, turned, offset, unit, alpha / unit, constants)
