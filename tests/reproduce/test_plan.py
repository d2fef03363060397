"""What is run: the paper's methods and grid, two protocols apart, within budgets that are printed."""

import pytest

from manyview.reproduce import methods, paper
from manyview.reproduce.budget import RUN_SECONDS, Budget, find_budget
from manyview.reproduce.cells import Store
from manyview.reproduce.plan import MADE, TUNED, UNLABELLED, Options, plan_table
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.run import FIGURES, TABLES, targets

pytestmark = pytest.mark.usefixtures("some_data")


@pytest.mark.parametrize("name", ["handwritten", "mnist-gaussian", "covertype"])
@pytest.mark.parametrize("form", ["quick", "full", "unlimited"])
def test_every_method_the_paper_lists_has_a_row_in_both_protocols(name, form):
    table = plan_table(PROBLEMS[name], Options(form))
    for printed in paper.ROWS[name]:
        if printed.method not in ("LMVSC", "KMeans"):
            rows = [r for r in table.rows if (r.method, r.view) == (printed.method, printed.view)]
            assert {row.protocol for row in rows} == {TUNED, UNLABELLED}
    labels = {row.label: row.protocol for row in table.rows}
    assert labels["LMVSC, paper variant"] == labels["LMVSC, released variant"] == TUNED
    assert labels["LMVSC, our defaults"] == UNLABELLED


@pytest.mark.parametrize("form", ["quick", "full", "unlimited"])
def test_nothing_without_labels_has_settings_to_choose_from(form):
    for problem in PROBLEMS.values():
        for row in plan_table(problem, Options(form)).rows:
            if row.protocol != TUNED:
                assert len(row.candidates) == 1 and row.final is None
            if row.protocol == UNLABELLED:
                assert all(cell.settings == {} for cell in row.tuning_cells)


def test_the_published_grid_is_the_papers():
    rows = plan_table(PROBLEMS["handwritten"], Options("full")).rows
    row = next(row for row in rows if row.label == "LMVSC, paper variant")
    tried = {
        (cells[0].settings["n_anchors"], cells[0].settings["alpha"]) for cells in row.candidates
    }
    assert tried == {(m, a) for m in (10, 50, 100) for a in (0.001, 0.01, 0.1, 1.0, 10.0)}
    assert {cell.seed for cell in row.candidates[0]} == set(range(10))


def test_absent_data_is_made_and_never_tuned():
    table = plan_table(PROBLEMS["reuters"], Options("quick"))
    assert not table.is_present
    assert {row.protocol for row in table.rows} == {MADE}
    assert all(cell.data.made for row in table.rows for cell in row.tuning_cells)


def test_without_a_budget_nothing_is_cut():
    for problem in PROBLEMS.values():
        for row in plan_table(problem, Options("unlimited")).rows:
            assert row.data.rows is None and row.budget.seconds is None
            assert {cell.data for cell in row.tuning_cells} == {row.data}


def test_what_is_cut_is_printed():
    budget = Budget(rows=5000, tuning_rows=1000, grid="small", seeds=1, seconds=300)
    text = budget.describe(70_000).replace("\u202f", " ")
    assert text == "5 000 of 70 000 rows; settings chosen on 1 000; small grid; at most 300 s"
    assert Budget().describe(70_000) == ""
    untuned = budget.describe(70_000, is_tuned=False).replace("\u202f", " ")
    assert untuned == "5 000 of 70 000 rows; at most 300 s"


def test_runs_end_within_the_times_they_promise():
    assert RUN_SECONDS["quick"] <= 570 and RUN_SECONDS["full"] <= 3 * 3600 - 300


def test_settings_are_chosen_on_few_rows_and_measured_on_more():
    store = Store(None)
    row = plan_table(PROBLEMS["mnist-gaussian"], Options("full")).rows[0]
    assert row.tuning_cells[0].data.n_rows == 3000
    for number, cells in enumerate(row.candidates):
        accuracy = 0.9 if number == 7 else 0.1
        store.add(cells[0], {"status": "done", "scores": {"accuracy": accuracy}})
    results = row.result_cells(store)
    assert {cell.data.n_rows for cell in results} == {10_000}
    assert [cell.seed for cell in results] == [0, 1, 2]
    assert results[0].settings == row.candidates[7][0].settings


def test_a_setting_that_few_seeds_finished_does_not_win():
    store = Store(None)
    row = plan_table(PROBLEMS["handwritten"], Options("quick")).rows[0]
    store.add(row.candidates[0][0], {"status": "done", "scores": {"accuracy": 0.99}})
    for cell in row.candidates[1]:
        store.add(cell, {"status": "done", "scores": {"accuracy": 0.5}})
    assert row.result_cells(store) == row.candidates[1]


def test_seeds_are_as_many_as_asked_for_but_slow_methods_have_fewer():
    table = plan_table(PROBLEMS["handwritten"], Options("full", seeds=4))
    seeds = {
        row.label: len(row.result_cells(Store(None))) for row in table.rows if row.protocol == TUNED
    }
    assert seeds["LMVSC, paper variant"] == 4
    assert (seeds["E3SC(1)"], seeds["MLRSSC"]) == (2, 1)


def test_targets_are_named_or_all():
    assert targets([]) == targets(["all"]) == [*TABLES, *FIGURES]
    assert targets(["digits", "nus"]) == ["nus", "digits"]
    with pytest.raises(ValueError, match="no table or figure 'nuss'"):
        targets(["nuss"])


def test_settings_are_named_as_the_paper_names_them():
    settings = {"variant": "paper", "n_anchors": 50, "alpha": 0.1, "standardised": False}
    assert methods.describe(settings) == "m = 50, alpha = 0.1"
    assert methods.describe({}) == "defaults"


def test_every_baseline_has_its_defaults_first():
    for method in methods.BASELINES:
        assert all(
            methods.baseline_settings(method, size)[0] == {} for size in ("none", "small", "full")
        )


def test_samples_have_rows_for_every_class():
    rcv1 = PROBLEMS["rcv1"]
    assert find_budget("quick", rcv1, "E3SC").rows >= 4 * rcv1.info.n_clusters
