"""The spectral basis: singular vectors of the fused graph, the same whatever an eigensolver chose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manyview import LMVSC
from manyview.engines import Disk, Memory
from manyview.stages.embedding import (
    COMMUNITY_WEIGHT,
    Basis,
    Embedding,
    canonical,
    count_spare,
    leading_rotation,
    participation,
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
        Q = Embedding((basis.transform,), row_norm=False).rows(tile_of(graph))
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

    def test_a_graph_without_edges_gives_finite_numbers(self):
        basis = spectral_basis(np.zeros((3, 3)), np.zeros(3), 2)
        assert np.isfinite(basis.transform).all()
        assert np.isfinite(basis.singular_values).all()


class TestWeighing:
    def weigh(self, vectors, *, n_clusters=4, n_components=3):
        """Weigh the columns of ``vectors`` as if they were a graph's singular vectors."""
        values = np.linspace(1.0, 0.5, vectors.shape[1])
        (shares,) = participation(tile_of(vectors), [np.eye(vectors.shape[1])])
        return weigh_vectors(
            Basis(np.eye(vectors.shape[1]), values),
            shares,
            n_clusters=n_clusters,
            n_components=n_components,
        )

    @pytest.fixture
    def spread(self):
        """Five orthonormal vectors spread over 400 rows."""
        return np.linalg.qr(np.random.default_rng(0).normal(size=(400, 5)))[0]

    def test_the_first_vectors_are_kept(self, spread):
        weighed = self.weigh(spread)
        assert weighed.singular_values.tolist() == [1.0, 0.875, 0.75]

    def test_each_is_weighted_by_a_power_of_its_squared_singular_value(self, spread):
        weighed = self.weigh(spread)
        expected = np.eye(5)[:, :3] * np.array([1.0, 0.875, 0.75]) ** 3
        assert np.allclose(weighed.transform, expected, rtol=1e-14)

    def test_a_vector_on_a_handful_of_rows_is_left_out(self, spread):
        # On two of 400 rows: participation .005, below .03 of a quarter.
        spread[:, 1] = 0.0
        spread[:2, 1] = np.sqrt(0.5)
        assert self.weigh(spread).singular_values.tolist() == [1.0, 0.75, 0.625]

    def test_a_vector_on_a_small_cluster_stays(self, spread):
        # On four of 400 rows: participation .01, above .03 of a quarter.
        spread[:, 1] = 0.0
        spread[:4, 1] = 0.5
        assert self.weigh(spread).singular_values.tolist() == [1.0, 0.875, 0.75]

    def test_where_all_sit_on_a_handful_of_rows_the_first_are_kept(self):
        assert len(self.weigh(np.eye(400)[:, :5]).singular_values) == 3

    @pytest.mark.parametrize("count", [1, 20, 60])
    def test_participation_is_the_share_of_rows_that_a_vector_is_even_over(self, graph, count):
        U = np.zeros((60, 1))
        U[:count] = 7.0
        for shares in participation(tile_of(U, U), [np.eye(1), -2.0 * np.eye(1)]):
            assert shares == pytest.approx([count / 60])

    def test_a_vector_of_zeros_sits_nowhere(self):
        assert participation(tile_of(np.zeros((9, 2))), [np.eye(2)])[0].tolist() == [0.0, 0.0]

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


@pytest.fixture
def transforms():
    rng = np.random.default_rng(1)
    return rng.normal(size=(8, 3)), rng.normal(size=(8, 2))


