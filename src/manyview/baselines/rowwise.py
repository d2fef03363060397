"""Baselines that label a row by itself once they are fitted: what new rows get, fitted ones got."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, validate_data

from manyview.baselines.base import Baseline, check_rows
from manyview.views.columns import as_wide
from manyview.views.container import Views, as_views
from manyview.views.matching import align_columns, is_single, match_views, refuse_other_columns


class RowwiseBaseline(Baseline):
    """A baseline with ``predict``.

    A method adds ``_learn``, which sets all that labelling needs, and ``_label``, which labels rows
    from that alone. Fitted rows are labelled in the same way, so ``predict`` gives ``labels_`` again.

    Attributes
    ----------
    n_features_per_view_ : list of int
        Columns of each view.
    """

    _takes_missing: ClassVar[bool] = True

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """The cluster of each row of ``X``, which has the views that were fitted.

        Where the method does without missing views, a sample may lack some of them: a row of NaN,
        ``Views(..., present=...)``, or a dict without a view that no sample has.

        Returns
        -------
        ndarray of shape (n,), int32
            Labels; those of the rows that were fitted are ``labels_``.
        """
        views = self._read_rows(X)
        labels: npt.NDArray[np.int32] = self._numbers[self._label(views)]
        return labels

    def _learn(self, views: Views, rng: np.random.Generator) -> None:
        raise NotImplementedError

    def _label(self, views: Views) -> npt.NDArray[np.int32]:
        raise NotImplementedError

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        self.n_features_per_view_ = list(views.n_features)
        self._feature_names = views.feature_names
        self._learn(views, rng)
        found = self._label(views)
        # Clusters without fitted rows come last, so that labels have no gaps; new rows may be in them.
        is_empty = np.bincount(found, minlength=self.n_clusters) == 0
        self._numbers = np.argsort(np.argsort(is_empty, kind="stable")).astype(np.int32)
        self.labels_ = self._numbers[found]

    def _read_rows(self, X: Any) -> Views:
        """Rows as the views and columns that were fitted, in their order; others are refused."""
        check_is_fitted(self)
        names, widths = list(self.view_names_), self.n_features_per_view_
        views = match_views(as_views(X), names, widths, by_name=isinstance(X, Mapping))
        if is_single(X, views):
            validate_data(self, as_wide(X), reset=False, skip_check_array=True)
        views = align_columns(views, names, self._feature_names)
        refuse_other_columns(views, names, widths, method=type(self).__name__)
        return check_rows(views, may_lack=self._takes_missing)
