"""The paper's figures as data: what its own text says of them holds."""

from statistics import fmean

import pytest

from manyview.reproduce import paper
from manyview.reproduce.claims import CLAIMS
from manyview.reproduce.problems import PROBLEMS

MULTI_VIEW = ("caltech7", "caltech20", "handwritten", "reuters", "nus")


def test_every_data_set_has_its_rows():
    assert set(paper.ROWS) == set(PROBLEMS) - {"msrcv1"}
    assert [len(paper.ROWS[name]) for name in MULTI_VIEW] == [16, 16, 16, 8, 7]
    assert sum(map(len, paper.ROWS.values())) == 16 * 3 + 8 + 7 + 3 * 4 + 2 * 2


@pytest.mark.parametrize("name", paper.ROWS)
def test_lmvsc_has_the_largest_accuracy_of_each_table(name):
    best = max(paper.ROWS[name], key=lambda row: row.accuracy)
    assert best.method == "LMVSC"


def test_average_gain_is_the_seven_per_cent_of_the_text():
    gains = []
    for name in MULTI_VIEW:
        *others, own = (row.accuracy for row in paper.ROWS[name])
        gains.append(own - max(others))
    assert 0.07 <= fmean(gains) < 0.08


def test_sscomp_takes_16_to_21_times_as_long_on_mnist():
    ratios = []
    for name in (name for name in paper.ROWS if name.startswith("mnist")):
        *others, own = (row.seconds for row in paper.ROWS[name])
        ratios += [seconds / own for seconds in others]
    (claim, _) = [claim for claim in CLAIMS if claim.section == "speed"]
    assert claim.paper == f"{min(ratios):.0f} to {max(ratios):.0f} times"
    assert claim.bar <= min(ratios)
    assert (round(min(ratios), 1), round(max(ratios), 1)) == (16.1, 20.9)


def test_a_row_is_found_by_method_and_view():
    assert paper.find_row("caltech7", "SSCOMP", 4).nmi is None
    assert paper.find_row("caltech7", "SSCOMP", 4).label == "SSCOMP(5)"
    assert paper.find_row("rcv1", "SSCOMP") is None
