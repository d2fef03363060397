"""Figures of tables and figures are those of their lines, worked out here a second way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyview.reproduce import figures, paper
from manyview.reproduce.cells import Store
from manyview.reproduce.facts import build_facts
from manyview.reproduce.figures import fit_slope
from manyview.reproduce.page import render_page
from manyview.reproduce.plan import TUNED, Options, describe_cells, plan_table
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.tables import SCORES, describe_data, describe_table, summarise

from .conftest import fill, make_up


def lines_by_id(store):
    return {line["id"]: line for line in store.all_lines()}


@pytest.mark.parametrize("name", ["handwritten", "mnist-speckle", "covertype", "nus"])
def test_rows_are_the_statistics_of_their_lines(made_up, name):
    options, store = made_up
    lines = lines_by_id(store)
    table = describe_table(plan_table(PROBLEMS[name], options), store)
    rows = [row for section in table["sections"] for row in section["rows"] if row["n_seeds"]]
    assert rows
    for row in rows:
        own = [lines[i] for i in row["lines"]]
        assert {line["method"] for line in own} == {row["method"]}
        assert len({str(line["settings"]) for line in own}) == 1
        for score in SCORES:
            values = [line["scores"][score] for line in own]
            assert row["scores"][score]["mean"] == pytest.approx(np.mean(values))
            assert row["scores"][score]["best"] == max(values)
            if len(values) > 1:
                assert row["scores"][score]["sd"] == pytest.approx(np.std(values, ddof=1))


def test_tuned_rows_have_the_best_mean_accuracy_of_their_grid(made_up):
    options, store = made_up
    table = plan_table(PROBLEMS["handwritten"], options)
    facts = describe_table(table, store)
    found = facts["sections"][0]["rows"]
    plans = [row for row in table.rows if row.protocol == TUNED]
    for row, plan in zip(found, plans, strict=True):
        if row["n_seeds"]:
            means = [
                np.mean([line["scores"]["accuracy"] for line in store.done(cells)])
                for cells in plan.candidates
                if store.done(cells)
            ]
            assert row["scores"]["accuracy"]["mean"] == pytest.approx(max(means))


def test_protocols_are_apart_and_the_papers_row_stands_beside(made_up):
    options, store = made_up
    facts = describe_table(plan_table(PROBLEMS["handwritten"], options), store)
    assert [s["protocol"] for s in facts["sections"]] == ["tuned with labels", "without labels"]
    row = next(r for r in facts["sections"][0]["rows"] if r["label"] == "SSCOMP(3)")
    printed = paper.find_row("handwritten", "SSCOMP", 2)
    assert row["paper"]["inverse_purity"] == printed.purity == 0.4475


def test_rows_say_how_settings_were_chosen(made_up):
    options, store = made_up
    table = plan_table(PROBLEMS["handwritten"], options)
    missing = next(row for row in table.rows if row.label == "LMVSC, our defaults").tuning_cells[1]
    del store._lines[missing.id]
    facts = describe_table(table, store)
    tuned, unlabelled = ({row["label"]: row for row in s["rows"]} for s in facts["sections"])
    assert tuned["LMVSC, paper variant"]["how"].endswith("; best accuracy of 15 settings; 2 seeds")
    assert tuned["AMGL"]["how"] == "not tuned: its defaults; 1 seed"
    assert "grid" not in tuned["AMGL"]["budget"]
    assert unlabelled["LMVSC, our defaults"]["how"] == "defaults; 1 of 2 seeds"
    assert all("grid" not in row["budget"] for row in unlabelled.values())
    assert "tuned with labels" in facts["sections"][1]["title"]


def test_methods_without_a_time_are_kept_with_the_reason(made_up):
    options, store = made_up
    facts = describe_table(plan_table(PROBLEMS["handwritten"], options), store)
    assert [(r["label"], r["reason"]) for r in facts["untimed"]] == [
        ("MLRSSC", "stopped after 5 s")
    ]
    growth = figures.describe_growth(options, store)["curves"]
    stopped = next(curve for curve in growth if curve["title"] == "MLRSSC")
    assert (stopped["points"], stopped["stopped"]) == ([], "stopped after 5 s")


def test_a_stopped_method_says_so(made_up):
    options, store = made_up
    facts = describe_table(plan_table(PROBLEMS["handwritten"], options), store)
    row = next(r for r in facts["sections"][0]["rows"] if r["label"] == "MLRSSC")
    assert (row["status"], row["reason"], row["n_seeds"]) == ("stopped", "stopped after 5 s", 0)


def test_ratios_compare_the_same_rows(made_up):
    options, store = made_up
    lines = lines_by_id(store)
    facts = describe_table(plan_table(PROBLEMS["mnist-gaussian"], options), store)
    assert {ratio["method"] for ratio in facts["ratios"]} >= {"SSCOMP", "KMeans", "AMGL"}
    for ratio in facts["ratios"]:
        assert {lines[i]["n_rows"] for i in ratio["lines"]} == {ratio["n_rows"]}
        assert ratio["ratio"] == pytest.approx(ratio["baseline_seconds"] / ratio["seconds"])
        assert ratio["ratio_without_anchors"] > ratio["ratio"]


def test_made_baselines_are_timed_against_lmvsc_on_the_same_made_rows(some_data):
    options, store = Options("full"), Store(None)
    fill(store, options)
    facts = describe_table(plan_table(PROBLEMS["nus"], options), store)
    assert {ratio["n_rows"] for ratio in facts["ratios"]} == {1000, 30_000}
    assert [one["label"] for one in facts["untimed"]] == ["MLRSSC"]


def test_times_of_two_machines_make_no_ratio(made_up):
    options, store = made_up
    table = plan_table(PROBLEMS["handwritten"], options)
    row = next(row for row in table.rows if row.method == "AMGL" and row.protocol != TUNED)
    store.get(row.tuning_cells[0])["cpu"] = "another"
    facts = describe_table(table, store)
    assert "AMGL" not in {ratio["method"] for ratio in facts["ratios"]}
    reasons = {one["label"]: one["reason"] for one in facts["untimed"]}
    assert "same machine" in reasons["AMGL"]


def test_a_row_says_that_its_lines_are_of_several_versions(made_up):
    options, store = made_up
    table = plan_table(PROBLEMS["handwritten"], options)
    row = next(row for row in table.rows if row.label == "LMVSC, our defaults")
    store.get(row.tuning_cells[0])["commit"] = "older"
    facts = describe_table(table, store)
    found = next(r for r in facts["sections"][1]["rows"] if r["label"] == row.label)
    assert found["how"].endswith("2 seeds; by 2 versions of the code or its libraries")


def test_defaults_that_are_better_on_all_rows_are_kept(some_data):
    """Settings chosen on a sample may be worse than the defaults on the whole."""
    options, store = Options("full"), Store(None)
    table = plan_table(PROBLEMS["handwritten"], options)
    row = next(row for row in table.rows if row.label == "E3SC(1)" and row.protocol == TUNED)
    plain = next(row for row in table.rows if row.label == "E3SC(1)" and row.protocol != TUNED)

    def add(cell, accuracy):
        line = make_up(cell)
        line["scores"]["accuracy"] = accuracy
        store.add(cell, line)

    for place, cell in enumerate(row.tuning_cells):
        add(cell, 0.5 + place / 100)
    chosen = row.result_cells(store)
    assert chosen[0].settings == row.candidates[-1][0].settings
    for cell in chosen:
        add(cell, 0.6)
    for cell in plain.tuning_cells:
        add(cell, 0.7)
    assert list(row.result_cells(store)) == plain.tuning_cells


def test_a_setting_of_fewer_seeds_is_not_counted_as_tried(made_up):
    options, store = made_up
    table = plan_table(PROBLEMS["handwritten"], options)
    row = next(row for row in table.rows if row.label == "LMVSC, paper variant")
    del store._lines[row.candidates[-1][0].id]
    facts = describe_table(table, store)
    assert "best accuracy of 14 of 15 settings" in facts["sections"][0]["rows"][0]["how"]


def test_data_that_does_not_load_says_why(made_up):
    options, store = made_up
    cell = next(cell for problem, cell in describe_cells() if problem.is_present())
    store.add(cell, {"status": "failed", "reason": "ValueError: not a MATLAB file"})
    reasons = [one["why_absent"] for one in describe_data(store) if one["ours"] is None]
    assert "ValueError: not a MATLAB file" in reasons
    page = render_page(build_facts(["datasets", "handwritten"], options, store))
    assert "not a MATLAB file" in page


def test_absent_data_shows_the_papers_rows_and_made_times_without_scores(made_up):
    options, store = made_up
    facts = describe_table(plan_table(PROBLEMS["rcv1"], options), store)
    assert not facts["is_present"] and "manyview datasets info rcv1" in facts["how_to_get"]
    assert [row["label"] for row in facts["paper_only"]] == ["k-means", "LMVSC"]
    assert facts["refusals"][0]["is_refused"] and facts["refusals"][0]["bytes_needed"] == 40 * 10**9


@given(
    power=st.floats(-3, 3),
    factor=st.floats(1e-3, 1e3),
    sizes=st.lists(st.integers(1, 10_000), min_size=2, max_size=8, unique=True),
)
def test_the_slope_of_a_power_law_is_its_power(power, factor, sizes):
    times = [factor * size**power for size in sizes]
    if min(times) > 1e-8:
        assert fit_slope(sizes, times) == pytest.approx(power, abs=1e-6)


def test_one_point_has_no_slope_and_one_seed_no_spread():
    assert fit_slope([1], [2]) is None
    assert summarise([0.5])["sd"] is None and summarise([]) is None


def test_grids_hold_the_mean_of_every_point(made_up):
    options, store = made_up
    lines = lines_by_id(store)
    grids = figures.describe_sensitivity(options, store)
    assert [(g["data"], g["is_ours"]) for g in grids][:3] == [
        ("Handwritten", False),
        ("Handwritten", False),
        ("Handwritten", True),
    ]
    assert "paper variant" in grids[0]["title"] and "released" in grids[1]["title"]
    assert grids[2]["anchors"][-1] == 300
    for point in grids[0]["points"]:
        values = [lines[i]["scores"]["nmi"] for i in point["lines"]]
        assert point["nmi"] == pytest.approx(np.mean(values))
        assert {lines[i]["settings"]["alpha"] for i in point["lines"]} == {point["alpha"]}
