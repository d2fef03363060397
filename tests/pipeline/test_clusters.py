"""Clusters of a sample's graph rows: by exactly k vectors, or by the best of several starts."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from manyview import LMVSC, Views
from manyview.pipeline import clusters as stage
from manyview.pipeline.clusters import (
    SampleGraph,
    cluster_by_gap,
    cluster_by_modularity,
    embed_as_published,
    search_communities,
    weigh_bases,
)
from manyview.pipeline.settings import resolve
from manyview.pipeline.spectrum import find_bases
from manyview.stages.fusion import graph_moments
from manyview.stages.graph import AnchorGraph, GraphTile
from manyview.stages.labels import label_rows
from manyview.stages.n_clusters import modularity

SIZES = [200, 60, 20]


@pytest.fixture(scope="module")
def groups():
    return np.repeat(np.arange(3), SIZES)


def settle(groups, **params):
    views = Views(np.zeros((len(groups), 2)))
    return resolve(LMVSC(len(np.unique(groups)), **params).get_params(), views)


def make_graph(groups, settings, *, n_repeats=2, between=0.05, m=30):
    """Graph rows that know groups: anchors of each are used by its rows most, by others a little."""
    rng = np.random.default_rng(0)
    owner = np.concatenate([np.arange(len(np.unique(groups))), rng.choice(groups, m)])
    parts = []
    for _ in range(n_repeats):
        Z = rng.dirichlet(np.full(len(owner), 0.3), len(groups))
        Z *= np.where(owner == groups[:, None], 1.0, between)
        parts.append(sparse.csr_array(Z / Z.sum(axis=1, keepdims=True)))
    tile = GraphTile(tuple(parts), 0, n_solved=(len(groups),) * n_repeats)
    anchors = np.eye(int(owner.max()) + 1)[owner]
    graphs = [AnchorGraph((0,), (1.0,), anchors, 0.0, 0.0, repeat=r) for r in range(n_repeats)]
    moments = graph_moments(tile)
    bases = find_bases(moments, graphs, settings)
    return SampleGraph.of(tile, moments.column_sums, graphs, settings, bases)


@pytest.fixture(scope="module")
def settings(groups):
    return settle(groups)


@pytest.fixture(scope="module")
def sample(groups, settings):
    return make_graph(groups, settings)


def is_consistent(found, sample):
    """Whether labels are the nearest centres of what the embedding makes of the same rows."""
    return np.array_equal(
        label_rows(found.embedding.rows(sample.tile), found.centers), found.labels
    )


class TestSample:
    def test_the_graph_of_rows_is_an_average_of_the_repeats(self, sample):
        B = sample.fused().toarray()
        assert np.allclose((B @ B.T).sum(axis=1), 2.0)  # one for each of two repeats

    def test_few_repeats_are_looked_at_where_there_are_many_or_wide_ones(
        self, groups, settings, monkeypatch
    ):
        sample = make_graph(groups, settings, n_repeats=4)
        assert (sample.n_first, sample.fused().shape[1]) == (3, 3 * 33)
        monkeypatch.setattr(stage, "_COMMUNITY_ANCHORS", 40)
        assert (sample.n_first, sample.fused().shape[1]) == (1, 33)

    def test_means_of_rows_lie_where_their_anchors_do(self, sample, groups):
        n = len(groups)
        members = sparse.csr_array((np.ones(n), (groups, np.arange(n))), shape=(3, n))
        places = sample.places(members / np.array(SIZES)[:, None])
        assert places.argmax(axis=1).tolist() == [0, 1, 2]
        assert np.allclose(places.sum(axis=1), 1.0)

    def test_the_gap_is_what_eigenvalues_fall_by(self, sample):
        B = make_first(sample)
        values = np.linalg.eigvalsh(B @ B.T)[::-1]
        for k in (1, 2, 3):
            assert sample.gap(k) == pytest.approx(values[k - 1] - values[k], abs=1e-9)
        assert sample.gap(3) > 0.1 > sample.gap(4)

    def test_there_is_no_gap_after_the_last_vector(self, sample):
        assert sample.gap(len(sample.bases[0].singular_values)) == 0.0


def make_first(sample):
    """The first repeat's fused graph."""
    return sample.tile.parts[0].toarray() * sample.scales[0]


class TestByGap:
    def test_uneven_groups_are_told_apart_by_k_vectors(self, sample, settings, groups):
        found = cluster_by_gap(sample, settings)
        assert adjusted_rand_score(groups, found.labels) == 1.0
        assert found.centers.shape == (3, 3) and found.embedding.width == 3
        assert is_consistent(found, sample)

    def test_modularity_is_that_of_its_labels(self, sample, settings):
        found = cluster_by_gap(sample, settings)
        assert found.modularity == pytest.approx(modularity(sample.fused(), found.labels))


def with_communities(sample, settings, *, seed, n_jobs=1):
    """With communities."""
    k = settings.known_clusters
    communities = search_communities(sample, k, seed=seed, n_jobs=n_jobs)
    return cluster_by_modularity(
        sample, settings, communities=communities, seed=seed, n_jobs=n_jobs
    )


