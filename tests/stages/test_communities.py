"""Communities of anchors: as modular as another implementation finds them, and as many as asked for."""

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from manyview.stages.communities import (
    anchor_graph,
    find_communities,
    leiden,
    merge_communities,
)


def modularity_of(graph, membership, resolution=1.0):
    """The definition, pair by pair; loops are counted as they stand in the matrix."""
    A = graph.toarray()
    degrees = A.sum(axis=1)
    total = A.sum()
    together = np.equal.outer(membership, membership)
    return ((A - resolution * np.outer(degrees, degrees) / total) * together).sum() / total


def symmetric(W, *, loops=False):
    W = sparse.csr_array(W)
    W = sparse.csr_array(W.maximum(W.T))
    if not loops:
        W.setdiag(0.0)
    W.eliminate_zeros()
    return W


def planted(rng):
    k, n = int(rng.integers(2, 15)), int(rng.integers(100, 300))
    group = rng.integers(k, size=n)
    chance = np.where(np.equal.outer(group, group), rng.uniform(0.1, 0.4), rng.uniform(0.01, 0.05))
    return symmetric((rng.random((n, n)) < chance).astype(float))


def planted_with_weights(rng):
    W = planted(rng)
    W.data = rng.gamma(0.5, size=W.nnz) + 1e-3
    return symmetric(W)


def ring_of_cliques(rng):
    count, size = int(rng.integers(4, 40)), int(rng.integers(3, 9))
    W = np.kron(np.eye(count), np.ones((size, size)))
    first = np.arange(count) * size
    W[first, np.roll(first, -1) + 1] = 1.0
    return symmetric(W)


def nearest_neighbours(rng):
    X, _ = make_blobs(
        int(rng.integers(150, 350)),
        int(rng.integers(2, 12)),
        centers=int(rng.integers(2, 12)),
        cluster_std=rng.uniform(1, 4),
        random_state=int(rng.integers(1000)),
    )
    return symmetric(kneighbors_graph(X, int(rng.integers(4, 20))))


def power_law(rng):
    """Each new node is linked to old ones by how many links they have."""
    n, m = int(rng.integers(150, 350)), int(rng.integers(1, 6))
    ends, links = list(range(m + 1)), []
    for i in range(m + 1, n):
        for j in set(rng.choice(ends, m).tolist()):
            links.append((i, j))
            ends += [i, j]
    weights = rng.gamma(1.0, size=len(links))
    return symmetric(sparse.coo_array((weights, np.transpose(links)), shape=(n, n)))


