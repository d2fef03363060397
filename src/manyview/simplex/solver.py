"""Linear terms in, sparse weights out: chooses the method, calls the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.simplex.problem import Array, SimplexProblem

_PRODUCT_BYTES = 1 << 20  # rows and their products stay in the cache between product and solve


@dataclass(frozen=True)
class Solution:
    """Solved rows as CSR parts, and how many of them did not converge."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    data: Array
    n_failed: int

    def rows(self, n_anchors: int) -> sparse.csr_array:
        """Give the solved rows as a CSR array of shape (n, n_anchors)."""
        shape = (len(self.indptr) - 1, n_anchors)
        return sparse.csr_array((self.data, self.indices, self.indptr), shape=shape)


def product_rows(n_features: int, n_anchors: int) -> int:
    """Number of rows to multiply and solve at a time; it depends on the sizes alone."""
    rows = _PRODUCT_BYTES // (8 * max(n_features, n_anchors))
    return int(min(4096, max(64, 1 << (int(rows).bit_length() - 1 if rows else 0))))


def solve(problem: SimplexProblem, B: Array) -> Solution:
    """Solve the rows whose linear terms are ``B`` (n, m)."""
    from manyview.simplex import kernels  # compiles on first use

    n, m = B.shape
    indptr = np.empty(n + 1, np.int64)
    indices = np.empty(n * m, np.int32)  # only the part that is filled is ever touched
    data = np.empty(n * m)
    n_failed = kernels.solve_by_active_set(problem.gram, B, indptr, indices, data)
    end = indptr[-1]
    return Solution(indptr, indices[:end].copy(), data[:end].copy(), int(n_failed))