class TestRows:
    def test_are_graph_rows_times_the_transform(self, graph, transforms):
        Q = Embedding(transforms[:1], row_norm=False).rows(tile_of(graph))
        assert np.allclose(Q, graph @ transforms[0], rtol=1e-13, atol=1e-14)

    def test_have_unit_length(self, graph, transforms):
        Q = Embedding(transforms[:1]).rows(tile_of(graph))
        expected = graph @ transforms[0]
        assert np.allclose(Q, expected / np.linalg.norm(expected, axis=1)[:, None], rtol=1e-12)

    def test_a_row_of_zeros_stays_zero(self, graph):
        graph[0] = 0.0
        Q = Embedding((np.ones((8, 3)),), communities=(np.eye(8, 2),)).rows(tile_of(graph))
        assert Q[0].tolist() == [0.0] * 5

    def test_repeats_stand_side_by_side_as_long_together_as_one(self, graph, transforms):
        embedding = Embedding(transforms)
        Q = embedding.rows(tile_of(graph, graph))
        assert Q.shape == (60, embedding.width) == (60, 5)
        assert np.allclose(np.linalg.norm(Q[:, :3], axis=1), np.sqrt(0.5))
        assert np.allclose(np.linalg.norm(Q[:, 3:], axis=1), np.sqrt(0.5))

    def test_of_samples_that_lack_views_are_those_of_the_views_they_have(self, graph, transforms):
        share = np.linspace(0.2, 1.0, 60)
        less = GraphTile((sparse.csr_array(graph * share[:, None]),), 0, shares=(share,))
        for row_norm in (True, False):
            embedding = Embedding(transforms[:1], row_norm, communities=(np.eye(8, 4),))
            assert np.allclose(embedding.rows(less), embedding.rows(tile_of(graph)), rtol=1e-12)

    def test_a_rotation_comes_before_the_shares(self, graph, transforms):
        tile = tile_of(graph, graph)
        plain = Embedding(transforms, communities=(np.eye(8, 4),))
        rotation = leading_rotation(plain.joined(tile), 3)
        turned = Embedding(transforms, rotation=rotation, communities=plain.communities)
        assert turned.width == 7
        expected = np.hstack([plain.joined(tile) @ rotation, plain.rows(tile)[:, 5:]])
        assert np.allclose(turned.rows(tile), expected, rtol=0, atol=1e-14)

    @pytest.mark.parametrize("is_turned", [False, True])
    def test_are_split_into_what_each_repeat_gave(self, graph, transforms, is_turned):
        tile = tile_of(graph, graph)
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
        shares = (np.ones((8, 1)),) * 2
        embedding = Embedding(
            transforms, rotation=rotation if is_turned else None, communities=shares
        )
        parts = embedding.split(embedding.rows(tile))
        assert [part.shape[1] for part in parts] == [3, 2]
        np.testing.assert_allclose(np.hstack(parts), embedding.joined(tile), atol=1e-12)

    def test_the_leading_rotation_keeps_most_energy(self, graph, transforms):
        rows = Embedding(transforms).joined(tile_of(graph, graph))
        values = np.linalg.svd(rows, compute_uv=False)
        turned = rows @ leading_rotation(rows, 3)
        assert np.allclose((turned**2).sum(axis=0), values[:3] ** 2, rtol=1e-10)
        assert np.allclose(leading_rotation(rows, 5) @ leading_rotation(rows, 5).T, np.eye(5))


