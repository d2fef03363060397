"""Findings follow from the results: other results, other words."""

import pytest

from manyview.reproduce import paper
from manyview.reproduce.evidence import NO, PARTLY, SHOWN, UNKNOWN, YES
from manyview.reproduce.facts import build_facts
from manyview.reproduce.findings import RULES, find_all

TITLE = "Which published figures of LMVSC reproduce"


def find(facts, title):
    return next(finding for finding in find_all(facts) if finding["title"] == title)


@pytest.fixture
def facts(made_up, everything):
    options, store = made_up
    return build_facts(everything, options, store)


def set_scores(facts, accuracies, nmis):
    """Give the published rows of Handwritten these scores, and drop all other tables."""
    facts["tables"] = [table for table in facts["tables"] if table["name"] == "handwritten"]
    for row in facts["tables"][0]["sections"][0]["rows"][:2]:
        for name, values in (("accuracy", accuracies), ("nmi", nmis)):
            mean = sum(values) / len(values)
            row["scores"][name] = {"mean": mean, "sd": 0.1, "best": max(values), "n": len(values)}
        row["each"] = [{"accuracy": a, "nmi": b} for a, b in zip(accuracies, nmis, strict=True)]


@pytest.mark.parametrize(
    ("accuracies", "verdict", "words"),
    [
        ([0.92, 0.91], YES, "reached within 0.03 in the mean"),
        ([0.93, 0.60], PARTLY, "reached by the best seeds only, not in the mean"),
        ([0.70, 0.60], PARTLY, "not reached"),
    ],
)
def test_a_figure_is_reached_in_the_mean_by_luck_or_not(facts, accuracies, verdict, words):
    set_scores(facts, accuracies, [0.85, 0.85])
    found = find(facts, TITLE)
    assert found["verdict"] == verdict
    assert f"Handwritten: {words}." in found["measured"][0]
    n_above = sum(a >= 0.9165 for a in accuracies)
    assert f"(paper 0.9165; {n_above} of 2 seeds reach it)" in found["measured"][0]


def test_neither_figure_reached_is_not_reproduced(facts):
    set_scores(facts, [0.5, 0.6], [0.5, 0.6])
    assert find(facts, TITLE)["verdict"] == NO


def test_every_claim_has_a_finding_with_evidence(facts, made_up):
    ids = {line["id"] for line in made_up[1].all_lines()}
    findings = find_all(facts)
    assert len(findings) == len(RULES) == len({finding["title"] for finding in findings})
    for finding in findings:
        assert finding["measured"] and finding["lines"]
        assert set(finding["lines"]) <= ids
        assert finding["verdict"] in (YES, PARTLY, NO, SHOWN)


def test_what_was_not_measured_says_so(some_data, made_up):
    options, _ = made_up
    from manyview.reproduce.cells import Store

    facts = build_facts(["handwritten"], options, Store(None))
    assert {finding["verdict"] for finding in facts["findings"]} == {UNKNOWN}


def test_purity_below_the_largest_class_is_noticed(facts):
    found = find(facts, "The printed purity is inverse purity")
    assert any("0.3039 for k-means, raw" in text and "0.4876" in text for text in found["measured"])
    assert paper.find_row("covertype", "KMeans").purity == 0.3039


def test_gain_is_that_of_lmvsc_over_its_best_rival(facts):
    set_scores(facts, [0.9, 0.9], [0.8, 0.8])
    for row in facts["tables"][0]["sections"][0]["rows"]:
        if row["method"] == "SSCOMP":
            row["scores"]["accuracy"]["mean"] = 0.99
    found = find(facts, "Average gain over the second best")
    assert found["verdict"] == NO and "-0.090 (paper +0.071)" in found["measured"][0]
