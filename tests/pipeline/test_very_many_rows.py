"""Of very many rows, all go through the graphs of one anchor seed; others are asked on the sample."""

import numpy as np
import pytest

from manyview import LMVSC, load, metrics
from manyview.datasets import digits_views
from manyview.pipeline import settings

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


def test_labels_are_the_same_whatever_the_engine_and_threads(model, digits):
    for others in ({"engine": "disk"}, {"n_jobs": 2}):
        again = LMVSC(10, random_state=0, **others).fit(digits)
        np.testing.assert_array_equal(again.labels_, model.labels_)


def test_the_second_seed_changes_what_is_found(model, digits):
    alone = LMVSC(10, n_repeats=1, random_state=0).fit(digits)
    assert metrics.nmi(alone.labels_, model.labels_) < 1.0


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
