import warnings

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.steps.spectral import (
    bipartite_embedding,
    label_embedding,
    label_graph,
    spectral_embedding,
)
from manyview.metrics import accuracy
from manyview.stages import eigen


def random_graph(n=60, density=0.2, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * (rng.random((n, n)) < density)
    return (W + W.T) / 2


def planted_graph(sizes, seed=0, between=0.02):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(truth[:, None] == truth, 0.5, between)
    W = np.triu(rng.random(chance.shape) < chance, 1).astype(float)
    return W + W.T, truth


def projector(F):
    return F @ F.T


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_embedding_holds_the_leading_eigenvectors(make):
    W = random_graph()
    degrees = W.sum(axis=0)
    M = W / np.sqrt(np.outer(degrees, degrees))
    F = spectral_embedding(make(W), 3, normalise_rows=False, random_state=0)
    np.testing.assert_allclose(M @ F, F * np.linalg.eigvalsh(M)[::-1][:3], atol=1e-10)
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-10)


def test_iterative_solver_agrees_with_the_dense_one(monkeypatch):
    W, _ = planted_graph([80, 90, 100])
    dense = spectral_embedding(W, 3, random_state=0)
    monkeypatch.setattr(eigen, "_DENSE_BELOW", 0)
    iterative = spectral_embedding(sparse.csr_array(W), 3, random_state=0)
    np.testing.assert_allclose(iterative, dense, atol=1e-8)


@pytest.mark.filterwarnings("ignore:Lanczos did not find 1 ")  # in a look at what is left
def test_lobpcg_steps_in_where_lanczos_fails(monkeypatch):
    def fail(*args, **kwargs):
        raise eigen.ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))

    W, truth = planted_graph([80, 90, 100])
    monkeypatch.setattr(eigen, "_DENSE_BELOW", 0)
    monkeypatch.setattr(eigen, "eigsh", fail)
    with pytest.warns(match="Lanczos did not find 3 leading eigenvectors"):
        labels = label_graph(sparse.csr_array(W), 3, random_state=0)[0]
    assert accuracy(truth, labels) > 0.95


def test_rows_have_unit_length_and_isolated_ones_are_zero():
    W = random_graph()
    W[[5, 7]] = W[:, [5, 7]] = 0
    F = spectral_embedding(sparse.csr_array(W), 4, random_state=0)
    norms = np.linalg.norm(F, axis=1)
    assert norms[[5, 7]].tolist() == [0, 0]
    np.testing.assert_allclose(np.delete(norms, [5, 7]), 1)


def test_isolated_vertices_do_not_take_eigenvectors():
    W, truth = planted_graph([30, 30, 30])
    alone = sparse.block_diag([sparse.csr_array(W), np.zeros((20, 20))], format="csr")
    labels = label_graph(alone, 3, random_state=0)[0]
    assert accuracy(truth, labels[:90]) > 0.95
    assert len(set(labels[90:])) == 1


@pytest.mark.parametrize("n_edges", [0, 1])
def test_graphs_with_next_to_no_edges_give_finite_embeddings_and_valid_labels(n_edges):
    W = np.zeros((6, 6))
    W[0, 1] = W[1, 0] = n_edges
    F = spectral_embedding(W, 4, random_state=0)
    assert np.isfinite(F).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # k-means says that rows are the same
        labels = label_graph(W, 4, random_state=0)[0]
    assert labels.dtype == np.int32 and set(labels) <= set(range(4))


def test_more_pieces_than_vectors_leave_untouched_rows_at_zero(monkeypatch):
    monkeypatch.setattr(eigen, "_DENSE_BELOW", 0)
    W = sparse.csr_array(sparse.kron(sparse.eye_array(30), np.ones((4, 4))))
    F = spectral_embedding(W, 5, random_state=0)
    norms = np.linalg.norm(F, axis=1)
    assert np.isfinite(F).all()
    np.testing.assert_allclose(norms * (norms - 1), 0, atol=1e-12)


def test_tiny_weights_do_not_underflow():
    W, truth = planted_graph([20, 20])
    assert accuracy(truth, label_graph(W * 1e-200, 2, random_state=0)[0]) > 0.95


@pytest.mark.parametrize("n", [120, 1200])
def test_same_seed_gives_the_same_labels(n):
    W, _ = planted_graph([n // 3] * 3)
    first, second = (label_graph(sparse.csr_array(W), 3, random_state=4)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_weights_that_are_not_finite_or_negative_are_refused(weight):
    with pytest.raises(ValueError, match="finite and none negative"):
        spectral_embedding(np.array([[0, weight], [weight, 0]]), 1)


def test_bipartite_embedding_is_the_samples_side_of_the_whole_graph():
    rng = np.random.default_rng(0)
    B = rng.random((40, 15)) * (rng.random((40, 15)) < 0.4)
    whole = np.block([[np.zeros((40, 40)), B], [B.T, np.zeros((15, 15))]])
    F = spectral_embedding(whole, 4, normalise_rows=False)[:40]
    Q = bipartite_embedding(B, 4, normalise_rows=False)
    np.testing.assert_allclose(projector(Q), 2 * projector(F), atol=1e-10)


def test_bipartite_embedding_survives_empty_rows_and_columns():
    B = np.zeros((6, 4))
    B[0, 0] = B[1, 0] = B[2, 1] = 1
    F = bipartite_embedding(B, 5)
    assert F.shape == (6, 5) and np.isfinite(F).all()
    assert not F[3:].any() and not F[:, 2:].any()


def test_zero_rows_hold_no_centre():
    F = np.repeat([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], 5, axis=0)
    labels = label_embedding(F, 2, random_state=0)
    assert labels[0] != labels[5] and len(set(labels[10:])) == 1
