"""The number of clusters: candidates, modularity, and what is suggested for made embeddings."""

import numpy as np
import pytest
from scipy import sparse

from manyview.stages import n_clusters
from manyview.stages.n_clusters import (
    Suggestion,
    candidate_numbers,
    modularity,
    suggest_n_clusters,
)


@pytest.mark.parametrize(
    ("n", "most", "last"),
    [(1, 150, None), (15, 150, None), (16, 150, 2), (160, 150, 20), (9999, 30, 28)],
)
def test_candidates_leave_eight_rows_a_cluster(n, most, last):
    numbers = candidate_numbers(n, most=most)
    assert (numbers[-1] if numbers else None) == last
    assert numbers == sorted(set(numbers))


def test_candidates_end_at_150():
    assert 130 < candidate_numbers(10**6)[-1] <= 150


def dense_modularity(W, labels):
    """Newman's definition on a whole graph."""
    degrees, total = W.sum(axis=1), W.sum()
    same = labels[:, None] == labels
    return ((W - np.outer(degrees, degrees) / total) * same).sum() / total


def test_modularity_is_that_of_the_whole_graph():
    rng = np.random.default_rng(0)
    Z = rng.dirichlet(np.full(6, 0.3), size=40)
    B = Z / np.sqrt(Z.sum(axis=0))  # rows of B B' sum to one
    labels = rng.integers(0, 3, 40)
    expected = dense_modularity(B @ B.T, labels)
    assert modularity(sparse.csr_array(B), labels) == pytest.approx(expected, abs=1e-12)


def test_modularity_without_loops_is_that_of_the_graph_without_its_diagonal():
    rng = np.random.default_rng(0)
    B = rng.dirichlet(np.full(6, 0.3), size=40)
    labels = rng.integers(0, 3, 40)
    W = B @ B.T
    np.fill_diagonal(W, 0.0)
    found = modularity(sparse.csr_array(B), labels, has_loops=False)
    assert found == pytest.approx(dense_modularity(W, labels), abs=1e-12)


def made(k, n=240, spread=0.05, seeds=3):
    """Embeddings of k tight groups from several seeds, and a graph that knows them."""
    rng = np.random.default_rng(0)
    groups = np.arange(n) % k
    centres = np.eye(k)
    parts = [centres[groups] + spread * rng.normal(size=(n, k)) for _ in range(seeds)]
    B = sparse.csr_array(np.eye(k)[groups] / np.sqrt(n / k))
    return parts, B


@pytest.mark.parametrize("k", [2, 5, 12])
def test_tight_groups_are_counted(k):
    parts, graph = made(k)
    suggestion = suggest_n_clusters(lambda _: parts, [graph], range(2, 20), seed=0)
    assert suggestion.n_clusters == k
    assert suggestion.stability == pytest.approx(1.0)


class TestMore:
    """Greater numbers are tried only where the best so far is among the greater ones."""

    @pytest.mark.parametrize(("k", "expected"), [(3, 10), (8, 20), (15, 20)])
    def test_candidates_are_asked_for_where_they_may_be_better(self, k, expected):
        parts, graph = made(k)
        suggestion = suggest_n_clusters(
            lambda _: parts, [graph], range(2, 11), seed=0,
            more=lambda: (lambda _: parts, range(11, 21)),
        )  # fmt: skip
        assert suggestion.n_clusters == k
        assert suggestion.candidates == list(range(2, expected + 1))
        assert len(suggestion.score) == len(suggestion.silhouette) == expected - 1

    def test_many_are_not_missed_where_few_score_more_than_a_part_of_them(self):
        """Three groups of twenty small ones each: 28 clusters score less than 3, but 60 more."""
        rng, small = np.random.default_rng(0), np.arange(960) % 60
        centres = np.hstack([np.eye(3)[np.arange(60) % 3], 1.1 * np.eye(60)])
        part = centres[small] + 0.01 * rng.normal(size=(960, 63))
        graphs = [np.eye(k)[small % k] / np.sqrt(960 / k) for k in (3, 60)]
        suggestion = suggest_n_clusters(
            lambda _: [part] * 2, [sparse.csr_array(np.hstack(graphs) / np.sqrt(2))], range(2, 29),
            seed=0, more=lambda: (lambda _: [part] * 2, [31, 35, 39, 44, 49, 55, 60, 66, 73]),
        )  # fmt: skip
        assert suggestion.candidates[int(np.argmax(suggestion.score[:27]))] == 3
        assert suggestion.n_clusters == 60


