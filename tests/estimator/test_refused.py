"""What is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from manyview import LMVSC
from manyview.engines import Memory
from manyview.errors import ParameterError
from manyview.stages.scaling import KINDS


class TestRefused:
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, lambda v: v.astype("f4")])
    @pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
    def test_a_value_that_is_no_number_is_named(self, views, convert, value, word, fit):
        views[1][57, 3] = value
        with pytest.raises(
            ValueError, match=f"View 'gist' contains {word} at row 57, column 3.*SimpleImputer"
        ):
            fit({"hog": views[0], "gist": convert(views[1])})

    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_a_value_that_is_no_number_is_named_in_new_rows(self, views, scaling, value, fit):
        model = fit({"hog": views[0], "gist": views[1]}, scaling=scaling)
        views[1][57, 3] = value
        with pytest.raises(ValueError, match=r"View 'gist' contains .* at row 57, column 3"):
            model.predict({"hog": views[0], "gist": views[1]})

    @pytest.mark.parametrize("seed", [0, 1])
    def test_a_value_that_is_no_number_is_found_in_the_sample_and_outside(self, seed, fit):
        # Anchors and scales come from 10 000 sampled rows; the second seed has this one among them.
        X = np.random.default_rng(0).normal(size=(60_000, 2))
        X[10, 1] = np.nan
        with pytest.raises(ValueError, match="View 'view_0' contains NaN at row 10, column 1"):
            fit(X, n_anchors=10, random_state=seed)

    @pytest.mark.parametrize("method", ["predict", "transform"])
    def test_another_number_of_views(self, views, method, fit):
        model = fit(views)
        with pytest.raises(ValueError, match=r"Got 1 view\(s\), .* with 2: .*a dict with"):
            getattr(model, method)(views[0])
        with pytest.raises(ValueError, match=r"Got 3 view\(s\), but this model was fitted with 2"):
            getattr(model, method)([*views, views[0]])

    @pytest.mark.parametrize("method", ["predict", "transform"])
    def test_another_number_of_columns(self, views, method, fit):
        model = fit({"hog": views[0], "gist": views[1]})
        with pytest.raises(ValueError, match=r"X has 5 features.*expecting 6.*'gist'"):
            getattr(model, method)({"hog": views[0], "gist": views[1][:, :5]})

    def test_another_number_of_rows_in_one_view(self, views, fit):
        model = fit(views)
        with pytest.raises(ValueError, match="'view_1' has 80 rows but 'view_0' has 90"):
            model.predict([views[0], views[1][:80]])

    @pytest.mark.parametrize("names", [("hog", "lbp"), ("a", "b")])
    def test_other_names_are_refused(self, views, names, fit):
        model = fit({"hog": views[0], "gist": views[1]})
        with pytest.raises(ValueError, match=r"fitted with \['hog', 'gist'\]"):
            model.predict(dict(zip(names, views, strict=True)))

    def test_a_list_is_taken_by_position(self, views, fit):
        model = fit({"hog": views[0], "gist": views[1]})
        assert np.array_equal(model.predict(list(views)), model.labels_)

    def test_names_stand_for_a_list_by_position(self, views, fit):
        model = fit(list(views))
        assert np.array_equal(model.predict({"hog": views[0], "gist": views[1]}), model.labels_)
        new = {"hog": views[0], "view_1": views[1]}
        assert np.array_equal(model.predict(new), model.labels_)

    def test_a_name_of_another_position_is_refused(self, views, fit):
        model = fit([views[0], views[0] + 1.0])
        with pytest.raises(ValueError, match=r"Got views \['view_1', 'hog'\], but .*same names"):
            model.predict({"view_1": views[0] + 1.0, "hog": views[0]})

    @pytest.mark.parametrize("method", ["predict", "transform"])
    def test_use_before_fit(self, views, method):
        with pytest.raises(NotFittedError):
            getattr(LMVSC(3), method)(views)

    def test_saving_before_fit(self, tmp_path):
        with pytest.raises(NotFittedError):
            LMVSC(3).save(tmp_path / "m.mv")
        assert list(tmp_path.iterdir()) == []

    def test_a_failed_fit_does_not_pass_for_a_fitted_model(self, views):
        model = LMVSC(3, alpha=-1.0)
        with pytest.raises(ValueError, match="alpha"):
            model.fit(views)
        with pytest.raises(NotFittedError):
            model.predict(views)

    def test_a_failed_fit_leaves_the_last_model_as_it_was(self, views, fit):
        model = fit(views)
        with pytest.raises(ValueError, match="alpha"):
            model.set_params(alpha=-1.0).fit(views[0])
        assert model.n_features_in_ == 10
        assert np.array_equal(model.predict(views), model.labels_)

    @pytest.mark.parametrize("split", [None, {"left": [0], "right": [1]}])
    @pytest.mark.parametrize(
        ("names", "message"), [("aa", "several columns called 'a'"), ((0, "a"), "string names")]
    )
    def test_names_of_columns_are_refused_before_the_fit(self, names, message, split):
        table = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["a", "b"])
        model = LMVSC(2, views=split, n_repeats=1, random_state=0).fit(table)
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(table.set_axis(list(names), axis=1))
        assert np.array_equal(model.predict(table), model.labels_)
        assert hasattr(model, "confidence_") and hasattr(model, "outlier_score_")

    @pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
    def test_threads_that_make_no_sense(self, views, n_jobs):
        with pytest.raises(ValueError, match="n_jobs must be"):
            LMVSC(3, n_jobs=n_jobs).fit(views)

    @pytest.mark.parametrize("block_rows", [0, -5, 1.5, "some"])
    def test_blocks_that_make_no_sense(self, block_rows):
        with pytest.raises((TypeError, ValueError), match="block_rows must be"):
            Memory(block_rows)

    @pytest.mark.parametrize(
        ("name", "value"),
        [("engine", 5), ("random_state", -1), ("random_state", "x"), ("anchor_method", None)],
    )
    def test_values_that_a_parameter_cannot_have(self, views, name, value):
        with pytest.raises(ParameterError, match=f"{name} must be") as caught:
            LMVSC(3, **{name: value}).fit(views)
        assert caught.value.parameter == name
