"""The spectrum, and the number of clusters that its largest gap suggests."""

import numpy as np
import pytest

from manyview.report.spectrum import describe_spectrum


def test_values_are_squared_and_gaps_lie_between_them():
    found = describe_spectrum([1.0, 0.5, 0.1], 2)
    assert found["values"] == pytest.approx([1.0, 0.25, 0.01])
    assert found["gaps"] == pytest.approx([0.75, 0.24])


def test_the_first_gap_of_a_connected_graph_suggests_nothing():
    assert describe_spectrum(np.sqrt([1.0, 0.5, 0.45, 0.1]), 3)["suggested"] == 3


@pytest.mark.parametrize("values", [[1.0], [1.0, 0.5]])
def test_too_few_values_suggest_nothing(values):
    found = describe_spectrum(values, 1)
    assert found["suggested"] is None and not found["is_at_odds"]


@pytest.mark.parametrize(
    ("n_clusters", "is_at_odds"),
    [(3, False), (4, True), (6, True), (7, False)],
    ids=["the same", "one more", "twice", "more than twice"],
)
def test_a_gap_is_at_odds_with_a_number_of_clusters_near_it(n_clusters, is_at_odds):
    values = np.sqrt([1.0, 0.95, 0.9, 0.3, 0.29, 0.28, 0.27, 0.26])
    assert describe_spectrum(values, n_clusters)["is_at_odds"] is is_at_odds
