"""How a view's values are scaled before a method sees them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils.sparsefuncs import mean_variance_axis

from manyview.views.container import Block

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


def column_variances(X: Block) -> npt.NDArray[np.float64]:
    """Variance of each column, dense or sparse."""
    if sparse.issparse(X):
        floats = X if X.dtype.kind == "f" else X.astype(np.float64)
        return np.asarray(mean_variance_axis(floats, axis=0)[1], dtype=np.float64)
    return np.asarray(np.var(X, axis=0, dtype=np.float64))
