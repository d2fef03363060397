"""A tree that can be cut at any number of groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage

from manyview.stages.hierarchy import Hierarchy, grow


def cut(hierarchy: Hierarchy, rows, labels, n):
    leaves = hierarchy.nearest(rows, labels)
    return np.append(hierarchy.groups(n), -1)[leaves]


@pytest.fixture(scope="module")
def grown():
    rng = np.random.default_rng(0)
    centers, labels = 4.0 * rng.normal(size=(5, 3)), rng.integers(5, size=400).astype(np.int32)
    rows = centers[labels] + rng.normal(size=(400, 3))
    return grow(rows, labels, centers), rows, labels


def test_rows_in_single_precision_have_the_same_leaves(grown):
    hierarchy, rows, labels = grown
    labels = np.where(np.arange(len(labels)) % 9 == 0, -1, labels).astype(np.int32)
    found = hierarchy.nearest(rows.astype(np.float32), labels)
    np.testing.assert_array_equal(found, hierarchy.nearest(rows, labels))
    assert (found[labels < 0] == -1).all()


def test_the_tree_is_a_linkage_of_all_leaves(grown):
    hierarchy, *_ = grown
    assert is_valid_linkage(hierarchy.tree) and is_monotonic(hierarchy.tree)
    assert len(hierarchy.tree) == len(hierarchy.leaves) - 1


def test_as_many_groups_as_clusters_are_the_clusters(grown):
    hierarchy, rows, labels = grown
    np.testing.assert_array_equal(cut(hierarchy, rows, labels, 5), labels)


def test_cuts_have_as_many_groups_as_asked_for_and_are_nested(grown):
    hierarchy, rows, labels = grown
    finer = cut(hierarchy, rows, labels, 30)
    for n in (20, 10, 6, 5, 4, 2, 1):
        coarser = cut(hierarchy, rows, labels, n)
        assert np.array_equal(np.unique(coarser), np.arange(n))
        pairs = np.unique(np.column_stack([finer, coarser]), axis=0)
        assert len(pairs) == len(np.unique(finer))
        finer = coarser


def test_near_clusters_are_merged_first():
    centers = np.array([[0.0], [9.0], [1.0]])
    labels = np.repeat([0, 1, 2], 5).astype(np.int32)
    hierarchy = grow(centers[labels], labels, centers)
    assert hierarchy.groups(2).tolist() == [0, 1, 0]


def test_marked_rows_stay_marked(grown):
    hierarchy, rows, labels = grown
    marked = np.where(np.arange(400) < 3, -1, labels)
    for n in (3, 10):
        found = cut(hierarchy, rows, marked, n)
        assert (found[:3] == -1).all() and (found[3:] >= 0).all()


def test_rows_that_are_alike_and_clusters_without_rows_have_one_leaf_each():
    centers = np.eye(3)
    labels = np.repeat([0, 2], 20).astype(np.int32)
    hierarchy = grow(centers[labels], labels, centers)
    assert hierarchy.clusters.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "damage",
    [
        {"clusters": np.array([0, 2, 1], np.int32)},
        {"clusters": np.array([0, 1, 1], np.int32)},
        {"leaves": np.eye(3)[:, :2]},
        {"tree": np.zeros((3, 4))},
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(damage):
    hierarchy = grow(np.eye(3), np.arange(3, dtype=np.int32), np.eye(3))
    hierarchy.check(3, 3)
    with pytest.raises(ValueError, match="tree"):
        replace(hierarchy, **damage).check(3, 3)
