"""A transformer for each view, in pipelines, searches and with metadata."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from manyview import LMVSC, Views
from manyview.compose import per_view
from manyview.select import label_free_score


@pytest.fixture
def views(blobs):
    X, Y = blobs(widths=(4, 6))
    return Views({"a": X, "b": Y}, target=np.arange(90) % 3, ids=[f"i{i}" for i in range(90)])


class TestTransform:
    def test_one_transformer_is_fitted_to_each_view(self, views):
        scaled = per_view(StandardScaler()).fit_transform(views)
        for name in views.names:
            expected = StandardScaler().fit_transform(views[name])
            assert np.array_equal(scaled[name], expected)
        assert scaled.target is not None and scaled.ids.tolist() == views.ids.tolist()

    def test_new_rows_are_transformed_as_the_fitted_ones(self, views):
        fitted = per_view(StandardScaler()).fit(views)
        again = fitted.transform(views[[5, 2]])
        assert np.array_equal(again["b"], fitted.fit_transform(views)["b"][[5, 2]])

    def test_views_are_named_passed_or_dropped(self, views):
        made = per_view({"b": PCA(2)}).fit_transform(views)
        assert made.n_features == (4, 2)
        assert made["a"] is views["a"]
        assert made.feature_names[1] == ("pca0", "pca1")
        assert per_view({"a": "drop", "b": None}).fit_transform(views).names == ("b",)

    def test_sparse_views(self, views):
        thin = Views({"a": sparse.csr_array(views["a"]), "b": views["b"]})
        assert per_view({"a": TruncatedSVD(2)}).fit_transform(thin).n_features == (2, 6)

    def test_a_wide_frame_with_text(self):
        frame = pd.DataFrame(
            {"kind": ["x", "y", "x"], "size": [1.0, 2.0, 3.0], "w": [0, 1, 2]}, index=list("pqr")
        )
        made = per_view(
            {"words": make_column_transformer((OneHotEncoder(), ["kind"]))},
            views={"words": ["kind"], "numbers": ["size", "w"]},
        ).fit_transform(frame)
        assert made.n_features == (2, 2)
        assert made.ids.tolist() == list("pqr")

    def test_frames_of_transformers_keep_their_names(self, views):
        scaler = StandardScaler().set_output(transform="pandas")
        assert per_view({"a": scaler}).fit_transform(views).feature_names[0] == (
            "x0", "x1", "x2", "x3",
        )  # fmt: skip


class TestRefused:
    def test_a_view_that_is_not_there(self, views):
        with pytest.raises(ValueError, match=r"no view 'c' to transform; there are \['a', 'b'\]"):
            per_view({"c": PCA(2)}).fit(views)

    @pytest.mark.parametrize("wrong", ["scale", 3, KeyError])
    def test_what_is_no_transformer(self, views, wrong):
        with pytest.raises(TypeError, match="is no transformer"):
            per_view(wrong).fit(views)

    def test_other_views_than_fitted(self, views):
        with pytest.raises(ValueError, match=r"Got views \['a'\], but these transformers"):
            per_view(StandardScaler()).fit(views).transform({"a": views["a"]})

    def test_nothing_left(self, views):
        with pytest.raises(ValueError, match="Every view is dropped"):
            per_view("drop").fit(views)

    def test_use_before_fit(self, views):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            per_view(StandardScaler()).transform(views)


class TestPipeline:
    def test_clusters_are_found(self, views):
        model = make_pipeline(per_view(StandardScaler()), LMVSC(3, random_state=0))
        labels = model.fit_predict(views)
        assert np.array_equal(labels, model.predict(views))
        assert len(set(zip(labels, views.target, strict=True))) == 3

    def test_global_output_of_pandas_does_no_harm(self, views):
        with sklearn.config_context(transform_output="pandas"):
            model = make_pipeline(per_view(StandardScaler()), LMVSC(3, n_repeats=1, random_state=0))
            assert model.fit_transform(views).index.tolist() == views.ids.tolist()

    def test_search_changes_the_transformer_of_one_view(self, views):
        model = make_pipeline(per_view({"b": PCA(2)}), LMVSC(3, n_repeats=1, random_state=0))
        grid = {"perview__b__n_components": [1, 3], "perview__a": ["passthrough", StandardScaler()]}
        model.set_params(perview__transformers={"a": "passthrough", "b": PCA(2)})
        search = GridSearchCV(model, grid, scoring=label_free_score, cv=2).fit(views)
        assert len(search.cv_results_["params"]) == 4
        chosen = search.best_estimator_[0].transformers_["b"].n_components_
        assert chosen == search.best_params_["perview__b__n_components"]
        assert model[0].transformers["b"].n_components == 2

    def test_clone_takes_transformers_along_unfitted(self, views):
        fitted = per_view({"a": PCA(2)}).fit(views)
        again = clone(fitted)
        assert not hasattr(again, "transformers_")
        assert again.transformers["a"] is not fitted.transformers["a"]


class Weighing(TransformerMixin, BaseEstimator):
    """Remembers the metadata it was given."""

    def fit(self, X, y=None, sample_weight=None):
        self.weight_ = sample_weight
        return self

    def transform(self, X):
        return X


class TestMetadata:
    def test_what_a_transformer_asked_for_reaches_it(self, views):
        weight = np.arange(90.0)
        with sklearn.config_context(enable_metadata_routing=True):
            asking = Weighing().set_fit_request(sample_weight=True)
            other = Weighing().set_fit_request(sample_weight=False)
            model = make_pipeline(
                per_view({"a": asking, "b": other}),
                LMVSC(3, n_repeats=1, random_state=0).set_fit_request(sample_weight=False),
            )
            model.fit(views, sample_weight=weight)
            assert np.array_equal(model[0].transformers_["a"].weight_, weight)
            assert model[0].transformers_["b"].weight_ is None

    def test_one_transformer_for_all_views(self, views):
        with sklearn.config_context(enable_metadata_routing=True):
            model = per_view(Weighing().set_fit_request(sample_weight=True))
            model.fit(views, sample_weight=np.ones(90))
            assert all(t.weight_ is not None for t in model.transformers_.values())

    def test_metadata_without_routing_is_refused(self, views):
        with pytest.raises(ValueError, match="enable_metadata_routing"):
            per_view(Weighing()).fit(views, sample_weight=np.ones(90))

    def test_searching_with_routing_enabled(self, views):
        with sklearn.config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                LMVSC(3, n_repeats=1, random_state=0), {"n_anchors": [5, 9]},
                scoring=label_free_score, cv=2,
            ).fit(views)  # fmt: skip
        assert search.best_params_["n_anchors"] in (5, 9)


class TestSamplesThatLackViews:
    @pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame])
    def test_rows_that_all_lack_a_view_stay_without(self, views, make):
        model = make_pipeline(per_view(PCA(2)), LMVSC(3, random_state=0, n_repeats=1, n_jobs=1))
        model.fit({"a": make(views["a"]), "b": views["b"]})
        X = {"a": make(np.full((5, 4), np.nan)), "b": views["b"][:5]}
        made = model[:-1].transform(X)
        assert made.n_features == (2, 2)
        assert made.present.tolist() == [[False, True]] * 5
        assert np.array_equal(model.predict(X), model[-1].predict({"b": made["b"]}))

    @pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame])
    def test_rows_of_nan_are_missing(self, views, make):
        X = views["a"].copy()
        X[7] = np.nan
        made = per_view({"a": PCA(2)}).fit_transform({"a": make(X), "b": views["b"]})
        assert made.present[7].tolist() == [False, True]
        expected = PCA(2).fit_transform(np.delete(X, 7, axis=0))
        assert np.allclose(np.delete(np.asarray(made["a"]), 7, axis=0), expected)

    def test_metadata_goes_by_the_rows_that_are_there(self, views):
        X = views["a"].copy()
        X[:30] = np.nan
        weights = np.random.default_rng(0).uniform(size=90)
        with sklearn.config_context(enable_metadata_routing=True):
            scaler = StandardScaler().set_fit_request(sample_weight=True)
            fitted = per_view({"a": scaler}).fit(
                {"a": X, "b": views["b"]}, sample_weight=weights.tolist()
            )
        expected = np.average(X[30:], axis=0, weights=weights[30:])
        assert np.allclose(fitted.transformers_["a"].mean_, expected)

    def test_a_view_that_no_sample_has_cannot_be_fitted(self, views):
        with pytest.raises(ValueError, match="No sample has this view"):
            per_view(PCA(2)).fit({"a": np.full((90, 4), np.nan), "b": views["b"]})


class TestColumns:
    @pytest.fixture
    def wide(self, views):
        return pd.DataFrame(np.hstack(views.arrays), columns=list("abcdefghij"))

    def test_a_wide_frame_with_other_columns_is_refused(self, wide):
        fitted = per_view(StandardScaler(), views={"x": ["a", "b"], "y": slice("c", "j")}).fit(wide)
        assert fitted.transform(wide[:5]).n_features == (2, 8)
        with pytest.raises(ValueError, match="same order"):
            fitted.transform(wide[list("jihgfedcba")])
        with (
            pytest.warns(match="valid feature names"),
            pytest.raises(ValueError, match="9 features"),
        ):
            fitted.transform(wide.to_numpy()[:, :9])

    def test_columns_of_views_are_matched_by_name(self, wide):
        fitted = per_view(StandardScaler()).fit(Views({"x": wide, "y": wide.to_numpy()}))
        turned = Views({"y": wide.to_numpy(), "x": wide[list("jihgfedcba")]})
        expected = fitted.transform(Views({"x": wide, "y": wide.to_numpy()}))
        assert np.array_equal(fitted.transform(turned)["x"], expected["x"])

    def test_frames_with_rows_in_different_orders_are_refused(self, wide):
        shuffled = wide.sample(frac=1.0, random_state=0)
        with pytest.raises(ValueError, match="same order"):
            per_view(StandardScaler()).fit({"x": wide, "y": shuffled})
