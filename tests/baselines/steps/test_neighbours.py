import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.steps.neighbours import neighbour_weights, normalised_graph


def brute_force(X, q):
    """Weights row by row, from all squared distances."""
    n = len(X)
    W = np.zeros((n, n))
    for i in range(n):
        squares = ((X - X[i]) ** 2).sum(axis=1)
        squares[i] = np.inf
        order = np.argsort(squares)
        nearest = squares[order[: q + 1]]
        W[i, order[:q]] = (nearest[q] - nearest[:q]) / (q * nearest[q] - nearest[:q].sum())
    return W


@pytest.mark.parametrize("width", [2, 40])
def test_weights_equal_brute_force(width):
    X = np.random.default_rng(0).normal(size=(60, width))
    np.testing.assert_allclose(neighbour_weights(X, 5).toarray(), brute_force(X, 5), atol=1e-12)


def test_sparse_rows_give_the_weights_of_dense_ones():
    X = sparse.random_array((50, 30), density=0.3, format="csr", rng=np.random.default_rng(0))
    np.testing.assert_allclose(
        neighbour_weights(X, 4).toarray(), neighbour_weights(X.toarray(), 4).toarray(), atol=1e-9
    )


@pytest.mark.parametrize("copies", [1, 2, 7, 30])
def test_rows_sum_to_one_without_self_loops_however_many_duplicates(copies):
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), copies, axis=0)
    W = neighbour_weights(X, 5)
    np.testing.assert_allclose(W.sum(axis=1), 1)
    assert W.data.min() >= 0
    assert W.diagonal().max() == 0


def test_rows_that_are_all_the_same_share_the_weight():
    W = neighbour_weights(np.full((8, 2), 3.0), 5)
    np.testing.assert_allclose(W.data, 0.2)
    assert W.diagonal().max() == 0


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_few_rows_have_fewer_neighbours(n):
    W = neighbour_weights(np.arange(n, dtype=float)[:, None] ** 2, 5)
    np.testing.assert_allclose(W.sum(axis=1), 1)


def test_rows_far_from_the_origin_keep_their_weights():
    X = np.random.default_rng(0).normal(size=(40, 20))
    far = neighbour_weights(X + 1e7, 5).toarray()
    np.testing.assert_allclose(far, neighbour_weights(X, 5).toarray(), atol=1e-6)


def test_integer_rows_do_not_overflow():
    X = np.random.default_rng(0).integers(0, 256, size=(30, 12)).astype(np.uint8)
    expected = neighbour_weights(X.astype(float), 5).toarray()
    np.testing.assert_allclose(neighbour_weights(X, 5).toarray(), expected)


def test_normalised_graph_is_symmetric_with_largest_eigenvalue_one():
    M = normalised_graph(neighbour_weights(np.random.default_rng(0).normal(size=(50, 3)), 5))
    dense = M.toarray()
    np.testing.assert_allclose(dense, dense.T)
    assert np.linalg.eigvalsh(dense)[-1] == pytest.approx(1)
