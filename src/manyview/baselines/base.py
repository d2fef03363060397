"""What every baseline does with its input: checking, choosing a view, one row of results a view.

Plain functions. A baseline's ``fit`` starts with :func:`check_fit_input`; a method for one view
takes it from :func:`single_view`; one that cannot work on sparse arrays says so through
:func:`require_dense`; one whose memory grows with the square of the rows calls
:func:`refuse_if_too_large` before it allocates.
"""

from __future__ import annotations

import logging
import time
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone

from manyview.baselines.steps.memory import refuse_if_too_large
from manyview.checks import check_count
from manyview.views.container import Block, Views, as_views

__all__ = [
    "check_fit_input",
    "fit_each_view",
    "is_sparse",
    "log_progress",
    "refuse_if_too_large",
    "require_dense",
    "scale_rows",
    "single_view",
]


def is_sparse(array: object) -> bool:
    """Whether ``array`` is one of SciPy's sparse arrays or matrices."""
    return bool(sparse.issparse(array))


def check_fit_input(estimator: Any, X: Any) -> Views:
    """Give ``X`` as checked :class:`~manyview.Views`, and record its shape on the estimator.

    Every value must be finite, and ``estimator.n_clusters`` an integer from 1 to the number of
    rows. Sets ``n_features_in_``, ``n_views_``, ``view_names_`` and, for a single table with text
    column names, ``feature_names_in_``.

    Parameters
    ----------
    estimator : estimator
        The object being fitted, with a parameter ``n_clusters``.
    X : array, table, sequence or mapping of them, or Views
        The views, n rows each.

    Returns
    -------
    Views
        The same data; nothing is copied that need not be.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(n_clusters=2)
    >>> check_fit_input(model, [[[0.0], [1.0]], [[2.0, 3.0], [4.0, 5.0]]]).n_rows
    2
    >>> model.n_features_in_, model.view_names_
    (3, ('view_0', 'view_1'))
    >>> check_fit_input(model, {"height": [[0.0], [float("nan")]]})
    Traceback (most recent call last):
        ...
    ValueError: View 'height' has NaN at row 1, column 0. ...
    """
    views = as_views(X, in_memory=True)
    for name, array in views.items():
        _check_finite(array, name)
    n_clusters = check_count("n_clusters", estimator.n_clusters)
    if n_clusters > views.n_rows:
        raise ValueError(
            f"n_clusters={n_clusters} is more than n_samples={views.n_rows}: each cluster needs "
            "at least one row. Lower n_clusters."
        )
    estimator.n_features_in_ = views.shape[1]
    estimator.n_views_ = views.n_views
    estimator.view_names_ = views.names
    _record_feature_names(estimator, X, views)
    return views


def _check_finite(array: Block, name: str) -> None:
    values = array.data if is_sparse(array) else array
    if values.dtype.kind != "f" or _is_finite(values):
        return
    if is_sparse(array):
        position = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(array.indptr, position, side="right")) - 1
        column, value = int(array.indices[position]), values[position]
    else:
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        value = array[row, column]
    found = "NaN" if np.isnan(value) else "inf" if value > 0 else "-inf"
    raise ValueError(
        f"View {name!r} has {found} at row {row}, column {column}. Values must be finite: fill in "
        "missing values (sklearn.impute), or leave out such rows or columns."
    )


def _is_finite(values: npt.NDArray[Any]) -> bool:
    # A sum is finite if every value is, but for overflow: then look at each one.
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return True
    return bool(np.isfinite(values).all())


def _record_feature_names(estimator: Any, X: Any, views: Views) -> None:
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    columns = getattr(X, "columns", None)
    named = views.feature_names[0]
    if views.n_views != 1 or named is None:
        return
    if columns is None or all(isinstance(column, str) for column in columns):
        estimator.feature_names_in_ = np.asarray(named, dtype=object)


def single_view(views: Views, view: Any) -> Block:
    """Give the one view a single-view method works on.

    Parameters
    ----------
    views : Views
        The input.
    view : str, int or None
        Its name, or its position; None for the only view there is.

    Returns
    -------
    ndarray or csr_array of shape (n, d)

    Examples
    --------
    >>> views = Views({"colour": [[1.0], [2.0]], "shape": [[3.0], [4.0]]})
    >>> single_view(views, "shape").tolist()
    [[3.0], [4.0]]
    >>> single_view(views, None)
    Traceback (most recent call last):
        ...
    ValueError: This method works on one view and got 2: ['colour', 'shape']. Say which with view=
    (a name or a position), or run it on each with manyview.baselines.fit_each_view.
    """
    return views.arrays[position_of_view(views, view)]


