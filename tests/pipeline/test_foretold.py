"""What stages will cost."""

from itertools import pairwise

from manyview import LMVSC
from manyview.datasets import make_views
from manyview.pipeline.foretold import foretell


def test_every_stage_of_a_fit_is_foretold():
    model = LMVSC(2, n_repeats=1, random_state=0).fit(make_views(200, 2, (4,), random_state=0))
    assert model.stage_seconds_.keys() - {"compiling"} == foretell(200).keys()


def test_costs_grow_with_the_rows_and_are_never_zero():
    costs = [foretell(n) for n in (1, 1000, 10**6)]
    assert all(value > 0 for value in costs[0].values())
    for less, more in pairwise(costs):
        assert all(less[stage] <= more[stage] for stage in less)
