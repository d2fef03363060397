"""Clustering again: each view alone, other seeds, and what overlaps say."""

import numpy as np
import pytest
from sklearn.datasets import make_circles

from manyview import LMVSC, Views, datasets, metrics
from manyview.report import refits


def test_a_view_alone_is_fitted_with_the_models_settings_if_the_model_has_no_graph_of_it(fitted):
    views, _, _ = fitted
    model = LMVSC(4, n_repeats=1, fusion="early", random_state=0).fit(views)
    labels = refits.refit(model, views, seed=3, view=1)
    same = LMVSC(4, n_repeats=1, random_state=3, scaling=model.scaling_[1])
    alone = same.fit({"shape": views["shape"]})
    np.testing.assert_array_equal(labels, alone.labels_)


def test_settings_for_each_view_are_split(blobs):
    X = blobs(120, 3, (4, 6))
    given = [part[:20] for part in X]
    settings = {"n_repeats": 1, "random_state": 0}
    scaling, weights = ["unit", "energy"], [0.2, 0.8]
    model = LMVSC(3, scaling=scaling, view_weights=weights, anchor_method=given, **settings).fit(X)
    labels = refits.refit(model, Views(X), seed=0, view=1)
    alone = LMVSC(3, scaling="energy", anchor_method=[given[1]], **settings).fit([X[1]])
    np.testing.assert_array_equal(labels, alone.labels_)


def test_a_view_alone_is_clustered_without_choosing_anything_again(monkeypatch):
    views = datasets.digits_views()[:300]
    model = LMVSC(10, n_repeats=1, random_state=0).fit(views)
    again = refits.refit(model, views, seed=3, view=0, fusion="early")  # a change: all is chosen
    monkeypatch.setattr(refits, "find_labels", None)
    labels = refits.refit(model, views, seed=3, view=0)
    truth = views.target
    assert metrics.nmi(truth, labels) > metrics.nmi(truth, again) - 0.05


def test_a_view_that_alone_shows_evident_clusters_is_told_so():
    rings, truth = make_circles(900, factor=0.4, noise=0.03, random_state=0)
    noise = np.random.default_rng(0).normal(size=(900, 6))
    views = Views({"rings": rings, "noise": noise}, target=truth)
    model = LMVSC(2, random_state=0).fit(views)
    assert [graph.views for graph in model.model_.graphs] == [(0,)]
    alone = [metrics.nmi(truth, refits.refit(model, views, seed=0, view=v)) for v in (0, 1)]
    assert alone[0] > 0.95 and alone[1] < 0.1


def test_a_view_that_no_sampled_row_has_is_left_out(blobs):
    X = blobs(120, 3, (4, 6, 5))
    model = LMVSC(3, n_repeats=1, random_state=0).fit(X)
    present = np.ones((120, 3), dtype=bool)
    present[:, 2] = False
    labels = refits.refit(model, Views(X, present=present), seed=0)
    assert metrics.nmi(model.labels_, labels) > 0.9


def test_the_published_method_is_fitted_again_as_published(blobs):
    X = blobs(120, 3, (4, 6))
    model = LMVSC.as_published(3, 10, 0.1, variant="released", random_state=0).fit(X)
    again = LMVSC.as_published(3, 10, 0.1, variant="released", random_state=7)
    np.testing.assert_array_equal(refits.refit(model, Views(X), seed=7), again.fit(X).labels_)
    alone = refits.refit(model, Views(X), seed=7, view=1)
    np.testing.assert_array_equal(alone, again.fit([X[1]]).labels_)


@pytest.mark.parametrize("n_anchors", [100, (50, 100)])
def test_a_sample_smaller_than_the_number_of_anchors_can_be_fitted(blobs, n_anchors):
    X = blobs(120, 3, (4, 6))
    model = LMVSC(3, n_anchors=n_anchors, n_repeats=1, random_state=0).fit(X)
    assert refits.refit(model, Views(X)[:60], seed=0).shape == (60,)


def test_refitting_leaves_the_model_as_it_was(fitted):
    views, _, model = fitted
    before = model.labels_.copy(), model.get_params()
    refits.refit(model, views, seed=9)
    np.testing.assert_array_equal(model.labels_, before[0])
    assert model.get_params() == before[1]


def test_agreement_is_symmetric_and_the_whole_comes_last(fitted):
    views, _, model = fitted
    alone, problems = refits.cluster_each_view(model, views, seed=0)
    agreement = refits.measure_agreement(model.labels_, alone, list(views.names))
    matrix = np.array(agreement["nmi"])
    assert problems == [None, None] and matrix.shape == (3, 3)
    np.testing.assert_allclose(matrix, matrix.T)
    np.testing.assert_allclose(np.diag(matrix), 1.0)
    assert matrix[0, 2] == pytest.approx(metrics.nmi(alone[0], model.labels_), abs=1e-4)


def test_a_view_that_cannot_be_clustered_is_told_with_its_reason(fitted):
    views, _, model = fitted
    holes = views["colour"].copy()
    holes[:, 2] = np.nan
    broken = Views({"colour": holes, "shape": views["shape"]})
    alone, problems = refits.cluster_each_view(model, broken, seed=0)
    assert alone[0] is None and "NaN" in problems[0]
    agreement = refits.measure_agreement(model.labels_, alone, ["colour", "shape"])
    assert agreement["names"] == ["shape"]


def test_a_view_that_no_row_has_is_told(fitted):
    views, _, model = fitted
    lacking = Views({"colour": np.full((240, 6), np.nan), "shape": views["shape"]})
    alone, problems = refits.cluster_each_view(model, lacking, seed=0)
    assert alone[0] is None and problems[0] == "none of the rows has this view"


def test_overlap_is_the_best_jaccard_index():
    labels, others = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0, 2])
    expected = [2 / 3, 2 / 3, 1.0]
    np.testing.assert_allclose(refits.best_overlap(labels, others, 3), expected)


def test_a_cluster_that_only_one_view_sees():
    groups = np.arange(600) % 5
    blind = np.where(groups >= 2, 2, groups)  # cannot tell 2, 3 and 4 apart
    overlaps = np.column_stack([refits.best_overlap(groups, part, 5) for part in (blind, groups)])
    only = refits.only_views(overlaps, ["blind", "sharp"])
    assert only == [None, None, "sharp", "sharp", "sharp"]


def test_stability_of_clear_groups_is_perfect(fitted):
    views, _, model = fitted
    stability = refits.measure_stability(model, views, model.labels_, model.embedding_, seed=5)
    assert stability["ari"] == [
        1.0
    ]  # by a fit with another seed: this one has a single anchor seed
    assert stability["clusters"] == [1.0] * 4


def test_anchor_seeds_of_the_fit_say_how_stable_clusters_are(blobs):
    X = blobs(120, 3, (4, 6))
    model = LMVSC(3, n_repeats=3, n_anchors=20, random_state=0).fit(X)
    labels = np.where(np.arange(120) < 60, model.labels_, 0)  # other rows are not where they belong
    arguments = {"embedding": model.embedding_, "seed": 0}
    stable = refits.measure_stability(model, Views(X), model.labels_, **arguments)
    assert stable["ari"] == [1.0, 1.0]
    wrong = refits.measure_stability(model, Views(X), labels, **arguments)
    assert max(wrong["ari"]) < 0.5 and wrong["clusters"][0] < 0.6
