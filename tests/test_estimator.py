"""LMVSC as a user meets it: any input, any setting, scikit-learn's rules, and clear refusals."""

from __future__ import annotations

import copy
import resource
import sys
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info

import manyview
from manyview import LMVSC, Views
from manyview.engines import Memory
from manyview.errors import RankWarning

KINDS = ["standard", "normal-scores", "hellinger", "unit", "energy", None]


@pytest.fixture
def views(blobs):
    """Give 90 rows of three clear groups in two views."""
    return blobs()


@pytest.fixture
def groups():
    return np.arange(90) % 3


def fit(X, n_clusters=3, **options):
    return LMVSC(n_clusters, **{"random_state": 0, "n_jobs": 1, **options}).fit(X)


@parametrize_with_checks(
    [LMVSC(3), LMVSC(2, fusion="both", n_repeats=2, view_weights="agreement", impute="mean")]
)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_follows_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


class TestInput:
    def test_clear_groups_are_found(self, views, groups):
        assert adjusted_rand_score(groups, fit(views).labels_) == 1.0

    def test_lists_tuples_dicts_and_views_are_the_same_input(self, views):
        expected = fit(views).labels_
        named = dict(zip(["view_0", "view_1"], views, strict=True))
        for same in (tuple(views), named, Views(views), Views(named), [v.tolist() for v in views]):
            assert np.array_equal(fit(same).labels_, expected)

    def test_one_array_is_one_view(self, views):
        expected = fit(views[0])
        assert expected.n_views_ == 1
        for same in ([views[0]], {"view_0": views[0]}, pd.DataFrame(views[0]), views[0].tolist()):
            assert np.array_equal(fit(same).labels_, expected.labels_)

    def test_sparse_views_give_the_labels_of_dense_ones(self, blobs):
        X = [np.maximum(v, 0.0) for v in blobs(widths=(8, 10))]
        dense = fit(X)
        for csr in ([sparse.csr_array(v) for v in X], [sparse.csc_matrix(X[0]), X[1]]):
            assert adjusted_rand_score(fit(csr).labels_, dense.labels_) == 1.0

    def test_sparse_views_give_the_embedding_of_dense_ones_for_the_same_anchors(self, blobs):
        X = [np.maximum(v, 0.0) for v in blobs(widths=(8, 10))]
        anchors = [v[::9] for v in X]
        dense = fit(X, anchor_method=anchors)
        csr = fit([sparse.csr_array(v) for v in X], anchor_method=anchors)
        # Scaled rows differ by rounding, weights by its root over alpha, see the solver's tests.
        assert np.allclose(csr.embedding_, dense.embedding_, rtol=0, atol=1e-5)

    @pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint16])
    def test_numbers_of_any_type(self, views, groups, dtype):
        X = [np.round(5 * (v - v.min())).astype(dtype) for v in views]
        assert adjusted_rand_score(groups, fit(X).labels_) == 1.0

    def test_the_order_in_memory_does_not_matter(self, views):
        model = fit([np.asfortranarray(v) for v in views])
        assert np.allclose(model.embedding_, fit(views).embedding_, atol=1e-9)

    def test_memory_maps_are_read(self, views, tmp_path):
        np.save(tmp_path / "x.npy", views[0])
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        assert np.array_equal(fit(mapped).labels_, fit(views[0]).labels_)

    def test_input_and_parameters_are_left_alone(self, views):
        X = [views[0], sparse.csr_array(views[1])]
        before = copy.deepcopy(X)
        model = LMVSC(3, n_anchors=[5, 7], alpha=[0.01, 0.1], view_weights=[1, 2], random_state=0)
        params = copy.deepcopy(model.get_params())
        model.fit(X).predict(X)
        assert np.array_equal(X[0], before[0])
        assert np.array_equal(X[1].data, before[1].data)
        assert np.array_equal(X[1].indices, before[1].indices)
        assert model.get_params() == params

    def test_read_only_arrays_work(self, views):
        for view in views:
            view.flags.writeable = False
        assert fit(views).labels_.shape == (90,)

    def test_missing_values_on_request(self, views, groups):
        views[0][4, 2] = views[1][50, 0] = np.nan
        model = fit(views, impute="mean")
        assert adjusted_rand_score(groups, model.labels_) == 1.0
        assert np.array_equal(model.predict(views), model.labels_)

    def test_views_in_another_order_are_found_by_name(self, views):
        named = {"a": views[0], "b": views[1]}
        model = fit(named)
        assert np.array_equal(model.predict({"b": views[1], "a": views[0]}), model.labels_)


