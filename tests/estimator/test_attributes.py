"""What a fitted model tells, and what settings do to it."""

import inspect
import re
import resource
import sys

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC
from manyview.engines import Memory


class TestAttributes:
    @pytest.fixture
    def model(self, views, fit):
        X = {"hog": views[0], "gist": views[1]}
        return fit(X, n_anchors=11, n_components=3, fusion="late")

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

    def test_anchors_of_every_graph_are_there(self, views, fit):
        model = fit(views, n_anchors=[8, 9], alpha=[0.1, 1.0], fusion="both", n_repeats=2)
        # Two repeats of (two views and both together) times two sizes times two alphas.
        assert len(model.anchors_) == 2 * 3 * 2 * 2
        assert {a.shape for a in model.anchors_} == {(m, d) for m in (8, 9) for d in (4, 6, 10)}

    def test_centres_and_inertia(self, model):
        assert model.cluster_centers_.shape == (3, 3)
        distances = ((model.embedding_ - model.cluster_centers_[model.labels_]) ** 2).sum()
        assert model.inertia_ == pytest.approx(distances, rel=1e-9, abs=1e-12)
        assert model.n_iter_ >= 1

    def test_inertia_and_sizes_of_very_many_clusters_are_those_of_the_labels(self):
        centers = np.random.default_rng(0).normal(size=(220, 12))
        X = np.repeat(centers, 10, axis=0) + 0.05 * np.random.default_rng(1).normal(size=(2200, 12))
        model = LMVSC(220, scaling="standard", n_repeats=1, random_state=0).fit(X)
        distances = ((model.embedding_ - model.cluster_centers_[model.labels_]) ** 2).sum()
        assert model.inertia_ == pytest.approx(distances, rel=1e-5)  # in single precision
        sizes = np.bincount(model.labels_, minlength=220)
        assert model.model_.sizes.tolist() == sizes.tolist()

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

    def test_scaling_is_told_for_each_view(self, views, fit):
        assert fit(views, scaling=["unit", None]).scaling_ == ["unit", None]

    def test_scaling_that_was_left_open_is_one_that_was_tried(self, blobs, fit):
        model = fit(blobs(spread=3.0), scaling=["auto", "unit"])
        assert model.scaling_[0] in ("standard", "normal-scores")  # some values are negative
        assert model.scaling_[1] == "unit"

    def test_seconds_of_every_stage(self, model):
        assert list(model.stage_seconds_) == [
            "sample", "pilot", "anchors", "graph", "spectrum", "clusters", "embedding", "labels",
            "oddness", "confidence",
        ]  # fmt: skip
        assert all(seconds >= 0 for seconds in model.stage_seconds_.values())

    def test_memory_is_told_on_request(self, model):
        assert model.stage_memory_ == {}

    @pytest.mark.skipif(sys.platform != "linux", reason="read from Linux's /proc")
    def test_memory_of_every_stage(self, views, fit):
        model = fit(views, engine=Memory(track_memory=True))
        assert model.stage_memory_.keys() == model.stage_seconds_.keys()
        most = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # The system counts what is resident in batches, so the two are not exactly alike.
        assert all(10e6 < held < 1.2 * most for held in model.stage_memory_.values())

    def test_the_model_embeds_and_labels_rows(self, model, views):
        assert np.array_equal(model.model_.embed(list(views), 0), model.embedding_)
        assert np.array_equal(model.model_.label(list(views), 0), model.labels_)

    def test_rows_are_read_in_the_order_that_was_fitted(self, model, views):
        rows = model.read_rows({"gist": views[1], "hog": views[0]})
        assert list(rows.names) == ["hog", "gist"]
        assert np.array_equal(rows["hog"], views[0])

    def test_solver_report(self, model):
        report = model.solver_report_
        assert report["n_rows"] == 90
        assert report["n_failed"] == 0
        assert [graph["views"] for graph in report["graphs"]] == [["hog"], ["gist"]]
        assert all(graph["n_anchors"] == 11 for graph in report["graphs"])
        assert all(1.0 <= graph["mean_support"] <= 11.0 for graph in report["graphs"])
        assert sum(graph["weight"] for graph in report["graphs"]) == pytest.approx(1.0)

    def test_more_vectors_than_clusters(self, views, fit):
        model = fit(views, n_components=6)
        assert model.embedding_.shape == (90, 6)
        assert model.cluster_centers_.shape == (3, 6)

    def test_joined_repeats_stand_side_by_side(self, views, fit):
        assert fit(views, n_components=3, n_repeats=3).embedding_.shape == (90, 9)

    @pytest.mark.parametrize("k", [2, 3, 8])
    def test_vectors_kept_by_default_are_some_more_than_clusters(self, blobs, k, fit):
        model = fit(blobs(spread=3.0), k)
        (transform,) = model.model_.embedding.transforms
        (shares,) = model.model_.embedding.communities
        assert 2 <= transform.shape[1] <= k + max(2, k // 2)
        assert 1 <= shares.shape[1] <= k + 1
        width = transform.shape[1] + shares.shape[1]
        assert model.embedding_.shape == (90, width)
        assert model.cluster_centers_.shape == (k, width)

    def test_clusters_with_a_clear_gap_need_no_more_vectors_than_clusters(self, views, fit):
        model = fit(views)
        assert model.embedding_.shape == (90, 3)
        assert model.model_.embedding.communities == ()


class TestSettings:
    def test_a_view_of_noise_loses_its_weight_by_agreement(self, blobs, fit):
        rng = np.random.default_rng(0)
        X = [*blobs(n=300, widths=(4, 6)), rng.normal(size=(300, 5))]
        weights = fit(X, view_weights="agreement").view_weights_
        assert weights[2] < 0.5 * weights[:2].min()

    def test_given_weights_are_made_to_sum_to_one(self, views, fit):
        assert fit(views, view_weights=[1, 3]).view_weights_.tolist() == [0.25, 0.75]

    def test_a_view_without_weight_changes_nothing(self, views, fit):
        noise = np.random.default_rng(0).normal(size=(90, 4))
        alone = fit(views, anchor_method=[v[::9] for v in views])
        anchors = [*(v[::9] for v in views), noise[::9]]
        beside = fit([*views, noise], view_weights=[1, 1, 0], anchor_method=anchors)
        assert np.allclose(beside.embedding_, alone.embedding_, atol=1e-7)

    def test_large_alpha_uses_more_anchors_than_small(self, views, fit):
        few, many = (
            fit(views, alpha=alpha).solver_report_["graphs"][0]["mean_support"]
            for alpha in (1e-4, 10.0)
        )
        assert few < many

    def test_locality_uses_fewer_anchors(self, views, fit):
        plain, local = (
            fit(views, alpha=0.1, locality=g).solver_report_["graphs"][0]["mean_support"]
            for g in (0.0, 1.0)
        )
        assert local < plain

    def test_units_of_columns_do_not_matter_to_scaled_views(self, views, fit):
        other = [views[0] * np.array([1.0, 1e6, 1e-6, 4.0]), views[1] + 1e3]
        assert np.array_equal(fit(other).labels_, fit(views).labels_)

    @pytest.mark.parametrize("factor", [1e-4, 1e4])
    def test_alpha_is_relative_to_the_energy_of_a_view_that_is_not_scaled(self, views, factor, fit):
        options = {"scaling": None, "fusion": "late", "anchor_method": "random", "alpha": 0.1}
        small, large = fit(views, **options), fit([factor * v for v in views], **options)
        assert np.allclose(large.embedding_, small.embedding_, atol=1e-7)
        assert np.array_equal(large.labels_, small.labels_)

    @pytest.mark.parametrize("fusion", ["late", "early", "both"])
    def test_without_scaling_alpha_means_what_it_does_with_scaling_by_energy(
        self, views, fusion, fit
    ):
        X = [v / np.sqrt(v.var(axis=0).sum()) for v in views]  # of unit energy
        options = {"fusion": fusion, "anchor_method": "random", "alpha": 0.1, "n_axes": None}
        raw, scaled = (fit(X, scaling=kind, **options) for kind in (None, "energy"))
        assert np.allclose(raw.embedding_, scaled.embedding_, atol=1e-7)

    @pytest.mark.parametrize("give", [list, tuple, lambda a: dict(enumerate(a))])
    def test_anchors_can_be_given(self, views, give, fit):
        anchors = [v[::9] for v in views]
        model = fit(views, anchor_method=give(anchors), scaling="standard")
        for found, given in zip(model.anchors_, anchors, strict=True):
            assert np.allclose(found, given, atol=1e-12)

    def test_anchors_are_found_by_the_names_of_views(self, views, fit):
        named = {"a": views[0], "b": views[1]}
        anchors = {"b": views[1][::9], "a": views[0][::9]}
        model = fit(named, anchor_method=anchors, scaling="standard")
        assert np.allclose(model.anchors_[0], views[0][::9], atol=1e-12)

    def test_anchors_of_one_view_can_be_given_as_one_array(self, views, fit):
        model = fit(views[0], anchor_method=views[0][::9], scaling="standard")
        assert np.allclose(model.anchors_[0], views[0][::9], atol=1e-12)
        assert np.array_equal(model.predict(views[0]), model.labels_)

    def test_sparse_anchors_can_be_given(self, views, fit):
        anchors = [sparse.csr_array(v[::9]) for v in views]
        X = [sparse.csr_array(v) for v in views]
        model = fit(X, anchor_method=anchors, scaling="standard")
        assert np.allclose(model.anchors_[0], views[0][::9], atol=1e-12)

    def test_given_anchors_may_differ_in_number(self, views, fit):
        model = fit(views, anchor_method=[views[0][:20], views[1][:9]])
        assert [len(a) for a in model.anchors_] == [20, 9]

    def test_verbose_says_nothing_where_no_one_looks(self, views, capsys, fit):
        fit(views, verbose=1)
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize("n", [2, 3, 5, 10])
    @pytest.mark.parametrize("k", [1, 2])
    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_the_defaults_work_for_few_rows(self, n, k):
        rng = np.random.default_rng(n)
        X = [rng.normal(size=(n, 3)), rng.normal(size=(n, 5))]
        model = LMVSC(k, random_state=0).fit(X)
        assert np.array_equal(model.predict(X), model.labels_)
        assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize(
    "name", [name for name, kind in vars(LMVSC).items() if callable(kind) and name[0] != "_"]
)
def test_every_parameter_of_every_method_is_documented(name):
    method = getattr(LMVSC, name)
    documented = inspect.getdoc(method)
    for parameter in [*inspect.signature(method).parameters][1:]:
        assert re.search(rf"^(\w+, )*{parameter}(, \w+)*( :|$)", documented, re.M), parameter