def position_of_view(views: Views, view: Any) -> int:
    """Give the position of the view that ``view`` means; see :func:`single_view`."""
    names = list(views.names)
    if view is None:
        if views.n_views == 1:
            return 0
        raise ValueError(
            f"This method works on one view and got {views.n_views}: {names}. Say which with "
            "view= (a name or a position), or run it on each with "
            "manyview.baselines.fit_each_view."
        )
    if isinstance(view, str):
        if view in names:
            return names.index(view)
        raise ValueError(f"view={view!r} is not one of the views {names}.")
    if isinstance(view, bool) or not isinstance(view, Integral):
        raise TypeError(f"view must be a name, a position or None; got {view!r}.")
    position = int(view)
    if not -views.n_views <= position < views.n_views:
        raise ValueError(f"view={position} but there are {views.n_views} views, {names}.")
    return position % views.n_views


def require_dense(array: Block, *, method: str, name: str) -> npt.NDArray[Any]:
    """Give ``array`` back if it is dense; refuse a sparse one, saying what to do.

    Examples
    --------
    >>> require_dense(sparse.csr_array((2, 3)), method="MLRSSC", name="words")
    Traceback (most recent call last):
        ...
    TypeError: MLRSSC needs dense arrays and view 'words' is sparse (2 x 3, 0 non-zeros); ...
    """
    if is_sparse(array):
        n, d = array.shape
        raise TypeError(
            f"{method} needs dense arrays and view {name!r} is sparse ({n} x {d}, {array.nnz} "
            "non-zeros); it is not made dense silently. Reduce it first, for example with "
            "sklearn.decomposition.TruncatedSVD(100).fit_transform(view), or pass view.toarray() "
            "if that fits in memory."
        )
    return np.asarray(array)


def scale_rows(X: Block) -> Block:
    """Give ``X`` in double precision with each row scaled to unit length, zero rows left at zero.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)

    Returns
    -------
    ndarray or csr_array of shape (n, d)
        A new array; sparse stays sparse.

    Examples
    --------
    >>> scale_rows(np.array([[3, 4], [0, 0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    scaled: Block
    if is_sparse(X):
        scaled = sparse.csr_array(X, dtype=np.float64, copy=True)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(scaled.indptr))
        largest = np.zeros(X.shape[0])
        np.maximum.at(largest, rows, np.abs(scaled.data))
        largest[largest == 0] = 1.0
        scaled.data /= largest[rows]
        norms = np.sqrt(np.bincount(rows, scaled.data**2, minlength=X.shape[0]))
        norms[norms == 0] = 1.0
        scaled.data /= norms[rows]
        return scaled
    # First by the largest magnitude: squares of very large or very small values would overflow.
    largest = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
    largest[largest == 0] = 1.0
    scaled = X / largest
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    norms[norms == 0] = 1.0
    scaled /= norms
    return scaled


def fit_each_view(
    estimator: Any, X: Any, y_true: npt.ArrayLike | None = None
) -> list[dict[str, Any]]:
    """Fit a single-view method to each view alone, as the tables of the literature do.

    Parameters
    ----------
    estimator : estimator
        Cloned for every view; neither changed nor fitted. A parameter ``view`` is set to None.
    X : array, table, sequence or mapping of them, or Views
        The views, n rows each.
    y_true : array-like of shape (n,), optional
        True labels, to score the labels found with :func:`manyview.metrics.scores`.

    Returns
    -------
    list of dict
        One for each view, in order: ``view`` (its name), ``n_features``, ``labels`` (ndarray of
        shape (n,)), ``seconds``, and each score by its name if ``y_true`` was given.

    Examples
    --------
    >>> from manyview.baselines import KMeans, fit_each_view
    >>> views = {"length": [[0.0], [0.1], [5.0]], "weight": [[1.0], [9.0], [9.1]]}
    >>> rows = fit_each_view(KMeans(n_clusters=2, random_state=0), views)
    >>> [(row["view"], len(row["labels"])) for row in rows]
    [('length', 3), ('weight', 3)]
    """
    views = as_views(X, in_memory=True)
    rows = []
    for name, array in views.items():
        model = clone(estimator)
        if "view" in model.get_params(deep=False):
            model.set_params(view=None)
        start = time.perf_counter()
        model.fit(Views({name: array}))
        row: dict[str, Any] = {
            "view": name,
            "n_features": int(array.shape[1]),
            "labels": model.labels_,
            "seconds": time.perf_counter() - start,
        }
        if y_true is not None:
            from manyview import metrics

            row.update(metrics.scores(y_true, model.labels_))
        rows.append(row)
    return rows


def log_progress(logger: logging.Logger, verbose: int, message: str, *values: Any) -> None:
    """Log how far a fit has come: at level INFO if ``verbose``, else DEBUG."""
    logger.log(logging.INFO if verbose else logging.DEBUG, message, *values)
