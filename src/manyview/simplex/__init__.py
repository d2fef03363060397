"""Batches of quadratic programs over the simplex that share one matrix.

This package knows rows, anchors and weights, and has never heard of views.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.checks import check_count
from manyview.simplex.certificate import Certificate, certify
from manyview.simplex.problem import GroupedAnchors, SimplexProblem, prepare
from manyview.simplex.solver import (
    METHODS,
    Solution,
    Solver,
    choose_method,
    pilot_rows,
    product_rows,
    rows_within,
)
from manyview.sources.csr import checked_csr

__all__ = [
    "METHODS",
    "Certificate",
    "GroupedAnchors",
    "SimplexProblem",
    "Solution",
    "Solver",
    "certify",
    "choose_method",
    "pilot_rows",
    "prepare",
    "product_rows",
    "rows_within",
    "solve_simplex_qp",
]


def solve_simplex_qp(
    X: npt.ArrayLike | sparse.csr_array,
    A: npt.ArrayLike,
    *,
    alpha: float = 0.0,
    locality: float = 0.0,
    method: str = "auto",
    n_neighbors: int | None = None,
    n_jobs: int = 1,
) -> sparse.csr_array:
    r"""Weights of each row over the anchors that represent it best, exact to rounding.

    For each row x of ``X`` this solves (Eq. 6 of the paper, with ``locality`` 0)

    .. math::

        \min_z \; \|x - A^T z\|^2 + \alpha \|z\|^2 + \mathrm{locality} \sum_j z_j \|x - a_j\|^2
        \quad \text{s.t.} \quad z \ge 0, \; \sum_j z_j = 1.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        The rows. Sparse rows are not made dense.
    A : array-like of shape (m, d)
        The anchors.
    alpha : float
        Weight of :math:`\|z\|^2`. 0 is allowed, also when the anchors are dependent.
    locality : float
        Weight of the distances to the anchors used.
    method : {"auto", "active-set", "exchange", "complement", "newton"}
        How to solve it; "auto" chooses by what a few rows would cost. All give the same solution, at
        different speeds; "newton" and "complement" need a positive alpha, and lose digits where it is
        below 1e-3 of the anchors' energy ("auto" does not use them there).
    n_neighbors : int or None
        How many anchors a row may use: its nearest. None is all.
    n_jobs : int
        Threads to use.

    Returns
    -------
    csr_array of shape (n, m)
        One row of weights per row of X; each sums to one.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.simplex import solve_simplex_qp
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> Z = solve_simplex_qp(np.array([[0.25, 0.5], [2.0, -1.0]]), corners)
    >>> Z.toarray().round(3)
    array([[0.25, 0.25, 0.5 ],
           [0.  , 1.  , 0.  ]])
    """
    rows = checked_csr(X) if sparse.issparse(X) else np.asarray(X)
    anchors = np.asarray(A, dtype=np.float64)
    _check(rows, anchors, alpha, locality, method)
    if n_neighbors is not None:
        check_count("n_neighbors", n_neighbors)
    problem = prepare(anchors, alpha=alpha, locality=locality)

    def linear_terms(block: Any) -> npt.NDArray[np.float64]:
        return problem.linear_terms(block if sparse.issparse(block) else block.astype(np.float64))

    if method == "auto" and n_neighbors is None:
        method = choose_method(problem, linear_terms(rows[pilot_rows(rows.shape[0])]))
    solver = Solver(problem, method, n_neighbors)
    step = product_rows(anchors.shape[1], problem.n_anchors)

    def solve_block(start: int) -> sparse.csr_array:
        return solver.solve(linear_terms(rows[start : start + step])).rows(problem.n_anchors)

    with ThreadPoolExecutor(n_jobs) as pool:
        solved = list(pool.map(solve_block, range(0, rows.shape[0], step)))
    return sparse.csr_array(sparse.vstack(solved, "csr"))


def _check(X: Any, A: npt.NDArray[np.float64], alpha: float, locality: float, method: str) -> None:
    if X.ndim != 2 or A.ndim != 2 or X.shape[1] != A.shape[1]:
        raise ValueError(
            f"Rows of shape {X.shape} and anchors of shape {A.shape} do not fit: both must be 2-D "
            "with the same number of columns."
        )
    if min(X.shape) == 0 or min(A.shape) == 0:
        raise ValueError(f"Rows ({X.shape}) and anchors ({A.shape}) must not be empty.")
    values = X.data if sparse.issparse(X) else X
    if not (np.isfinite(values).all() and np.isfinite(A).all()):
        raise ValueError("Rows and anchors must be finite numbers, without NaN or infinity.")
    for name, value in (("alpha", alpha), ("locality", locality)):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be zero or more and finite; got {value}.")
    if method not in ("auto", *METHODS):
        raise ValueError(f"method must be 'auto' or one of {METHODS}; got {method!r}.")
    if method in ("newton", "complement") and alpha == 0:
        raise ValueError(f"method={method!r} needs a positive alpha.")
