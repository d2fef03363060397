"""Findings follow from the results: other results, other words."""

import pytest

from manyview.reproduce import paper
from manyview.reproduce.cells import Store
from manyview.reproduce.evidence import CLOSE, CUT, NO, PARTLY, SHOWN, UNKNOWN, YES, compare
from manyview.reproduce.facts import build_facts
from manyview.reproduce.findings import RULES, find_all
from manyview.reproduce.plan import MANY, Options, plan_table
from manyview.reproduce.problems import PROBLEMS

from .conftest import make_up

TITLE = "Which published figures of LMVSC reproduce"


def find(facts, title):
    return next(finding for finding in find_all(facts) if finding["title"] == title)


def set_scores(facts, accuracies, nmis):
    """Set the scores of the published rows of Handwritten in a full run, and drop all other tables."""
    facts["form"] = "full"
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
        ([0.99, 0.98], YES, "exceeded by more than 0.03 in the mean"),
        ([0.93, 0.60], PARTLY, "reached by lucky seeds only, not in the mean"),
        ([0.70, 0.60], NO, "not reached"),
    ],
)
def test_a_figure_is_reached_in_the_mean_by_luck_or_not(facts, accuracies, verdict, words):
    set_scores(facts, accuracies, [0.90, 0.90])
    found = find(facts, TITLE)
    assert found["verdict"] == verdict
    assert f"Handwritten: {words}." in found["measured"][0]
    told = {YES: "The claim holds.", PARTLY: "It holds in part.", NO: "It does not hold."}
    assert found["measured"][0].endswith(told[verdict])
    n_above = sum(a >= 0.9165 for a in accuracies)
    assert f"[paper 0.9165; {n_above} of 2 seeds reach it]" in found["measured"][0]


def test_one_seed_must_reach_accuracy_and_nmi(facts):
    set_scores(facts, [0.93, 0.60], [0.40, 0.90])
    assert find(facts, TITLE)["verdict"] == NO


def test_many_seeds_show_how_rare_a_figure_is(some_data):
    options, store = Options("full"), Store(None)
    table = plan_table(PROBLEMS["handwritten"], options)
    for cell in [cell for row in table.rows for cell in row.tuning_cells]:
        store.add(cell, make_up(cell))
    row = next(row for row in table.rows if row.label == MANY)
    cells = row.result_cells(store)
    assert len(cells) == 100 and {cell.settings["n_anchors"] for cell in cells} == {10}
    for cell in cells[10:]:  # those before are of the grid
        line = make_up(cell)
        lucky = cell.seed in (17, 60, 99)
        line["scores"].update(accuracy=0.9 if lucky else 0.5, nmi=0.83 if lucky else 0.5)
        store.add(cell, line)
    facts = build_facts(["handwritten"], options, store)
    for published in facts["tables"][0]["sections"][0]["rows"][:3]:
        published["scores"]["accuracy"]["mean"] = 0.5
        published["each"] = [each for each in published["each"] if each["seed"] >= 10]
    found = find(facts, TITLE)
    assert found["verdict"] == PARTLY and "3 of 100 seeds are within 0.03" in found["measured"][0]
    assert {cell.id for cell in cells} <= set(found["lines"])


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
    facts = build_facts(["handwritten"], options, Store(None))
    assert {finding["verdict"] for finding in facts["findings"]} == {UNKNOWN}


def test_purity_below_the_largest_class_is_noticed(facts):
    found = find(facts, "The printed purity is inverse purity")
    assert not any("our defaults" in text for text in found["measured"])
    assert any("0.3039 for k-means, raw" in text and "0.4876" in text for text in found["measured"])
    assert paper.find_row("covertype", "KMeans").purity == 0.3039


