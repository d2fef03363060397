"""Confidence against direct computation."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from manyview.report.certainty import describe_certainty, describe_cluster, measure_certainty


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    embedding, centers = rng.normal(size=(9000, 5)), rng.normal(size=(4, 5))
    labels = cdist(embedding, centers).argmin(axis=1)
    return embedding, labels, centers


def measure(embedding, labels, centers):
    confidence = np.random.default_rng(1).random(len(labels))
    sizes = np.bincount(labels, minlength=len(centers))
    return measure_certainty(embedding, labels, centers, sizes, confidence=confidence)


def test_distances_and_margin_are_those_of_the_two_nearest_centres(rows):
    certainty = measure(*rows)
    embedding, _, centers = rows
    distances = np.sort(cdist(embedding, centers), axis=1)
    np.testing.assert_allclose(certainty.distance, distances[:, 0], atol=1e-7)
    np.testing.assert_allclose(certainty.margin, distances[:, 1] - distances[:, 0], atol=1e-7)
    second = np.argsort(cdist(embedding, centers), axis=1)[:, 1]
    np.testing.assert_array_equal(certainty.second, second)


def test_an_empty_cluster_is_nobodys_second():
    certainty = measure(np.zeros((3, 1)), np.zeros(3, dtype=int), np.array([[0.0], [0.1], [5.0]]))
    assert (certainty.second == -1).all()


def test_typical_members_are_nearest_and_borderline_ones_least_sure(rows):
    certainty = measure(*rows)
    members = np.flatnonzero(rows[1] == 2)
    facts = describe_cluster(members, certainty)
    assert facts["typical"] == sorted(members, key=lambda i: certainty.distance[i])[:5]
    assert facts["borderline"] == sorted(members, key=lambda i: certainty.confidence[i])[:5]
    assert facts["confidence"]["median"] == pytest.approx(
        np.median(certainty.confidence[members]), abs=1e-4
    )
    assert facts["neighbour"] == np.bincount(certainty.second[members]).argmax()


def test_a_cluster_without_members_has_no_facts(rows):
    facts = describe_cluster(np.array([], dtype=int), measure(*rows))
    assert facts["confidence"] is None and facts["typical"] == []


def test_the_histogram_counts_every_point(rows):
    certainty = measure(*rows)
    facts = describe_certainty(certainty)
    assert sum(facts["histogram"]["counts"]) == 9000
    assert facts["unsure_share"] == pytest.approx((certainty.confidence < 0.6).mean(), abs=1e-4)
