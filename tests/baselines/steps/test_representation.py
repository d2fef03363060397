import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.steps.representation import (
    block_slices,
    choose_dictionary,
    n_pieces,
    neighbor_affinity,
    symmetric_affinity,
)


def test_dictionary_without_exemplars_is_all_rows():
    X = np.arange(12.0).reshape(4, 3)
    D = choose_dictionary(X, None, np.random.default_rng(0))
    assert D.is_whole and D.atoms is X
    np.testing.assert_array_equal(D.own, range(4))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_exemplars_are_distinct_rows_that_know_themselves(make):
    X = make(np.arange(20.0).reshape(10, 2))
    D = choose_dictionary(X, 4, np.random.default_rng(0))
    assert not D.is_whole and len(set(D.rows)) == 4
    np.testing.assert_array_equal(D.own[D.rows], range(4))
    assert abs(D.atoms - X[D.rows]).max() == 0
    assert (D.own >= 0).sum() == 4


def test_more_exemplars_than_rows_are_all_rows():
    assert choose_dictionary(np.eye(3), 7, np.random.default_rng(0)).is_whole


def test_blocks_cover_all_rows_once():
    blocks = block_slices(10, bytes_per_row=8, bytes_at_once=24)
    assert [list(range(10))[rows] for rows in blocks] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    assert block_slices(2, bytes_per_row=100, bytes_at_once=1) == [slice(0, 1), slice(1, 2)]


def test_affinity_is_the_mean_of_magnitudes_both_ways():
    C = sparse.csr_array(np.array([[0, -1.0, 0], [0.5, 0, 0], [0, 2.0, 0]]))
    np.testing.assert_array_equal(
        symmetric_affinity(C).toarray(), [[0, 0.75, 0], [0.75, 0, 1], [0, 1, 0]]
    )


def test_neighbours_of_representations_are_symmetric_without_loops():
    C = sparse.random_array((30, 30), density=0.2, rng=0, format="csr")
    W = neighbor_affinity(C, 3)
    assert abs(W - W.T).max() == 0 and W.diagonal().sum() == 0
    assert W.sum() == pytest.approx(3 * 30)


@pytest.mark.parametrize("n_used", [0, 1])
def test_neighbours_of_empty_representations_are_none(n_used):
    C = sparse.csr_array((np.ones(n_used), (range(n_used), range(n_used))), shape=(4, 4))
    assert neighbor_affinity(C, 3).nnz == 0


def test_pieces_of_a_bipartite_graph_are_those_with_samples():
    B = np.zeros((4, 5))
    B[0, 0] = B[1, 0] = B[2, 1] = 1  # columns 2 to 4 are nobody's, row 3 is alone
    assert n_pieces(B, is_bipartite=True) == 3
    assert n_pieces(np.eye(4), is_bipartite=False) == 4


def test_components_are_counted_in_either_direction():
    W = np.zeros((5, 5))
    W[0, 1] = W[2, 1] = 1
    assert n_pieces(W) == n_pieces(sparse.csr_array(W)) == 3
