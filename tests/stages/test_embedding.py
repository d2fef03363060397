"""The spectral basis: singular vectors of the fused graph, the same whatever an eigensolver chose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manyview.stages.embedding import (
    Basis,
    canonical,
    count_spare,
    embed_rows,
    quartic_sums,
    spectral_basis,
    weigh_vectors,
)
from manyview.stages.graph import GraphTile


def tile_of(*graphs):
    return GraphTile(tuple(sparse.csr_array(Z) for Z in graphs), 0)


@pytest.fixture
def graph():
    return np.random.default_rng(0).dirichlet(np.full(8, 0.2), 60)


class TestBasis:
    def test_gives_the_left_singular_vectors(self, graph):
        scales = np.linspace(0.5, 2.0, 8)
        fused = graph * scales
        basis = spectral_basis(fused.T @ fused, scales, 4)
        U, s, _ = np.linalg.svd(fused, full_matrices=False)
        Q = embed_rows(tile_of(graph), [basis.transform], row_norm=False)
        assert np.allclose(basis.singular_values, s[:4], rtol=1e-10)
        # Equal up to the sign of each vector.
        assert np.allclose(np.abs((Q * U[:, :4]).sum(axis=0)), 1.0, rtol=0, atol=1e-9)
        assert np.allclose(Q.T @ Q, np.eye(4), rtol=0, atol=1e-10)

    def test_directions_without_weight_are_left_out(self):
        Z = np.repeat(np.eye(3), 5, axis=0)
        Z = np.hstack([Z, Z])  # rank three
        basis = spectral_basis(Z.T @ Z, np.ones(6), 5)
        assert basis.transform.shape == (6, 3)
        assert np.isfinite(basis.transform).all()
        assert (basis.singular_values > 0).all()

    def test_no_more_vectors_than_anchors(self, graph):
        assert spectral_basis(graph.T @ graph, np.ones(8), 20).transform.shape == (8, 8)

    def test_singular_values_descend(self, graph):
        values = spectral_basis(graph.T @ graph, np.ones(8), 6).singular_values
        assert (np.diff(values) <= 0).all()

    def test_a_graph_without_edges_gives_finite_numbers(self):
        basis = spectral_basis(np.zeros((3, 3)), np.zeros(3), 2)
        assert np.isfinite(basis.transform).all()
        assert np.isfinite(basis.singular_values).all()


class TestWeighing:
    def weigh(self, vectors, *, n_clusters=4, n_components=3):
        """Weigh the columns of ``vectors`` as if they were a graph's singular vectors."""
        values = np.linspace(1.0, 0.5, vectors.shape[1])
        basis = Basis(np.eye(vectors.shape[1]), values)
        return weigh_vectors(
            basis,
            (vectors**4).sum(axis=0),
            n_rows=len(vectors),
            n_clusters=n_clusters,
            n_components=n_components,
        )

    @pytest.fixture
    def spread(self):
        """Give five orthonormal vectors spread over 160 rows."""
        return np.linalg.qr(np.random.default_rng(0).normal(size=(160, 5)))[0]

    def test_the_first_vectors_are_kept(self, spread):
        weighed = self.weigh(spread)
        assert weighed.singular_values.tolist() == [1.0, 0.875, 0.75]

    def test_each_is_weighted_by_a_power_of_its_squared_singular_value(self, spread):
        weighed = self.weigh(spread)
        expected = np.eye(5)[:, :3] * np.array([1.0, 0.875, 0.75]) ** 3
        assert np.allclose(weighed.transform, expected, rtol=1e-14)

    def test_a_vector_on_a_handful_of_rows_is_left_out(self, spread):
        # On two of 160 rows: participation 1/80, below a tenth of a quarter.
        spread[:, 1] = 0.0
        spread[:2, 1] = np.sqrt(0.5)
        assert self.weigh(spread).singular_values.tolist() == [1.0, 0.75, 0.625]

    def test_a_vector_on_a_small_cluster_stays(self, spread):
        # On eight of 160 rows: participation 1/20, above a tenth of a quarter.
        spread[:, 1] = 0.0
        spread[:8, 1] = np.sqrt(1 / 8)
        assert self.weigh(spread).singular_values.tolist() == [1.0, 0.875, 0.75]

    def test_where_all_sit_on_a_handful_of_rows_the_first_are_kept(self):
        assert len(self.weigh(np.eye(160)[:, :5]).singular_values) == 3

    def test_quartic_sums_add_up_over_tiles(self, graph):
        W = np.random.default_rng(1).normal(size=(8, 3))
        whole = quartic_sums(tile_of(graph, graph), [W, W[:, :2]])
        parts = [quartic_sums(tile_of(g, g), [W, W[:, :2]]) for g in (graph[:11], graph[11:])]
        expected = ((graph @ W) ** 4).sum(axis=0)
        assert np.allclose(whole, [*expected, *expected[:2]], rtol=1e-12)
        assert np.allclose(parts[0] + parts[1], whole, rtol=1e-12)

    @pytest.mark.parametrize("wanted", [1, 10, 150])
    def test_some_vectors_are_computed_to_spare(self, wanted):
        assert count_spare(wanted) > wanted


