import numpy as np
import pytest
from scipy import sparse

from manyview.stages.grams import RowsGram
from manyview.stages.view_weights import (
    agreement_weights,
    anchor_view_weights,
    fused_basis,
    partial_agreement_weights,
    reweight,
)


def anchor_graph(rng, truth, n_anchors, noise):
    """Rows close to the anchors of their own group, columns scaled by the root of their sums."""
    own = truth[:, None] == np.arange(n_anchors) % (truth.max() + 1)
    Z = own + noise * rng.random(own.shape)
    Z /= Z.sum(axis=1, keepdims=True)
    return Z / np.sqrt(Z.sum(axis=0))


@pytest.fixture
def graphs():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 20)
    sizes = (6, 9, 12)
    return [
        anchor_graph(rng, truth, m, noise) for m, noise in zip(sizes, (0.1, 0.5, 2.0), strict=True)
    ]


def gram_of(graphs):
    B = np.hstack(graphs)
    return B.T @ B, [graph.shape[1] for graph in graphs]


def dense_amgl(graphs, k, n_sweeps):
    """The same sweeps on the n x n Laplacians, by a full eigendecomposition."""
    laplacians = [np.eye(len(B)) - B @ B.T for B in graphs]
    weights, objective = np.full(len(graphs), 1 / len(graphs)), []
    for _ in range(n_sweeps):
        fused = sum(w * L for w, L in zip(weights, laplacians, strict=True))
        F = np.linalg.eigh(fused)[1][:, :k]
        roots = np.sqrt([np.trace(F.T @ L @ F) for L in laplacians])
        objective.append(roots.sum())
        weights = 1 / (2 * roots)
        weights /= weights.sum()
    return weights, objective


def test_anchor_weights_equal_those_of_the_dense_laplacians(graphs):
    gram, sizes = gram_of(graphs)
    weights, objective = anchor_view_weights(gram, sizes, 3)
    dense_weights, dense_objective = dense_amgl(graphs, 3, len(objective))
    np.testing.assert_allclose(weights, dense_weights, rtol=1e-6)
    np.testing.assert_allclose(objective, dense_objective, rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_objective_never_rises(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 50)
    gram, sizes = gram_of([anchor_graph(rng, truth, 8, noise) for noise in rng.random(4) * 5])
    _, objective = anchor_view_weights(gram, sizes, 4, tol=0.0, max_iter=30)
    assert np.diff(objective).max() <= 1e-12 * objective[0]


def test_clear_views_count_more_than_vague_ones(graphs):
    weights, _ = anchor_view_weights(*gram_of(graphs), 3)
    assert weights[0] > weights[1] > weights[2]
    assert weights.sum() == pytest.approx(1)


def test_one_view_has_all_the_weight(graphs):
    weights, _ = anchor_view_weights(*gram_of(graphs[:1]), 3)
    np.testing.assert_array_equal(weights, [1.0])


def test_weights_answer_for_graphs_of_any_scale(graphs):
    gram, sizes = gram_of(graphs)
    weights, objective = anchor_view_weights(gram, sizes, 3)
    scaled = [factor * B for factor, B in zip((1.0, 7.0, 0.1), graphs, strict=True)]
    others, other_objective = anchor_view_weights(*gram_of(scaled), 3)
    expected = weights / np.square([1.0, 7.0, 0.1])
    np.testing.assert_allclose(others, expected / expected.sum(), rtol=1e-6)
    np.testing.assert_allclose(other_objective, objective, rtol=1e-6)


def test_more_components_than_the_graphs_rank_are_no_problem(graphs):
    weights, objective = anchor_view_weights(*gram_of(graphs), 40)
    assert np.isfinite(weights).all() and np.isfinite(objective).all()


def test_perfect_views_keep_the_weights_finite():
    truth = np.repeat(np.arange(3), 10)
    B = anchor_graph(np.random.default_rng(0), truth, 3, 0.0)
    weights, _ = anchor_view_weights(*gram_of([B, B]), 3)
    np.testing.assert_allclose(weights, [0.5, 0.5])


def test_history_is_as_long_as_max_iter_when_that_is_not_enough(graphs):
    _, objective = anchor_view_weights(*gram_of(graphs), 3, max_iter=2)
    assert len(objective) == 2


def test_basis_gives_the_left_singular_vectors_of_the_weighted_graphs(graphs):
    gram, sizes = gram_of(graphs)
    weights = [0.2, 0.3, 0.5]
    F = np.hstack(graphs) @ fused_basis(gram, sizes, weights, 4)
    weighted = np.hstack([np.sqrt(w) * B for w, B in zip(weights, graphs, strict=True)])
    U = np.linalg.svd(weighted, full_matrices=False)[0][:, :4]
    np.testing.assert_allclose(F @ F.T, U @ U.T, atol=1e-9)


def test_agreement_equals_its_definition_on_dense_vectors(graphs):
    n, k = len(graphs[0]), 3
    bases = [np.linalg.svd(B, full_matrices=False)[0][:, :k] for B in graphs]
    overlaps = np.array([[(np.square(U.T @ V)).sum() for V in bases] for U in bases])
    agreement = np.maximum(overlaps - 1 - (k - 1) ** 2 / n, 0) / (k - 1)
    np.fill_diagonal(agreement, 0)
    expected = np.minimum(1, 2 * agreement.sum(axis=1) / agreement.sum(axis=1).max())
    gram, sizes = gram_of(graphs)
    for each in (gram, sparse.csr_array(gram), RowsGram(sparse.csr_array(np.hstack(graphs)))):
        weights = agreement_weights(each, sizes, k, n)
        np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-8)