class TestWideSparse:
    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_34251_columns_are_never_made_dense(self, monkeypatch):
        rng = np.random.default_rng(0)
        n, d = 600, 34_251
        X = sparse.random_array((n, d), density=1e-3, rng=rng).tocsr()
        widest = []
        original = sparse.csr_array.toarray

        def watch(self, *args, **kwargs):
            widest.append(self.shape[0] * (self.shape[1] == d))
            return original(self, *args, **kwargs)

        monkeypatch.setattr(sparse.csr_array, "toarray", watch)
        tracemalloc.start()
        model = fit([X, X[:, :500]], n_anchors=12, n_repeats=1)
        labels = model.predict([X, X[:, :500]])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.array_equal(labels, model.labels_)
        # Only anchors, 12 rows, and the like may be dense: all rows would be 164 MB.
        assert max(widest, default=0) <= 12
        assert peak < 0.5 * n * d * 8


class TestPredict:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"fusion": "early"},
            {"fusion": "both"},
            {"n_repeats": 2},
            {"fusion": "both", "n_repeats": 3, "locality": 0.1},
            {"alpha": [0.01, 0.1]},
            {"n_anchors": [8, 12]},
            {"n_anchors": [8, 12], "alpha": [0.01, 1.0], "fusion": "both"},
            {"view_weights": "equal"},
            {"view_weights": "agreement"},
            {"view_weights": "amgl"},
            {"view_weights": [0.3, 0.7]},
            {"view_weights": [0.0, 1.0], "fusion": "both"},
            {"n_components": 2},
            {"n_components": 7},
            {"degree_norm": False},
            {"row_norm": False},
            {"anchor_method": "kmeans-all"},
            {"anchor_method": "random"},
            {"alpha": 0.0},
            {"alpha": 100.0},
            {"locality": 1.0},
            {"scaling": ["standard", "unit"]},
            {"n_init": 1, "max_iter": 1, "tol": 0.0},
            {"engine": Memory()},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("form", ["dense", "sparse", "float32", "int"])
    def test_training_rows_get_their_labels(self, views, options, form):
        convert = {
            "dense": np.asarray,
            "sparse": sparse.csr_array,
            "float32": lambda v: v.astype(np.float32),
            "int": lambda v: np.round(20 * v).astype(int),
        }[form]
        X = [convert(v) for v in views]
        model = fit(X, **options)
        assert np.array_equal(model.predict(X), model.labels_)
        assert np.array_equal(model.transform(X), model.embedding_)
        assert np.isfinite(model.embedding_).all()

    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.parametrize("fusion", ["late", "both"])
    def test_training_rows_get_their_labels_with_any_scaling(self, views, scaling, fusion):
        X = [np.abs(views[0]), sparse.csr_array(np.abs(views[1]))]
        model = fit(X, scaling=scaling, fusion=fusion)
        assert np.array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("options", [{"view_weights": w} for w in ("agreement", "amgl")])
    def test_training_rows_get_their_labels_with_three_weighted_views(self, blobs, options):
        X = [*blobs(), np.random.default_rng(0).normal(size=(90, 5))]
        model = fit(X, **options)
        assert np.array_equal(model.predict(X), model.labels_)
        assert model.view_weights_.sum() == pytest.approx(1.0)

    def test_new_rows_of_clear_groups_are_recognised(self, blobs):
        X = blobs(n=180)
        model = fit([v[:120] for v in X])
        labels = model.predict([v[120:] for v in X])
        assert np.array_equal(labels, model.labels_[np.arange(60) % 3])
        assert labels.dtype == np.int32

    def test_one_row_alone(self, views):
        model = fit(views)
        assert model.predict([v[:1] for v in views]).tolist() == [model.labels_[0]]

    def test_fit_predict_and_fit_transform(self, views):
        model = fit(views)
        assert np.array_equal(LMVSC(3, random_state=0).fit_predict(views), model.labels_)
        assert np.array_equal(LMVSC(3, random_state=0).fit_transform(views), model.embedding_)


