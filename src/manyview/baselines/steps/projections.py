"""Nearest points of two sets that many methods are constrained to: rotations, and the simplex."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import linalg

from manyview.baselines.steps import FloatArray


def polar(C: FloatArray) -> FloatArray:
    """The W with orthonormal columns that maximises tr(W'C): U V' of the thin SVD of ``C`` (d, l).

    With fewer rows than columns, its rows are orthonormal instead.

    Examples
    --------
    >>> polar(np.array([[2.0, 0.0], [0.0, -3.0], [0.0, 0.0]])).tolist()
    [[1.0, 0.0], [0.0, -1.0], [0.0, 0.0]]
    """
    U, _, Vt = linalg.svd(C, full_matrices=False)
    return np.asarray(U @ Vt)


def simplex_rows(Y: FloatArray, allowed: npt.NDArray[np.bool_] | None = None) -> FloatArray:
    """Each row's nearest point on the simplex: no entry negative, their sum one; (n, m).

    Entries that are not ``allowed`` (n, m) are zero; a row that is allowed none may use all. It takes
    sorting only, O(n m log m).

    Examples
    --------
    >>> simplex_rows(np.array([[0.5, 0.7, -9.0], [3.0, 0.0, 1.0]])).round(3).tolist()
    [[0.4, 0.6, 0.0], [1.0, 0.0, 0.0]]
    """
    if allowed is not None:
        Y = np.where(allowed | ~allowed.any(axis=1, keepdims=True), Y, -np.inf)
    # From the largest on, so that huge entries do not cancel; the projection does not change.
    Y = Y - Y.max(axis=1, keepdims=True)
    descending = -np.sort(-Y, axis=1)
    with np.errstate(invalid="ignore"):
        thresholds = (np.cumsum(descending, axis=1) - 1) / np.arange(1, Y.shape[1] + 1)
        n_used = np.count_nonzero(descending > thresholds, axis=1)
    return np.maximum(Y - thresholds[np.arange(len(Y)), n_used - 1, None], 0.0)
