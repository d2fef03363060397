"""A fitted model as a report needs it: with labels, and with the rows it was fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from manyview.views.container import Views

if TYPE_CHECKING:
    from manyview import LMVSC


def check_has_labels(model: LMVSC) -> None:
    """Raise if there are no labels to look at: the model is not fitted, or a stream."""
    check_is_fitted(model)
    if not hasattr(model, "labels_"):
        raise ValueError(
            "A stream keeps no labels of its rows, so there is nothing to show of them. Call fit on "
            "the rows to look at."
        )


def read_fitted_rows(model: LMVSC, X: Any) -> Views:
    """The rows that were fitted, as views in the order that was fitted; other rows are refused."""
    views = model.read_rows(X)
    if views.n_rows != len(model.labels_):
        raise ValueError(
            f"The views have {views.n_rows} rows, but the model was fitted to {len(model.labels_)}. "
            "Pass the rows that were fitted, in the same order."
        )
    return views
