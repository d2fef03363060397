"""What every baseline does alike: checking input, choosing a view, words of progress and doubt.

A method is a subclass of :class:`Baseline`. It takes its one view from :func:`single_view`, says
through :func:`require_dense` that it cannot work on sparse arrays, and calls
``steps.memory.refuse_if_too_large`` before it allocates what grows with the square of the rows.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning

from manyview.checks import as_generator, check_count, check_n_clusters
from manyview.errors import warn_user
from manyview.views.container import Block, Views, as_views
from manyview.views.selection import refuse_samples_without_views, split_rows

__all__ = ["Baseline", "check_fit_input", "fit_each_view", "require_dense", "single_view"]


class Baseline(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A published method as a scikit-learn estimator, with the input rules that all share.

    A method adds its constructor, ``_check_parameters``, and ``_cluster``, which sets ``labels_``
    and whatever else there is to show.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    n_iter_ : int
        Iterations of the method.
    n_features_in_, n_views_, view_names_ : int, int, tuple of str
        Columns, number and names of the views given to ``fit``.
    feature_names_in_ : ndarray of str of shape (d,)
        Column names, if ``fit`` was given a single table that has them.
    """

    n_clusters: int
    random_state: Any
    verbose: int = 0

    _takes_sparse: ClassVar[bool] = True
    _takes_missing: ClassVar[bool] = False
    _least_rows: ClassVar[int] = 1

    def fit(self, X: Any, y: None = None) -> Self:
        """Cluster the rows of ``X``.

        Parameters
        ----------
        X : array, table, sequence or mapping of them, or Views
            One view or several, n rows each. A method for one view uses the one named by ``view``.
        y : None
            Ignored.

        Returns
        -------
        Baseline
            This object.
        """
        self._check_parameters()
        views = check_fit_input(self, X)
        if views.n_rows < self._least_rows:
            raise ValueError(
                f"Found array with {views.n_rows} sample(s) (shape={views.shape}) while a minimum "
                f"of {self._least_rows} is required by {type(self).__name__}."
            )
        self._cluster(views, as_generator(self.random_state))
        return self

    def _check_parameters(self) -> None:
        """Raise if a parameter is not what it may be, whatever the data."""

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        raise NotImplementedError

    def _log(self, message: str, *values: Any) -> None:
        """Say how far a fit has come: at level INFO if ``verbose``, else DEBUG."""
        level = logging.INFO if self.verbose else logging.DEBUG
        logging.getLogger(type(self).__module__).log(level, message, *values)

    def _warn_unsettled(self, message: str) -> None:
        """Warn that an iteration ended before it converged."""
        warn_user(message, ConvergenceWarning)

    def _warn_of_few_sweeps(self) -> None:
        """The same of sweeps that lower an objective."""
        settings = self.get_params()
        self._warn_unsettled(
            f"{type(self).__name__} stopped at max_iter={settings['max_iter']} before its objective "
            f"settled. Raise max_iter or tol={settings['tol']:g}."
        )

    def _check_counts(self, *names: str, or_none: Sequence[str] = ()) -> None:
        """Raise unless these parameters are whole numbers of at least one, or None where they may be."""
        given = [name for name in or_none if getattr(self, name) is not None]
        for name in (*names, *given):
            check_count(name, getattr(self, name))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags


def check_fit_input(estimator: Any, X: Any) -> Views:
    """``X`` as checked :class:`~manyview.Views`, its shape recorded on the estimator.

    Every value must be finite, and ``estimator.n_clusters`` an integer from 1 to the number of
    rows. Samples may lack views if the estimator's ``_takes_missing`` says so. Sets
    ``n_features_in_``, ``n_views_``, ``view_names_`` and, for a single table with text column names,
    ``feature_names_in_``. Nothing is copied that need not be.

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
    views = check_rows(as_views(X), may_lack=getattr(estimator, "_takes_missing", False))
    check_n_clusters(estimator.n_clusters, views.n_rows)
    estimator.n_features_in_ = views.shape[1]
    estimator.n_views_ = views.n_views
    estimator.view_names_ = views.names
    _record_feature_names(estimator, X, views)
    return views


def check_rows(views: Views, *, may_lack: bool = False) -> Views:
    """The views in memory, finite, and all of them there unless samples ``may_lack`` some."""
    views = as_views(views, in_memory=True, may_lack=may_lack)
    present = views.present if may_lack else None
    if present is not None:
        refuse_samples_without_views(present)
    for name, array in views.items():
        rows, there = split_rows(array) if may_lack else (array, None)
        _check_finite(rows, name, np.arange(len(views)) if there is None else np.flatnonzero(there))
    return views


def _check_finite(array: Block, name: str, numbers: npt.NDArray[np.intp]) -> None:
    values = array.data if sparse.issparse(array) else array
    if values.dtype.kind != "f" or _is_finite(values):
        return
    if sparse.issparse(array):
        position = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(array.indptr, position, side="right")) - 1
        column, value = int(array.indices[position]), values[position]
    else:
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        value = array[row, column]
    found = "NaN" if np.isnan(value) else "inf" if value > 0 else "-inf"
    raise ValueError(
        f"View {name!r} has {found} at row {numbers[row]}, column {column}. Values must be finite: "
        "fill in missing values (sklearn.impute), or leave out such rows or columns."
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
    """The one view (n, d) a method works on: ``view`` by name or position, None for the only one.

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
    names = list(views.names)
    if view is None:
        if views.n_views == 1:
            return views.arrays[0]
        raise ValueError(
            f"This method works on one view and got {views.n_views}: {names}. Say which with "
            "view= (a name or a position), or run it on each with "
            "manyview.baselines.fit_each_view."
        )
    if isinstance(view, str):
        if view in names:
            return views.arrays[names.index(view)]
        raise ValueError(f"view={view!r} is not one of the views {names}.")
    if isinstance(view, bool) or not isinstance(view, Integral):
        raise TypeError(f"view must be a name, a position or None; got {view!r}.")
    position = int(view)
    if not -views.n_views <= position < views.n_views:
        raise ValueError(f"view={position} but there are {views.n_views} views, {names}.")
    return views.arrays[position]


def require_dense(array: Block, *, method: str, name: str) -> npt.NDArray[Any]:
    """``array`` if it is dense; refuse a sparse one, saying what to do.

    Examples
    --------
    >>> require_dense(sparse.csr_array((2, 3)), method="MLRSSC", name="words")
    Traceback (most recent call last):
        ...
    TypeError: MLRSSC needs dense arrays and view 'words' is sparse (2 x 3, 0 non-zeros); ...
    """
    if sparse.issparse(array):
        n, d = array.shape
        raise TypeError(
            f"{method} needs dense arrays and view {name!r} is sparse ({n} x {d}, {array.nnz} "
            "non-zeros); it is not made dense silently. Reduce it first, for example with "
            "sklearn.decomposition.TruncatedSVD(100).fit_transform(view), or pass view.toarray() "
            "if that fits in memory."
        )
    return np.asarray(array)


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
