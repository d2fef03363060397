"""Of very many rows, all go through the graphs of one anchor seed; others are asked on the sample."""

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest

from manyview import LMVSC, Views, load, metrics
from manyview.datasets import digits_views
from manyview.engines import Dask
from manyview.pipeline import clusters, plan, settings

ROWS = 1000  # what counts as very many here


@pytest.fixture(scope="module")
def digits():
    return digits_views()


@pytest.fixture(scope="module", autouse=True)
def few_are_very_many():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "_VERY_MANY_ROWS", ROWS)
        yield


@pytest.fixture(scope="module")
def model(digits):
    return LMVSC(10, random_state=0).fit(digits)


def test_all_rows_go_through_the_graphs_of_one_seed(model):
    assert {graph.repeat for graph in model.model_.graphs} == {0}


def test_choices_tell_how_many_seeds_were_asked(model):
    (choice,) = (each for each in model.choices_ if each["parameter"] == "n_repeats")
    assert choice["value"] == 2
    assert "sample" in choice["why"]


def test_predicting_the_training_rows_gives_their_labels(model, digits):
    np.testing.assert_array_equal(model.predict(digits), model.labels_)


def test_a_saved_model_predicts_the_same(model, digits, tmp_path):
    model.save(tmp_path / "model.mv")
    np.testing.assert_array_equal(load(tmp_path / "model.mv").predict(digits), model.labels_)


@pytest.mark.parametrize("others", [{"engine": "disk"}, {"n_jobs": 1}, {"n_jobs": 8}])
def test_labels_are_the_same_whatever_the_engine_and_threads(model, digits, others):
    again = LMVSC(10, random_state=0, **others).fit(digits)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_labels_are_the_same_on_dask(cluster, model, digits):
    chunked = Views([da.from_array(X, (600, -1)) for X in digits.arrays], names=digits.names)
    again = LMVSC(10, random_state=0, engine=Dask(client=cluster.client)).fit(chunked)
    labels = cluster.client.compute(again.labels_).result()
    np.testing.assert_array_equal(labels, model.labels_)


def test_the_second_seed_has_a_say_though_its_graphs_are_not_kept(model, digits, monkeypatch):
    spawned = plan.Rngs.spawned

    def with_another_second(rng, settings):
        rngs = spawned(rng, settings)
        return replace(rngs, repeats=(rngs.repeats[0], np.random.default_rng(99)))

    monkeypatch.setattr(plan.Rngs, "spawned", with_another_second)
    again = LMVSC(10, random_state=0).fit(digits)
    for one, other in zip(again.anchors_, model.anchors_, strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.embedding_.shape == model.embedding_.shape
    assert not np.array_equal(again.embedding_, model.embedding_)


def test_rows_that_weigh_nothing_change_nothing_for_the_others(digits):
    weights = np.where(np.arange(len(digits)) % 3 == 0, 0.0, 2.0)
    model = LMVSC(10, random_state=0).fit(digits, sample_weight=weights)
    np.testing.assert_array_equal(model.predict(digits), model.labels_)
    assert metrics.nmi(digits.target, model.labels_) > 0.7


def test_odd_rows_are_marked(digits):
    arrays = [X.astype(np.float64) for X in digits.arrays]
    for X in arrays:
        X[:5] = 1000.0 * np.random.default_rng(0).normal(size=(5, X.shape[1]))
    model = LMVSC(10, random_state=0, outliers="mark").fit(arrays)
    assert (model.labels_[:5] == -1).all()
    np.testing.assert_array_equal(model.predict(arrays), model.labels_)
    assert metrics.nmi(digits.target[5:], model.labels_[5:]) > 0.7


def test_known_clusters_keep_their_numbers(digits):
    known = np.where(np.arange(len(digits)) < 200, 9 - digits.target, -1)
    model = LMVSC(10, random_state=0).fit(digits, partial_labels=known)
    np.testing.assert_array_equal(model.predict(digits), model.labels_)
    assert (model.labels_ == 9 - digits.target).mean() > 0.7


def test_groups_are_taken_off(digits):
    groups = np.where(np.arange(len(digits)) % 2, "a", "b")
    shifted = [X + 5.0 * (groups == "a")[:, None] for X in digits.arrays]
    model = LMVSC(10, random_state=0).fit(shifted, groups=groups)
    np.testing.assert_array_equal(model.predict(shifted, groups=groups), model.labels_)
    assert metrics.nmi(digits.target, model.labels_) > 0.7


def test_clusters_may_be_so_many_that_some_rows_of_the_sample_find_them(digits, monkeypatch):
    monkeypatch.setattr(clusters, "VERY_MANY_CLUSTERS", 5)
    monkeypatch.setattr(clusters, "_ROWS_PER_CLUSTER", 40)
    model = LMVSC(10, random_state=0).fit(digits)
    np.testing.assert_array_equal(model.predict(digits), model.labels_)
    assert metrics.nmi(digits.target, model.labels_) > 0.7


def test_seeds_that_were_asked_for_all_embed_all_rows(digits):
    model = LMVSC(10, n_repeats=2, random_state=0).fit(digits)
    assert {graph.repeat for graph in model.model_.graphs} == {0, 1}


def test_samples_that_lack_views_are_labelled_too(digits):
    present = np.random.default_rng(0).random((len(digits), digits.n_views)) < 0.8
    present[:, 0] |= ~present.any(axis=1)
    lacking = type(digits)(list(digits.arrays), present=present)
    model = LMVSC(10, random_state=0).fit(lacking)
    np.testing.assert_array_equal(model.predict(lacking), model.labels_)
    assert metrics.nmi(digits.target, model.labels_) > 0.5