class TestCanonical:
    @given(
        seed=st.integers(0, 100),
        signs=st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4),
    )
    def test_signs_do_not_matter(self, seed, signs):
        U = np.linalg.qr(np.random.default_rng(seed).normal(size=(9, 4)))[0]
        values = np.array([4.0, 3.0, 2.0, 1.0])
        assert np.allclose(canonical(U * signs, values), canonical(U, values), rtol=0, atol=1e-13)

    @given(seed=st.integers(0, 100))
    def test_rotations_where_values_repeat_do_not_matter(self, seed):
        rng = np.random.default_rng(seed)
        U = np.linalg.qr(rng.normal(size=(9, 5)))[0]
        values = np.array([3.0, 2.0, 2.0, 2.0, 1.0])
        turned = U.copy()
        turned[:, 1:4] = U[:, 1:4] @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
        # Solving with three pivot rows may lose two digits to their condition.
        assert np.allclose(canonical(turned, values), canonical(U, values), rtol=0, atol=1e-10)

    @given(seed=st.integers(0, 100))
    def test_the_span_and_orthogonality_are_kept(self, seed):
        U = np.linalg.qr(np.random.default_rng(seed).normal(size=(9, 4)))[0]
        C = canonical(U, np.array([2.0, 2.0, 1.0, 1.0]))
        assert np.allclose(C.T @ C, np.eye(4), rtol=0, atol=1e-13)
        assert np.allclose(C @ C.T, U @ U.T, rtol=0, atol=1e-13)

    def test_no_vectors_are_fine(self):
        assert canonical(np.zeros((5, 0)), np.zeros(0)).shape == (5, 0)


class TestRows:
    def test_are_graph_rows_times_the_transform(self, graph):
        W = np.random.default_rng(1).normal(size=(8, 3))
        Q = embed_rows(tile_of(graph), [W], row_norm=False)
        assert np.allclose(Q, graph @ W, rtol=1e-13, atol=1e-14)

    def test_have_unit_length_on_request(self, graph):
        W = np.random.default_rng(1).normal(size=(8, 3))
        Q = embed_rows(tile_of(graph), [W], row_norm=True)
        assert np.allclose(np.linalg.norm(Q, axis=1), 1.0, rtol=1e-14)
        assert np.allclose(Q, graph @ W / np.linalg.norm(graph @ W, axis=1)[:, None], rtol=1e-12)

    def test_a_row_of_zeros_stays_zero(self, graph):
        graph[0] = 0.0
        Q = embed_rows(tile_of(graph), [np.ones((8, 3))], row_norm=True)
        assert Q[0].tolist() == [0.0, 0.0, 0.0]

    def test_repeats_stand_side_by_side_each_of_unit_length(self, graph):
        W = np.random.default_rng(1).normal(size=(8, 3))
        Q = embed_rows(tile_of(graph, graph), [W, W[:, :2]], row_norm=True)
        assert Q.shape == (60, 5)
        assert np.allclose(np.linalg.norm(Q[:, :3], axis=1), 1.0)
        assert np.allclose(np.linalg.norm(Q[:, 3:], axis=1), 1.0)
