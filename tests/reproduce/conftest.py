"""Result lines made up for every cell of a run, so that tables and pages are tested without fits."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import pytest

from manyview.bench.cells import Cell, Store
from manyview.reproduce.page import build_page
from manyview.reproduce.plan import Options
from manyview.reproduce.problems import Problem
from manyview.reproduce.run import jobs, targets

PRESENT = ("handwritten", "mnist", "covtype", "msrcv1")
SECONDS = {"LMVSC, released": 2e-3, "MLRSSC": 2e-2}


@pytest.fixture
def some_data(monkeypatch):
    """Let four of the data sets seem to be on the machine, and the others not."""
    monkeypatch.setattr(Problem, "is_present", lambda problem: problem.registry in PRESENT)


def make_up(cell: Cell) -> dict:
    """A result that a cell could have had; the same one for the same cell."""
    rng = random.Random(cell.id)
    names = ("accuracy", "nmi", "nmi_arithmetic", "purity", "inverse_purity", "ari", "f_score")
    seconds = SECONDS.get(cell.method, 1e-3) * cell.data.n_rows
    stages = {"anchors": 0.9 * seconds, "graph": 0.1 * seconds}
    return {
        "status": "done",
        "scores": {name: rng.uniform(0.2, 0.95) for name in names},
        "seconds": seconds,
        "spent_seconds": seconds / (10 if cell.method == "LMVSC, released" else 1),
        "stage_seconds": stages,
        "peak_bytes": 10**8,
        "n_rows": cell.data.n_rows,
    }


def run_made_up(names, options, store=None, change=lambda cell, line: line) -> Store:
    """Run all jobs with made-up results, which ``change`` may alter."""
    store = store or Store(None)
    for name in targets(names):
        for _, steps in jobs(name, options, store):
            for cells, seconds in steps:
                for cell in store.missing(cells, seconds):
                    store.add(cell, change(cell, make_up(cell)), limit=seconds)
    return store


@pytest.fixture(scope="session")
def fill():
    """The function that runs jobs with made-up results."""
    return run_made_up


@pytest.fixture(scope="session")
def full_run():
    """Options and a store with a line for every cell of a full run: read only."""
    options = Options("full", seeds=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "is_present", lambda problem: problem.registry in PRESENT)
        return options, run_made_up(["all"], options)


@pytest.fixture(scope="session")
def page(full_run):
    """The page of that run: read only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "is_present", lambda problem: problem.registry in PRESENT)
        return build_page(targets(["all"]), *full_run)


@pytest.fixture
def made_up(some_data, full_run):
    """Options and a store with a line for every cell of a run, to be changed at will."""
    options, filled = full_run
    return options, copy.deepcopy(filled)


@pytest.fixture
def results_file(tmp_path) -> Path:
    return tmp_path / "results.jsonl"
