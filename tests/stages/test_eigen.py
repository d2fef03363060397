"""Leading eigenvectors: those of a dense solver, repeated eigenvalues included."""

import numpy as np
import pytest
from scipy import linalg, sparse

from manyview.baselines.steps.neighbours import neighbour_weights, normalised_graph
from manyview.stages import eigen
from manyview.stages.eigen import gram_eigenvectors, largest_eigenpairs, leading_eigenvectors
from manyview.stages.grams import RowsGram


def blobs_graph(n_blobs, n_rows, rng):
    """Neighbour graph of blobs so far apart that none are connected."""
    centers = 1000 * rng.normal(size=(n_blobs, 5))
    X = np.repeat(centers, n_rows, axis=0) + rng.normal(size=(n_blobs * n_rows, 5))
    return normalised_graph(neighbour_weights(X, 5))


def test_iteration_equals_the_dense_solver():
    rng = np.random.default_rng(0)
    M = normalised_graph(neighbour_weights(rng.normal(size=(1200, 4)), 5))
    values, vectors = leading_eigenvectors(M, 6, rng=rng)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(M.toarray())[::-1][:6], atol=1e-9)
    np.testing.assert_allclose(M @ vectors, vectors * values, atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-9)


@pytest.mark.parametrize("n_blobs", [5, 25])
def test_repeated_eigenvalues_are_all_found(n_blobs):
    rng = np.random.default_rng(0)
    M = blobs_graph(n_blobs, 1500 // n_blobs, rng)
    values, vectors = leading_eigenvectors(M, n_blobs, rng=rng)
    np.testing.assert_allclose(values, 1, atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_blobs), atol=1e-9)


def test_of_more_pieces_than_vectors_the_largest_have_one_each():
    rng, sizes = np.random.default_rng(0), [30, 700, 20, 50, 10, 40]
    rows = [rng.normal(size=(size, 2)) + 1000 * at for at, size in enumerate(sizes)]
    M = normalised_graph(neighbour_weights(np.vstack(rows), 9))
    values, vectors = leading_eigenvectors(M, 3, rng=rng)
    np.testing.assert_allclose(values, 1, atol=1e-9)
    piece_of = np.repeat(np.arange(len(sizes)), sizes)
    assert [set(piece_of[abs(vector) > 1e-12]) for vector in vectors.T] == [{1}, {3}, {5}]


def test_many_vectors_span_the_space_of_the_dense_solver(monkeypatch):
    monkeypatch.setattr(eigen, "_DENSE_BELOW", 100)
    rng = np.random.default_rng(0)
    M = normalised_graph(neighbour_weights(rng.normal(size=(1100, 4)), 5))
    values, vectors = leading_eigenvectors(M, eigen._MANY, rng=rng)
    expected = np.linalg.eigvalsh(M.toarray())[::-1][: eigen._MANY]
    np.testing.assert_allclose(values, expected, atol=eigen._GLANCE)
    assert np.linalg.norm(M @ vectors - vectors * values, axis=0).max() <= eigen._GLANCE
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(eigen._MANY), atol=1e-9)


def test_of_many_vectors_the_first_are_sure_where_not_all_need_be(monkeypatch):
    monkeypatch.setattr(eigen, "_DENSE_BELOW", 100)
    rng, n_sure = np.random.default_rng(0), 60
    M = normalised_graph(neighbour_weights(rng.normal(size=(1100, 4)), 5))
    values, vectors = leading_eigenvectors(M, eigen._MANY, n_sure=n_sure, rng=rng)
    errors = np.linalg.norm(M @ vectors - vectors * values, axis=0)
    assert errors[:n_sure].max() <= eigen._GLANCE
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(eigen._MANY), atol=1e-9)


def test_more_equal_eigenvalues_than_a_block_has_columns_are_all_found(monkeypatch):
    monkeypatch.setattr(eigen, "_DENSE_BELOW", 100)
    rng = np.random.default_rng(0)
    M = blobs_graph(eigen._MANY + 20, 10, rng)
    values, vectors = leading_eigenvectors(M, eigen._MANY, rng=rng)
    np.testing.assert_allclose(values, 1, atol=eigen._GLANCE)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(eigen._MANY), atol=1e-9)


def test_a_start_does_not_hide_what_it_lacks():
    rng = np.random.default_rng(0)
    M = blobs_graph(4, 300, rng)
    _, two = leading_eigenvectors(M, 2, rng=rng)
    values, _ = leading_eigenvectors(M, 4, start=two, rng=rng)
    np.testing.assert_allclose(values, 1, atol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 20])
def test_small_matrices_are_solved_densely(k):
    A = np.random.default_rng(0).normal(size=(20, 20))
    A = A @ A.T / 100
    values, vectors = leading_eigenvectors(sparse.csr_array(A), k, rng=np.random.default_rng(0))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:k])
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10)


def test_a_solver_that_gives_up_is_replaced_with_a_warning(monkeypatch):
    def give_up(*args, **kwargs):
        raise eigen.ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr(eigen, "eigsh", give_up)
    rng = np.random.default_rng(0)
    M = normalised_graph(neighbour_weights(rng.normal(size=(1100, 3)), 5))
    with pytest.warns(eigen.ConvergenceWarning, match="LOBPCG, with residual"):
        values, _ = leading_eigenvectors(M, 2, rng=rng)
    assert values[0] == pytest.approx(1, abs=1e-3)


