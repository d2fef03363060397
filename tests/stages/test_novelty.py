"""Clusters of new rows that nothing known explains."""

import numpy as np
import pytest

from manyview.stages.novelty import Known, find_new_clusters
from manyview.stages.oddness import fit_oddness
from manyview.stages.scaling import fit_scaler

RNG = np.random.default_rng(0)
CENTERS = 8.0 * np.eye(6)


def rows_at(*places, n=40):
    return np.concatenate([CENTERS[place] + RNG.normal(size=(n, 6)) for place in places])


@pytest.fixture(scope="module")
def oddness():
    known = rows_at(0, 1, 2, n=100)
    scaler = fit_scaler(known, name="a", kind="standard")
    return fit_oddness((scaler,), [known], seed=0)


def find(oddness, rows):
    return find_new_clusters(Known(oddness, np.ones(1)), [rows], rows)


def test_known_rows_are_no_new_cluster_however_many(oddness):
    assert (find(oddness, rows_at(0, 1, 2, n=300)) == -1).all()


def test_many_rows_of_one_known_cluster_are_no_new_one(oddness):
    assert (find(oddness, rows_at(1, n=400)) == -1).all()


def test_new_clusters_are_told_apart_and_numbered_as_they_come(oddness):
    found = find(oddness, rows_at(4, 0, 3))
    np.testing.assert_array_equal(found, np.repeat([0, -1, 1], 40))


def test_one_new_cluster_is_not_divided(oddness):
    assert (find(oddness, rows_at(5, n=200)) == 0).all()


def test_fewer_than_ten_rows_are_no_cluster(oddness):
    assert (find(oddness, rows_at(5, n=9)) == -1).all()
    assert (find(oddness, rows_at(5, n=12)) == 0).all()
