"""Fusing: columns scaled after summing are columns scaled before."""

import numpy as np
import pytest
from scipy import sparse

from manyview.stages.fusion import column_scales, graph_moments, normalised, with_sampled
from manyview.stages.grams import dense_gram, fused_gram
from manyview.stages.graph import GraphTile


@pytest.mark.parametrize("degree_norm", [True, False])
def test_scaling_sums_is_scaling_rows(degree_norm):
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.ones(m), 50) for m in (4, 7)]
    weights = [0.3, 0.7]
    power = -0.5 if degree_norm else 0.0
    fused = np.hstack(
        [np.sqrt(w) * Z * Z.sum(axis=0) ** power for w, Z in zip(weights, graphs, strict=True)]
    )
    Z = np.hstack(graphs)
    scales = column_scales(Z.sum(axis=0), [4, 7], weights, degree_norm=degree_norm)
    gram = fused_gram(np.triu(Z.T @ Z), scales)
    assert np.allclose(gram, fused.T @ fused, rtol=1e-12, atol=1e-14)
    assert np.allclose(gram, gram.T, rtol=1e-15, atol=0)


def test_only_the_upper_triangle_is_read():
    gram = np.array([[2.0, 1.0], [99.0, 3.0]])
    assert fused_gram(gram, np.ones(2)).tolist() == [[2.0, 1.0], [1.0, 3.0]]


def test_a_graph_with_degrees_has_spectral_norm_one():
    rng = np.random.default_rng(0)
    Z = rng.dirichlet(np.ones(6), 80)
    scales = column_scales(Z.sum(axis=0), [6], [1.0], degree_norm=True)
    values = np.linalg.eigvalsh(fused_gram(Z.T @ Z, scales))
    assert values[-1] == pytest.approx(1.0, rel=1e-12)


def test_an_anchor_without_rows_has_no_say():
    scales = column_scales(np.array([4.0, 0.0]), [2], [1.0], degree_norm=True)
    assert scales.tolist() == [0.5, 0.0]


def test_normalised_weights_sum_to_one():
    assert normalised([1, 3]).tolist() == [0.25, 0.75]


def test_repeats_of_a_sample_count_as_if_all_rows_had_gone_through_them():
    rng = np.random.default_rng(0)
    all_rows, sampled = (sparse.csr_array(rng.dirichlet(np.ones(5), 40)) for _ in range(2))
    few = sparse.csr_array(all_rows[:10])
    tile = GraphTile((few, sparse.csr_array(sampled[:10])), 0, (10, 10))
    found = with_sampled(graph_moments(GraphTile((all_rows,), 0, (40,))), tile)
    own = sampled[:10].toarray()
    assert len(found.grams) == len(found.column_sums) == 2
    np.testing.assert_allclose(found.column_sums[1], 4 * own.sum(axis=0))
    np.testing.assert_allclose(dense_gram(fused_gram(found.grams[1], np.ones(5))), 4 * own.T @ own)


class TestSums:
    """Sums over tiles, whether their Gram matrices are kept as rows, sparse, dense, or some of each."""

    @staticmethod
    def tile(n_rows, n_used, n_anchors=60):
        rng = np.random.default_rng([n_rows, n_used])
        Z = np.zeros((n_rows, n_anchors))
        for row in Z:
            row[rng.choice(n_anchors, n_used, replace=False)] = rng.dirichlet(np.ones(n_used))
        return GraphTile((sparse.csr_array(Z),), 0, (n_rows,)), Z

    @pytest.mark.parametrize(
        "sizes", [[(9, 2)], [(9, 2), (8, 3)], [(9, 2), (200, 20), (5, 2)], [(200, 20), (9, 2)]]
    )
    def test_are_those_of_all_rows(self, sizes):
        tiles, Zs = zip(*(self.tile(*size) for size in sizes), strict=True)
        total = graph_moments(tiles[0])
        for tile in tiles[1:]:
            total += graph_moments(tile)
        Z = np.concatenate(Zs)
        gram = dense_gram(fused_gram(total.grams[0], np.ones(60)))
        assert np.allclose(gram, Z.T @ Z, rtol=1e-12, atol=1e-14)
        assert np.allclose(total.column_sums[0], Z.sum(axis=0), rtol=1e-12)