def test_the_largest_are_found_where_the_solver_of_some_fails(monkeypatch):
    solve = linalg.eigh

    def fail(*args, subset_by_index=None, **options):
        if subset_by_index is not None:
            raise linalg.LinAlgError("Internal Error.")
        return solve(*args, **options)

    monkeypatch.setattr(linalg, "eigh", fail)
    values, vectors = largest_eigenpairs(np.diag([2.0, 5.0, 1.0]), 2)
    assert values.tolist() == [2.0, 5.0]
    np.testing.assert_array_equal(np.abs(vectors), [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])


class TestGram:
    @pytest.fixture(autouse=True)
    def dense_below_100_anchors(self, monkeypatch):
        monkeypatch.setattr(eigen, "_DENSE_BELOW", 100)

    def blocks(self, n_blocks, size):
        """A Gram matrix of anchors in groups, with few entries that are not zero."""
        rng = np.random.default_rng(0)
        parts = [rng.random((40, size)) for _ in range(n_blocks)]
        return sparse.block_diag([part.T @ part for part in parts]).toarray()

    @pytest.mark.parametrize(("n_blocks", "size"), [(3, 10), (20, 10), (2, 100)])
    def test_few_anchors_many_and_sparse_ones_as_a_whole_decomposition(self, n_blocks, size):
        gram = self.blocks(n_blocks, size)
        values, vectors = gram_eigenvectors(gram, 8)
        assert np.allclose(values, np.linalg.eigvalsh(gram)[::-1][:8], rtol=1e-8)
        assert np.allclose(gram @ vectors, vectors * values, rtol=0, atol=1e-6 * values[0])
        assert np.allclose(vectors.T @ vectors, np.eye(8), atol=1e-9)

    def test_what_is_rounding_is_left_out(self):
        Z = np.random.default_rng(0).random((50, 3)) @ np.ones((3, 20))
        values, vectors = gram_eigenvectors(Z.T @ Z, 5)
        assert len(values) == vectors.shape[1] == 1

    @pytest.mark.parametrize("seed", range(3))
    def test_vectors_beyond_the_rank_of_repeated_rows_are_left_out(self, seed):
        few = sparse.random_array((60, 700), density=0.1, rng=seed, format="csr")
        values, vectors = gram_eigenvectors(RowsGram(few[np.arange(660) % 60]), 120)
        assert len(values) == 60
        assert np.allclose(vectors.T @ vectors, np.eye(60), atol=1e-9)

    def test_no_more_than_there_are_anchors(self):
        assert gram_eigenvectors(np.eye(3), 10)[1].shape == (3, 3)

    def test_is_the_same_every_time(self):
        gram = self.blocks(20, 10)
        first, again = (gram_eigenvectors(gram, 30)[1] for _ in range(2))
        assert np.array_equal(first, again)

    @pytest.mark.parametrize("shape", [(40, 200), (150, 400), (500, 120), (150, 150)])
    def test_graph_rows_have_the_vectors_of_their_gram_matrix(self, shape):
        Z = sparse.random_array(shape, density=0.1, rng=1, format="csr")
        values, vectors = gram_eigenvectors(RowsGram(Z), 6)
        gram = (Z.T @ Z).toarray()
        assert np.allclose(values, np.linalg.eigvalsh(gram)[::-1][:6], rtol=1e-8)
        assert np.allclose(gram @ vectors, vectors * values, rtol=0, atol=1e-6 * values[0])
        assert np.allclose(vectors.T @ vectors, np.eye(6), atol=1e-9)

    def test_fewer_rows_than_anchors_have_no_more_vectors_than_rows(self):
        Z = sparse.random_array((5, 2000), density=0.1, rng=1, format="csr")
        values, vectors = gram_eigenvectors(RowsGram(Z), 9)
        assert len(values) == 5 and vectors.shape == (2000, 5)


@pytest.mark.parametrize("n_pieces", [5, 60, 94])
def test_a_graph_in_many_pieces_has_as_many_vectors_as_asked_for(n_pieces):
    # LAPACK, asked for some of the eigenvalues only, lost those that are equal.
    rng = np.random.default_rng(n_pieces)
    Z = np.zeros((600, 300))
    for row, piece in zip(Z, rng.integers(0, n_pieces, 600), strict=True):
        own = np.flatnonzero(np.arange(300) % n_pieces == piece)
        row[rng.choice(own, min(3, len(own)), replace=False)] = 1.0
    Z /= Z.sum(axis=1, keepdims=True)
    sums = Z.sum(axis=0)
    B = Z / np.sqrt(np.where(sums > 0, sums, 1.0))
    values, vectors = gram_eigenvectors(B.T @ B, 3)
    assert np.allclose(values, 1.0, rtol=1e-9)
    assert np.allclose(vectors.T @ vectors, np.eye(3), atol=1e-9)


@pytest.mark.parametrize(
    "M",
    [
        sparse.kron(sparse.eye_array(150), np.full((14, 14), 1 / 14), format="csr"),
        sparse.block_diag([np.full((10, 10), 0.1)] * 20 + [np.zeros((1800, 1800))], format="csr"),
    ],
    ids=["many equal", "few that are not zero"],
)
def test_many_eigenvectors_of_what_has_hardly_more_of_them(M):
    """Once all directions are found, what is left is rounding, and no direction."""
    values, vectors = eigen.leading_eigenvectors(M, 110, rng=np.random.default_rng(0))
    exact = np.linalg.eigvalsh(M.toarray())[::-1][:110]
    np.testing.assert_allclose(values, exact, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(110), atol=1e-8)