class TestSeed:
    def test_the_same_seed_gives_the_same_labels(self, blobs):
        X = blobs(spread=3.0)
        first, second = fit(X, random_state=5), fit(X, random_state=5)
        assert np.array_equal(first.labels_, second.labels_)
        assert np.array_equal(first.embedding_, second.embedding_)

    def test_another_seed_gives_other_anchors(self, views):
        first, second = fit(views, random_state=0), fit(views, random_state=1)
        assert not np.array_equal(first.anchors_[0], second.anchors_[0])

    def test_a_generator_is_a_seed(self, views):
        first, second = (fit(views, random_state=np.random.RandomState(3)) for _ in range(2))
        assert np.array_equal(first.embedding_, second.embedding_)

    def test_fitting_again_forgets_the_first_data(self, views, blobs):
        model = fit(blobs(widths=(3, 3, 3)))
        again = model.fit(views)
        assert np.array_equal(again.embedding_, fit(views).embedding_)
        assert again.n_views_ == 2


class TestAttributes:
    @pytest.fixture
    def model(self, views):
        X = {"hog": views[0], "gist": views[1]}
        options = {"n_components": 3, "fusion": "late", "scaling": "standard", "n_repeats": 1}
        return fit(X, n_anchors=11, **options)

    def test_labels(self, model):
        assert model.labels_.shape == (90,)
        assert model.labels_.dtype == np.int32
        assert set(model.labels_) == {0, 1, 2}

    def test_embedding(self, model):
        assert model.embedding_.shape == (90, 3)
        assert model.embedding_.dtype == np.float64
        assert np.allclose(np.linalg.norm(model.embedding_, axis=1), 1.0)

    def test_anchors_are_in_the_views_own_units(self, model, views):
        assert [a.shape for a in model.anchors_] == [(11, 4), (11, 6)]
        for anchors, view in zip(model.anchors_, views, strict=True):
            assert (anchors >= view.min(axis=0) - 1e-4).all()
            assert (anchors <= view.max(axis=0) + 1e-4).all()

    def test_anchors_of_every_graph_are_there(self, views):
        model = fit(views, n_anchors=[8, 9], alpha=[0.1, 1.0], fusion="both", n_repeats=2)
        # Two repeats of (two views and both together) times two sizes times two alphas.
        assert len(model.anchors_) == 2 * 3 * 2 * 2
        assert {a.shape for a in model.anchors_} == {(m, d) for m in (8, 9) for d in (4, 6, 10)}

    def test_centres_and_inertia(self, model):
        assert model.cluster_centers_.shape == (3, 3)
        distances = ((model.embedding_ - model.cluster_centers_[model.labels_]) ** 2).sum()
        assert model.inertia_ == pytest.approx(distances, rel=1e-9, abs=1e-12)
        assert model.n_iter_ >= 1

    def test_singular_values_descend_from_one(self, model):
        # Each graph scaled by its degrees has norm one, and so has their average.
        assert model.singular_values_.shape == (3,)
        assert model.singular_values_[0] == pytest.approx(1.0, rel=1e-9)
        assert (np.diff(model.singular_values_) <= 0).all()

    def test_view_weights(self, model):
        assert model.view_weights_.tolist() == [0.5, 0.5]

    def test_what_was_fitted(self, model):
        assert model.n_views_ == 2
        assert model.view_names_ == ["hog", "gist"]
        assert model.n_features_per_view_ == [4, 6]
        assert model.n_features_in_ == 10
        assert model.scaling_ == ["standard", "standard"]

    def test_scaling_is_told_for_each_view(self, views):
        counts = np.random.default_rng(0).poisson(0.2, size=(90, 8))
        assert fit([views[0], counts]).scaling_ == ["normal-scores", "hellinger"]
        assert fit([views[0], counts], scaling=["unit", None]).scaling_ == ["unit", None]

    def test_seconds_of_every_stage(self, model):
        assert list(model.stage_seconds_) == [
            "sample", "anchors", "graph", "spectrum", "embedding", "labels",
        ]  # fmt: skip
        assert all(seconds >= 0 for seconds in model.stage_seconds_.values())

    def test_memory_of_every_stage(self, model):
        if sys.platform != "linux":
            assert model.stage_memory_ == {}
            return
        assert model.stage_memory_.keys() == model.stage_seconds_.keys()
        most = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # The system counts what is resident in batches, so the two are not exactly alike.
        assert all(10e6 < held < 1.2 * most for held in model.stage_memory_.values())

    def test_solver_report(self, model):
        report = model.solver_report_
        assert report["n_rows"] == 90
        assert report["n_failed"] == 0
        assert [graph["views"] for graph in report["graphs"]] == [["hog"], ["gist"]]
        assert all(graph["n_anchors"] == 11 for graph in report["graphs"])
        assert all(1.0 <= graph["mean_support"] <= 11.0 for graph in report["graphs"])
        assert sum(graph["weight"] for graph in report["graphs"]) == pytest.approx(1.0)

    def test_more_vectors_than_clusters(self, views):
        model = fit(views, n_components=6, n_repeats=1)
        assert model.embedding_.shape == (90, 6)
        assert model.cluster_centers_.shape == (3, 6)

    def test_joined_repeats_stand_side_by_side(self, views):
        assert fit(views, n_components=3, n_repeats=3).embedding_.shape == (90, 9)

    @pytest.mark.parametrize("k", [2, 3, 8])
    def test_vectors_kept_by_default_are_some_more_than_clusters(self, views, k):
        model = fit(views, k, n_repeats=1)
        kept = len(model.singular_values_)
        assert 2 <= kept <= k + max(2, k // 2)
        assert model.embedding_.shape == (90, kept)
        assert model.cluster_centers_.shape == (k, kept)


class TestSettings:
    def test_a_view_of_noise_loses_its_weight_by_agreement(self, blobs):
        rng = np.random.default_rng(0)
        X = [*blobs(n=300, widths=(4, 6)), rng.normal(size=(300, 5))]
        weights = fit(X, view_weights="agreement").view_weights_
        assert weights[2] < 0.5 * weights[:2].min()

    def test_given_weights_are_made_to_sum_to_one(self, views):
        assert fit(views, view_weights=[1, 3]).view_weights_.tolist() == [0.25, 0.75]

    def test_a_view_without_weight_changes_nothing(self, views):
        noise = np.random.default_rng(0).normal(size=(90, 4))
        alone = fit(views, anchor_method=[v[::9] for v in views])
        anchors = [*(v[::9] for v in views), noise[::9]]
        beside = fit([*views, noise], view_weights=[1, 1, 0], anchor_method=anchors)
        assert np.allclose(beside.embedding_, alone.embedding_, atol=1e-7)

    def test_large_alpha_uses_more_anchors_than_small(self, views):
        few, many = (
            fit(views, alpha=alpha).solver_report_["graphs"][0]["mean_support"]
            for alpha in (1e-4, 10.0)
        )
        assert few < many

    def test_locality_uses_fewer_anchors(self, views):
        plain, local = (
            fit(views, alpha=0.1, locality=g).solver_report_["graphs"][0]["mean_support"]
            for g in (0.0, 1.0)
        )
        assert local < plain

    def test_units_of_columns_do_not_matter_to_scaled_views(self, views):
        other = [views[0] * np.array([1.0, 1e6, 1e-6, 4.0]), views[1] + 1e3]
        assert np.array_equal(fit(other).labels_, fit(views).labels_)

    @pytest.mark.parametrize("give", [list, tuple, lambda a: dict(enumerate(a))])
    def test_anchors_can_be_given(self, views, give):
        anchors = [v[::9] for v in views]
        model = fit(views, anchor_method=give(anchors), scaling="standard")
        for found, given in zip(model.anchors_, anchors, strict=True):
            assert np.allclose(found, given, atol=1e-12)

    def test_anchors_are_found_by_the_names_of_views(self, views):
        named = {"a": views[0], "b": views[1]}
        anchors = {"b": views[1][::9], "a": views[0][::9]}
        model = fit(named, anchor_method=anchors, scaling="standard")
        assert np.allclose(model.anchors_[0], views[0][::9], atol=1e-12)

    def test_anchors_of_one_view_can_be_given_as_one_array(self, views):
        model = fit(views[0], anchor_method=views[0][::9], scaling="standard")
        assert np.allclose(model.anchors_[0], views[0][::9], atol=1e-12)
        assert np.array_equal(model.predict(views[0]), model.labels_)

    def test_sparse_anchors_can_be_given(self, views):
        anchors = [sparse.csr_array(v[::9]) for v in views]
        X = [sparse.csr_array(v) for v in views]
        model = fit(X, anchor_method=anchors, scaling="standard")
        assert np.allclose(model.anchors_[0], views[0][::9], atol=1e-12)

    def test_given_anchors_may_differ_in_number(self, views):
        model = fit(views, anchor_method=[views[0][:20], views[1][:9]])
        assert [len(a) for a in model.anchors_] == [20, 9]

    def test_verbose_says_nothing_where_no_one_looks(self, views, capsys):
        fit(views, verbose=1)
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize("n", range(2, 11))
    @pytest.mark.parametrize("k", [1, 2])
    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_the_defaults_work_for_few_rows(self, n, k):
        rng = np.random.default_rng(n)
        X = [rng.normal(size=(n, 3)), rng.normal(size=(n, 5))]
        model = LMVSC(k, random_state=0).fit(X)
        assert np.array_equal(model.predict(X), model.labels_)
        assert np.isfinite(model.embedding_).all()


class TestAsPublished:
    def test_is_the_papers_text(self):
        params = LMVSC.as_published(7, 50, 0.1).get_params()
        assert params == {
            **LMVSC(7).get_params(),
            "n_anchors": 50,
            "alpha": 0.1,
            "locality": 0.0,
            "scaling": None,
            "fusion": "late",
            "n_repeats": 1,
            "view_weights": "equal",
            "n_components": 7,
            "degree_norm": True,
            "row_norm": False,
            "anchor_method": "kmeans-all",
        }

    def test_the_released_script_leaves_degrees_out(self):
        paper = LMVSC.as_published(7, 50, 0.1).get_params()
        released = LMVSC.as_published(7, 50, 0.1, variant="released").get_params()
        assert released == {**paper, "degree_norm": False}

    @pytest.mark.parametrize("variant", ["paper", "released"])
    def test_finds_clear_groups(self, views, groups, variant):
        model = LMVSC.as_published(3, 12, 1.0, variant=variant, random_state=0, n_jobs=1).fit(views)
        assert adjusted_rand_score(groups, model.labels_) == 1.0
        assert np.array_equal(model.predict(views), model.labels_)

    def test_an_unknown_variant_is_refused(self):
        with pytest.raises(ValueError, match="variant must be 'paper' or 'released'; got 'code'"):
            LMVSC.as_published(3, 10, 0.1, variant="code")


class TestScikitLearn:
    def test_clone_keeps_every_parameter(self):
        model = LMVSC(4, alpha=[0.1, 1.0], scaling=["unit", None], fusion="both", n_jobs=2)
        assert clone(model).get_params() == model.get_params()

    def test_set_params(self, views):
        model = LMVSC(3).set_params(n_clusters=2, random_state=0)
        assert len(set(model.fit(views).labels_)) == 2
        with pytest.raises(ValueError, match="Invalid parameter 'n_anchor'"):
            model.set_params(n_anchor=5)

    def test_set_output_gives_tables(self, views):
        model = LMVSC(3, n_components=3, n_repeats=1, random_state=0)
        model.set_output(transform="pandas").fit(views)
        table = model.transform(views)
        assert isinstance(table, pd.DataFrame)
        assert list(table.columns) == ["lmvsc0", "lmvsc1", "lmvsc2"]
        assert np.array_equal(table.to_numpy(), model.embedding_)
        assert list(model.get_feature_names_out()) == list(table.columns)

    def test_pipeline(self, views, groups):
        pipeline = make_pipeline(StandardScaler(), LMVSC(3, random_state=0))
        labels = pipeline.fit_predict(views[0])
        assert adjusted_rand_score(groups, labels) > 0.9
        assert np.array_equal(pipeline.predict(views[0]), labels)

    @pytest.mark.slow
    def test_grid_search_over_several_views(self, views, groups):
        def score(model, X, y):
            return adjusted_rand_score(y, model.predict(X))

        search = GridSearchCV(
            LMVSC(3, random_state=0),
            {"n_clusters": [2, 3], "fusion": ["late", "both"]},
            scoring=score,
            cv=KFold(3, shuffle=True, random_state=0),
            error_score="raise",
        )
        search.fit(Views(views), groups)
        assert search.best_params_["n_clusters"] == 3
        assert search.best_score_ == 1.0
        assert search.predict(Views(views)).shape == (90,)

    def test_feature_names_of_a_table_are_kept_and_checked(self, views):
        table = pd.DataFrame(views[0], columns=list("abcd"))
        model = fit(table)
        assert model.feature_names_in_.tolist() == list("abcd")
        with pytest.raises(ValueError, match="feature names"):
            model.predict(table[list("dcba")])

    def test_repr_shows_what_was_changed(self):
        assert repr(LMVSC(5, alpha=0.1)) == "LMVSC(alpha=0.1, n_clusters=5)"

    def test_copies_predict_the_same(self, views):
        model = fit(views)
        assert np.array_equal(copy.deepcopy(model).predict(views), model.labels_)


class TestHardData:
    def test_constant_columns(self, views, groups):
        views[0][:, 1] = 7.3
        views[1] = sparse.csr_array(np.column_stack([views[1], np.full(90, 0.1)]))
        model = fit(views)
        assert adjusted_rand_score(groups, model.labels_) == 1.0
        assert np.array_equal(model.predict(views), model.labels_)

    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.parametrize("value", [0.0, 0.1])
    def test_a_constant_view(self, views, scaling, value):
        X = [views[0], np.full((90, 5), value)]
        model = fit(X, scaling=scaling)
        assert np.isfinite(model.embedding_).all()
        assert np.array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_rows_of_zeros(self, views, scaling, convert):
        views[0][::4] = 0.0
        X = [convert(views[0]), views[1]]
        model = fit(X, scaling=scaling)
        assert np.isfinite(model.embedding_).all()
        assert np.array_equal(model.predict(X), model.labels_)

    def test_identical_views(self, views, groups):
        model = fit([views[0]] * 3)
        assert (
            adjusted_rand_score(groups, model.labels_) > 0.95
        )  # one row of 90 lies between groups
        assert np.allclose(model.view_weights_, 1.0 / 3.0)

    @pytest.mark.parametrize("view_weights", ["equal", "agreement", "amgl"])
    @pytest.mark.parametrize("fusion", ["late", "both"])
    def test_one_cluster(self, views, view_weights, fusion):
        model = fit([*views, views[0]], 1, view_weights=view_weights, fusion=fusion)
        assert set(model.labels_) == {0}
        assert model.predict([*views, views[0]]).tolist() == [0] * 90

    @pytest.mark.parametrize("n", [2, 5, 20])
    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_as_many_clusters_as_rows(self, n):
        X = np.random.default_rng(n).normal(size=(n, 30))
        model = fit(X, n)
        assert sorted(model.labels_) == list(range(n))

    @pytest.mark.parametrize("columns", [1, 4])
    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_a_single_row(self, columns, scaling):
        X = [np.full((1, columns), 3.0), np.ones((1, 2))]
        model = fit(X, 1, scaling=scaling)
        assert model.labels_.tolist() == [0]
        assert model.predict(X).tolist() == [0]
        assert np.isfinite(model.embedding_).all()

    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_fewer_distinct_rows_than_clusters_warn(self):
        X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 8, axis=0)
        with pytest.warns(ConvergenceWarning, match="3 distinct rows, fewer than n_clusters=5"):
            model = fit(X, 5)
        assert np.isfinite(model.embedding_).all()
        assert adjusted_rand_score(np.repeat(np.arange(3), 8), model.labels_) == 1.0

    def test_too_few_useful_vectors_warn(self):
        X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 8, axis=0)
        with pytest.warns(RankWarning, match="only 3 useful singular vectors of the 5 asked for"):
            model = fit(X, 3, n_components=5, n_repeats=1)
        assert model.embedding_.shape == (24, 3)
        assert np.isfinite(model.embedding_).all()

    def test_columns_of_very_different_size(self, views, groups):
        X = [views[0] * 1e12, views[1] * 1e-12]
        for scaling in ("standard", "energy"):
            assert adjusted_rand_score(groups, fit(X, scaling=scaling).labels_) == 1.0

    @pytest.mark.parametrize("fusion", ["late", "early", "both"])
    def test_one_view_works_with_any_fusion(self, views, fusion):
        assert np.array_equal(fit(views[0], fusion=fusion).labels_, fit(views[0]).labels_)


