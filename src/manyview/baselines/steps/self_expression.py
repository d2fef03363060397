"""Solvers that write rows in terms of few others: ADMM, proximal gradient, and l0 projection.

All three work on a block of rows at a time, because rows are independent given the dictionary D:

    l1:  min_c  |c|_1 + (lam / 2) ||x - c D||^2     s.t.  c_own = 0  [, sum c = 1]
    l0:  min_c  (1 / 2) ||x - c D||^2               s.t.  the same, and at most s non-zeros

A solver takes rows X (b, p), atoms D (m, p), the atom ``own`` (b,) that a row may not use (-1 for
none), whether weights of a row sum to one (``affine``), ``max_iter`` and ``tol``.
They follow F. Pourkamali-Anaraki, J. Folberth, S. Becker, "Efficient solvers for sparse subspace
clustering" (arXiv 1804.06291), with samples as rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import svds
from sklearn.utils.extmath import row_norms

from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.representation import Dictionary, IntArray, block_slices
from manyview.baselines.steps.sparse_projections import (
    keep_largest,
    keep_largest_sum_one,
    prox_sum_one,
    soft_threshold,
    zero_own,
)
from manyview.views.container import Block

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class BlockSolution:
    """Weights found for a block of rows, and how the solver got there."""

    C: Any  # csr_array (b, m)
    objective: FloatArray  # (n_iter,), after each iteration, summed over the rows
    residual: float  # what the stopping rule compares with its tolerance, at the end
    is_converged: bool  # it got below


def choose_fidelity(X: Block, dictionary: Dictionary, alpha: float) -> float:
    """Weight of the fit, lam = alpha / mu with mu = min_i max_j |x_i . d_j|.

    With alpha at most 1 some row's best weights are all zero. Rows that are orthogonal to all
    others have zero weights whatever lam is, and are left out of the minimum.

    Examples
    --------
    >>> from manyview.baselines.steps.representation import choose_dictionary
    >>> X = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]])
    >>> D = choose_dictionary(X, None, np.random.default_rng(0))
    >>> round(choose_fidelity(X, D, 80.0), 6)
    100.0
    """
    m = dictionary.atoms.shape[0]
    smallest = np.inf
    for rows in block_slices(X.shape[0], bytes_per_row=8 * m, bytes_at_once=2**26):
        largest = np.abs(_products(X[rows], dictionary.atoms))
        zero_own(largest, dictionary.own[rows])
        best = largest.max(axis=1)
        smallest = min(smallest, best[best > 0].min(initial=np.inf))
    return alpha / float(smallest) if np.isfinite(smallest) else alpha


def choose_step(atoms: Block) -> float:
    """Largest safe gradient step, 1 / ||D||_2^2.

    Examples
    --------
    >>> round(choose_step(np.diag([1.0, 2.0, 0.5])), 3)
    0.25
    """
    if abs(atoms).max() == 0:
        return 1.0
    if min(atoms.shape) <= 3:
        dense = atoms.toarray() if sparse.issparse(atoms) else atoms
        norm = float(np.linalg.norm(dense, 2))
    else:
        start = np.random.default_rng(0).standard_normal(min(atoms.shape))
        norm = float(svds(atoms, k=1, v0=start, return_singular_vectors=False)[0])
    # Lanczos comes from below; a step a little too long would diverge.
    return 1 / (1.001 * norm**2)


@dataclass(frozen=True)
class Ridge:
    """Solver of R = Z (I + weight D D^T) for Z, the costly step of ADMM, for any weight.

    By the matrix inversion lemma and D D^T = U diag(squares) U^T,
    Z = R - R U diag(weight squares / (1 + weight squares)) U^T: O(p n^2) for all rows where a plain
    solve costs O(n^3), and nothing is factored anew when the weight changes.

    ``U`` (m, r) are left singular vectors of the dictionary, ``squares`` (r,) its squared singular
    values.
    """

    U: FloatArray
    squares: FloatArray

    def solve(self, R: FloatArray, weight: FloatArray) -> FloatArray:
        """Z (b, m) for R (b, m), with a weight (b, 1) for each row."""
        scaled = weight * self.squares
        Z: FloatArray = ((R @ self.U) * (scaled / (1 + scaled))) @ self.U.T
        return np.subtract(R, Z, out=Z)


def factor_ridge(atoms: Block) -> Ridge:
    """Factor a dictionary for :class:`Ridge`: its SVD, or its Gram matrix if wide or sparse.

    Examples
    --------
    >>> ridge = factor_ridge(np.array([[1.0], [0.0]]))
    >>> ridge.solve(np.array([[4.0, 2.0]]), np.array([[3.0]])).tolist()
    [[1.0, 2.0]]
    """
    m, p = atoms.shape
    if p < m and not sparse.issparse(atoms):
        U, singular_values, _ = linalg.svd(atoms, full_matrices=False)
        return Ridge(U, singular_values**2)
    squares, U = linalg.eigh(_products(atoms, atoms))
    return Ridge(U, np.maximum(squares, 0))


def solve_admm(
    X: Block,
    atoms: Block,
    own: IntArray,
    *,
    lam: float,
    rho: float,
    is_balanced: bool,
    affine: bool,
    ridge: Ridge,
    max_iter: int,
    tol: float,
) -> BlockSolution:
    """Minimise the l1 problem by ADMM with an O(p n) step a row (section 3 of the paper).

    ``rho`` is the penalty; if ``is_balanced`` that of each row changes, so that its primal and dual
    residuals fall alike. It stops when the two copies of the weights differ by less than tol, and
    the subgradients, whose bound is one, are wrong by less than 100 tol, everywhere. (The paper's
    rule has only the first part, which holds after one step if 1 / rho < tol.)
    """
    K = _products(X, atoms)
    rhos = np.full((len(K), 1), float(rho))
    ones_solved = ridge.solve(np.ones_like(K), lam / rhos) if affine else None
    C, dual = np.zeros_like(K), np.zeros_like(K)  # dual variables are divided by the penalty
    sum_dual = np.zeros((len(K), 1))
    history, residual = [], np.inf
    for iteration in range(1, max_iter + 1):
        R = K * (lam / rhos)
        R += C
        R -= dual
        if affine:
            R += 1 - sum_dual
        Z = ridge.solve(R, lam / rhos)
        if ones_solved is not None:
            total = 1 + ones_solved.sum(axis=1, keepdims=True)
            Z -= ones_solved * (Z.sum(axis=1, keepdims=True) / total)
            sum_dual += Z.sum(axis=1, keepdims=True) - 1
        # Not the diagonal of Z: the constraint acts on the sparse copy alone, or ADMM fails.
        dual += Z
        previous, C = C, soft_threshold(dual, 1 / rhos)
        zero_own(C, own)
        dual -= C
        history.append(_l1_objective(X, C, C @ atoms, lam))
        gap, change = Z - C, C - previous
        residual = max(_largest(gap), _largest(rhos * change) / 100)
        if affine:
            residual += _largest(Z.sum(axis=1) - 1)
        if residual < tol:
            break
        if is_balanced and _is_time_to_balance(iteration):
            factor = _balance(gap, change, Z, dual)
            rhos *= factor
            dual /= factor
            sum_dual /= factor
            if affine:
                ones_solved = ridge.solve(np.ones_like(K), lam / rhos)
    return BlockSolution(sparse.csr_array(C), np.array(history), residual, residual < tol)


def _is_time_to_balance(iteration: int) -> bool:
    # Ever more rarely: ADMM is only known to converge once the penalty stays.
    return iteration % 5 == 0 and (iteration <= 100 or (iteration // 100).bit_count() == 1)


def _balance(gap: FloatArray, change: FloatArray, Z: FloatArray, dual: FloatArray) -> FloatArray:
    """Factor (b, 1) on each row's penalty, from its primal and dual residuals, both relative.

    Residual balancing (Boyd et al., Foundations and Trends in Machine Learning 3, 2011, section
    3.4.1) with relative residuals and the step of Wohlberg (arXiv 1704.06209).
    """
    primal = row_norms(gap) / np.maximum(row_norms(Z), _TINY)
    ratio = primal * row_norms(dual) / np.maximum(row_norms(change), _TINY)
    factor = np.where((ratio > 5) | (ratio < 0.2), np.sqrt(ratio), 1.0)
    return np.clip(factor, 0.5, 2.0)[:, None]


def solve_proximal(
    X: Block,
    atoms: Block,
    own: IntArray,
    *,
    lam: float,
    step: float,
    affine: bool,
    max_iter: int,
    tol: float,
) -> BlockSolution:
    """Minimise the l1 problem by accelerated proximal gradient, restarted row by row.

    ``step`` is at most 1 / ||D||_2^2. It stops when the weights change by less than tol, relative
    to their Frobenius norm.
    """
    b, m = X.shape[0], atoms.shape[0]
    threshold = step / lam
    C, ahead = np.zeros((b, m)), np.zeros((b, m))
    fit, fit_ahead = np.zeros(X.shape), np.zeros(X.shape)
    momentum, shift = np.ones(b), np.zeros(b)
    history, residual = [], np.inf
    for _ in range(max_iter):
        G = ahead - step * _products(fit_ahead - X, atoms)
        if affine:
            new, shift = prox_sum_one(G, own, threshold, start=shift)
        else:
            new = soft_threshold(G, threshold)
            zero_own(new, own)
        new_fit = new @ atoms
        moved = new - C
        # Restart a row when momentum points uphill (O'Donoghue and Candes, 2015).
        uphill = np.einsum("ij,ij->i", ahead - new, moved) > 0
        momentum[uphill] = 1.0
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        beta = np.where(uphill, 0.0, (momentum - 1) / grown)[:, None]
        ahead, fit_ahead = new + beta * moved, new_fit + beta * (new_fit - fit)
        residual = float(np.linalg.norm(moved)) / max(float(np.linalg.norm(new)), 1e-10)
        C, fit, momentum = new, new_fit, grown
        history.append(_l1_objective(X, C, fit, lam))
        if residual < tol:
            break
    return BlockSolution(sparse.csr_array(C), np.array(history), residual, residual < tol)


def solve_l0(
    X: Block,
    atoms: Block,
    own: IntArray,
    *,
    n_nonzero: int,
    step: float,
    affine: bool,
    max_iter: int,
    tol: float,
) -> BlockSolution:
    """Lower the l0 problem by projected gradient, from zero; stops as the proximal solver does.

    A row gets at most ``n_nonzero`` non-zeros, which is less than m.
    """
    project = keep_largest_sum_one if affine else keep_largest
    C: Any = sparse.csr_array((X.shape[0], atoms.shape[0]))
    fit, length = np.zeros(X.shape), 0.0
    history, residual = [], np.inf
    for _ in range(max_iter):
        G = _products(X - fit, atoms)
        G *= step
        G[np.repeat(np.arange(len(G)), np.diff(C.indptr)), C.indices] += C.data
        new = project(G, own, n_nonzero)
        change = float(np.linalg.norm((new - C).data))
        residual = change / max(length, 1e-10)
        C, length = new, float(np.linalg.norm(new.data))
        fit = _as_dense(C @ atoms)
        history.append(0.5 * _sum_of_squares(fit - X))
        if residual < tol or change == 0:
            return BlockSolution(C, np.array(history), residual, True)
    return BlockSolution(C, np.array(history), residual, False)


def _products(A: Block, B: Block) -> FloatArray:
    """A B^T as a dense array, whatever A and B are."""
    return _as_dense(A @ B.T)


def _as_dense(product: Any) -> FloatArray:
    return np.asarray(product.toarray() if sparse.issparse(product) else product, dtype=np.float64)


def _largest(A: FloatArray) -> float:
    return float(max(A.max(), -A.min()))


def _sum_of_squares(A: Any) -> float:
    flat = np.asarray(A).ravel()
    return float(flat @ flat)


def _l1_objective(X: Block, C: FloatArray, fit: Any, lam: float) -> float:
    return float(np.abs(C).sum() + lam / 2 * _sum_of_squares(_as_dense(fit) - X))