class TestCommunities:
    """What rows say about the communities of their anchors stands beside the vectors."""

    @pytest.fixture
    def membership(self):
        return np.array([0, 1, 2, 0, 1, 2, 0, -1])

    @pytest.fixture
    def embedding(self, transforms, membership):
        indicator = np.eye(4)[membership][:, :3]  # the last anchor is in none
        return Embedding(transforms, communities=(indicator, 2.0 * indicator))

    def shares(self, embedding, tile):
        return embedding.rows(tile)[:, 5:] / COMMUNITY_WEIGHT

    def test_are_what_a_row_has_of_the_members_of_all_repeats(self, embedding, graph, membership):
        tile = tile_of(graph, graph[::-1])
        expected = np.stack(
            [
                graph[:, membership == c].sum(axis=1) + 2 * graph[::-1, membership == c].sum(axis=1)
                for c in range(3)
            ],
            axis=1,
        )
        expected /= expected.sum(axis=1, keepdims=True)
        assert np.allclose(self.shares(embedding, tile), expected, rtol=1e-12)

    def test_the_first_repeats_may_be_the_only_ones_with_communities(self, transforms, graph):
        one, both = (
            Embedding(some, communities=(np.eye(8, 3),)) for some in (transforms[:1], transforms)
        )
        alone, beside = tile_of(graph), tile_of(graph, graph[::-1])
        assert np.array_equal(one.rows(alone)[:, 3:], both.rows(beside)[:, 5:])

    def test_of_a_row_do_not_depend_on_the_others(self, embedding, graph):
        parts = [embedding.rows(tile_of(graph[[i]], graph[[i]])) for i in range(60)]
        whole = embedding.rows(tile_of(graph, graph))
        assert np.allclose(np.concatenate(parts), whole, rtol=1e-12, atol=1e-14)

    def test_of_several_searches_stand_side_by_side_as_long_together_as_one(
        self, embedding, graph, transforms
    ):
        tile = tile_of(graph, graph[::-1])
        first, second = embedding.communities
        both = Embedding(transforms, communities=(first, second[:, :2]), n_searches=2)
        both.check()
        shares = self.shares(both, tile)
        assert both.rows(tile).shape == (60, both.width) == (60, 5 + 3 + 2)
        for search, columns in ((0, slice(0, 3)), (1, slice(3, 5))):
            given = tile.parts[search] @ both.communities[search]
            expected = given / given.sum(axis=1, keepdims=True) / np.sqrt(2)
            assert np.allclose(shares[:, columns], expected, rtol=1e-12)

    @pytest.mark.parametrize(("n_communities", "n_searches"), [(3, 2), (0, 2), (1, 2), (6, 2)])
    def test_that_do_not_fit_the_searches_are_refused(self, transforms, n_communities, n_searches):
        communities = (np.eye(8, 3),) * n_communities
        embedding = Embedding(transforms, communities=communities, n_searches=n_searches)
        with pytest.raises(ValueError, match="communities do not fit"):
            embedding.check()

    def test_of_one_search_are_as_wide_for_every_repeat(self, transforms):
        with pytest.raises(ValueError, match="communities do not fit"):
            Embedding(transforms, communities=(np.eye(8, 3), np.eye(8, 4))).check()

    def test_anchors_without_a_community_have_no_say(self, embedding):
        only_the_last = np.eye(8)[[7]]
        assert not self.shares(embedding, tile_of(only_the_last, only_the_last)).any()


class TestContributions:
    """What each anchor adds to a row: put together they are the row."""

    @pytest.mark.parametrize("turned", [False, True])
    @pytest.mark.parametrize("row_norm", [False, True])
    @pytest.mark.parametrize(("n_communities", "n_searches"), [(0, 1), (1, 1), (2, 1), (2, 2)])
    def test_add_up(self, graph, transforms, turned, row_norm, n_communities, n_searches):
        tile = tile_of(graph, graph[::-1])
        embedding = Embedding(
            transforms,
            row_norm,
            rotation=np.linalg.qr(np.random.default_rng(2).normal(size=(5, 4)))[0]
            if turned
            else None,
            communities=(np.eye(8, 3), np.eye(8, 3)[::-1])[:n_communities],
            n_searches=n_searches,
        )
        places = [(r, slice(a, b)) for r in (0, 1) for a, b in ((0, 3), (3, 4), (4, 8))]
        parts = list(embedding.contributions(tile, places))
        assert len(parts) == len(places)
        assert np.allclose(sum(parts), embedding.rows(tile), rtol=0, atol=1e-12)

    def test_anchors_that_a_row_does_not_use_add_nothing(self, graph, transforms):
        graph[:, 2:5] = 0.0
        embedding = Embedding(transforms, communities=(np.eye(8, 3),))
        (part,) = embedding.contributions(tile_of(graph, graph), [(0, slice(2, 5))])
        assert not part.any()


def test_very_wide_rows_are_in_single_precision_and_label_as_others(monkeypatch):
    rng = np.random.default_rng(0)
    views = [np.repeat(np.eye(4), 30, axis=0) + 0.2 * rng.normal(size=(120, 4)) for _ in range(2)]
    usual = LMVSC(4, n_neighbors=3, random_state=0).fit(views)
    monkeypatch.setattr("manyview.stages.embedding._VERY_WIDE", 1)
    model = LMVSC(4, n_neighbors=3, random_state=0).fit(views)
    assert usual.embedding_.dtype == np.float64 and model.embedding_.dtype == np.float32
    np.testing.assert_allclose(model.embedding_, usual.embedding_, rtol=0, atol=1e-6)
    assert np.array_equal(model.predict(views), model.labels_)
    assert np.array_equal(model.labels_, usual.labels_)
    for engine in (Memory(block_rows=37), Disk()):
        other = LMVSC(4, n_neighbors=3, random_state=0, engine=engine, n_jobs=2).fit(views)
        assert np.array_equal(other.labels_, model.labels_)