class TestRefused:
    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (
                {"hog": np.ones((4, 2)), "gist": np.ones((5, 2))},
                "'gist' has 5 rows but 'hog' has 4",
            ),
            ([], "Got no views"),
            ({}, "Got no views"),
            (np.ones((0, 3)), "0 sample"),
            (np.ones((3, 0)), "0 feature"),
            ([np.ones((3, 2)), np.ones((3, 0))], "View 'view_1' has 0 feature"),
            (np.ones(3), "Expected 2D array, got 1D array"),
            ([["a", "b"], ["c", "d"]], "not numbers"),
            ({"p": pd.DataFrame({"n": [1, 2], "city": ["x", "y"]})}, r"View 'p' .*\['city'\]"),
            (np.ones((3, 2)) * 1j, "Complex data not supported"),
            (None, "Cannot use NoneType as views"),
            ("views.npy", "Cannot use str as views"),
        ],
        ids=str,
    )
    def test_what_is_no_view(self, X, message):
        with pytest.raises((ValueError, TypeError), match=message):
            LMVSC(2).fit(X)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, lambda v: v.astype("f4")])
    @pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
    def test_a_value_that_is_no_number_is_named(self, views, convert, value, word):
        views[1][57, 3] = value
        with pytest.raises(
            ValueError, match=f"View 'gist' contains {word} at row 57, column 3.*impute='mean'"
        ):
            fit({"hog": views[0], "gist": convert(views[1])})

    @pytest.mark.parametrize("scaling", KINDS)
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_a_value_that_is_no_number_is_named_in_new_rows(self, views, scaling, value):
        model = fit({"hog": views[0], "gist": views[1]}, scaling=scaling)
        views[1][57, 3] = value
        with pytest.raises(ValueError, match=r"View 'gist' contains .* at row 57, column 3"):
            model.predict({"hog": views[0], "gist": views[1]})

    @pytest.mark.parametrize("seed", [0, 1])
    def test_a_value_that_is_no_number_is_found_in_the_sample_and_outside(self, seed):
        # Anchors and scales come from 10 000 sampled rows; the second seed has this one among them.
        X = np.random.default_rng(0).normal(size=(60_000, 2))
        X[10, 1] = np.nan
        with pytest.raises(ValueError, match="View 'view_0' contains NaN at row 10, column 1"):
            fit(X, n_anchors=10, random_state=seed)

    def test_infinity_is_refused_where_missing_values_are_filled(self, views):
        views[0][3, 1] = np.inf
        with pytest.raises(ValueError, match="contains infinity"):
            fit(views, impute="mean")

    @pytest.mark.parametrize("method", ["predict", "transform"])
    def test_another_number_of_views(self, views, method):
        model = fit(views)
        with pytest.raises(ValueError, match=r"Got 1 view\(s\), but this model was fitted with 2"):
            getattr(model, method)(views[0])
        with pytest.raises(ValueError, match=r"Got 3 view\(s\), but this model was fitted with 2"):
            getattr(model, method)([*views, views[0]])

    @pytest.mark.parametrize("method", ["predict", "transform"])
    def test_another_number_of_columns(self, views, method):
        model = fit({"hog": views[0], "gist": views[1]})
        with pytest.raises(ValueError, match=r"X has 5 features.*expecting 6.*'gist'"):
            getattr(model, method)({"hog": views[0], "gist": views[1][:, :5]})

    def test_another_number_of_rows_in_one_view(self, views):
        model = fit(views)
        with pytest.raises(ValueError, match="'view_1' has 80 rows but 'view_0' has 90"):
            model.predict([views[0], views[1][:80]])

    @pytest.mark.parametrize("names", [("hog", "lbp"), ("a", "b")])
    def test_other_names_are_refused(self, views, names):
        model = fit({"hog": views[0], "gist": views[1]})
        with pytest.raises(ValueError, match=r"fitted with \['hog', 'gist'\]"):
            model.predict(dict(zip(names, views, strict=True)))

    def test_a_list_is_taken_by_position(self, views):
        model = fit({"hog": views[0], "gist": views[1]})
        assert np.array_equal(model.predict(list(views)), model.labels_)

    def test_names_stand_for_a_list_by_position(self, views):
        model = fit(list(views))
        assert np.array_equal(model.predict({"hog": views[0], "gist": views[1]}), model.labels_)
        new = {"hog": views[0], "view_1": views[1]}
        assert np.array_equal(model.predict(new), model.labels_)

    def test_a_name_of_another_position_is_refused(self, views):
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

    def test_a_failed_fit_leaves_the_last_model_as_it_was(self, views):
        model = fit(views)
        with pytest.raises(ValueError, match="alpha"):
            model.set_params(alpha=-1.0).fit(views[0])
        assert model.n_features_in_ == 10
        assert np.array_equal(model.predict(views), model.labels_)

    @pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
    def test_threads_that_make_no_sense(self, views, n_jobs):
        with pytest.raises(ValueError, match="n_jobs must be"):
            LMVSC(3, n_jobs=n_jobs).fit(views)

    @pytest.mark.parametrize("block_rows", [0, -5, 1.5, "some"])
    def test_blocks_that_make_no_sense(self, views, block_rows):
        with pytest.raises(ValueError, match="block_rows must be"):
            LMVSC(3, block_rows=block_rows).fit(views)

    def test_an_unknown_engine(self, views):
        with pytest.raises(ValueError, match="Unknown engine 'spark'"):
            LMVSC(3, engine="spark").fit(views)


