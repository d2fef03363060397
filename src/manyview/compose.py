"""Pipelines of several views: a transformer for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
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
from manyview.views.matching import align_columns
from manyview.views.parts import read_indexes, read_part, split_parts

__all__ = ["PerView", "per_view"]

_ALONE = "transformer"


def per_view(transformers: Any, *, views: Mapping[str, Columns] | None = None) -> PerView:
    """Give a transformer of several views, to stand before a multi-view estimator in a pipeline.

    Parameters
    ----------
    transformers : transformer, or mapping of view names to transformers
        One for all views, cloned for each; or one a view. "passthrough" leaves a view as it is, and
        so does a mapping that does not name it; "drop" leaves it out.
    views : mapping of str to columns, optional
        Splits one wide array or data frame into views first, as the parameter of
        :class:`~manyview.LMVSC` does. Columns of a data frame may then hold text, if the transformer
        turns it into numbers.

    Returns
    -------
    PerView
        Its ``transform`` gives :class:`~manyview.Views`.

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
    """A transformer for each view; see :func:`per_view`.

    Parameters
    ----------
    transformers : transformer, or mapping of view names to transformers
        One for all views, or one a view.
    views : mapping of str to columns, default=None
        How one wide array is split.

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
    """

    def __init__(self, transformers: Any, *, views: Any = None) -> None:
        self.transformers = transformers
        self.views = views

    def fit(self, X: Any, y: Any = None, **params: Any) -> PerView:
        """Fit each view's transformer; ``params`` are routed to those that asked for them."""
        self._fit(X, y, self._route("fit", params))
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Views:
        """Fit each view's transformer, and give the transformed views."""
        return self._fit(X, y, self._route("fit_transform", params))

    def _fit(self, X: Any, y: Any, routed: Mapping[str, Any]) -> Views:
        is_split = self.views is not None and not isinstance(X, Views)
        columns = find_columns(X, self.views) if is_split else None
        parts, ids = _split(X, columns)
        fitted = {
            name: chosen if isinstance(chosen, str) else clone(chosen)
            for name, chosen in self._assign(list(parts)).items()
        }
        done = {
            name: _transform(
                name, part, ids[name], fitted[name], _Fit(y, routed.get(self._routed_as(name), {}))
            )
            for name, part in parts.items()
            if fitted[name] != "drop"
        }
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
        return _together(done, X)

    def transform(self, X: Any) -> Views:
        """Give the transformed views of rows that have the views that were fitted."""
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
        done = {
            name: _transform(
                name, parts[name], ids[name], transformer, _Use(self.n_features_out_per_view_[name])
            )
            for name, transformer in self.transformers_.items()
            if transformer != "drop"
        }
        return _together(done, X)

    def _assign(self, names: list[str]) -> dict[str, Any]:
        """Give the transformer of each view, as it was passed."""
        if not isinstance(self.transformers, Mapping):
            return {name: _checked(self.transformers) for name in names}
        if unknown := [name for name in self.transformers if name not in names]:
            raise ValueError(f"There is no view {unknown[0]!r} to transform; there are {names}.")
        return {name: _checked(self.transformers.get(name, "passthrough")) for name in names}

    def _routed_as(self, name: str) -> str:
        return name if isinstance(self.transformers, Mapping) else _ALONE

    def _route(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Give what each transformer asked for, by its name."""
        if not params:
            return {}
        if not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing {list(params)} to the transformers needs "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        routed = process_routing(self, method, **params)
        return {name: routed[name].fit_transform for name, _ in self._named()}

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who asks for which metadata, for scikit-learn's routing."""
        router = MetadataRouter(owner=self)
        mapping = MethodMapping()
        for method in ("fit", "fit_transform"):
            mapping.add(caller=method, callee="fit_transform")
        for name, transformer in self._named():
            router.add(**{name: transformer}, method_mapping=mapping)
        return router

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters; those of a view's transformer as ``VIEW__PARAMETER``."""
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
            names = [name for name in params if name in self.transformers]
            if names:
                replaced = {name: params.pop(name) for name in names}
                self.transformers = {**self.transformers, **replaced}
        super().set_params(**params)
        return self

    def _named(self) -> Iterator[tuple[str, Any]]:
        given = self.transformers
        each = given.items() if isinstance(given, Mapping) else [(_ALONE, given)]
        return ((str(name), t) for name, t in each if hasattr(t, "get_params"))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "transformers_")

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


