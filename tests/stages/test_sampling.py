"""Rows that stand for all of them."""

import numpy as np
import pytest

from manyview.stages.sampling import choose_rows, choose_weighted, count_sample_rows, spread_evenly


class TestChosenRows:
    @pytest.mark.parametrize("n_wanted", [1, 10, 99])
    def test_are_distinct_and_ascend(self, n_wanted):
        rows = choose_rows(100, n_wanted, np.random.default_rng(0))
        assert len(rows) == n_wanted
        assert (np.diff(rows) > 0).all()
        assert rows[0] >= 0 and rows[-1] < 100

    @pytest.mark.parametrize("n_wanted", [100, 101, 10**9])
    def test_are_all_rows_where_that_many_are_wanted(self, n_wanted):
        rows = choose_rows(100, n_wanted, np.random.default_rng(0))
        assert np.array_equal(rows, np.arange(100))

    def test_depend_on_the_generator_alone(self):
        first, second = (choose_rows(1000, 50, np.random.default_rng(3)) for _ in range(2))
        assert np.array_equal(first, second)
        assert not np.array_equal(first, choose_rows(1000, 50, np.random.default_rng(4)))

    def test_are_spread_over_all_rows(self):
        # 2000 of 10 000 rows: each tenth holds 200 on average, with standard deviation below 13.
        rows = choose_rows(10_000, 2000, np.random.default_rng(0))
        per_tenth = np.bincount(rows // 1000, minlength=10)
        assert np.abs(per_tenth - 200).max() < 6 * 13


@pytest.mark.parametrize(("n_rows", "n_wanted"), [(10, 3), (3, 10), (10_000, 7), (1, 1)])
def test_rows_at_equal_distances_reach_from_the_first_to_the_last(n_rows, n_wanted):
    rows = spread_evenly(n_rows, n_wanted)
    assert len(rows) == min(n_rows, n_wanted)
    assert (rows[0], rows[-1]) == (0, n_rows - 1)
    assert np.ptp(np.diff(rows)) <= 1 if len(rows) > 1 else True


@pytest.mark.parametrize(("n_anchors", "n_clusters"), [(10, 3), (10, 300), (1000, 3), (300, None)])
def test_samples_have_rows_for_every_anchor_and_cluster(n_anchors, n_clusters):
    n_rows = count_sample_rows(n_anchors, n_clusters)
    assert n_rows >= 20_000
    assert n_rows >= 32 * n_anchors
    assert n_rows >= 100 * (n_clusters or 0)


def test_weighted_numbers_come_in_proportion_and_never_without_weight():
    weights = np.array([0.5, 0.0, 1.5, 2.0, 0.0])
    found = choose_weighted(weights, 400, np.random.default_rng(0))
    assert np.bincount(found, minlength=5)[[1, 4]].sum() == 0
    np.testing.assert_allclose(
        np.bincount(found, minlength=5) / len(found), weights / 4.0, atol=1 / len(found)
    )
    many = choose_weighted(np.tile(weights, 1000), 400, np.random.default_rng(0))
    assert len(many) == 400 and (np.diff(many) >= 0).all()
