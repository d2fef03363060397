"""Samples are bounded, nested, and leave no cluster out; rows are those of the model and no others."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from manyview import LMVSC, Views
from manyview.report.samples import (
    MOST_PLACED,
    STUDIED_ROWS,
    check_has_labels,
    choose_balanced,
    choose_samples,
    read_fitted_rows,
)


def choose(labels, **changes):
    arguments = {"n_columns": 10, "rng": np.random.default_rng(0), **changes}
    return choose_samples(labels, **arguments)


def test_few_rows_are_all_looked_at():
    samples = choose(np.arange(300) % 3)
    for rows in (samples.shown, samples.studied, samples.placed):
        np.testing.assert_array_equal(rows, np.arange(300))


def test_a_million_rows_are_sampled_within_bounds():
    samples = choose(np.arange(1_000_000) % 7)
    assert 100_000 <= len(samples.shown) <= 101_000
    assert STUDIED_ROWS <= len(samples.studied) <= STUDIED_ROWS + 200
    assert MOST_PLACED <= len(samples.placed) <= MOST_PLACED + 200


def test_samples_lie_within_each_other():
    samples = choose(np.arange(200_000) % 5)
    assert samples.studied.max() < len(samples.shown)
    assert np.isin(samples.placed, samples.studied).all()


def test_rows_with_very_many_columns_are_fewer():
    assert len(choose(np.arange(20_000) % 5, n_columns=50_000).studied) < 1_200


def test_small_clusters_are_in_every_sample():
    labels = np.zeros(300_000, dtype=int)
    labels[:30], labels[30:33] = 1, 2
    samples = choose(labels)
    for positions in (np.arange(len(samples.shown)), samples.studied, samples.placed):
        sizes = np.bincount(labels[samples.shown[positions]])
        assert sizes[1] >= 20 and sizes[2] == 3


def test_thousands_of_clusters_do_not_make_samples_large():
    labels = np.arange(60_000) % 2_000
    samples = choose(labels)
    assert len(samples.studied) <= 2 * STUDIED_ROWS and len(samples.placed) <= 2 * MOST_PLACED
    assert len(np.unique(labels[samples.shown[samples.placed]])) == 2_000


def test_the_same_seed_chooses_the_same_rows():
    labels = np.arange(20_000) % 3
    one, two = (choose_balanced(labels, 500, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert (np.diff(one) > 0).all()


def test_rows_come_in_the_order_of_the_fitted_views(fitted):
    views, _, model = fitted
    other_way = {"shape": views["shape"], "colour": views["colour"]}
    assert read_fitted_rows(model, other_way).names == views.names


def test_other_rows_are_refused(fitted):
    views, _, model = fitted
    with pytest.raises(ValueError, match="200 rows, but the model was fitted to 240"):
        read_fitted_rows(model, views[:200])
    with pytest.raises(ValueError, match="expecting 6 features"):
        read_fitted_rows(model, Views({"colour": views["colour"][:, :3], "shape": views["shape"]}))


def test_a_model_without_labels_is_refused(fitted):
    with pytest.raises(NotFittedError):
        check_has_labels(LMVSC(3))
    stream = LMVSC(4, n_repeats=1, random_state=0).partial_fit(fitted[0])
    with pytest.raises(ValueError, match="A stream keeps no labels"):
        check_has_labels(stream)
    check_has_labels(fitted[2])