@dataclass(frozen=True)
class _Fit:
    """Fits a transformer to rows and gives them transformed."""

    y: Any
    params: Mapping[str, Any]

    def __call__(self, transformer: Any, rows: Any, present: Any) -> Any:
        if present is not None and not present.any():
            raise ValueError("No sample has this view: nothing to fit its transformer to. Drop it.")
        y = _of_present(self.y, present)
        params = {name: _of_present(value, present) for name, value in self.params.items()}
        if hasattr(transformer, "fit_transform"):
            return transformer.fit_transform(rows, y, **params)
        return transformer.fit(rows, y, **params).transform(rows)


@dataclass(frozen=True)
class _Use:
    """Gives rows transformed by a fitted transformer."""

    n_features: int

    def __call__(self, transformer: Any, rows: Any, present: Any) -> Any:
        if present is not None and not present.any():
            return np.empty((0, self.n_features))
        return transformer.transform(rows)


def _of_present(values: Any, present: Any) -> Any:
    """Give the values of the samples that are there, if there is one a sample."""
    if present is None:
        return values
    shape: tuple[int, ...] = getattr(values, "shape", ())
    if isinstance(values, list | tuple):
        shape = (len(values),)
    is_per_sample = tuple(shape[:1]) == (len(present),)
    return _safe_indexing(values, np.flatnonzero(present)) if is_per_sample else values


def _split(X: Any, columns: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the views by name, and what names the rows of those that are data frames."""
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
    """Give a part with its rows transformed; samples that lack the view stay without."""
    if transformer == "passthrough":
        part = item if isinstance(item, Part) else read_part(item, name)
        return part if part.ids is not None else replace(part, ids=ids)
    if not isinstance(item, Part) and frames.is_frame(item):
        rows, present = _split_frame(item, name)
    else:
        part = item if isinstance(item, Part) else read_part(item, name)
        block, ids = part.rows, part.ids
        if not isinstance(block, selection.PartialView):
            block = as_views({name: block}, in_memory=True).arrays[0]
        rows, present = selection.split_rows(block)
    made = use(transformer, rows, present)
    if present is None:
        return _as_part(name, made, transformer, ids)
    if not present.any():
        return Part(name, selection.empty_view(len(present), made.shape[1]), None, ids)
    done = _as_part(name, made, transformer, ids)
    places = selection.number_present(present)
    return Part(name, selection.select_rows(done.rows, places), done.columns, ids)


def _split_frame(frame: Any, name: str) -> tuple[Any, Any]:
    """Give the rows of a data frame that are there, and which; all of one that may hold text."""
    if not frames.holds_numbers(frame):
        return frame, None
    present = selection.find_present(frames.read_numbers(frame, name))
    if present is None:
        return frame, None
    return frames.select(frame, rows=np.flatnonzero(present)), present


def _as_part(name: str, rows: Any, transformer: Any, ids: Any) -> Part:
    if not sparse.issparse(rows) and not frames.is_frame(rows):
        rows = np.asarray(rows)
    part = read_part(rows, name)
    columns = part.columns
    if columns is None and hasattr(transformer, "get_feature_names_out"):
        names = tuple(map(str, transformer.get_feature_names_out()))
        columns = names if len(names) == part.rows.shape[1] else None
    return Part(name, part.rows, columns, ids if part.ids is None else part.ids)


def _together(parts: Mapping[str, Part], X: Any) -> Views:
    return Views(dict(parts), target=X.target if isinstance(X, Views) else None)
