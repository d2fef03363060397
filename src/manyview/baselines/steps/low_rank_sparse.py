"""Kernel of a view -> low-rank and sparse self-representation: one ADMM step, as mathematics.

The parts of multi-view low-rank sparse subspace clustering (Brbic and Kopriva, Pattern Recognition
73 (2018) 247-258). Columns of a representation A hold the weights with which all samples make up
one. Only kernels are needed, never the rows themselves, with or without noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.sparse_projections import soft_threshold

_GRAM_ABOVE = 1e-6
"""Threshold, as a share of the norm, from which singular values may come from the Gram matrix."""

_FEW = 0.1
"""Share of the singular values up to which looking for these alone is faster."""


@dataclass(frozen=True)
class KernelFactor:
    """Eigenvectors (n, r) and positive eigenvalues (r,) of a kernel: factored once, solved often."""

    vectors: FloatArray
    values: FloatArray

    @property
    def trace(self) -> float:
        """Sum of the kernel's diagonal."""
        return float(self.values.sum())


@dataclass
class Representation:
    """One view's variables: A, its low-rank, sparse and agreeing copies, and their multipliers.

    Each copy ``C[i]`` is tied to A by a constraint with multiplier ``P[i]``, in the order low-rank,
    sparse, agreeing. ``fit`` is X'M for the multiplier M of the noise-free constraint X = X A.
    ``rank`` is that of the low-rank copy.
    """

    A: FloatArray
    C: list[FloatArray]
    P: list[FloatArray]
    fit: FloatArray | None
    rank: int = 0
    residual: float = np.inf
    objective: float = np.inf

    @classmethod
    def zeros(cls, n: int, *, noise: bool) -> Representation:
        """The start: everything zero, n x n."""
        C, P = ([np.zeros((n, n)) for _ in range(3)] for _ in range(2))
        return cls(np.zeros((n, n)), C, P, None if noise else np.zeros((n, n)))


def factor_kernel(kernel: FloatArray) -> KernelFactor:
    """Factor a positive semidefinite kernel (n, n), leaving out directions without weight.

    Examples
    --------
    >>> factor_kernel(np.array([[2.0, 2.0], [2.0, 2.0]])).values.round(6).tolist()
    [4.0]
    """
    values, vectors = linalg.eigh(kernel)
    useful = values > 1e-12 * max(values[-1], np.finfo(float).tiny)
    return KernelFactor(np.ascontiguousarray(vectors[:, useful]), values[useful])


def factor_rows(X: FloatArray) -> KernelFactor:
    """Factor the linear kernel of rows (n, d) without forming it.

    Examples
    --------
    >>> factor_rows(np.array([[1.0], [2.0], [2.0]])).values.round(6).tolist()
    [9.0]
    """
    vectors, roots, _ = linalg.svd(X, full_matrices=False)
    useful = roots > 1e-6 * max(roots[0], np.finfo(float).tiny)
    return KernelFactor(np.ascontiguousarray(vectors[:, useful]), roots[useful] ** 2)


def solve_representation(
    factor: KernelFactor, right: FloatArray, shift: float
) -> tuple[FloatArray, FloatArray]:
    """A = (K + shift I)^-1 (K + right), all (n, n), and U'A (r, n) for the eigenvectors U of K.

    Examples
    --------
    >>> factor = factor_rows(np.array([[1.0], [1.0]]))
    >>> solve_representation(factor, np.zeros((2, 2)), 2.0)[0].round(6).tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """
    U = factor.vectors
    kept = (factor.values / (factor.values + shift))[:, None]
    scaled = right / shift
    inside = U.T @ scaled
    gain = kept * (U.T - inside)
    return scaled + U @ gain, inside + gain


