"""Rows of the tables: which setting stands for a method, and on which rows."""

import pytest

from manyview.bench.cells import Store
from manyview.reproduce import methods
from manyview.reproduce.plan import Entry, Options
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.results import NEAREST, TUNED, UNLABELLED, Results

PROBLEM = PROBLEMS["handwritten"]
ENTRY = Entry(PROBLEM, "AMGL")


@pytest.fixture
def results(some_data):
    """A function: settings, rows, seeds and accuracies -> the results of AMGL on Handwritten."""

    def make(*fits):
        store = Store(None)
        for settings, rows, accuracies in fits:
            for seed, accuracy in enumerate(accuracies):
                scores = {"accuracy": accuracy}
                line = {"status": "done", "scores": scores, "seconds": 1.0, "n_rows": rows}
                store.add(ENTRY.cell(settings, rows, seed), line)
        return Results(Options(), store, ["handwritten"])

    return make


def grid(best, rows=500):
    return [(s, rows, [0.9 if s == best else 0.5]) for s in ENTRY.candidates]


def find(results, protocol):
    return results.find(PROBLEM, protocol, "AMGL")


def test_the_chosen_setting_is_shown_on_the_most_rows(results):
    best = {"n_neighbors": 10, "scaling": "standard"}
    (row,) = find(results(*grid(best), ({}, 2000, [0.5]), (best, 2000, [0.8, 0.9])), TUNED)
    assert (row.n_rows, row.mean(), row.is_whole) == (2000, pytest.approx(0.85), True)
    assert row.tuned_on == 500 and row.n_tried == 5 and row.figure() == "0.850 ± 0.071"
    assert row.settings == "n_neighbors = 10, scaling = standard"


def test_defaults_that_are_better_on_more_rows_are_kept_instead(results):
    best = {"n_neighbors": 10, "scaling": "standard"}
    (row,) = find(results(*grid(best), ({}, 2000, [0.6]), (best, 2000, [0.4])), TUNED)
    assert row.settings == "defaults" and row.mean() == 0.6


def test_what_was_not_tuned_has_no_tuned_row(results):
    found = results(({}, 500, [0.6]))
    assert not find(found, TUNED)
    assert find(found, UNLABELLED)[0].printed.accuracy == 0.846
    assert find(found, NEAREST)[0].spread() == 0.0


def test_k_means_has_one_row_beside_the_papers(results):
    found = results()
    entry = Entry(PROBLEMS["covertype"], methods.KMEANS)
    line = {"status": "done", "scores": {"accuracy": 0.25}, "seconds": 1.0, "n_rows": 581012}
    found.store.add(entry.cell({"variant": "litekmeans"}, 581012), line)
    (row,) = Results(Options(), found.store, ["covertype"]).rows["covertype"]
    assert (row.protocol, row.printed.accuracy) == (UNLABELLED, 0.2505)


def test_one_on_more_rows_goes_before_a_better_one(results):
    found = results(*grid({}))
    few, many = find(found, TUNED)[0], find(results(*grid({}, 2000)), TUNED)[0]
    found.rows["handwritten"] = [few, many]
    assert found.best_baseline(PROBLEM) is many
    assert found.published(PROBLEM) is None and methods.RELEASED not in found.rows