class TestThreads:
    @pytest.mark.parametrize("n_jobs", [None, -1, -2, 1, 5, np.int64(2)])
    def test_any_number_gives_the_same_labels(self, views, n_jobs):
        assert np.array_equal(fit(views, n_jobs=n_jobs).labels_, fit(views).labels_)


def test_the_package_gives_the_class_of_the_module():
    assert manyview.LMVSC is LMVSC


class TestNeighbours:
    """What a fit must not do to the rest of the process, or to stored data."""

    def test_warning_filters_are_as_before(self, views):
        before = list(warnings.filters)
        for seed in range(4):
            LMVSC(3, random_state=seed, n_jobs=4).fit(views)
        assert list(warnings.filters) == before

    def test_threads_of_products_are_as_before_when_models_are_used_at_once(self, views):
        model = fit(views)
        before = [(lib["prefix"], lib["num_threads"]) for lib in threadpool_info()]
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _: model.predict(views), range(9)))
        assert [(lib["prefix"], lib["num_threads"]) for lib in threadpool_info()] == before

    def test_entries_stored_in_two_parts_count_once(self):
        X = sparse.random_array((60, 8), density=0.4, rng=0, format="csr")
        halves = sparse.csr_array(
            (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
        )
        once, twice = LMVSC(3, random_state=0).fit(X), LMVSC(3, random_state=0).fit(halves)
        assert np.allclose(once.singular_values_, twice.singular_values_, rtol=1e-12)
        assert halves.nnz == 2 * X.nnz
