from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyview import Views
from manyview.baselines import AMGL, SSCOMP, KMeans, SubspaceMVSC, fit_each_view
from manyview.baselines.base import (
    check_fit_input,
    require_dense,
    single_view,
)
from manyview.metrics import scores

TWO = Views({"colour": np.eye(4), "shape": np.ones((4, 2))})


def model(n_clusters=2):
    return SimpleNamespace(n_clusters=n_clusters)


def test_value_that_is_not_finite_is_found_in_a_sparse_view():
    X = sparse.csr_array(([1.0, 2.0, np.nan], ([0, 2, 4], [1, 0, 2])), shape=(6, 3))
    with pytest.raises(ValueError, match="View 'view_0' has NaN at row 4, column 2"):
        check_fit_input(model(), X)


def test_huge_values_whose_sum_overflows_are_finite():
    X = np.full((4, 2), 1e308)
    assert check_fit_input(model(), X).n_rows == 4


def test_column_names_of_a_single_table_are_recorded_and_forgotten():
    estimator = model()
    check_fit_input(estimator, pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}))
    assert list(estimator.feature_names_in_) == ["x", "y"]
    check_fit_input(estimator, pd.DataFrame(np.eye(2)))
    assert not hasattr(estimator, "feature_names_in_")


@pytest.mark.parametrize("view", ["shape", 1, -1, np.int64(1)])
def test_view_is_chosen_by_name_or_position(view):
    assert single_view(TWO, view) is TWO.arrays[1]


def test_the_only_view_needs_no_choice():
    assert single_view(Views(np.eye(2)), None).shape == (2, 2)


@pytest.mark.parametrize(
    ("view", "error", "words"),
    [
        (None, ValueError, r"\['colour', 'shape'\].*fit_each_view"),
        ("size", ValueError, r"'size' is not one of the views \['colour', 'shape'\]"),
        (2, ValueError, "view=2 but there are 2 views"),
        (1.0, TypeError, "a name, a position or None"),
    ],
)
def test_wrong_choice_of_view_names_the_views(view, error, words):
    with pytest.raises(error, match=words):
        single_view(TWO, view)


def test_sparse_view_is_refused_with_advice_where_dense_is_needed():
    with pytest.raises(TypeError, match=r"view 'words' is sparse.*TruncatedSVD"):
        require_dense(sparse.csr_array((3, 4)), method="X", name="words")


def test_each_view_gets_a_row_with_the_scores_of_its_labels():
    truth = np.repeat([0, 1], 10)
    views = {"good": truth[:, None] * 10.0, "bad": np.tile([[0.0], [1.0]], (10, 1))}
    rows = fit_each_view(KMeans(2, random_state=0), views, truth)
    assert [row["view"] for row in rows] == ["good", "bad"]
    assert [row["accuracy"] for row in rows] == [1.0, 0.5]
    assert set(scores(truth, truth)) <= set(rows[0])
    assert rows[0]["seconds"] >= 0 and rows[1]["n_features"] == 1


def test_fitting_each_view_leaves_the_estimator_alone():
    estimator = SSCOMP(2, view="a", n_nonzero=1, random_state=0)
    X = np.random.default_rng(0).normal(size=(10, 3))
    rows = fit_each_view(estimator, {"a": X, "b": X[:, :2]})
    assert len(rows) == 2 and "accuracy" not in rows[0]
    assert estimator.view == "a" and not hasattr(estimator, "labels_")


@pytest.mark.parametrize("method", ["fit", "fit_predict"])
def test_a_doubt_points_at_the_line_of_the_user(method):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter=1") as caught:
        getattr(KMeans(5, n_init=1, max_iter=1, tol=0.0, random_state=0), method)(X)
    assert __file__ in {warning.filename for warning in caught if "tol=0" in str(warning.message)}


@pytest.mark.parametrize("Method", [AMGL, SubspaceMVSC])
def test_methods_of_pairs_need_two_rows(Method):
    with pytest.raises(ValueError, match=rf"1 sample\(s\).*minimum of 2.*{Method.__name__}"):
        Method(1).fit([[1.0, 2.0]])
