"""Pieces that rows fall into: those of single linkage where these are apart, whatever their shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from manyview.stages.pieces import (
    Tree,
    count_bound,
    count_pieces,
    distinct_rows,
    find_bound,
    find_pieces,
)


def far_blobs(sizes, *, seed=0, width=3):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return 20.0 * np.eye(len(sizes), width)[groups] + rng.normal(size=(len(groups), width)), groups


class TestFound:
    @pytest.mark.parametrize("sizes", [(60, 60), (200, 30, 12), (40,) * 6])
    def test_blobs_of_any_sizes(self, sizes):
        rows, groups = far_blobs(sizes, width=6)
        found = find_pieces(rows, len(sizes))
        assert adjusted_rand_score(groups, found.labels) == 1.0
        assert found.apart > 1.05

    def test_curves_that_kmeans_would_cut(self):
        rows, groups = make_moons(400, noise=0.04, random_state=0)
        assert adjusted_rand_score(groups, find_pieces(rows, 2).labels) == 1.0

    def test_a_circle_around_another(self):
        angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        labels = find_pieces(np.vstack([circle[::4], 4.0 * circle]), 2).labels
        assert sorted(np.bincount(labels)) == [50, 200]

    def test_rows_that_are_alike_belong_together(self):
        rows, groups = far_blobs((30, 30))
        labels = find_pieces(np.vstack([rows, rows[:7], rows[:7]]), 2).labels
        assert adjusted_rand_score(np.r_[groups, groups[:7], groups[:7]], labels) == 1.0

    def test_few_odd_rows_are_no_piece_and_go_with_the_nearest(self):
        rows, groups = far_blobs((100, 100))
        odd = rows[[0, 100]] + [[0.0, 9.0, 0.0]]
        found = find_pieces(np.vstack([rows, odd]), 2)
        assert adjusted_rand_score(np.r_[groups, 0, 1], found.labels) == 1.0

    @given(seed=st.integers(0, 10**6), n=st.integers(10, 11))
    @settings(max_examples=30)
    def test_few_rows_are_cut_as_by_single_linkage(self, seed, n):
        """So few that all of them are neighbours: what joins both over what holds each together."""
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(n, 2)) + np.where(np.arange(n) < 5, 0.0, 30.0)[:, None]
        tree = linkage(rows, "single")
        found = find_pieces(rows, 2)
        assert adjusted_rand_score(fcluster(tree, 2, "maxclust"), found.labels) == 1.0
        assert found.apart == pytest.approx(tree[-1, 2] / tree[-2, 2])


class TestNone:
    def test_of_a_single_cloud(self):
        rng = np.random.default_rng(0)
        for rows in (rng.normal(size=(500, 2)), rng.normal(size=(500, 30))):
            assert find_pieces(rows, 3) is None

    @pytest.mark.parametrize("n_columns", [1, 2, 3])
    def test_of_rows_that_only_chance_sets_apart(self, n_columns):
        """Among few rows in few columns, some gap is always a little wider than the next."""
        rng = np.random.default_rng(n_columns)
        clouds = [
            draw(size=(150, n_columns)) for draw in (rng.normal, rng.uniform) for _ in range(20)
        ]
        found = [find_pieces(rows, 2 + i % 2) for i, rows in enumerate(clouds)]
        assert sum(pieces is not None for pieces in found) <= 1
        assert sum(count_pieces(rows, 1.2) > 1 for rows in clouds) <= 1

    def test_of_clusters_with_rows_between_them(self):
        rows, _ = far_blobs((100, 100), width=2)
        bridge = np.linspace(rows[:100].mean(axis=0), rows[100:].mean(axis=0), 60)
        assert find_pieces(np.vstack([rows, bridge]), 2) is None

    @pytest.mark.parametrize("wrong", [2, 4, 5])
    def test_of_another_number_than_there_are(self, wrong):
        assert find_pieces(far_blobs((50, 50, 50))[0], wrong) is None

    @pytest.mark.parametrize("rows", [np.zeros((40, 2)), np.zeros((1, 2))])
    def test_of_rows_that_are_all_alike(self, rows):
        assert find_pieces(rows, 2) is None

    def test_where_they_are_not_as_far_apart_as_asked_for(self):
        rows, _ = far_blobs((5, 5))
        apart = find_pieces(rows, 2).apart
        assert np.isfinite(apart)
        assert find_pieces(rows, 2, ((0.05, 1.1 * apart),)) is None


class TestSame:
    @pytest.fixture
    def rows(self):
        return far_blobs((80, 40, 20))[0]

    def test_whatever_the_unit(self, rows):
        found, scaled = find_pieces(rows, 3), find_pieces(1024.0 * rows, 3)
        assert np.array_equal(found.labels, scaled.labels)
        assert found.apart == pytest.approx(scaled.apart)

    def test_whatever_the_order_of_rows(self, rows):
        order = np.random.default_rng(1).permutation(len(rows))
        labels = find_pieces(rows[order], 3).labels
        assert adjusted_rand_score(find_pieces(rows, 3).labels[order], labels) == 1.0

    def test_rows_are_left_as_they_are(self, rows):
        before = rows.copy()
        find_pieces(rows, 3)
        assert np.array_equal(rows, before)


class TestBound:
    """Pieces that a few rows join: single linkage sees one, their neighbours' graph does not."""

    def test_clusters_with_rows_between_them(self):
        rows, groups = far_blobs((100, 100), width=2)
        bridge = np.linspace(rows[:100].mean(axis=0), rows[100:].mean(axis=0), 12)
        rows = np.vstack([rows, bridge])
        assert find_pieces(rows, 2) is None
        found = find_bound(Tree.of(rows), 2)
        assert adjusted_rand_score(groups, found.labels[:200]) == 1.0

    @pytest.mark.parametrize("shape", ["string", "ring"])
    @pytest.mark.parametrize("k", [2, 3, 4])
    def test_not_parts_of_a_string_or_ring(self, shape, k):
        rng = np.random.default_rng(k)
        angle = rng.uniform(0, 2 * np.pi, 400)
        lines = {"string": [angle, 0 * angle], "ring": [np.cos(angle), np.sin(angle)]}
        rows = np.stack(lines[shape], axis=1) + 0.02 * rng.normal(size=(400, 2))
        assert find_bound(Tree.of(rows), k) is None

    @pytest.mark.parametrize("n_columns", [1, 2, 3, 20])
    def test_not_rows_that_chance_sets_apart(self, n_columns):
        rng = np.random.default_rng(n_columns)
        clouds = [rng.normal(size=(150, n_columns)) for _ in range(20)]
        found = [find_bound(Tree.of(rows), 2 + i % 3) for i, rows in enumerate(clouds)]
        assert sum(pieces is not None for pieces in found) <= 1

    def test_not_a_few_rows_that_are_nearly_alike(self):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(1012, 3))
        rows[500:1000, 0] += 4.0
        rows[1000:] = 6.0 + 0.01 * rng.normal(size=(12, 3))
        assert find_bound(Tree.of(rows), 2) is None
        assert count_bound(Tree.of(rows)) <= 2

    def test_copies_of_rows_count_once(self):
        rows, groups = far_blobs((60, 60))
        found = find_bound(Tree.of(np.repeat(rows, 3, axis=0)), 2)
        assert adjusted_rand_score(np.repeat(groups, 3), found.labels) == 1.0

    @pytest.mark.parametrize("k", [2, 5, 12])
    def test_touching_blobs_are_counted(self, k):
        rng = np.random.default_rng(0)
        groups = np.arange(60 * k) % k
        rows = 4.5 * np.eye(k, 12)[groups] + rng.normal(size=(len(groups), 12))
        assert count_pieces(rows, 1.2) == 1
        assert count_bound(Tree.of(rows)) == k

    @pytest.mark.parametrize("rows", [np.zeros((40, 2)), np.arange(15.0)[:, None]])
    def test_rows_that_say_nothing_are_one(self, rows):
        assert count_bound(Tree.of(rows)) == 1

    @pytest.mark.parametrize("k", [1, 2, 21])
    def test_none_of_few_rows_or_of_many_pieces(self, k):
        assert find_bound(Tree.of(np.arange(15.0)[:, None]), k) is None


class TestCounted:
    @pytest.mark.parametrize("sizes", [(40, 40), (300, 20, 60), (30,) * 12])
    def test_blobs_of_any_sizes(self, sizes):
        rows, _ = far_blobs(sizes, width=len(sizes))
        assert count_pieces(rows, 1.3) == len(sizes)

    def test_curves(self):
        for noise in (0.03, 0.05):  # with more, some rows lie beyond the ends
            rows, _ = make_moons(1000, noise=noise, random_state=0)
            assert count_pieces(rows, 1.3) == 2

    @pytest.mark.parametrize("seed", range(5))
    def test_a_cloud_is_one(self, seed):
        assert count_pieces(np.random.default_rng(seed).normal(size=(500, 4)), 1.3) == 1

    def test_rows_that_are_all_alike_are_one(self):
        assert count_pieces(np.ones((30, 2)), 1.3) == 1


@pytest.mark.parametrize("n_values", [2, 10**6])
def test_distinct_rows_are_those_of_numpy(n_values):
    rows = np.random.default_rng(0).integers(n_values, size=(50, 3)).astype(float)
    distinct, nodes = distinct_rows(rows)
    assert np.array_equal(distinct, np.unique(rows, axis=0))
    assert np.array_equal(distinct[nodes], rows)
