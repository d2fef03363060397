"""The rules that judge claims: bars, spreads, and how cases make one verdict."""

import pytest

from manyview.reproduce.claims import CLAIMS, Case, Claim
from manyview.reproduce.measures import MEASURES
from manyview.reproduce.paper import read_table


def claim(sense="at least", bar=0.0, shown="{:+.2f} so"):
    return Claim("section", "key", "title", "paper", sense, bar, shown)


def case(value, spread=0.0, why_not=""):
    return Case(["cell"], {} if value is None else {"key": value}, spread, why_not)


@pytest.mark.parametrize(
    ("sense", "bar", "value", "spread", "verdict"),
    [
        ("at least", 0.07, 0.08, 0.0, "holds"),
        ("at least", 0.07, 0.06, 0.0, "does not hold"),
        ("at least", 0.07, 0.08, 0.02, "within the spread"),
        ("at most", 1.15, 1.0, 0.0, "holds"),
        ("at most", 1.15, 1.4, 0.1, "does not hold"),
        ("within", 0.03, -0.02, 0.0, "holds"),
        ("within", 0.03, 0.04, 0.0, "does not hold"),
        ("within", 0.03, 0.04, 0.05, "holds"),
        ("within", 0.03, None, 0.0, ""),
    ],
)
def test_a_case_is_judged_by_the_bar_and_the_spread(sense, bar, value, spread, verdict):
    assert claim(sense, bar).judge(case(value, spread)) == verdict


def test_a_case_that_is_not_to_be_judged_says_why():
    assert claim().judge(case(1.0, why_not="one seed")) == "one seed"


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1, 2], "holds"),
        ([1, -2], "holds in part: 1 of 2"),
        ([-1], "does not hold"),
        ([None], "not measured"),
        ([None, 1], "holds"),
    ],
)
def test_the_verdict_counts_the_cases_that_are_judged(values, verdict):
    assert claim().verdict(list(map(case, values)), is_quick=False) == verdict


def test_a_verdict_without_judged_cases_says_why_and_the_quick_form_has_none():
    cases = [case(1.0, why_not="one seed")]
    assert claim().verdict(cases, is_quick=False) == "not judged: one seed"
    assert claim().verdict([case(1.0)], is_quick=True) == "not judged"


def test_what_was_measured_is_shown_as_a_range():
    assert claim().here([case(1), case(-0.5), case(None)]) == "-0.50 to +1.00 so"
    assert claim().here([case(1)]) == "+1.00 so" and claim().here([]) == "–"


def test_every_claim_has_a_measure_and_every_section_a_title():
    assert {one.section for one in CLAIMS} == set(MEASURES)
    assert [line["name"] for line in read_table("sections.csv")] == list(MEASURES)
    assert {one.sense for one in CLAIMS} == {"at least", "at most", "within"}
