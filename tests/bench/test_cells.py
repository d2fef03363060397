"""Cells have lasting names; a store goes on where it stopped."""

import json
import math
from dataclasses import replace

import pytest

from manyview.bench.cells import Cell, Store
from manyview.errors import ParameterError
from manyview.reproduce.problems import Data

CELL = Cell(Data("handwritten"), "KMeans", {"a": 1, "b": 0.5}, 0)


def test_the_id_depends_on_content_and_not_on_order():
    assert CELL.id == replace(CELL, settings={"b": 0.5, "a": 1}).id
    others = [
        replace(CELL, seed=1),
        replace(CELL, view=0),
        replace(CELL, method="AMGL"),
        replace(CELL, settings={"a": 1}),
        replace(CELL, data=Data("handwritten", 100)),
        replace(CELL, data=Data("handwritten", shuffled=0)),
    ]
    assert len({CELL.id, *(cell.id for cell in others)}) == 7


def test_a_line_says_what_was_run_and_by_which_code(results_file):
    Store(results_file).add(CELL, {"status": "done", "seconds": 1.0}, limit=5.0)
    line = json.loads(results_file.read_text())
    assert (line["id"], line["seed"], line["settings"]) == (CELL.id, 0, {"a": 1, "b": 0.5})
    assert {"commit", "dirty", "versions", "cpu", "cores", "date", "limit_seconds"} <= line.keys()
    assert {"python", "numpy", "manyview"} <= line["versions"].keys()


def test_finished_cells_are_not_missing_in_the_next_run(results_file):
    Store(results_file).add(CELL, {"status": "done"})
    other = replace(CELL, seed=1)
    assert Store(results_file).missing([CELL, other, other], 5.0) == [other]


def test_a_line_that_was_cut_off_is_computed_again_and_harms_no_other(results_file):
    Store(results_file).add(CELL, {"status": "done"})
    whole = results_file.read_text()
    results_file.write_text(whole + whole[: len(whole) // 2])
    store = Store(results_file)
    assert len(store) == 1
    other = replace(CELL, seed=1)
    store.add(other, {"status": "done"})
    assert Store(results_file).missing([CELL, other]) == []


@pytest.mark.parametrize("content", [b"my,data\n1,2", b'{"other": 1}\n', b"\xff\xfe\0"])
def test_a_file_of_something_else_is_left_alone(results_file, content):
    results_file.write_bytes(content)
    with pytest.raises(ParameterError, match="results must be a file of results"):
        Store(results_file)
    assert results_file.read_bytes() == content


def test_a_first_line_that_was_cut_off_is_no_other_file(results_file):
    Store(results_file).add(CELL, {"status": "done"})
    results_file.write_text(results_file.read_text()[:40])
    assert len(Store(results_file)) == 0


@pytest.mark.parametrize(
    ("status", "had", "limit", "is_missing"),
    [
        ("stopped", 5.0, 5.0, False),
        ("stopped", 5.0, 6.0, True),
        ("stopped", 5.0, math.inf, True),
        ("refused", 5.0, 5.0, True),
        ("failed", 5.0, 5.0, True),
    ],
)
def test_a_stopped_cell_needs_more_time_and_other_unfinished_ones_do_not(
    status, had, limit, is_missing
):
    store = Store(None)
    store.add(CELL, {"status": status, "reason": ""}, limit=had)
    assert bool(store.missing([CELL], limit)) is is_missing


def test_finished_seeds_of_a_setting_are_found_in_order(results_file):
    store = Store(results_file)
    for seed, status in ((2, "done"), (0, "done"), (1, "stopped")):
        store.add(replace(CELL, seed=seed), {"status": status})
    store.add(replace(CELL, view=1), {"status": "done"})
    for one in (store, Store(results_file)):
        assert [line["seed"] for line in one.seeds(CELL)] == [0, 2]
