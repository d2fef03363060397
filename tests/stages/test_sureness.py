"""Probabilities of clusters, and how sharp they are."""

import numpy as np
import pytest

from manyview.stages.labels import label_rows
from manyview.stages.sureness import (
    fit_sharpness,
    gaussian_posteriors,
    label_surely,
    probabilities,
    square_distances,
    top_probabilities,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 3)), rng.normal(size=(5, 3))


def test_probabilities_sum_to_one_and_favour_the_nearest_centre(rows):
    embedding, centers = rows
    found = probabilities(embedding, centers, 2.0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    nearest = square_distances(embedding, centers).argmin(axis=1)
    np.testing.assert_array_equal(found.argmax(axis=1), nearest)


def test_the_largest_are_those_of_all_also_a_few_rows_at_a_time(rows, monkeypatch):
    from manyview.stages import sureness

    embedding, centers = rows
    monkeypatch.setattr(sureness, "_BLOCK_VALUES", 60)
    found = top_probabilities(embedding, centers, 2.0, 3)
    every = probabilities(embedding, centers, 2.0)
    np.testing.assert_allclose(found[:, 3:], -np.sort(-every, axis=1)[:, :3])
    np.testing.assert_array_equal(found[:, 0], every.argmax(axis=1))


@pytest.mark.parametrize(("precision", "rtol"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_labels_come_with_the_largest_probability(rows, monkeypatch, precision, rtol):
    from manyview.stages import sureness

    embedding, centers = rows[0].astype(precision), rows[1]
    monkeypatch.setattr(sureness, "_BLOCK_VALUES", 60)
    labels, confidence = label_surely(embedding, centers, 2.0).T
    np.testing.assert_array_equal(labels, label_rows(embedding, centers))
    every = probabilities(embedding.astype(np.float64), centers, 2.0)
    np.testing.assert_allclose(confidence, every.max(axis=1), rtol=rtol)


@pytest.mark.parametrize("sharpness", [0.1, 1.0, 20.0])
def test_the_sharpness_of_given_probabilities_is_found_again(rows, sharpness):
    distances = square_distances(*rows)
    given = probabilities(*rows, sharpness)
    assert fit_sharpness(distances, given) == pytest.approx(sharpness, rel=1e-3)


def test_certain_rows_make_it_as_sharp_as_it_gets_and_random_ones_flat(rows):
    distances = square_distances(*rows)
    certain = np.eye(5)[distances.argmin(axis=1)]
    assert fit_sharpness(distances, certain) > 1000
    assert fit_sharpness(distances, np.eye(5)[distances.argmax(axis=1)]) < 0.01


def test_posteriors_of_gaussian_clusters_are_those_of_their_true_densities():
    rng = np.random.default_rng(0)
    means, labels = np.array([[0.0, 0.0], [2.0, 0.0]]), np.repeat([0, 1], 4000).astype(np.int32)
    rows = means[labels] + rng.normal(size=(8000, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    found = gaussian_posteriors(rows, labels, 2, np.arange(8000, dtype=np.int32))
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    odds = (rows - means.mean(axis=0)) @ np.linalg.solve(covariance, means[1] - means[0])
    # 4000 rows a cluster tell means to about .02 of a deviation, and odds to a few times that.
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-odds)), atol=0.05)


def test_columns_without_spread_and_clusters_without_rows_do_no_harm():
    rows = np.column_stack([np.repeat([0.0, 5.0], 10), np.ones(20)])
    labels = np.repeat([0, 2], 10).astype(np.int32)
    found = gaussian_posteriors(rows, labels, 3, np.arange(20, dtype=np.int32))
    np.testing.assert_allclose(found, np.eye(3)[labels], atol=1e-12)


def test_near_ties_in_single_precision_favour_the_label():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(2, 600)).astype(np.float32)
    rows = np.repeat(centers.mean(axis=0, dtype=np.float64)[None], 50, axis=0)
    rows = (rows + 1e-7 * rng.normal(size=rows.shape)).astype(np.float32)
    found = probabilities(rows, centers, 1e6)
    own = found[np.arange(50), label_rows(rows, centers)]
    np.testing.assert_array_equal(own, found.max(axis=1))