def test_gain_is_that_of_lmvsc_over_its_best_baseline(facts):
    set_scores(facts, [0.9, 0.9], [0.8, 0.8])
    rows = facts["tables"][0]["sections"][0]["rows"]
    sscomp = [row for row in rows if row["method"] == "SSCOMP"]
    for row in sscomp:
        row["scores"]["accuracy"]["mean"] = 0.99
    title = "Average gain over the second best"
    whole = find(facts, title)  # SSCOMP saw half of the rows: others are compared
    assert "best baseline SSCOMP" not in whole["measured"][0]
    for row in rows:
        if row["method"] in ("AMGL", "MSCIAS"):
            row["n_rows"] = 1000
    cut = find(facts, title)
    assert len(cut["measured"]) == 1  # no mean of gains on other rows
    assert (cut["verdict"], cut["scope"]) == (SHOWN, "1 of 1 shown on a part of the rows")
    assert "-0.090 (paper +0.071)" in cut["measured"][0]
    assert "not tuned: its defaults; 1 seed; on 1000 of 2000 rows" in cut["measured"][0]
    for row in sscomp:
        row["n_rows"] = 2000
    alone = find(facts, title)
    assert alone["verdict"] == SHOWN and "1 of 1 within the spread" in alone["scope"]
    for row in sscomp:
        row["scores"]["accuracy"]["sd"] = 0.02
    close = find(facts, title)
    assert close["verdict"] == SHOWN and "1 of 1 within the spread" in close["scope"]
    for row in rows[:2]:
        row["scores"]["accuracy"]["sd"] = 0.01
    found = find(facts, title)
    assert (found["verdict"], found["scope"]) == (NO, "holds on 0 of 1 data set judged")
    assert "1 of 5 data sets" in found["measured"][-1]


@pytest.mark.parametrize(
    ("one", "other", "outcome"),
    [((0.9, 0.01), (0.8, 0.02), 1.0), ((0.8, 0.02), (0.9, 0.01), 0.0),
     ((0.81, 0.05), (0.8, 0.01), CLOSE), ((0.9, 0.01), (0.8, None), CLOSE)],
)  # fmt: skip
def test_a_difference_within_the_spread_is_no_outcome(one, other, outcome):
    both = [dict(zip(("mean", "sd"), values, strict=True)) for values in (one, other)]
    assert compare(*both) == outcome
    assert compare(*both, is_whole=False) == CUT


def test_the_quick_form_judges_nothing(facts):
    findings = find_all(facts)
    assert {finding["verdict"] for finding in findings} == {SHOWN}
    assert find(facts, TITLE)["scope"] == "shown, not judged: quick form"


def test_one_seed_is_said_and_not_judged(facts):
    set_scores(facts, [0.92], [0.85])
    for row in facts["tables"][0]["sections"][0]["rows"][:2]:
        row["n_seeds"] = 1
    found = find(facts, TITLE)
    assert found["verdict"] == SHOWN
    assert "reached within 0.03 in its one seed. " in found["measured"][0]
    assert "The better of both variants: " in found["measured"][0]


@pytest.mark.parametrize(
    ("sizes", "slope", "verdict"),
    [
        ([1000, 2000, 4000, 8000], 1.0, YES),
        ([1000, 2000, 4000, 8000], 1.5, PARTLY),
        ([1000, 2000, 4000, 8000], 1.9, NO),
        ([125, 250, 500, 1000], 0.4, SHOWN),
        ([1000, 4000, 8000], 1.0, SHOWN),
        ([1000, 2000, 3000, 4000], 1.0, SHOWN),
    ],
)
def test_linear_time_is_judged_on_enough_sizes_only(facts, sizes, slope, verdict):
    facts["form"] = "full"
    for curve in facts["figures"]["time-rows"]["curves"]:
        is_own = curve["title"].startswith("LMVSC, released")
        curve["slope"] = slope if is_own else 2.0
        curve["slope_without_anchors"] = slope - 0.5 if is_own else None
        curve["points"] = [{"x": n, "y": n / 1e3, "lines": curve["lines"][:1]} for n in sizes]
    found = find(facts, "Time linear in the number of rows")
    assert found["verdict"] == verdict
    assert "on MNIST, Gaussian noise" in found["measured"][0]


def test_linear_time_is_not_judged_on_made_data(facts):
    growth, facts["form"] = facts["figures"]["time-rows"], "full"
    growth["is_made"] = True
    for curve in growth["curves"]:
        curve["slope"] = 1.0
        curve["points"] = [
            {"x": n, "y": 1.0, "lines": curve["lines"][:1]} for n in (1e3, 2e3, 4e3, 8e3)
        ]
    found = find(facts, "Time linear in the number of rows")
    assert (found["verdict"], found["scope"]) == (SHOWN, "1 of 1 shown on made data")


def test_single_views_are_compared_as_the_paper_does_and_otherwise(facts):
    set_scores(facts, [0.9, 0.9], [0.8, 0.8])
    theirs, own = find(facts, "All views together against every single view")["measured"]
    assert "SSCOMP and E3SC, as the paper compares" in theirs and "not tuned" in theirs
    assert "another test than the paper's" in own and "best accuracy of 15 settings; 2 seeds" in own


