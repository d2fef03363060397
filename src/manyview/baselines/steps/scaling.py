"""How a view's values are scaled before a method sees them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from manyview.baselines.base import is_sparse, scale_rows
from manyview.views.container import Block

SCALINGS = (None, "standard", "unit")
"""What :func:`scale_view` knows."""


def scale_view(X: Block, scaling: str | None) -> Block:
    """Give a view in double precision, scaled; sparse stays sparse.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
    scaling : {None, "standard", "unit"}
        None leaves values as they are. "standard" divides each column by its standard deviation
        (constant ones by 1), and centres it if the view is dense. "unit" scales each row to unit
        length.

    Returns
    -------
    ndarray or csr_array of shape (n, d)
        The same array if nothing had to change.

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
    if is_sparse(X):
        return sparse.csr_array(X @ sparse.diags_array(1 / _spreads(mean_variance_axis(X, 0)[1])))
    return (X - X.mean(axis=0)) / _spreads(X.var(axis=0))


def _spreads(variances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    spreads = np.sqrt(variances)
    return np.asarray(np.where(spreads > 0, spreads, 1.0))
