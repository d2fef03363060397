"""One wide array or frame, split into views by columns."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from manyview import LMVSC, Views, load
from manyview.select import label_free_score
from manyview.views.columns import find_columns
from manyview.views.files import read_views
from tests.scikit_learn_checks import EXPECTED_TO_FAIL


@parametrize_with_checks(
    [LMVSC(3, views={"first": 0, "all": slice(None)}, scaling="standard", n_repeats=1)],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL,
)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_split_estimator_follows_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def wide(blobs):
    return np.hstack(blobs(widths=(4, 6)))


COLUMNS = {"a": slice(0, 4), "b": slice(4, None)}


class TestFind:
    frame = pd.DataFrame(np.zeros((3, 4)), columns=["p1", "p2", "q1", "q2"])

    @pytest.mark.parametrize(
        ("columns", "places"),
        [
            (2, [2]),
            ([0, -1], [0, 3]),
            (slice(1, 3), [1, 2]),
            (np.array([3, 0]), [3, 0]),
            ([True, False, False, True], [0, 3]),
            ("q1", [2]),
            (["q2", "p1"], [3, 0]),
            (slice("p2", "q1"), [1, 2]),
            (make_column_selector(pattern="^p"), [0, 1]),
            (lambda X: [X.shape[1] - 1], [3]),
        ],
    )
    def test_columns_are_found(self, columns, places):
        assert find_columns(self.frame, {"v": columns}) == {"v": places}

    def test_names_of_polars(self):
        assert find_columns(pl.from_pandas(self.frame), {"v": ["q1"]}) == {"v": [2]}

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (4, "asks for column 4, but there are 4"),
            ("z", "asks for column 'z', which X does not have"),
            ([], "View 'v' has no columns"),
            (slice(3, 3), "View 'v' has no columns"),
            ([True], "mask of view 'v' has 1 values for 4 columns"),
            ([False] * 4, "View 'v' has no columns"),
        ],
    )
    def test_columns_that_are_not_there(self, columns, message):
        with pytest.raises(ValueError, match=message):
            find_columns(self.frame, {"v": columns})

    def test_names_need_a_frame(self):
        with pytest.raises(ValueError, match="X has no names of columns"):
            find_columns(np.zeros((3, 4)), {"v": "p1"})

    @pytest.mark.parametrize("views", [{}, ["a"], None])
    def test_what_is_no_mapping(self, views):
        with pytest.raises(ValueError, match="views must be a mapping"):
            find_columns(np.zeros((3, 4)), views)


class TestEstimator:
    def test_labels_are_those_of_separate_views(self, wide):
        expected = LMVSC(3, random_state=0).fit({"a": wide[:, :4], "b": wide[:, 4:]}).labels_
        model = LMVSC(3, views=COLUMNS, random_state=0).fit(wide)
        assert np.array_equal(model.labels_, expected)
        assert model.view_columns_ == {"a": [0, 1, 2, 3], "b": [4, 5, 6, 7, 8, 9]}
        assert (model.view_names_, model.n_features_in_) == (["a", "b"], 10)

    def test_columns_may_be_left_out_and_shared(self, wide):
        model = LMVSC(3, views={"a": [0, 1], "b": [1, 5]}, random_state=0).fit(wide)
        assert model.n_features_in_ == 10 and model.n_features_per_view_ == [2, 2]
        changed = wide.copy()
        changed[:, 7] += 100
        assert np.array_equal(model.predict(changed), model.labels_)

    def test_another_number_of_columns_is_refused(self, wide):
        model = LMVSC(3, views=COLUMNS, random_state=0).fit(wide)
        with pytest.raises(ValueError, match="X has 9 features, but LMVSC is expecting 10"):
            model.predict(wide[:, :9])

    def test_names_of_columns_are_checked(self, wide):
        frame = pd.DataFrame(wide).rename(columns=str)
        model = LMVSC(3, views={"a": ["0", "1"], "b": ["7"]}, random_state=0).fit(frame)
        assert model.feature_names_in_.tolist() == list(frame.columns)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[frame.columns[::-1]])
        with pytest.raises(ValueError, match=r"yet now missing:\n- 4"):
            model.predict(frame.drop(columns="4"))

    def test_ids_of_a_frame_are_kept(self, wide):
        frame = pd.DataFrame(wide, index=[f"i{i}" for i in range(90)]).rename(columns=str)
        model = LMVSC(3, views=COLUMNS, random_state=0).fit(frame)
        assert model.labels_series().index[4] == "i4"

    def test_callables_are_asked_once_and_saved_as_places(self, wide, tmp_path):
        asked = []

        def first(X):
            asked.append(X.shape)
            return [0, 1, 2]

        model = LMVSC(3, views={"a": first, "b": [3, 4]}, random_state=0).fit(wide)
        labels = model.predict(wide)
        assert asked == [(90, 10)]
        model.save(tmp_path / "m.mv")
        again = load(tmp_path / "m.mv")
        assert again.views == {"a": [0, 1, 2], "b": [3, 4]}
        assert np.array_equal(again.predict(wide), labels)
        assert again.n_features_in_ == 10

    def test_streams_split_every_batch(self, wide):
        model = LMVSC(3, views=COLUMNS, n_anchors=10, random_state=0)
        for start in range(0, 90, 30):
            model.partial_fit(wide[start : start + 30])
        assert model.predict(wide).shape == (90,)

    def test_views_pass_as_they_are(self, wide):
        views = Views({"a": wide[:, :4], "b": wide[:, 4:]})
        model = LMVSC(3, views=COLUMNS, random_state=0).fit(views)
        assert np.array_equal(model.labels_, LMVSC(3, random_state=0).fit(views).labels_)

    @pytest.mark.parametrize("X", [{"a": np.ones((4, 3))}])
    def test_several_views_and_columns_are_refused(self, X):
        with pytest.raises(TypeError, match="X is one wide array"):
            LMVSC(2, views=COLUMNS).fit(X)

    def test_sparse_views_stay_sparse(self, wide):
        views = Views.from_columns(sparse.csr_array(wide), COLUMNS)
        assert all(sparse.issparse(array) for array in views.arrays)

    def test_neighbouring_columns_are_not_copied(self, wide):
        assert np.shares_memory(Views.from_columns(wide, COLUMNS)["b"], wide)


class TestTools:
    def test_search_over_a_wide_array(self, wide):
        search = GridSearchCV(
            LMVSC(3, views=COLUMNS, n_repeats=1, random_state=0),
            {"n_anchors": [5, 20], "views": [COLUMNS, {"a": slice(0, 4)}]},
            scoring=label_free_score, cv=3,
        ).fit(wide)  # fmt: skip
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.predict(wide).shape == (90,)

    def test_pipeline_and_cross_validation(self, wide):
        model = make_pipeline(StandardScaler(), LMVSC(3, views=COLUMNS, random_state=0))
        assert cross_val_predict(model, wide, cv=3).shape == (90,)
        assert (cross_val_score(model, wide, scoring=label_free_score, cv=3) > 0).all()

    def test_clone_keeps_the_columns(self):
        assert clone(LMVSC(3, views=COLUMNS)).views == COLUMNS


@pytest.mark.parametrize("path", ["c.csv", Path("c.csv")], ids=["text", "path"])
def test_a_file_is_not_split_and_the_advice_works(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("c.csv").write_text("a,b,c\n1,2,3\n4,5,6\n")
    with pytest.raises(TypeError, match=r"got the file 'c.csv'.*read_views\(\['c.csv'\], columns="):
        Views.from_columns(path, {"first": ["a", "b"], "second": "c"})
    with pytest.raises(TypeError, match=r"got the file 'c.csv'"):
        LMVSC(2, views={"first": ["a", "b"]}).fit(path)
    views = read_views(["c.csv"], columns={"first": ["a", "b"], "second": ["c"]}).views
    assert views.n_features == (2, 1)