def test_numbers_of_anchors_are_compared_at_the_same_alphas(facts):
    facts["form"] = "full"
    (grid, other, *_) = facts["figures"]["sensitivity"]
    for point in other["points"]:
        point["accuracy"], point["accuracy_sd"] = 0.1, 0.01
    for point in grid["points"]:
        point["accuracy"], point["accuracy_sd"] = 0.5 - point["n_anchors"] / 1000, 0.01
    cut = next(p for p in grid["points"] if (p["n_anchors"], p["alpha"]) == (100, 0.1))
    grid["points"].remove(cut)
    lucky = next(p for p in grid["points"] if (p["n_anchors"], p["alpha"]) == (50, 0.1))
    lucky["accuracy"] = 0.99  # where 100 anchors were not finished: not compared
    found = find(facts, "How many anchors are best")
    assert found["verdict"] == YES and "the best m is 10" in found["measured"][0]
    assert "(0.001, 0.01, 1, 10)" in found["measured"][0]
    assert "2000 of 2000 rows, 2 seeds" in found["measured"][0]


@pytest.mark.parametrize(
    ("by_alpha", "verdict"),
    [
        ({0.001: 0.8, 0.01: 0.7, 0.1: 0.6, 1: 0.5, 10: 0.4}, YES),
        (
            {0.001: 0.7, 0.01: 0.7, 0.1: 0.7, 1: 0.8, 10: 0.4},
            NO,
        ),  # the largest is bad, the best large
        ({0.001: 0.7, 0.01: 0.7, 0.1: 0.705, 1: 0.5, 10: 0.4}, SHOWN),
    ],
)
@pytest.mark.parametrize("better", [0, 1])
def test_small_alphas_are_compared_with_all_larger_ones(facts, by_alpha, verdict, better):
    facts["form"] = "full"
    grids = [g for g in facts["figures"]["sensitivity"] if g["name"] == "handwritten"]
    facts["figures"]["sensitivity"] = grids
    for place, grid in enumerate(grids[:2]):
        for point in grid["points"]:
            point["accuracy"] = by_alpha[point["alpha"]] if place == better else 0.2
            point["accuracy_sd"] = 0.01
    assert find(facts, "Small alpha")["verdict"] == verdict


def test_our_grid_alone_is_shown_and_not_judged(facts):
    facts["form"] = "full"
    grids = facts["figures"]["sensitivity"]
    facts["figures"]["sensitivity"] = [grid for grid in grids if grid["is_ours"]]
    found = find(facts, "Small alpha")
    assert found["measured"] and (found["verdict"], found["scope"]) == (SHOWN, "")


def test_rows_that_differ_are_not_compared_but_measured_again(facts):
    """MNIST's single views saw fewer rows: LMVSC of all views is taken on those too."""
    table = next(t for t in facts["tables"] if t["name"] == "mnist-gaussian")
    row = table["sections"][0]["rows"][0]
    assert row["label"] == "LMVSC, paper variant"
    for other in table["sections"][0]["rows"]:
        if other["view"] is not None:
            other["n_rows"] = 123
    row["elsewhere"] = [{**row, "n_rows": 123, "n_seeds": 1, "label": "moved"}]
    row["scores"] = {name: {**s, "mean": 1.0} for name, s in row["scores"].items()}
    texts = find(facts, "All views together against every single view")["measured"]
    text = next(text for text in texts if text.startswith("MNIST, Gaussian"))
    assert "all views, and" in text and "moved: accuracy" in text and "on 123 of 70000 rows" in text


def test_ratios_say_rows_and_settings_and_made_data(facts):
    texts = find(facts, "Time against k-means and the other baselines")["measured"]
    mnist = next(text for text in texts if text.startswith("MNIST, Gaussian"))
    assert "on 400 rows, m = " in mnist and "70000 rows" in mnist and "e+" not in " ".join(texts)
    assert any(text.startswith("Made data like NUS") for text in texts)


def test_the_memory_finding_says_nothing_twice(facts):
    found = find(facts, "Baselines that run out of memory, and the “-” entries")
    assert sum("70000 rows" in text and "would hold" in text for text in found["measured"]) == 1
    assert "even when tuned" not in " ".join(found["measured"])