def anchors_of_real_data(rng):
    X = [load_digits, load_wine, load_breast_cancer][rng.integers(3)]().data
    X = rng.permutation((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))
    Z = sparse.csr_array(
        kneighbors_graph(X, int(rng.integers(20, 60)), mode="distance", include_self=True)
    )[:, : min(300, len(X) // 2)]
    Z.data = 1.0 / (1.0 + Z.data**2)
    B = Z.toarray() / np.sqrt(Z.sum(axis=0) + 1e-12)
    return anchor_graph(sparse.csr_array(B), n_links=int(rng.integers(5, 60)))


def pure_chance(rng):
    n = int(rng.integers(50, 300))
    return symmetric((rng.random((n, n)) < rng.uniform(0.02, 0.1)) * rng.random((n, n)))


def grid(rng):
    def path(n):
        return sparse.diags_array([np.ones(n - 1)], offsets=[1], shape=(n, n))

    a, b = rng.integers(8, 20, size=2)
    across = sparse.kron(path(a), sparse.eye_array(b))
    return symmetric(across + sparse.kron(sparse.eye_array(a), path(b)))


KINDS = {
    planted: 13, planted_with_weights: 13, ring_of_cliques: 12, nearest_neighbours: 13, power_law: 12,
    anchors_of_real_data: 13, pure_chance: 12, grid: 12,
}  # fmt: skip
"""Kinds of graphs, and how many of each are compared: a hundred in all."""


def run_at_length(graph, seed, resolution):
    """Until two passes change nothing, as igraph does, but eighteen at most."""
    rng = np.random.default_rng(seed)
    found = leiden(graph, rng, resolution=resolution, n_passes=9)
    return leiden(graph, rng, resolution=resolution, start=found, n_passes=9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_as_modular_as_those_of_igraph(kind):
    """In the mean of three runs each, or of ten: few differ by more than the tolerance by luck alone."""
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    igraph.set_random_number_generator(random)

    def run_igraph(graph, seed, resolution):
        random.seed(seed)
        links = sparse.triu(graph, 1).tocoo()
        found = igraph.Graph(graph.shape[0], np.transpose([links.row, links.col])).community_leiden(
            "modularity", links.data, resolution=resolution, n_iterations=-1
        )
        return np.array(found.membership)

    def shortfall(graph, resolution, n_runs):
        ours, theirs = (
            [
                modularity_of(graph, run(graph, seed, resolution), resolution)
                for seed in range(n_runs)
            ]
            for run in (run_at_length, run_igraph)
        )
        return np.mean(theirs) - np.mean(ours)

    for number in range(KINDS[kind]):
        graph, resolution = kind(np.random.default_rng(number)), (1.0, 0.5, 2.0)[number % 3]
        assert any(shortfall(graph, resolution, n_runs) <= 0.002 for n_runs in (3, 10)), number


@st.composite
def small_graphs(draw, most=6):
    n = draw(st.integers(1, most))
    values = draw(st.lists(st.integers(0, 4), min_size=n * n, max_size=n * n))
    return symmetric(np.reshape(values, (n, n)).astype(float), loops=True)


def all_partitions(n):
    """Labels of every partition of n nodes, once."""
    partitions = [[]]
    for _ in range(n):
        partitions = [[*p, c] for p in partitions for c in range(max(p, default=-1) + 2)]
    return map(np.array, partitions)


class TestLeiden:
    @given(small_graphs(), st.sampled_from([0.5, 1.0, 2.0]), st.integers(0, 3))
    def test_no_single_move_gains_modularity(self, graph, resolution, seed):
        found = leiden(graph, np.random.default_rng(seed), resolution=resolution)
        before = modularity_of(graph, found, resolution) if graph.nnz else 0.0
        for node, group in product(range(len(found) * (graph.nnz > 0)), range(len(found) + 1)):
            moved = found.copy()
            moved[node] = group
            assert modularity_of(graph, moved, resolution) <= before + 1e-9

    def test_the_best_of_a_few_runs_is_the_best_of_all_partitions(self):
        rng = np.random.default_rng(0)
        for _ in range(8):
            graph = symmetric((rng.random((7, 7)) < 0.4) * rng.random((7, 7)), loops=True)
            best = max(modularity_of(graph, p) for p in all_partitions(7))
            runs = [modularity_of(graph, leiden(graph, rng)) for _ in range(10)]
            assert max(runs) == pytest.approx(best, abs=1e-12)

    def test_cliques_of_a_ring_are_found(self):
        graph = ring_of_cliques(np.random.default_rng(2))
        cliques = np.arange(graph.shape[0]) // int(graph.sum(axis=1).max())
        found = leiden(graph, np.random.default_rng(0), resolution=3.0)
        assert adjusted_rand_score(cliques, found) == 1.0

    def test_communities_hang_together(self):
        graph = nearest_neighbours(np.random.default_rng(0))
        found = leiden(graph, np.random.default_rng(0))
        for community in range(found.max() + 1):
            members = np.flatnonzero(found == community)
            assert connected_components(graph[members][:, members])[0] == 1

    def test_a_further_run_never_loses_modularity(self):
        graph, rng = planted(np.random.default_rng(1)), np.random.default_rng(0)
        found = leiden(graph, rng, n_passes=1)
        for _ in range(6):
            before = modularity_of(graph, found)
            found = leiden(graph, rng, start=found, n_passes=1)
            assert modularity_of(graph, found) >= before - 1e-12

    def test_loops_count_in_degrees_and_inside_communities(self):
        """Two linked nodes stay apart if each is tied to itself much more."""
        together = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
        apart = sparse.csr_array(np.array([[9.0, 1.0], [1.0, 9.0]]))
        rng = np.random.default_rng(0)
        assert leiden(together, rng).tolist() == [0, 0]
        assert leiden(apart, rng).tolist() == [0, 1]

    def test_communities_are_numbered_without_gaps(self):
        found = leiden(power_law(np.random.default_rng(0)), np.random.default_rng(0))
        assert found.dtype == np.int32
        assert np.unique(found).tolist() == list(range(found.max() + 1))

    def test_any_type_of_indices_gives_the_same(self):
        graph = planted(np.random.default_rng(0))
        wide = graph.copy()
        wide.indptr, wide.indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        a, b = (leiden(each, np.random.default_rng(0)) for each in (graph, wide))
        assert np.array_equal(a, b)

    def test_the_start_and_the_graph_stay_as_they_are(self):
        graph = planted(np.random.default_rng(0))
        start, data = np.zeros(graph.shape[0], np.int32), graph.data.copy()
        leiden(graph, np.random.default_rng(0), start=start)
        assert not start.any()
        assert np.array_equal(graph.data, data)


class TestSearch:
    @pytest.mark.parametrize("k", [1, 2, 5, 10, 40])
    @pytest.mark.parametrize("kind", [planted, power_law, anchors_of_real_data, grid])
    def test_as_many_as_asked_for_or_those_of_the_greatest_modularity(self, kind, k):
        graph = kind(np.random.default_rng(1))
        natural = int(leiden(graph, np.random.default_rng(0)).max()) + 1
        found = find_communities(graph, k, seed=0)
        n_expected = natural if k <= natural <= 1.5 * k else k
        assert np.unique(found[found >= 0]).tolist() == list(range(n_expected))

    def test_a_few_more_than_asked_for_are_not_forced_together(self):
        ring = sparse.csr_array(sparse.block_diag([np.ones((6, 6))] * 9, "csr"))
        for k, n_expected in ((9, 9), (6, 9), (5, 5)):
            assert find_communities(ring, k, seed=0).max() + 1 == n_expected

    def test_planted_groups_are_found_at_their_number(self):
        rng = np.random.default_rng(0)
        group = np.repeat(np.arange(8), [100, 80, 60, 40, 40, 30, 20, 10])
        chance = np.where(np.equal.outer(group, group), 0.5, 0.02)
        graph = symmetric((rng.random(chance.shape) < chance).astype(float))
        assert adjusted_rand_score(group, find_communities(graph, 8, seed=0)) > 0.98

    def test_very_uneven_components_are_told_apart(self):
        blocks = [np.ones((size, size)) for size in (200, 10, 5)]
        graph = sparse.csr_array(sparse.block_diag(blocks, "csr"))
        assert (
            adjusted_rand_score(
                np.repeat([0, 1, 2], [200, 10, 5]), find_communities(graph, 3, seed=0)
            )
            == 1.0
        )

    def test_nodes_without_links_are_in_no_community_and_change_no_other(self):
        graph = planted(np.random.default_rng(0))
        n = graph.shape[0]
        lonely = sparse.csr_array(sparse.block_diag([np.zeros((3, 3)), graph], "csr"))
        found = find_communities(lonely, 5, seed=0)
        assert found[:3].tolist() == [-1, -1, -1]
        assert np.array_equal(found[-n:], find_communities(graph, 5, seed=0))

    @pytest.mark.parametrize("k", [101, 110, 150, 190, 199, 200])
    def test_small_components_are_split_if_there_are_to_be_more(self, k):
        pairs = sparse.csr_array(sparse.block_diag([1.0 - np.eye(2)] * 100, "csr"))
        assert find_communities(pairs, k, seed=0).max() + 1 == k

    def test_no_more_communities_than_nodes(self):
        assert find_communities(sparse.csr_array(np.ones((3, 3))), 5, seed=0).max() < 3

    def test_a_graph_without_links_has_none(self):
        assert find_communities(sparse.csr_array((4, 4)), 2, seed=0).tolist() == [-1] * 4

    def test_more_components_than_asked_for_are_merged_the_smallest_first(self):
        blocks = [np.ones((size, size)) for size in (30, 20, 3, 2)]
        found = find_communities(sparse.csr_array(sparse.block_diag(blocks, "csr")), 2, seed=0)
        assert adjusted_rand_score(np.repeat([0, 1], [30, 25]), found) == 1.0

    def test_the_same_seed_gives_the_same_and_scale_does_not_matter(self):
        graph = anchors_of_real_data(np.random.default_rng(0))
        first, again, scaled = (
            find_communities(g, 10, seed=3) for g in (graph, graph, graph * 1024)
        )
        assert np.array_equal(first, again)
        assert np.array_equal(first, scaled)


def test_merging_takes_the_pair_that_loses_least_modularity():
    graph = planted(np.random.default_rng(3))
    found = leiden(graph, np.random.default_rng(0), resolution=2.0)
    k = found.max()
    merged = merge_communities(graph, found, k, resolution=2.0)
    pairs = [(a, b) for a in range(k + 1) for b in range(a)]
    best = max(modularity_of(graph, np.where(found == a, b, found), 2.0) for a, b in pairs)
    assert modularity_of(graph, merged, 2.0) == pytest.approx(best, abs=1e-12)
    assert np.unique(merged).tolist() == list(range(k))


class TestAnchorGraph:
    @pytest.mark.parametrize("n_links", [1, 5, 20])  # few of many are found by a shortcut
    def test_a_link_is_kept_if_it_is_among_the_strongest_of_either_end(self, n_links):
        B = np.random.default_rng(0).dirichlet(np.full(300, 0.02), 400)
        found = anchor_graph(sparse.csr_array(B), n_links=n_links).toarray()
        alone = B.T @ B
        np.fill_diagonal(alone, 0.0)
        bar = np.sort(alone, axis=1)[:, -n_links] * (1 - 1e-12)
        kept = (alone > 0) & ((alone >= bar[:, None]) | (alone >= bar))
        np.testing.assert_allclose(found, np.where(kept, alone, 0.0), rtol=1e-12)

    def test_graph_is_symmetric_and_input_stays_as_it_is(self):
        B = sparse.random_array((300, 700), density=0.01, rng=0, format="csr")
        B.data[::7] = 0.0  # as columns of views that do not count
        before = B.copy()
        found = anchor_graph(B, n_links=5)
        assert abs(found - found.T).max() == 0
        assert found.data.min() > 0
        assert abs(B - before).max() == 0
        assert B.nnz == before.nnz

    def test_no_more_links_than_asked_for_where_all_are_equal(self):
        found = anchor_graph(sparse.csr_array(np.ones((3, 40))), n_links=4)
        assert (np.diff(found.indptr) >= 4).all()
        assert found.nnz <= 2 * 4 * 40

    def test_fewer_anchors_than_links(self):
        found = anchor_graph(sparse.csr_array(np.ones((2, 4))))
        assert found.toarray().tolist() == (2.0 - 2.0 * np.eye(4)).tolist()
