"""Jobs, what is asked for, and how a run keeps to its time."""

import time

import pytest

from manyview.bench.cells import Cell, Store
from manyview.reproduce.plan import Options, run_all
from manyview.reproduce.problems import Data
from manyview.reproduce.run import FIGURES, TABLES, _run_job, count_unfinished, jobs, targets

CELLS = [Cell(Data("handwritten"), "KMeans", {}, seed) for seed in range(3)]


class Fake:
    """A worker that says what it was asked for; a cell takes ``takes`` seconds."""

    def __init__(self, takes=1.0):
        self.takes, self.busy_seconds = takes, 0.0

    def compute(self, batch, *, seconds):
        self.busy_seconds = min(self.takes, seconds)
        for cell in batch:
            line = {"status": "done", "seconds": self.takes}
            if self.takes > seconds:
                line = {"status": "stopped", "reason": f"stopped after {seconds:.3g} s"}
            yield cell, line


def run_job(store, worker, seconds, deadline=float("inf")):
    steps = run_all(CELLS, seconds, store)
    return _run_job("job", steps, store, worker, lambda *told: None, deadline)


def test_names_are_those_of_the_paper_and_in_one_order():
    assert targets([]) == targets(["all"]) == [*TABLES, *FIGURES]
    assert targets(["row-order", "handwritten"]) == ["handwritten", "row-order"]
    assert len(TABLES["mnist"]) == 3 and "msrcv1" not in TABLES
    with pytest.raises(ValueError, match="no table or figure 'nonsense'"):
        targets(["nonsense"])


def test_a_job_goes_on_where_it_stopped():
    store = Store(None)
    assert run_job(store, Fake(), 100)
    assert [line["status"] for line in store.lines(CELLS)] == ["done"] * 3
    before = dict(store._lines)
    assert run_job(store, Fake(), 100) and store._lines == before


def test_a_job_keeps_to_its_seconds_also_when_it_goes_on():
    store = Store(None)
    run_job(store, Fake(takes=2), 3)
    assert [line["status"] for line in store.lines(CELLS)] == ["done", "stopped"]
    run_job(store, Fake(takes=2), 3)
    assert len(store) == 2
    run_job(store, Fake(takes=2), 7)
    assert [line["status"] for line in store.lines(CELLS)] == ["done"] * 3


def test_what_the_end_of_the_run_stops_is_tried_again():
    store = Store(None)
    assert not run_job(store, Fake(takes=5), 100, deadline=time.monotonic() + 1)
    assert len(store) == 0
    assert not run_job(store, Fake(), 100, deadline=time.monotonic() - 1)


def test_jobs_of_absent_data_are_left_out(some_data):
    assert not list(jobs("nus", Options(), Store(None)))
    assert len(list(jobs("handwritten", Options(), Store(None)))) == 19


def test_work_that_is_left_is_counted(some_data, fill):
    options, names = Options("quick"), ["row-order"]
    assert count_unfinished(names, options, Store(None)) == 13
    assert count_unfinished(names, options, fill(names, options)) == 0
