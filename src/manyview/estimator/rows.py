"""How an estimator reads rows: as views, columns and numbers like those it was fitted with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from manyview import pipeline
from manyview.checks import wrong_seed
from manyview.engines import choose_engine
from manyview.engines.base import Run
from manyview.engines.progress import progress_for
from manyview.machine import count_jobs
from manyview.views.columns import as_wide, count_columns, find_columns, refuse_repeated_names
from manyview.views.container import Views
from manyview.views.matching import (
    align_columns,
    encode_like,
    is_single,
    match_views,
    read_like,
    refuse_other_columns,
    split_views,
    warn_of_encodings,
    warn_of_silent_views,
)

if TYPE_CHECKING:
    from manyview.pipeline.choices import Choices


class RowReader(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """What all methods that take rows begin with; parameters and fitted attributes are ``LMVSC``'s."""

    cautions_: list[str]
    choices_: Choices
    ids_: Any

    def read_rows(self, X: Any) -> Views:
        """Rows as the views and columns that were fitted, in their order; others are refused.

        Parameters
        ----------
        X : array, data frame, list or dict of them, or Views
            What :meth:`predict` takes.
        """
        check_is_fitted(self)
        names, widths = self.view_names_, self.n_features_per_view_
        places = None if isinstance(X, Views) else getattr(self, "view_columns_", None)
        if places is not None:
            count_columns(X)  # refuses what is not two-dimensional, then scikit-learn's own checks
            validate_data(self, as_wide(X), reset=False, skip_check_array=True)
        views = split_views(read_like(X, self.encodings_), places)
        views = match_views(views, names, widths, by_name=isinstance(X, Mapping))
        if places is None and is_single(X, views):
            validate_data(self, as_wide(X), reset=False, skip_check_array=True)
        views = encode_like(views, names, self.encodings_, self.categories)
        views = align_columns(views, names, self.feature_names_per_view_)
        refuse_other_columns(views, names, widths)
        return views

    def prepare_rows(self, X: Any, groups: Any = None) -> Views:
        """Rows as the model takes them: those of :meth:`read_rows`, less what is common to their groups.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.
        """
        views, known = self.read_rows(X), getattr(self, "groups_", None)
        if (known is None) != (groups is None):
            raise ValueError(
                "The model was fitted without groups: leave them out here, too."
                if known is None
                else "The model was fitted with groups: say where each row is from with groups=..."
            )
        if known is None:
            return views
        codes = known.codes_of(groups, views.n_rows)
        engine, run = choose_engine(self.engine, views.arrays), self._run(is_lazy=True)
        with run.resources:
            arrays = pipeline.groups.correct_rows(
                views.arrays, known, codes, engine=engine, run=run
            )
        return Views(dict(zip(views.names, arrays, strict=True)), ids=views.ids)

    def _read_new(self, X: Any) -> tuple[Views, dict[str, list[int]] | None]:
        """Rows to fit as views of numbers, and the places of their columns if a wide array is split.

        Columns that are left out are warned about. What scikit-learn would refuse after the fit, when
        it keeps the names of columns, is refused before it.
        """
        is_split = self.views is not None and not isinstance(X, Views)
        columns = find_columns(X, self.views) if is_split else None
        views = split_views(X, columns)
        if is_single(X, views) or is_split:
            refuse_repeated_names(X)
            validate_data(BaseEstimator(), as_wide(X), skip_check_array=True)
        encoded = views.encoded(self.categories)
        warn_of_encodings(views, encoded, self.categories)
        return encoded, columns

    def _record_columns(self, X: Any, views: Views, columns: dict[str, list[int]] | None) -> None:
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_views_, self.view_names_ = views.n_views, list(views.names)
        self.n_features_per_view_ = list(views.n_features)
        self.n_features_in_ = sum(views.n_features)
        self.feature_names_per_view_ = [
            None if names is None else list(names) for names in views.feature_names
        ]
        self.encodings_ = list(views.encodings)
        if columns is not None:
            self.view_columns_ = columns
        if is_single(X, views) or columns is not None:  # scikit-learn's own bookkeeping
            validate_data(self, as_wide(X), reset=True, skip_check_array=True)

    def _map(self, function: Callable[..., Any], views: Views, *, stage: str) -> Any:
        """What a function of tiles finds for each row."""
        return self._compute(
            partial(pipeline.predict.map_rows, function=function, stage=stage), views
        )

    def _compute(self, what: Callable[..., Any], views: Views, *, is_lazy: bool = True) -> Any:
        """What a function of the pipeline makes of rows."""
        warn_of_silent_views(views, self.view_weights_)
        engine, run = choose_engine(self.engine, views.arrays), self._run(is_lazy=is_lazy)
        with run.resources:
            return what(views.arrays, engine=engine, run=run)

    def _run(self, identity: dict[str, str | None] | None = None, *, is_lazy: bool = False) -> Run:
        from manyview.simplex.jit import watched

        progress = progress_for(self.verbose)
        run = Run(count_jobs(self.n_jobs), progress, identity=identity, is_lazy=is_lazy)
        say = getattr(progress, "say", lambda text: None)
        run.notes["compiling"] = run.resources.enter_context(watched(say))
        return run

    def _draw_seed(self) -> int:
        if isinstance(self.random_state, np.random.Generator):
            return int(self.random_state.integers(np.iinfo(np.int32).max))
        try:
            return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        except ValueError as error:
            raise wrong_seed(self.random_state) from error

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
