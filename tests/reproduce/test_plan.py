"""The rule for budgets: more rows, then settings, then seeds, within the seconds."""

import pytest

from manyview.bench.cells import Store
from manyview.reproduce import methods, paper
from manyview.reproduce.plan import Budget, Entry, Options, entries
from manyview.reproduce.problems import PROBLEMS


def run(entry, budget, seconds, store=None):
    """Run an entry; ``seconds`` says what a cell takes. The cells, in their order."""
    store, seen = store or Store(None), []
    for cells, left in entry.steps(budget, store):
        for cell in store.missing(cells, left):
            took = seconds(cell)
            line = {"status": "done", "seconds": took, "scores": {"accuracy": 0.5}}
            if took > left:
                line = {"status": "stopped", "spent_seconds": left, "reason": ""}
            store.add(cell, line, limit=left)
            seen.append(cell)
    return store, seen


def linear(cell):
    return cell.data.n_rows / 1000


MNIST = PROBLEMS["mnist-gaussian"]


def test_rows_grow_four_times_up_to_all():
    assert MNIST.sizes == [1093, 4375, 17500, 70000]
    assert PROBLEMS["handwritten"].sizes == [500, 2000]


def test_a_quick_method_sees_all_rows_settings_and_seeds():
    entry = Entry(PROBLEMS["handwritten"], "AMGL")
    store, cells = run(entry, Budget(1000, 3), linear)
    assert entry.reached(store) == entry.tuned_on(store) == 2000
    n_settings = len(entry.candidates)
    assert len(cells) == 1 + 3 * n_settings
    assert {cell.seed for cell in cells} == {0, 1, 2}


def test_a_slow_method_stops_where_the_next_size_would_not_fit():
    entry = Entry(MNIST, "SSCOMP", 0)
    store, cells = run(entry, Budget(50, 5), lambda cell: (cell.data.n_rows / 1000) ** 2)
    # 1.2 and 19 s; the next would take 16 times as long.
    assert entry.reached(store) == 4375
    assert not [cell for cell in cells if cell.data.n_rows > 4375]
    assert not [line for line in store.all_lines() if line["status"] == "stopped"]


def test_settings_are_tried_where_they_cost_at_most_half_of_what_is_left():
    entry = Entry(MNIST, "SSCOMP", 0)
    store, _ = run(entry, Budget(200, 2), linear)
    assert entry.reached(store) == 70000
    assert entry.tuned_on(store) == 4375  # nine settings: 39 s of 107; of 17 500 rows 158 s


def test_nothing_is_started_that_does_not_fit():
    for seconds in (5, 30, 100, 300):
        store, _ = run(Entry(MNIST, "SSCOMP", 0), Budget(seconds, 20), linear)
        assert sum(line["seconds"] for line in store.all_lines()) <= seconds


def test_the_published_method_shares_anchors_on_its_way():
    entry = Entry(PROBLEMS["handwritten"], methods.RELEASED)
    store, cells = run(entry, Budget(10_000, 2), linear)
    first = [cell for cell in cells if cell.data.rows == 500]
    assert {cell.settings["n_anchors"] for cell in first} == {50} and len(first) == 5
    assert entry.tuned_on(store) == 2000
    assert len(entry.shown(store)) == 1


def test_a_run_that_goes_on_computes_nothing_twice_and_gets_no_further():
    entry = Entry(MNIST, "AMGL")
    store, cells = run(entry, Budget(60, 3), linear)
    again, more = run(entry, Budget(60, 3), linear, store)
    assert cells and not more
    _, more = run(entry, Budget(600, 3), linear, again)
    assert more  # with more seconds it does


def test_a_stopped_size_ends_the_climb():
    entry = Entry(MNIST, "E3SC", 0)
    store, cells = run(entry, Budget(10, 3), lambda cell: 1 if cell.data.n_rows < 2000 else 99)
    assert [cell.data.n_rows for cell in cells] == [1093, 4375]
    assert entry.reached(store) == 1093


def test_it_is_told_why_there_is_no_result():
    entry = Entry(PROBLEMS["handwritten"], methods.RELEASED)
    store = Store(None)
    assert entry.why_not(store) == "not run yet"
    done = {"status": "done", "scores": {"accuracy": 0.5}, "seconds": 1.0, "n_rows": 500}
    store.add(entry.cell(entry.default, 500), done)
    assert entry.why_not(store) == "settings not tried yet"
    store.add(entry.cell(entry.default, 2000), {"status": "stopped", "reason": "stopped after 1 s"})
    assert entry.why_not(store) == "stopped after 1 s"


def test_the_best_setting_is_chosen_and_fewer_seeds_do_not_win():
    entry = Entry(PROBLEMS["handwritten"], "AMGL")
    store, _ = run(entry, Budget(1000, 2), linear)
    for line in store.all_lines():
        line["scores"] = {"accuracy": 0.9 if line["settings"].get("n_neighbors") == 10 else 0.5}
    assert entry.chosen(store) == {"n_neighbors": 10, "scaling": None}
    lucky = entry.cell({"n_neighbors": 5, "scaling": None}, 2000, 0)
    store.get(lucky)["scores"] = {"accuracy": 1.0}
    store.get(entry.cell(lucky.settings, 2000, 1))["status"] = "failed"
    assert entry.chosen(store) == {"n_neighbors": 10, "scaling": None}


def test_entries_are_those_of_the_papers_tables():
    found = entries(PROBLEMS["handwritten"])
    printed = [row for row in paper.ROWS["handwritten"] if row.method != "LMVSC"]
    assert len(found) == 4 + len(printed)
    assert [entry.method for entry in entries(PROBLEMS["covertype"])] == [
        *methods.PUBLISHED, methods.DEFAULT, methods.KMEANS,
    ]  # fmt: skip


def test_k_means_is_the_one_of_the_field_and_has_nothing_to_tune():
    entry = Entry(PROBLEMS["handwritten"], methods.KMEANS)
    store, cells = run(entry, Budget(1000, 2), linear)
    assert {cell.settings["variant"] for cell in cells} == {"litekmeans"}
    assert entry.chosen(store) is None
    assert entry.shown(store) == [entry.default]


def test_options_override_seeds_and_the_unlimited_form_has_no_limit():
    assert Options("quick").budget("AMGL") == (4, 2)
    assert Options("full", seeds=1).budget(methods.RELEASED).seeds == 1
    assert Options("unlimited").budget("AMGL").seconds == float("inf")


@pytest.mark.parametrize("form", ["quick", "full"])
def test_every_form_has_a_budget_for_whatever_is_run(form):
    for method in (*methods.PUBLISHED, methods.DEFAULT, *methods.BASELINES, "figure"):
        budget = Options(form).budget(method)
        assert budget.seconds > 0 and budget.seeds > 0