def test_the_middle_of_three_votes_is_taken():
    few, many = [0.45, 0.2, 0.2, 0.2], [0.3, 0.5, 0.5, 0.52]
    suggestion = Suggestion(4, [2, 4, 8, 40], few, many, [0.2, 0.1, 0.1, 0.1], 0.9)
    assert suggestion.votes() == [2, 4, 40]
    assert "three criteria prefer 2, 4, 40, the middle one is taken" in suggestion.why()


def test_what_is_both_unclear_and_loose_is_not_the_best():
    """A negative silhouette times a negative modularity is no score."""
    suggestion = Suggestion(3, [2, 3, 4], [-0.9, 0.5, 0.4], [-0.9, 0.4, 0.4], [0.0, 0.2, 0.1], 0.9)
    assert suggestion.votes()[::2] == [3, 3]


def test_a_single_spike_of_a_jagged_curve_counts_less_than_a_hump():
    spike = [0.3, 0.3, 0.3, 0.6, 0.3, 0.5, 0.55, 0.5]
    suggestion = Suggestion(8, list(range(2, 10)), spike, [0.5] * 8, [0.1] * 8, 0.9)
    assert suggestion.votes()[0] == 8


def test_three_are_three_though_two_are_much_worse_and_four_a_little():
    clear = [0.3, 0.6, 0.55, 0.5, 0.45]
    suggestion = Suggestion(3, [2, 3, 4, 5, 6], clear, [0.5] * 5, [0.1] * 5, 0.9)
    assert suggestion.votes()[0] == 3


class TestHardlyWorse:
    """Three large groups and small ones: further clusters make the large ones a little clearer."""

    CANDIDATES = (3, 4, 5, 6, 7, 8, 9)
    MODULARITY = (0.61,) * 7

    def best(self, silhouettes, stabilities):
        judged = list(zip(silhouettes, self.MODULARITY, stabilities, strict=True))
        return self.CANDIDATES[n_clusters._best(self.CANDIDATES, judged)]

    def test_modularity_decides_where_the_score_is_flat(self):
        assert self.best((0.80, 0.83, 0.845, 0.855, 0.865, 0.875, 0.88), [0.95] * 7) == 3

    def test_it_does_not_where_many_are_much_clearer(self):
        assert self.best((0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80), [0.95] * 7) == 9

    def test_it_does_not_where_only_the_many_are_found_twice_alike(self):
        stabilities = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
        assert self.best((0.80, 0.83, 0.845, 0.855, 0.865, 0.875, 0.885), stabilities) > 6


class TestBlur:
    """Rows without clusters say how clear clusters are by chance."""

    def suggest(self, spread, blurred_spread):
        parts, graph = made(4, spread=spread)
        blurred, _ = made(4, spread=blurred_spread)
        asked = []

        def blur(k):
            asked.append(k)
            return (lambda _: blurred), [graph]

        found = suggest_n_clusters(lambda _: parts, [graph], range(2, 9), seed=0, blur=blur)
        return found, asked

    def test_clusters_that_are_as_clear_without_any_are_one(self):
        found, asked = self.suggest(0.35, 0.35)
        assert asked == [4]
        assert found.n_clusters == 1
        assert found.beyond == pytest.approx(1.0)
        assert "as clear in rows without any" in found.why()

    def test_clusters_that_are_clearer_stay(self):
        found, _ = self.suggest(0.35, 2.0)
        assert found.n_clusters == 4
        assert found.beyond > 1.25

    def test_clear_clusters_are_not_asked_about(self):
        found, asked = self.suggest(0.05, 0.05)
        assert (found.n_clusters, asked, found.beyond) == (4, [], None)


def test_clusters_that_only_one_seed_sees_count_for_nothing():
    """The graph of each seed ties other pairs of rows, besides three groups that both know."""
    rng = np.random.default_rng(0)
    groups, n = np.arange(240) % 3, 240
    parts, graphs = [], []
    for _ in range(2):
        pairs = rng.permutation(n) // 12 * 3 + groups  # a seed's own small groups inside the three
        pairs = np.unique(pairs, return_inverse=True)[1]
        parts.append(np.eye(3)[groups] + 0.3 * rng.normal(size=(pairs.max() + 1, 3))[pairs])
        columns = [np.eye(3)[groups] / np.sqrt(n / 3), np.eye(pairs.max() + 1)[pairs]]
        graphs.append(sparse.csr_array(np.hstack(columns)))
    suggestion = suggest_n_clusters(lambda _: parts, graphs, range(2, 25), seed=0)
    assert suggestion.n_clusters == 3


