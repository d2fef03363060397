"""How a view's values are scaled before a method sees them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils.sparsefuncs import mean_variance_axis

from manyview.views.container import Block, with_short_indices

SCALINGS = (None, "standard", "unit")
"""What :func:`scale_view` knows."""


def scale_view(X: Block, scaling: str | None) -> Block:
    """A view (n, d) in double precision, scaled; the same array if nothing had to change.

    None leaves values as they are. "standard" divides each column by its standard deviation
    (constant ones by 1), and centres it if the view is dense. "unit" scales each row to unit length.

    Examples
    --------
    >>> scale_view(np.array([[1.0, 5.0], [3.0, 5.0]]), "standard").tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    >>> scale_view(sparse.csr_array([[0.0, 5.0], [3.0, 4.0]]), "unit").toarray().tolist()
    [[0.0, 1.0], [0.6, 0.8]]
    """
    if scaling == "unit":
        return scale_rows(X)
    X = X.astype(np.float64, copy=False)
    if scaling is None:
        return X
    spreads = np.sqrt(column_variances(X))
    spreads[spreads == 0] = 1.0
    if sparse.issparse(X):
        return sparse.csr_array(X @ sparse.diags_array(1 / spreads))
    return (X - X.mean(axis=0)) / spreads


def scale_rows(X: Block) -> Block:
    """``X`` (n, d) in double precision with rows of unit length; rows of zeros stay.

    Examples
    --------
    >>> scale_rows(np.array([[3, 4], [0, 0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    scaled = X.astype(np.float64)
    # First by the largest magnitude: squares of very large or very small values would overflow.
    if sparse.issparse(X):
        largest = abs(scaled).max(axis=1).toarray().ravel()
        scaled.data /= np.repeat(np.where(largest > 0, largest, 1.0), np.diff(scaled.indptr))
    else:
        largest = np.abs(scaled).max(axis=1, keepdims=True)
        scaled /= np.where(largest > 0, largest, 1.0)
    return normalize(scaled, copy=False)


def inverse_roots(degrees: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """1 / sqrt(degree) of vertices with edges; 0 of those without."""
    used = degrees > 0
    return np.where(used, 1 / np.sqrt(np.where(used, degrees, 1.0)), 0.0)


def column_variances(X: Block) -> npt.NDArray[np.float64]:
    """Variance of each column, dense or sparse."""
    if sparse.issparse(X):
        floats = X if X.dtype.kind == "f" else X.astype(np.float64)
        return np.asarray(mean_variance_axis(floats, axis=0)[1], dtype=np.float64)
    return np.asarray(np.var(X, axis=0, dtype=np.float64))


def root_energy(X: Block) -> float:
    """Root of the mean squared distance of rows from their mean; 1 if they are all the same."""
    return float(np.sqrt(column_variances(X).sum())) or 1.0


def join_views(arrays: Sequence[Block], scales: npt.NDArray[np.float64]) -> Block:
    """Views side by side, each divided by its scale; sparse if one of them is.

    Examples
    --------
    >>> join_views([np.array([[2.0]]), np.array([[3.0, 6.0]])], np.array([2.0, 3.0])).tolist()
    [[1.0, 1.0, 2.0]]
    """
    parts = [
        array.astype(np.result_type(array.dtype, np.float32)) / scale
        for array, scale in zip(arrays, scales, strict=True)
    ]
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.hstack(parts, format="csr"))
    return np.concatenate(parts, axis=1)


def scale_and_join(arrays: Sequence[Block], scaling: str | None) -> Block:
    """Views scaled, each given the same energy, and put side by side, (n, d)."""
    scaled = [scale_view(array, scaling) for array in arrays]
    if len(scaled) == 1:
        return with_short_indices(scaled[0])
    energies = np.array([root_energy(X) for X in scaled])
    return with_short_indices(join_views(scaled, energies))
