import numpy as np
import pytest
from scipy import stats

from manyview.bench.ranks import rank_methods


def test_mean_ranks_are_sorted_and_ties_share_a_rank():
    ranking = rank_methods(np.array([[0.5, 0.9, 0.5], [0.1, 0.8, 0.3]]), ["a", "b", "c"])
    assert ranking.methods == ("b", "c", "a")
    np.testing.assert_allclose(ranking.ranks, [1, 2.25, 2.75])


def test_who_has_no_result_is_last():
    ranking = rank_methods(np.array([[np.nan, 0.1], [np.nan, 0.2]]), ["a", "b"])
    assert ranking.methods == ("b", "a")


def test_p_value_is_that_of_friedmans_test():
    scores = np.random.default_rng(0).normal(size=(12, 5))
    expected = stats.friedmanchisquare(*scores.T).pvalue
    assert rank_methods(scores, list("abcde")).p_value == pytest.approx(expected)


def test_critical_difference_is_nemenyis():
    """Demsar's example: four methods on 14 data sets, q = 2.569, so 1.25."""
    ranking = rank_methods(np.random.default_rng(0).normal(size=(14, 4)), list("abcd"))
    assert ranking.critical_difference == pytest.approx(1.25, abs=0.005)


def test_groups_hold_methods_nearer_than_the_critical_difference():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(40, 4)) * 0.1 + [5, 5, 0, 0]
    ranking = rank_methods(scores, list("abcd"))
    assert ranking.groups() == [(0, 1), (2, 3)]


def test_one_data_set_tells_nothing():
    ranking = rank_methods(np.array([[0.5, 0.9]]), ["a", "b"])
    assert np.isnan(ranking.p_value) and ranking.groups() == []
