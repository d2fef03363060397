"""Neighbours of cells: by shared anchors, or the nearest in the embedding."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from manyview import LMVSC, Views
from manyview.sc import neighbors
from manyview.sc.neighbors import (
    exact_neighbours,
    join_pieces,
    linked_neighbours,
    look_at_cells,
    refuse_too_many,
)


def test_the_strongest_links_are_those_of_the_whole_graph():
    B = np.random.default_rng(0).random((50, 6)) ** 8
    W = B @ B.T
    np.fill_diagonal(W, 0.0)
    found = linked_neighbours(sparse.csr_array(B), 7).distances
    for row in range(50):
        expected = np.argsort(-W[row])[:7]
        assert set(found[[row]].indices) == set(expected)


def test_cells_of_crowded_anchors_find_neighbours_too(monkeypatch):
    monkeypatch.setattr(neighbors, "_PER_ANCHOR", 20)
    graph = sparse.csr_array(np.kron(np.eye(3), np.ones((200, 1))))
    found = linked_neighbours(graph, 5)
    links = found.connectivities.tocoo()
    assert (links.row // 200 == links.col // 200).all()
    assert np.diff(found.distances.indptr).min() >= 1
    again = linked_neighbours(graph, 5)
    assert (again.distances != found.distances).nnz == 0


def test_blocks_change_nothing(monkeypatch):
    graph = sparse.random_array((90, 12), density=0.3, format="csr", rng=np.random.default_rng(0))
    whole = linked_neighbours(graph, 5)
    monkeypatch.setattr(neighbors, "_ROWS", 25)
    assert abs(linked_neighbours(graph, 5).distances - whole.distances).max() < 1e-12


def test_cells_of_an_evident_cluster_have_near_ones():
    """Its one anchor tells none of them apart."""
    rng = np.random.default_rng(0)
    kinds = np.arange(300) % 3
    rows = 40.0 * np.eye(3)[kinds] + rng.normal(size=(300, 3))
    model = LMVSC(3, random_state=0).fit(rows)
    assert len(model.model_.graphs[0].anchors) == 3
    _, graph = look_at_cells(model.model_, Views(rows))
    links = linked_neighbours(graph, 10).distances.tocoo()
    apart = np.linalg.norm(rows[links.row] - rows[links.col], axis=1)
    same = np.linalg.norm(rows[::3][:50] - rows[::3][50:], axis=1)
    assert (kinds[links.row] == kinds[links.col]).mean() > 0.99
    assert np.median(apart) < 0.6 * np.median(same)


def test_exact_ones_are_the_nearest():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    apart = cdist(rows, rows)
    np.fill_diagonal(apart, np.inf)
    found = exact_neighbours(rows, 4)
    for row in range(40):
        assert set(found.distances[[row]].indices) == set(np.argsort(apart[row])[:4])
    assert (abs(found.connectivities - found.connectivities.T) > 0).nnz == 0


def test_exact_ones_of_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(neighbors, "_MOST_EXACT", 30)
    with pytest.raises(ValueError, match="40 cells would take long; they are for 30 at most"):
        refuse_too_many(40)


@pytest.mark.parametrize("size", [30, 3])
def test_pieces_are_joined_and_every_cell_keeps_as_many_neighbours(size):
    rng = np.random.default_rng(0)
    embedding = np.repeat(np.array([[0.0, 0], [10, 0], [30, 0]]), size, axis=0)
    embedding += rng.normal(size=embedding.shape)
    apart = exact_neighbours(embedding, 2)
    found = join_pieces(apart, embedding)
    assert connected_components(found.connectivities)[0] == 1
    assert (np.diff(found.distances.indptr) == 2).all() and found.distances.data.min() > 0
    assert not found.distances.diagonal().any()
    far = abs(found.connectivities - apart.connectivities).tocoo()
    kinds = np.arange(3 * size) // size
    between = {tuple(sorted(pair)) for pair in zip(kinds[far.row], kinds[far.col], strict=True)}
    assert (0, 2) not in between and {(0, 1), (1, 2)} <= between