def threshold_singular_values(
    Y: FloatArray, threshold: float, *, rank_guess: int
) -> tuple[FloatArray, FloatArray]:
    """``Y`` (n, n) with every singular value moved towards zero, and those (rank,) that are left.

    ``rank_guess`` is about how many will be left; it only decides which solver is faster.

    Examples
    --------
    >>> result, left = threshold_singular_values(np.diag([3.0, 0.5]), 1.0, rank_guess=1)
    >>> result.round(6).tolist(), left.round(6).tolist()
    ([[2.0, 0.0], [0.0, 0.0]], [2.0])
    """
    if threshold <= _GRAM_ABOVE * float(linalg.norm(Y)):
        left, values, right = linalg.svd(Y)
        kept = values > threshold
        shrunk = values[kept] - threshold
        return np.asarray((left[:, kept] * shrunk) @ right[kept]), shrunk
    # Squaring is accurate enough for values above the threshold. Looking for these alone pays only
    # if they are few: their vectors then come from inverse iteration, one by one.
    if rank_guess < _FEW * len(Y):
        squares, vectors = linalg.eigh(
            Y.T @ Y, subset_by_value=(threshold**2, np.inf), driver="evr", overwrite_a=True
        )
    else:
        squares, vectors = linalg.eigh(Y.T @ Y, driver="evd", overwrite_a=True)
    kept = squares > threshold**2
    values, vectors = np.sqrt(squares[kept]), vectors[:, kept]
    shrunk = values - threshold
    return np.asarray((Y @ (vectors * (shrunk / values))) @ vectors.T), shrunk


def update_representation(
    state: Representation,
    factor: KernelFactor,
    *,
    low_rank: float,
    sparse: float,
    mu: float,
    target: FloatArray,
    pull: float,
) -> None:
    """Do one ADMM step for one view, in place, and note its residual and objective.

    ``low_rank`` and ``sparse`` are beta_1 and beta_2, ``mu`` is the weight of the constraints,
    ``target`` (n, n) what the view is to agree with, and ``pull`` twice the weight of the squared
    distance to it.
    """
    previous, C, P = state.A, state.C, state.P
    right = mu * (C[0] + C[1] + C[2]) - P[0] - P[1] - P[2]
    if state.fit is None:
        state.A, inside = solve_representation(factor, right, 3 * mu)
    else:
        # (mu K + 3 mu I)^-1 (mu K + ...), divided by mu.
        state.A, inside = solve_representation(factor, (right + state.fit) / mu, 3.0)
    A = state.A
    C[0], singular_values = threshold_singular_values(
        A + P[0] / mu, low_rank / mu, rank_guess=state.rank
    )
    state.rank = len(singular_values)
    C[1] = soft_threshold(A + P[1] / mu, sparse / mu)
    np.fill_diagonal(C[1], 0.0)
    C[2] = (pull * target + mu * A + P[2]) / (pull + mu)
    gaps = [float(np.abs(A - previous).max())]
    for copy, multiplier in zip(C, P, strict=True):
        gap = A - copy
        multiplier += mu * gap
        gaps.append(float(np.abs(gap).max()))
    errors = _squared_errors(factor, inside)
    state.residual = max(gaps) / max(float(np.abs(A).max()), np.finfo(float).tiny)
    state.objective = (
        low_rank * float(singular_values.sum())
        + sparse * float(np.abs(C[1]).sum())
        + pull / 2 * float(((C[2] - target) ** 2).sum())
    )
    if state.fit is None:
        state.objective += float(errors.sum()) / 2
        return
    U, e = factor.vectors, factor.values[:, None]
    state.fit += mu * (U @ (e * (U.T - inside)))
    typical = factor.trace / len(A)
    state.residual = max(state.residual, float(np.sqrt(errors.max() / typical)) if typical else 0.0)


def _squared_errors(factor: KernelFactor, inside: FloatArray) -> FloatArray:
    """||x_j - X a_j||^2 of every sample, in the kernel's feature space; shape (n,)."""
    missing = factor.vectors.T - inside
    return np.asarray(factor.values @ missing**2)