class TestByModularity:
    @pytest.mark.parametrize(
        ("method", "n_given"), [(cluster_by_modularity, 0), (with_communities, 2)]
    )
    def test_uneven_groups_are_told_apart(self, sample, settings, groups, method, n_given):
        found = method(sample, settings, seed=0)
        assert adjusted_rand_score(groups, found.labels) == 1.0
        assert len(found.embedding.communities) == n_given
        assert is_consistent(found, sample)

    def test_threads_change_nothing(self, sample, settings):
        one, three = (
            with_communities(sample, settings, seed=0, n_jobs=n_jobs) for n_jobs in (1, 3)
        )
        assert one.tried == three.tried
        assert np.array_equal(one.centers, three.centers)

    def test_figures_of_all_starts_are_told_that_taken_first(self, sample, settings):
        found = with_communities(sample, settings, seed=0)
        assert found.tried.keys() == {"ward", "average", "graph"}
        assert found.modularity == next(iter(found.tried.values()))
        assert found.modularity == pytest.approx(modularity(sample.fused(), found.labels))

    def test_wards_start_is_left_for_one_that_is_better_by_a_margin(
        self, sample, settings, groups, monkeypatch
    ):
        """Ward's start here cuts the large group in two and leaves the small ones together."""
        rows = stage._embedding(sample, settings).rows(sample.tile)
        good = np.stack([rows[groups == g].mean(axis=0) for g in range(3)])
        bad = np.stack([rows[:90].mean(axis=0), rows[90:200].mean(axis=0), rows[200:].mean(axis=0)])
        monkeypatch.setattr(stage, "find_starts", lambda *_, **__: {"ward": bad, "graph": good})
        settings = replace(settings, max_iter=1)
        again = partial(cluster_by_modularity, sample, settings, seed=0)
        tried = again().tried
        lead = tried["graph"] - tried["ward"]
        assert lead > 0
        for share, expected in ((0.9, "graph"), (1.1, "ward")):
            monkeypatch.setattr(stage, "_MARGIN", share * lead)
            assert next(iter(again().tried)) == expected

    def test_no_start_is_taken_for_clusters_of_a_few_rows(
        self, sample, settings, groups, monkeypatch
    ):
        """Two merged groups and a row by itself may have the greater modularity."""
        rows = stage._embedding(sample, settings).rows(sample.tile)
        good = np.stack([rows[groups == g].mean(axis=0) for g in range(3)])
        merged = np.stack([rows[:200].mean(axis=0), rows[200:].mean(axis=0), 9.0 * rows[0]])
        monkeypatch.setattr(stage, "find_starts", lambda *_, **__: {"ward": good, "graph": merged})
        monkeypatch.setattr(stage, "_MARGIN", -1.0)  # all others would be taken before Ward's
        as_they_are = lambda rows, centers, **_: (label_rows(rows, centers), centers)  # noqa: E731
        monkeypatch.setattr(stage, "improve_centers", as_they_are)
        found = cluster_by_modularity(sample, settings, seed=0)
        assert list(found.tried) == ["ward", "graph"]
        assert adjusted_rand_score(groups, found.labels) == 1.0

    @pytest.mark.parametrize(
        ("kinds", "is_placed"),
        [(("lognorm", "clr"), True), (("standard", "clr"), False), (("lognorm",), False)],
    )
    def test_of_cells_centres_that_are_near_in_the_views_are_merged(
        self, sample, settings, groups, kinds, is_placed
    ):
        """Unless genes are all there is: their noise would decide where centres lie."""
        settings = replace(settings, scaling=kinds)
        found = cluster_by_modularity(sample, settings, seed=0)
        assert (list(found.tried) == ["places"]) is is_placed
        assert adjusted_rand_score(groups, found.labels) == 1.0

    def test_a_number_of_vectors_that_was_given_is_taken_as_it_is(self, groups):
        settings = settle(groups, n_components=5)
        sample = make_graph(groups, settings)
        assert weigh_bases(sample, settings) is sample.bases
        found = cluster_by_modularity(sample, settings, seed=0)
        assert found.embedding.width == 2 * 5

    def test_a_wide_embedding_is_cut_to_the_number_of_vectors(
        self, sample, settings, groups, monkeypatch
    ):
        monkeypatch.setattr(stage, "_WIDE", 4)
        found = cluster_by_modularity(sample, settings, seed=0)
        assert found.embedding.width == settings.n_vectors == 5
        assert adjusted_rand_score(groups, found.labels) == 1.0
        assert is_consistent(found, sample)

    def test_every_three_repeats_have_communities_of_their_own(self, groups, settings):
        sample = make_graph(groups, settings, n_repeats=7)
        found = with_communities(sample, settings, seed=0)
        embedding = found.embedding
        assert (len(embedding.communities), embedding.n_searches) == (6, 2)
        assert adjusted_rand_score(groups, found.labels) == 1.0
        assert is_consistent(found, sample)

    def test_many_anchors_are_searched_once(self, groups, settings, monkeypatch):
        monkeypatch.setattr(stage, "_COMMUNITY_ANCHORS", 70)  # those of two repeats
        sample = make_graph(groups, settings, n_repeats=7)
        found = with_communities(sample, settings, seed=0)
        assert (len(found.embedding.communities), found.embedding.n_searches) == (2, 1)

    def test_anchors_that_no_row_uses_are_in_no_community(self, sample, settings):
        tile, scales = sample.tile, [scale.copy() for scale in sample.scales]
        Z = tile.parts[0].toarray()
        Z[:, 5] = 0.0
        scales[0][5] = 0.0
        lonely = replace(
            sample, tile=replace(tile, parts=(sparse.csr_array(Z), tile.parts[1])), scales=scales
        )
        found = with_communities(lonely, settings, seed=0)
        assert not found.embedding.communities[0][5].any()
        assert np.isfinite(found.embedding.rows(lonely.tile)).all()


def test_as_published_rows_are_as_they_are(sample):
    found = embed_as_published(sample.bases)
    assert not found.embedding.row_norm
    assert found.centers.shape == (0, found.embedding.width)
    rows = found.embedding.rows(replace(sample.tile, parts=sample.tile.parts))
    expected = [Z @ b.transform for Z, b in zip(sample.tile.parts, sample.bases, strict=True)]
    assert np.allclose(rows, np.hstack(expected) / np.sqrt(2), atol=1e-12)
