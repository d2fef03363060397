"""Labels: starts that see dense groups of any size, merged in three ways, and the nearest centre."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from manyview.stages import labels as stage
from manyview.stages.labels import (
    corner_centers,
    find_starts,
    fit_kmeans,
    improve_centers,
    label_rows,
    merge_linked,
    merge_nearest,
    warn_of_alike,
)

SIZES = [300, 120, 40, 15]
"""Of four groups, as uneven as k-means with four centres does not like them."""


@pytest.fixture
def groups():
    return np.repeat(np.arange(4), SIZES)


@pytest.fixture
def rows(groups):
    rng = np.random.default_rng(0)
    return 5.0 * np.eye(4)[groups] + 0.3 * rng.normal(size=(len(groups), 4))


def graph_of(groups, *, n_anchors=12, between=0.02, seed=0):
    """A graph between rows and anchors that knows groups of rows; its columns are scaled."""
    rng = np.random.default_rng(seed)
    Z = rng.random((len(groups), n_anchors)) * (rng.random((len(groups), n_anchors)) < 0.5)
    Z *= np.where(np.arange(n_anchors) % 4 == groups[:, None], 1.0, between)
    return sparse.csr_array(Z / np.sqrt(Z.sum(axis=0)))


class TestStarts:
    def test_each_finds_the_groups_whatever_their_sizes(self, rows, groups):
        starts = find_starts(rows, graph_of(groups), 4, seed=0)
        assert list(starts) == ["ward", "average", "graph"]
        means = np.stack([rows[groups == g].mean(axis=0) for g in range(4)])
        for centers in starts.values():
            distances = cdist(centers, means)
            assert sorted(distances.argmin(axis=1)) == [0, 1, 2, 3]
            assert distances.min(axis=1).max() < 0.1

    def test_the_same_seed_gives_the_same(self, rows, groups):
        first, again = (find_starts(rows, graph_of(groups), 4, seed=7) for _ in range(2))
        assert all(np.array_equal(first[name], again[name]) for name in first)

    def test_one_cluster_is_the_mean(self, rows, groups):
        for centers in find_starts(rows, graph_of(groups), 1, seed=0).values():
            assert np.allclose(centers, rows.mean(axis=0), rtol=0, atol=1e-6)

    def test_as_many_clusters_as_rows(self):
        few = np.eye(5)
        for centers in find_starts(few, sparse.csr_array(few), 5, seed=0).values():
            assert np.array_equal(np.unique(centers, axis=0), np.unique(few, axis=0))

    def test_single_precision_will_do(self, rows, groups):
        starts = find_starts(rows.astype(np.float32), graph_of(groups), 4, seed=0)
        assert {centers.dtype for centers in starts.values()} == {np.dtype(np.float64)}

    def test_of_very_many_clusters_centres_are_not_merged_by_their_links(
        self, rows, groups, monkeypatch
    ):
        monkeypatch.setattr(stage, "VERY_MANY_CLUSTERS", 3)
        assert list(find_starts(rows, graph_of(groups), 4, seed=0)) == ["ward"]

    def test_very_many_rows_are_looked_at_in_part(self, rows, groups, monkeypatch):
        monkeypatch.setattr(stage, "_LEAST_ROWS", 120)
        monkeypatch.setattr(stage, "_ROWS_PER_CENTER", 10)
        asked = []
        monkeypatch.setattr(
            stage,
            "fit_kmeans",
            lambda rows, *a, **k: asked.append(len(rows)) or fit_kmeans(rows, *a, **k),
        )
        starts = find_starts(rows, graph_of(groups), 4, seed=0)
        assert asked == [120] and len(rows) > 120
        assert list(starts) == ["ward", "average", "graph"]

    @pytest.mark.parametrize("most", [20_000, 120])
    def test_what_is_near_elsewhere_is_merged(self, rows, groups, monkeypatch, most):
        """Of some of the rows, too, which are named by their places among all."""
        monkeypatch.setattr(stage, "_LEAST_ROWS", most)
        monkeypatch.setattr(stage, "_ROWS_PER_CENTER", 10)
        elsewhere = np.array([[0.0], [1.0], [20.0], [40.0]])[groups]  # the two largest are one
        starts = find_starts(rows, graph_of(groups), 3, seed=0, places=lambda M: M @ elsewhere)
        assert list(starts) == ["places"]
        merged = np.array([0, 0, 1, 2])[groups]
        means = np.stack([rows[merged == g].mean(axis=0) for g in range(3)])
        assert sorted(cdist(starts["places"], means).argmin(axis=1)) == [0, 1, 2]

    @pytest.mark.parametrize(("count", "merged"), [(7, [0, 1, 1]), (14, [0, 0, 1])])
    def test_a_rare_group_stays_apart_and_a_few_odd_rows_do_not(self, count, merged):
        """Both are more than three hundredths of an average cluster."""
        groups = np.repeat([0, 1, 2], [200, 100, count])
        rng = np.random.default_rng(0)
        rows = 5.0 * np.eye(3)[groups] + 0.3 * rng.normal(size=(len(groups), 3))
        elsewhere = np.array([[0.0], [10.0], [25.0]])[groups]
        starts = find_starts(rows, None, 2, seed=0, places=lambda members: members @ elsewhere)
        own = np.array(merged)[groups]
        means = np.stack([rows[own == g].mean(axis=0) for g in range(2)])
        assert sorted(cdist(starts["places"], means).argmin(axis=1)) == [0, 1]
        assert cdist(starts["places"], means).min(axis=1).max() < 0.1

    def test_many_centres_lie_where_the_rows_are(self):
        rng = np.random.default_rng(0)
        corners = 20.0 * rng.normal(size=(70, 3))
        rows = np.repeat(corners, 13, axis=0) + rng.normal(scale=0.1, size=(910, 3))
        starts = find_starts(rows, sparse.csr_array(np.ones((910, 1))), 70, seed=0)
        assert starts.keys() == {"ward", "average", "graph"}
        near = cdist(rows, starts["ward"]).min(axis=1)
        assert np.mean(near < 1.0) > 0.95

    @pytest.mark.parametrize("k", [5, 70])
    def test_improved_centres_are_the_means_of_their_rows(self, k):
        rows = np.random.default_rng(0).normal(size=(1000, 3)).astype(np.float32)
        labels, centers = improve_centers(rows, rows[:k])
        means = np.stack([rows[labels == j].mean(axis=0) for j in range(k)])
        np.testing.assert_allclose(centers, means, atol=1e-5)
        spread, before = (
            np.square(cdist(rows, each).min(axis=1)).sum() for each in (centers, rows[:k])
        )
        assert spread < 0.8 * before

    def test_rows_that_are_alike_are_no_failure(self):
        alike = np.repeat(np.eye(3), 20, axis=0)
        for centers in find_starts(alike, sparse.csr_array(alike), 4, seed=0).values():
            assert centers.shape == (4, 3)
            assert np.isfinite(centers).all()


def merge_slowly(graph, labels, n_groups):
    """The definition: links and volumes of all pairs, from the rows themselves, each time."""
    W, labels = (graph @ graph.T).toarray(), labels.copy()
    while len(names := np.unique(labels)) > n_groups:
        inside = {name: labels == name for name in names}
        volume = {name: W[inside[name]].sum() for name in names}
        _, i, j = max(
            (W[inside[a]][:, inside[b]].sum() / min(volume[a], volume[b]), a, b)
            for a in names
            for b in names
            if a < b
        )
        labels[labels == j] = i
    return labels


class TestLinked:
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("n_groups", [1, 3, 8])
    def test_merges_are_those_of_the_definition(self, seed, n_groups):
        rng = np.random.default_rng(seed)
        labels = rng.permutation(np.arange(60) % 15)
        graph = graph_of(rng.integers(0, 4, 60), between=0.5, seed=seed)
        merged = merge_linked(graph, labels, 15, n_groups)
        assert np.unique(merged).tolist() == list(range(n_groups))
        expected = merge_slowly(graph, labels, n_groups)
        assert adjusted_rand_score(expected, merged[labels]) == 1.0

    def test_parts_of_a_group_join_and_a_small_group_stays(self, groups):
        parts = 3 * groups + np.arange(len(groups)) % 3
        merged = merge_linked(graph_of(groups), parts, 12, 4)
        assert merged.tolist() == np.repeat(np.arange(4), 3).tolist()

    def test_groups_without_links_or_rows_are_merged_too(self):
        graph = sparse.csr_array(np.kron(np.eye(2), np.ones((2, 1))))
        assert len(np.unique(merge_linked(graph, np.array([0, 1, 2, 3]), 6, 2))) == 2


class TestCorners:
    def turned(self, groups, noise):
        """Rows near corners at right angles, in a basis of any kind."""
        rng = np.random.default_rng(0)
        corners = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        return corners, corners[groups] + noise * rng.normal(size=(len(groups), 4))

    def test_are_found_whatever_the_sizes(self, groups):
        corners, rows = self.turned(groups, 0.1)
        distances = cdist(corner_centers(rows, 4), corners)
        assert sorted(distances.argmin(axis=1)) == [0, 1, 2, 3]
        # The mean of fifteen rows: four coordinates with a standard deviation of .026 each.
        assert distances.min(axis=1).max() < 0.15

    def test_are_means_of_the_rows_near_them(self, groups):
        _, rows = self.turned(groups, 0.05)
        centers = corner_centers(rows, 4)
        labels = cdist(rows, centers).argmin(axis=1)
        assert adjusted_rand_score(groups, labels) == 1.0
        expected = np.stack([rows[labels == c].mean(axis=0) for c in range(4)])
        assert np.allclose(centers, expected, rtol=0, atol=1e-12)

    def test_rows_that_are_alike_are_no_failure(self):
        assert np.isfinite(corner_centers(np.ones((10, 3)) / np.sqrt(3), 3)).all()


def test_labels_are_the_nearest_centres(rows):
    centers = rows[:5]
    labels = label_rows(rows, centers)
    assert np.array_equal(labels, cdist(rows, centers).argmin(axis=1))
    assert labels.dtype == np.int32


def test_fewer_distinct_rows_than_clusters_are_reported():
    rows = np.repeat(np.eye(3), 2, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 3 distinct rows for 4 clusters"):
        warn_of_alike(rows, 4)
    warn_of_alike(rows, 3)  # a warning would be an error


def test_kmeans_is_silent_about_rows_that_are_alike():
    found = fit_kmeans(np.repeat(np.eye(3), 2, axis=0), 4, init="k-means++", max_iter=5, seed=0)
    assert np.isfinite(found.cluster_centers_).all()


class TestNearest:
    def test_what_was_merged_lies_at_its_mean(self):
        points = np.array([[0.0], [1.0], [2.2], [4.0]])  # then at .5, 2.2 and 4
        assert merge_nearest(points, np.full(4, 100), 2, least=0).tolist() == [0, 0, 0, 1]

    def test_a_rare_group_that_is_far_stays_apart(self):
        points = np.array([[0.0], [1.0], [3.0]])
        assert merge_nearest(points, np.array([1000, 900, 40]), 2, least=30).tolist() == [0, 0, 1]

    def test_the_smaller_of_two_that_are_about_as_near_goes_first(self):
        points = np.array([[0.0], [1.0], [2.02]])
        assert merge_nearest(points, np.array([1000, 900, 40]), 2, least=30).tolist() == [0, 1, 1]

    def test_a_few_odd_rows_are_no_group(self):
        points = np.array([[0.0], [1.0], [30.0]])
        assert merge_nearest(points, np.array([1000, 900, 5]), 2, least=30).tolist() == [0, 1, 1]

    def test_centres_without_rows_are_no_failure(self):
        groups = merge_nearest(np.zeros((4, 2)), np.array([5, 0, 0, 5]), 3, least=0)
        assert len(np.unique(groups)) == 3


def test_rows_in_single_precision_have_the_labels_of_double_precision():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(30, 600))
    near = centers[rng.integers(30, size=500)] + 1e-3 * rng.normal(size=(500, 600))
    pairs = rng.integers(30, size=(500, 2))
    shares = 0.5 + 1e-6 * rng.normal(size=(500, 1))  # of two centres: single precision cannot tell
    between = shares * centers[pairs[:, 0]] + (1 - shares) * centers[pairs[:, 1]]
    rows = np.concatenate([near, between]).astype(np.float32)

    exact = cdist(rows.astype(np.float64), centers).argmin(axis=1)
    np.testing.assert_array_equal(label_rows(rows, centers), exact)
    assert label_rows(rows[:3], centers[:1]).tolist() == [0, 0, 0]
