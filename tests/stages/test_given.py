"""Rows whose cluster is known: where centres start, and what they add to the means."""

import numpy as np

from manyview.stages.given import seed_centers, sum_given

ROWS = np.array([[0.0, 0.0], [0.0, 2.0], [9.0, 9.0]])
LABELS = np.array([2, 2, 0], np.int32)


def test_known_rows_count_by_their_weights_in_their_own_cluster():
    once = sum_given(ROWS, LABELS, np.ones(3), 3)
    np.testing.assert_allclose(once.means()[[0, 2]], [[9.0, 9.0], [0.0, 1.0]])
    assert once.counts[1] == 0 and once.counts[2] == 2 * once.counts[0]
    without = sum_given(ROWS, LABELS, np.array([1.0, 0.0, 1.0]), 3)
    np.testing.assert_allclose(without.means()[2], [0.0, 0.0])


def test_centres_get_the_numbers_of_the_known_rows_near_them_and_move_towards_these():
    centers = np.array([[0.0, 1.5], [8.0, 8.0], [-5.0, 5.0]])
    given = sum_given(ROWS, LABELS, np.ones(3), 3)
    start = seed_centers(centers, ROWS, LABELS, given)
    np.testing.assert_allclose(start[1], centers[2])  # nobody is known there
    for number, was, own in ((2, centers[0], [0.0, 1.0]), (0, centers[1], [9.0, 9.0])):
        assert np.linalg.norm(start[number] - own) < np.linalg.norm(was - own)


def test_of_two_known_clusters_in_one_found_cluster_the_other_takes_another_centre_along():
    centers = np.array([[0.0, 1.0], [50.0, 50.0]])
    labels = np.array([0, 1, 1], np.int32)
    rows = np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 2.0]])
    start = seed_centers(centers, rows, labels, sum_given(rows, labels, np.ones(3), 2))
    assert np.linalg.norm(start[1] - rows[1]) < 0.2
    assert np.linalg.norm(start[0] - rows[0]) < 0.2 * np.linalg.norm(centers[1] - rows[0])
