"""Pipelines of several views: a transformer for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from manyview.sources import Part
from manyview.views import frames, selection
from manyview.views.columns import Columns, as_wide, find_columns, split_columns
from manyview.views.container import Views, as_views
from manyview.views.encoding import refuse_table
from manyview.views.matching import align_columns
from manyview.views.parts import read_indexes, read_part, split_parts

__all__ = ["PerView", "per_view"]

_ALONE = "transformer"


def per_view(transformers: Any, *, views: Mapping[str, Columns] | None = None) -> PerView:
    """A transformer of several views, to stand before a multi-view estimator in a pipeline.

    Parameters
    ----------
    transformers, views
        As in :class:`PerView`.

    Returns
    -------
    PerView
        It transforms into :class:`~manyview.Views`.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from manyview import LMVSC, datasets
    >>> from manyview.compose import per_view
    >>> views = datasets.make_views(200, 3, (4, 5), random_state=0)
    >>> model = make_pipeline(
    ...     per_view(StandardScaler()), per_view({"view_1": PCA(2)}), LMVSC(3, random_state=0)
    ... )
    >>> model.fit_predict(views).shape, model[-1].n_features_per_view_
    ((200,), [4, 2])
    """
    return PerView(transformers, views=views)


class PerView(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """A transformer for each view.

    Parameters
    ----------
    transformers : transformer, or mapping of view names to transformers
        One for all views, cloned for each; or one a view. "passthrough" leaves a view as it is, and
        so does a mapping that does not name it; "drop" leaves it out.
    views : mapping of str to columns, default=None
        Splits one wide array or data frame into views first, as the parameter of
        :class:`~manyview.LMVSC` does. Columns of a data frame may then hold text, if the transformer
        turns it into numbers.

    Attributes
    ----------
    transformers_ : dict of str to (transformer or str)
        The fitted transformer of each view, "passthrough" or "drop".
    n_features_out_per_view_ : dict of str to int
        Columns of each transformed view.
    feature_names_per_view_ : dict of str to (sequence of str, or None)
        Names of the columns that were fitted, where a view has them.
    view_columns_ : dict of str to list of int
        With ``views``, the places of each view's columns.

    See Also
    --------
    per_view : makes one.
    manyview.Views : what it takes and gives.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from manyview import datasets
    >>> from manyview.compose import PerView
    >>> views = datasets.make_views(60, 3, (6, 9), random_state=0)
    >>> PerView(PCA(2)).fit_transform(views).n_features
    (2, 2)
    """

    def __init__(self, transformers: Any, *, views: Any = None) -> None:
        self.transformers = transformers
        self.views = views

    def fit(self, X: Any, y: Any = None, **params: Any) -> PerView:
        """Fit each view's transformer; ``params`` are routed to those that asked for them."""
        self.fit_transform(X, y, **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Views:
        """The transformed views, each by its transformer fitted to it."""
        routed = self._route(params)
        is_split = self.views is not None and not isinstance(X, Views)
        columns = find_columns(X, self.views) if is_split else None
        parts, ids = _split(X, columns)
        fitted = {
            name: chosen if isinstance(chosen, str) else clone(chosen)
            for name, chosen in self._assign(list(parts)).items()
        }
        done = {}
        for name, part in parts.items():
            if fitted[name] != "drop":
                own = name if isinstance(self.transformers, Mapping) else _ALONE
                fit = partial(_fit_transform, y=y, params=routed.get(own, {}))
                done[name] = _transform(name, part, ids[name], fitted[name], fit)
        if not done:
            raise ValueError("Every view is dropped: nothing is left to cluster.")
        self.transformers_ = fitted
        self.n_features_out_per_view_ = {name: part.rows.shape[1] for name, part in done.items()}
        self.feature_names_per_view_ = {name: _column_names(part) for name, part in parts.items()}
        for name in ("view_columns_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if columns is not None:
            self.view_columns_ = columns
            validate_data(self, as_wide(X), reset=True, skip_check_array=True)
        return Views(done, target=X.target if isinstance(X, Views) else None)

    def transform(self, X: Any) -> Views:
        """The transformed views of rows that have the views that were fitted."""
        check_is_fitted(self)
        columns = None if isinstance(X, Views) else getattr(self, "view_columns_", None)
        if columns is not None:  # scikit-learn's own checks and messages
            validate_data(self, as_wide(X), reset=False, skip_check_array=True)
        parts, ids = _split(X, columns)
        if set(parts) != set(self.transformers_):
            raise ValueError(
                f"Got views {list(parts)}, but these transformers were fitted with "
                f"{list(self.transformers_)}."
            )
        if isinstance(X, Views):  # transformers check the columns of data frames themselves
            X = align_columns(X, X.names, [self.feature_names_per_view_[name] for name in X.names])
            parts, ids = _split(X, None)
        done = {}
        for name, transformer in self.transformers_.items():
            if transformer != "drop":
                use = partial(_transform_rows, n_features=self.n_features_out_per_view_[name])
                done[name] = _transform(name, parts[name], ids[name], transformer, use)
        return Views(done, target=X.target if isinstance(X, Views) else None)

    def _assign(self, names: list[str]) -> dict[str, Any]:
        """The transformer of each view, as it was passed."""
        if not isinstance(self.transformers, Mapping):
            return {name: _checked(self.transformers) for name in names}
        if unknown := [name for name in self.transformers if name not in names]:
            raise ValueError(f"There is no view {unknown[0]!r} to transform; there are {names}.")
        return {name: _checked(self.transformers.get(name, "passthrough")) for name in names}

    def _route(self, params: dict[str, Any]) -> dict[str, Any]:
        """What each transformer asked for, by its name."""
        if not params:
            return {}
        if not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing {list(params)} to the transformers needs "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        routed = process_routing(self, "fit_transform", **params)
        return {name: routed[name].fit_transform for name, _ in self._named()}

    def get_metadata_routing(self) -> MetadataRouter:
        """Who asks for which metadata, for scikit-learn's routing."""
        router = MetadataRouter(owner=self)
        mapping = MethodMapping()
        for method in ("fit", "fit_transform"):
            mapping.add(caller=method, callee="fit_transform")
        for name, transformer in self._named():
            router.add(**{name: transformer}, method_mapping=mapping)
        return router

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; those of a view's transformer as ``VIEW__PARAMETER``."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.transformers, Mapping):
            for name, transformer in self._named():
                params[name] = transformer
                for inner, value in transformer.get_params(deep=True).items():
                    params[f"{name}__{inner}"] = value
        return params

    def set_params(self, **params: Any) -> PerView:
        """Set parameters; ``VIEW=transformer`` replaces one, ``VIEW__PARAMETER`` changes one."""
        if isinstance(self.transformers, Mapping):
            replaced = {name: params.pop(name) for name in self.transformers if name in params}
            if replaced:
                self.transformers = {**self.transformers, **replaced}
        super().set_params(**params)
        return self

    def _named(self) -> Iterator[tuple[str, Any]]:
        given = self.transformers
        each = given.items() if isinstance(given, Mapping) else [(_ALONE, given)]
        return ((str(name), t) for name, t in each if hasattr(t, "get_params"))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _checked(transformer: Any) -> Any:
    if transformer is None or isinstance(transformer, str):
        if transformer in (None, "passthrough", "drop"):
            return transformer or "passthrough"
    elif hasattr(transformer, "fit") and hasattr(transformer, "transform"):
        return transformer
    raise TypeError(
        f"{transformer!r} is no transformer: pass an object with fit and transform, 'passthrough' or "
        "'drop'."
    )


def _fit_transform(
    transformer: Any, rows: Any, present: Any, *, y: Any, params: Mapping[str, Any]
) -> Any:
    if present is not None and not present.any():
        raise ValueError("No sample has this view: nothing to fit its transformer to. Drop it.")
    y = _of_present(y, present)
    params = {name: _of_present(value, present) for name, value in params.items()}
    if hasattr(transformer, "fit_transform"):
        return transformer.fit_transform(rows, y, **params)
    return transformer.fit(rows, y, **params).transform(rows)


def _transform_rows(transformer: Any, rows: Any, present: Any, *, n_features: int) -> Any:
    if present is not None and not present.any():
        return np.empty((0, n_features))
    return transformer.transform(rows)


def _of_present(values: Any, present: Any) -> Any:
    """The values of the samples that are there, if there is one value a sample."""
    shape = (len(values),) if isinstance(values, list | tuple) else getattr(values, "shape", ())
    is_per_sample = present is not None and tuple(shape[:1]) == (len(present),)
    return _safe_indexing(values, np.flatnonzero(present)) if is_per_sample else values


def _split(X: Any, columns: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The views by name, and what names the rows of those that are data frames."""
    if isinstance(X, Views):
        parts: dict[str, Any] = dict(X.parts())
    else:
        parts = split_parts(X) if columns is None else split_columns(X, columns)
    return parts, dict(zip(parts, read_indexes([*parts.values()]), strict=True))


def _column_names(item: Any) -> tuple[str, ...] | None:
    if isinstance(item, Part):
        return item.columns
    return frames.column_names(item) if frames.is_frame(item) else None


def _transform(
    name: str, item: Any, ids: Any, transformer: Any, use: Callable[[Any, Any, Any], Any]
) -> Part:
    """A part with its rows transformed; samples that lack the view stay without."""
    if frames.is_frame(item) and transformer != "passthrough":
        rows, present = _rows_of_frame(item, name)
    else:
        part = item if isinstance(item, Part) else read_part(item, name)
        ids = ids if part.ids is None else part.ids
        if transformer == "passthrough":
            return replace(part, ids=ids)
        block = part.rows
        if not isinstance(block, selection.PartialView):
            block = as_views({name: block}, in_memory=True).arrays[0]
        refuse_table(block, name)
        rows, present = selection.split_rows(block)
    made = use(transformer, rows, present)
    if present is not None and not present.any():
        return Part(name, selection.empty_view(len(present), made.shape[1]), None, ids)
    if not sparse.issparse(made) and not frames.is_frame(made):
        made = np.asarray(made)
    done = read_part(made, name)
    columns = done.columns
    if columns is None and hasattr(transformer, "get_feature_names_out"):
        names = tuple(map(str, transformer.get_feature_names_out()))
        columns = names if len(names) == done.rows.shape[1] else None
    if present is not None:
        rows = selection.select_rows(done.rows, selection.number_present(present))
        return Part(name, rows, columns, ids)
    return Part(name, done.rows, columns, ids if done.ids is None else done.ids)


def _rows_of_frame(frame: Any, name: str) -> tuple[Any, Any]:
    """The rows of a data frame that are there, and which; all of one that may hold text."""
    if not frames.holds_numbers(frame):
        return frame, None
    present = selection.find_present(frames.read_frame(frame, name))
    if present is None:
        return frame, None
    return _safe_indexing(frame, np.flatnonzero(present)), present
