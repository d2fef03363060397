"""The tree of clusters as it is drawn."""

import numpy as np
import pytest

from manyview.report.tree import describe_tree
from manyview.stages.hierarchy import grow


@pytest.fixture
def hierarchy():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0], [50.0], [1.0], [60.0]])
    labels = (np.arange(80) % 4).astype(np.int32)
    return grow(centers[labels] + 0.1 * rng.normal(size=(80, 1)), labels, centers)


def test_clusters_that_are_near_stand_side_by_side(hierarchy):
    tree = describe_tree(hierarchy, 4)
    assert sorted(tree["order"]) == [0, 1, 2, 3]
    assert abs(tree["order"].index(0) - tree["order"].index(2)) == 1
    assert abs(tree["order"].index(1) - tree["order"].index(3)) == 1


def test_joins_go_from_clusters_to_one_group(hierarchy):
    joins = describe_tree(hierarchy, 4)["joins"]
    assert len(joins) == 3
    assert joins[0]["depths"] == [0.0, 0.0] and joins[-1]["depth"] == 1.0
    for join in joins:
        assert max(join["depths"]) <= join["depth"]
    assert joins[0]["depth"] < 0.01  # the two that are 1 apart, where others are 10 and 50


def test_one_cluster_very_many_or_none_are_not_drawn(hierarchy):
    assert describe_tree(hierarchy, 1) is None
    assert describe_tree(hierarchy, 61) is None
    assert describe_tree(None, 4) is None
