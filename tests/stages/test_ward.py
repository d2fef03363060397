"""Ward's tree of weighted points: that of SciPy for points that stand as often as their weight says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, linkage
from sklearn.metrics import adjusted_rand_score

from manyview.stages.ward import cut_tree, ward_tree


def repeated(points, sizes):
    """What SciPy makes of points that stand ``sizes`` times each: numbers of rows, and its tree."""
    numbers = np.repeat(np.arange(len(points)), sizes)
    return numbers, linkage(points[numbers], "ward")


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), width=st.integers(1, 4))
def test_groups_are_those_of_points_that_stand_several_times(seed, n, width):
    rng = np.random.default_rng(seed)
    points, sizes = rng.normal(size=(n, width)), rng.integers(1, 6, n)
    tree, (numbers, expected) = ward_tree(points, sizes), repeated(points, sizes)
    for k in range(1, n + 1):
        theirs = fcluster(expected, k, "maxclust")
        assert adjusted_rand_score(theirs, cut_tree(tree, n, k)[numbers]) == 1.0


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12))
def test_heights_are_the_inertia_that_merges_cost(seed, n):
    rng = np.random.default_rng(seed)
    points, sizes = rng.normal(size=(n, 3)), rng.integers(1, 6, n)
    _, expected = repeated(points, sizes)
    costs = 0.5 * expected[-(n - 1) :, 2] ** 2  # SciPy's are roots of twice that
    assert np.allclose(ward_tree(points, sizes)[:, 2], costs, rtol=1e-9, atol=1e-12)


def test_without_weights_it_is_scipys_tree():
    points = np.random.default_rng(0).normal(size=(80, 5))
    tree, expected = ward_tree(points, np.ones(80)), linkage(points, "ward")
    assert is_valid_linkage(tree)
    assert np.array_equal(tree[:, [0, 1, 3]], expected[:, [0, 1, 3]])


def test_points_are_left_as_they_are():
    points, sizes = np.random.default_rng(0).normal(size=(9, 2)), np.arange(9.0)
    before = points.copy(), sizes.copy()
    ward_tree(points, sizes)
    assert np.array_equal(points, before[0]) and np.array_equal(sizes, before[1])


@pytest.mark.parametrize("points", [np.zeros((7, 2)), np.repeat(np.eye(3), 4, axis=0)])
def test_points_that_are_alike_are_merged_first(points):
    n, k = len(points), len(np.unique(points, axis=0))
    groups = cut_tree(ward_tree(points, np.ones(n)), n, k)
    same = (points[:, None] == points).all(axis=2)
    assert np.array_equal(groups[:, None] == groups, same)


def test_a_point_without_weight_costs_nothing():
    points = np.array([[0.0], [1.0], [5.0], [100.0]])
    groups = cut_tree(ward_tree(points, np.array([3.0, 3.0, 3.0, 0.0])), 4, 3)
    assert groups[3] == groups[2]  # however far it is


@pytest.mark.parametrize("k", [1, 4, 9])
def test_a_cut_has_exactly_as_many_groups(k):
    points = np.random.default_rng(1).normal(size=(9, 2))
    groups = cut_tree(ward_tree(points, np.ones(9)), 9, k)
    assert np.unique(groups).tolist() == list(range(k))
    assert groups.dtype == np.int32


def test_one_point_is_a_group():
    assert cut_tree(ward_tree(np.zeros((1, 3)), np.ones(1)), 1, 1).tolist() == [0]


@pytest.mark.parametrize("seed", range(5))
def test_a_cut_is_exact_where_many_points_have_no_weight(seed):
    """Merges of those cost as little as rounding."""
    rng = np.random.default_rng(seed)
    points = np.repeat(rng.normal(size=(20, 3)), 3, axis=0)
    points += 1e-9 * rng.normal(size=points.shape)
    tree = ward_tree(points, np.where(rng.random(60) < 0.6, 0.0, 5.0))
    assert is_valid_linkage(tree)
    for k in range(1, 61):
        assert len(np.unique(cut_tree(tree, 60, k))) == k
