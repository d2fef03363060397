import numpy as np
import pytest

from manyview import datasets
from manyview.baselines import FastMICE


@pytest.fixture(scope="module")
def views():
    return datasets.make_views(150, 3, (8, 10), separation=7.0, random_state=0)


@pytest.fixture(scope="module")
def model(views):
    return FastMICE(3, n_members=10, n_anchors=60, random_state=0).fit(views)


def test_members_have_between_k_and_2k_clusters(model):
    assert model.member_labels_.shape == (150, 10)
    assert all(3 <= n <= 6 for n in model._n_found)
    assert (model.member_labels_ < model._n_found).all()


def test_members_see_some_columns_of_some_views(model):
    for member in model._members:
        for part in member.parts:
            d = (8, 10)[part.view]
            assert 1 <= len(part.columns) <= 0.8 * d
            assert len(set(part.columns)) == len(part.columns)


def test_anchors_and_neighbours_are_shared_between_the_views_of_a_member(model):
    for member in model._members:
        n_views = len(member.parts)
        assert sum(len(part.anchors) for part in member.parts) in range(60, 60 + n_views)
        assert sum(part.n_neighbors for part in member.parts) in range(5, 5 + n_views)


def test_rows_of_a_members_graph_have_unit_length(model, views):
    part = model._members[0].parts[0]
    graph = part.graph(views.arrays[part.view])
    np.testing.assert_allclose((graph.multiply(graph)).sum(axis=1), 1)