def test_what_is_not_found_twice_is_one_cluster():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(200, 8)) for _ in range(3)]  # unrelated from seed to seed
    graph = made(2, n=200)[1]
    suggestion = suggest_n_clusters(lambda _: parts, [graph], range(2, 9), seed=0)
    assert suggestion.n_clusters == 1
    assert "twice" in suggestion.why()


def test_no_candidates_is_one_cluster():
    suggestion = suggest_n_clusters(lambda _: [], [], [], seed=0)
    assert suggestion.n_clusters == 1
    assert "too few rows" in suggestion.why()
    assert suggestion.votes() == []


def test_runners_up_are_peaks_first():
    parts, graph = made(4)
    suggestion = suggest_n_clusters(lambda _: parts, [graph], [2, 3, 4, 5, 6], seed=0)
    assert 4 not in suggestion.runners_up()
    assert len(suggestion.runners_up(2)) == 2


def suggest(parts, graph, n_pieces):
    return suggest_n_clusters(lambda _: parts, [graph], range(2, 10), seed=0, n_pieces=n_pieces)


def test_many_that_are_hardly_better_than_few_are_not_suggested():
    """Three groups that fall into four tight ones each, the graph knowing the groups."""
    rng = np.random.default_rng(0)
    small = np.arange(240) % 12
    centres = np.eye(3)[np.arange(12) % 3] + 0.08 * rng.normal(size=(12, 3))
    part = centres[small] + 0.05 * rng.normal(size=(240, 3))
    graph = made(3)[1]
    suggestion = suggest_n_clusters(lambda _: [part] * 2, [graph], range(2, 20), seed=0)
    assert suggestion.n_clusters == 3


class TestPieces:
    """Where rows themselves fall into pieces."""

    @pytest.mark.parametrize("n_pieces", [4, 7])
    def test_more_than_the_graph_shows_are_the_answer(self, n_pieces):
        suggestion = suggest(*made(3), n_pieces)
        assert suggestion.n_clusters == n_pieces
        assert "pieces" in suggestion.why()

    def test_fewer_are_not_where_finer_clusters_are_clear(self):
        suggestion = suggest(*made(5), 2)
        assert suggestion.n_clusters == 5

    def test_fewer_are_where_finer_clusters_are_vague(self):
        suggestion = suggest(*made(5, spread=0.4), 2)
        assert max(suggestion.silhouette) < 0.5
        assert suggestion.n_clusters == 2

    @pytest.mark.parametrize(("n_blobs", "expected"), [(2, 2), (5, 5)])
    def test_vague_finer_clusters_must_have_valleys_between(self, n_blobs, expected):
        parts, graph = made(5, n=600, spread=0.3)
        group = np.arange(len(parts[0])) % n_blobs
        columns = np.eye(5)[group] + 0.05 * np.random.default_rng(0).normal(size=(len(group), 5))
        suggestion = suggest_n_clusters(
            lambda _: parts, [graph], range(2, 10), seed=0, n_pieces=2, columns=lambda: columns
        )
        assert suggestion.candidates[int(np.argmax(suggestion.score))] == 5
        assert suggestion.n_clusters == expected


class TestNarrow:
    """In few columns, valleys between clusters decide."""

    def suggest(self, columns, n):
        parts, graph = made(5, n=n, spread=0.3)
        return suggest_n_clusters(
            lambda _: parts, [graph], range(2, 10), seed=0, columns=lambda: columns, is_narrow=True
        )

    def test_clusters_that_rows_thin_out_between_are_counted(self):
        columns = np.eye(5)[np.arange(600) % 5, :2] * [9.0, 5.0]
        columns += np.random.default_rng(0).normal(size=(600, 2))
        found = self.suggest(columns, 600)
        assert (found.n_clusters, found.n_apart) == (3, 3)
        assert "rows thin out between them" in found.why()

    def test_many_rows_that_thin_out_nowhere_are_one_cluster(self):
        found = self.suggest(np.random.default_rng(0).normal(size=(600, 2)), 600)
        assert (found.n_clusters, found.n_apart) == (1, 1)
        assert "thin out nowhere" in found.why()

    def test_few_rows_cannot_tell(self):
        found = self.suggest(np.random.default_rng(0).normal(size=(200, 2)), 200)
        assert (found.n_clusters, found.n_apart) == (5, None)