def test_a_noise_view_gets_no_weight_by_agreement():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 250)
    views = [anchor_graph(rng, truth, 8, 0.1) for _ in range(2)]
    views.append(anchor_graph(rng, rng.permutation(truth), 8, 0.1))
    weights = agreement_weights(*gram_of(views), 4, len(truth))
    np.testing.assert_allclose(weights[:2], 0.5, atol=0.02)
    assert weights[2] < 0.02


@pytest.mark.parametrize(("n_views", "k"), [(2, 3), (3, 1)])
def test_agreement_is_equal_where_it_cannot_tell(graphs, n_views, k):
    weights = agreement_weights(*gram_of(graphs[:n_views]), k, 60)
    np.testing.assert_array_equal(weights, np.full(n_views, 1 / n_views))


def test_an_odd_row_that_views_share_is_no_agreement():
    """Two views of the same groups, and one of others; the last two have an odd row in common."""
    n, rng = 400, np.random.default_rng(0)
    groups = np.arange(n) % 4
    Z = [np.eye(4)[groups], np.eye(4)[groups], np.eye(4)[rng.permutation(groups)]]
    for each in Z[1:]:
        each[0] = 0.0
    odd = np.eye(n)[:, :1]
    graphs = [Z[0], *(np.hstack([odd, each]) for each in Z[1:])]
    B = [each / np.sqrt(each.sum(axis=0)) for each in graphs]
    gram = RowsGram(sparse.csr_array(np.hstack(B)))
    weights = agreement_weights(gram, [each.shape[1] for each in B], 5, n)
    assert weights == pytest.approx([0.5, 0.5, 0.0])


def test_agreement_is_equal_where_no_views_agree():
    splits = [np.repeat(np.eye(2), 4, axis=0), np.tile(np.repeat(np.eye(2), 2, axis=0), (2, 1))]
    splits.append(np.tile(np.eye(2), (4, 1)))
    weights = agreement_weights(*gram_of([split / 2 for split in splits]), 2, 8)
    np.testing.assert_allclose(weights, 1 / 3)


def test_reweighting_stops_when_the_objective_settles():
    weights, objective = reweight(lambda w: np.array([1.0, 4.0]), 2, max_iter=50, tol=1e-8)
    assert len(objective) == 3
    np.testing.assert_allclose(weights, [2 / 3, 1 / 3])


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"shape \(3, 3\) does not fit .* \[2, 2\]"):
        anchor_view_weights(np.eye(3), [2, 2], 2)


def noisy_views(n_rows, n_clusters):
    """Graphs of two good views and one of noise, whose rows sum to one."""
    rng = np.random.default_rng(0)
    truth = np.arange(n_rows) % n_clusters
    good = [anchor_graph(rng, truth, 2 * n_clusters, 0.2) for _ in range(2)]
    noise = rng.dirichlet(np.full(2 * n_clusters, 0.1), n_rows)
    graphs = [*good, noise]
    return [sparse.csr_array(Z / Z.sum(axis=1, keepdims=True)) for Z in graphs]


@pytest.mark.parametrize(("share", "noise_counts"), [(0.9, False), (0.3, True)])
def test_a_view_is_noise_only_by_enough_shared_samples(share, noise_counts):
    graphs = noisy_views(1000, 50)
    present = np.random.default_rng(1).random((1000, 3)) < share
    present[~present.any(axis=1), 0] = True
    graphs = [sparse.csr_array(Z * present[:, [v]]) for v, Z in enumerate(graphs)]
    weights = partial_agreement_weights(graphs, present, 50)
    np.testing.assert_allclose(weights, np.full(3, 1 / 3) if noise_counts else [0.5, 0.5, 0])
