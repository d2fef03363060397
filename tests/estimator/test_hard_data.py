"""Constant, tiny, huge and repeated rows; and warnings about them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manyview import LMVSC
from manyview.errors import RankWarning
from manyview.stages.scaling import KINDS


class TestHardData:
    def test_constant_columns(self, views, groups, fit):
        views[0][:, 1] = 7.3
        views[1] = sparse.csr_array(np.column_stack([views[1], np.full(90, 0.1)]))
        model = fit(views)
        assert adjusted_rand_score(groups, model.labels_) == 1.0
        assert np.array_equal(model.predict(views), model.labels_)

    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.parametrize("value", [0.0, 0.1])
    def test_a_constant_view(self, views, scaling, value, fit):
        X = [views[0], np.full((90, 5), value)]
        model = fit(X, scaling=scaling)
        assert np.isfinite(model.embedding_).all()
        assert np.array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_rows_of_zeros(self, views, scaling, convert, fit):
        views[0][::4] = 0.0
        X = [convert(views[0]), views[1]]
        model = fit(X, scaling=scaling)
        assert np.isfinite(model.embedding_).all()
        assert np.array_equal(model.predict(X), model.labels_)

    def test_identical_views(self, views, groups, fit):
        model = fit([views[0]] * 3)
        assert (
            adjusted_rand_score(groups, model.labels_) > 0.95
        )  # one row of 90 lies between groups
        assert np.allclose(model.view_weights_, 1.0 / 3.0)

    @pytest.mark.parametrize("view_weights", ["equal", "agreement", "amgl"])
    @pytest.mark.parametrize("fusion", ["late", "both"])
    def test_one_cluster(self, views, view_weights, fusion, fit):
        model = fit([*views, views[0]], 1, view_weights=view_weights, fusion=fusion)
        assert set(model.labels_) == {0}
        assert model.predict([*views, views[0]]).tolist() == [0] * 90

    @pytest.mark.parametrize("n", [2, 5, 20])
    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_as_many_clusters_as_rows(self, n, fit):
        X = np.random.default_rng(n).normal(size=(n, 30))
        model = fit(X, n)
        assert sorted(model.labels_) == list(range(n))

    @pytest.mark.parametrize("columns", [1, 4])
    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_a_single_row(self, columns, scaling, fit):
        X = [np.full((1, columns), 3.0), np.ones((1, 2))]
        model = fit(X, 1, scaling=scaling)
        assert model.labels_.tolist() == [0]
        assert model.predict(X).tolist() == [0]
        assert np.isfinite(model.embedding_).all()

    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    @pytest.mark.parametrize("n_components", ["auto", 5])
    def test_fewer_distinct_rows_than_clusters_warn(self, fit, n_components):
        X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 8, axis=0)
        with pytest.warns(ConvergenceWarning, match="only 3 distinct rows for 5 clusters"):
            model = fit(X, 5, n_components=n_components)
        assert np.isfinite(model.embedding_).all()
        assert adjusted_rand_score(np.repeat(np.arange(3), 8), model.labels_) == 1.0

    def test_too_few_useful_vectors_warn(self, fit):
        X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 8, axis=0)
        with pytest.warns(RankWarning, match="only 3 useful singular vectors of the 5 asked for"):
            model = fit(X, 3, n_components=5, n_repeats=1)
        assert model.embedding_.shape == (24, 3)
        assert np.isfinite(model.embedding_).all()

    def test_columns_of_very_different_size(self, views, groups, fit):
        X = [views[0] * 1e12, views[1] * 1e-12]
        for scaling in ("standard", "energy"):
            assert adjusted_rand_score(groups, fit(X, scaling=scaling).labels_) == 1.0

    @pytest.mark.parametrize("fusion", ["late", "early", "both"])
    def test_one_view_works_with_any_fusion(self, views, fusion, fit):
        assert np.array_equal(fit(views[0], fusion=fusion).labels_, fit(views[0]).labels_)

    def test_levels_of_one_row_each(self):
        """Of variances that are all the same, LAPACK fails to find some."""
        rng = np.random.default_rng(0)
        group = rng.integers(3, size=200)
        noise = rng.normal(size=(2, 200))
        table = pd.DataFrame({"a": 3 * group + noise[0], "b": -2 * group + noise[1]})
        table["kind"] = np.where(group == 0, "x", "y")
        model = LMVSC(3, categories={"a": "encode"}, random_state=0).fit(table)
        assert np.array_equal(model.predict(table), model.labels_)


class TestWarnings:
    def test_point_at_the_users_line(self):
        X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 8, axis=0)
        models = [LMVSC(3, n_components=5, n_repeats=1, random_state=0)]
        models.append(make_pipeline(StandardScaler(), models[0]))
        for model in models:
            with pytest.warns(RankWarning) as caught:
                model.fit(X)
            assert {str(w.filename) for w in caught} == {__file__}
            with pytest.warns(RankWarning) as caught:
                model.fit_predict(X)
            assert {str(w.filename) for w in caught} == {__file__}
