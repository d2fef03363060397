"""What a report takes from a fitted model: its rows, and none but them."""

from __future__ import annotations

import pytest
from sklearn.exceptions import NotFittedError

from manyview import LMVSC, Views
from manyview.report.fitted import check_has_labels, read_fitted_rows


def test_rows_come_in_the_order_of_the_fitted_views(fitted):
    views, _, model = fitted
    other_way = {"shape": views["shape"], "colour": views["colour"]}
    assert read_fitted_rows(model, other_way).names == views.names


def test_other_rows_are_refused(fitted):
    views, _, model = fitted
    with pytest.raises(ValueError, match="200 rows, but the model was fitted to 240"):
        read_fitted_rows(model, views[:200])
    with pytest.raises(ValueError, match="expecting 6 features"):
        read_fitted_rows(model, Views({"colour": views["colour"][:, :3], "shape": views["shape"]}))


def test_a_model_without_labels_is_refused(fitted):
    with pytest.raises(NotFittedError):
        check_has_labels(LMVSC(3))
    stream = LMVSC(4, n_repeats=1, random_state=0).partial_fit(fitted[0])
    with pytest.raises(ValueError, match="A stream keeps no labels"):
        check_has_labels(stream)
    check_has_labels(fitted[2])
