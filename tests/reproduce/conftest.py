"""Result lines made up for every cell of a plan, so that tables and pages are tested without fits."""

from __future__ import annotations

import base64
import copy
import random
from pathlib import Path

import numpy as np
import pytest

from manyview.reproduce import figures
from manyview.reproduce.cells import Cell, Store
from manyview.reproduce.facts import build_facts
from manyview.reproduce.pictures import encode_png
from manyview.reproduce.plan import Options, describe_cells, plan_table
from manyview.reproduce.problems import PROBLEMS, Problem
from manyview.reproduce.run import FIGURES, TABLES

PRESENT = ("handwritten", "mnist", "covtype")


@pytest.fixture
def some_data(monkeypatch):
    """Let three of the data sets seem to be on the machine, and the others not."""
    monkeypatch.setattr(Problem, "is_present", lambda problem: problem.registry in PRESENT)


def make_up(cell: Cell) -> dict:
    """A result that a cell could have had; the same one for the same cell."""
    rng = random.Random(cell.id)
    if cell.method == "refusal":
        return {"status": "refused", "bytes_needed": 40 * 10**9, "bytes_free": 10**9, "n_rows": 7}
    if cell.method == "describe":
        problem = PROBLEMS[cell.data.problem]
        views = [["<view>", width] for width in problem.widths]
        return {"status": "done", "n_rows": cell.data.n_rows, "n_clusters": cell.data.n_clusters,
                "views": views, "largest_class": 0.4}  # fmt: skip
    if cell.method == "t-SNE":
        points = [[rng.randrange(1000), rng.randrange(1000)] for _ in range(40)]
        return {
            "status": "done",
            "points": points,
            "classes": [i % 10 for i in range(40)],
            "n_rows": 9,
        }
    if cell.method == "digits":
        png = base64.b64encode(encode_png(np.zeros((4, 10), dtype=np.uint8))).decode()
        return {"status": "done", "png": png, "levels": [0.0, 0.1, 0.2, 0.3],
                "mean_change": [0.0, 0.1, 0.2, 0.3], "n_rows": 70000}  # fmt: skip
    if cell.method == "MLRSSC":
        return {"status": "stopped", "reason": "stopped after 5 s"}
    names = ("accuracy", "nmi", "nmi_arithmetic", "purity", "inverse_purity", "ari", "f_score")
    names_of_stages = ("anchors", "products", "graph", "spectrum", "embedding", "labels")
    stages = {stage: rng.uniform(0.1, 2.0) for stage in names_of_stages}
    return {
        "status": "done",
        "scores": {name: rng.uniform(0.2, 0.95) for name in names},
        "largest_cluster": 0.95 if cell.method == "SSCOMP" else 0.3,
        "largest_class": 0.5,
        "seconds": sum(stages.values()),
        "stage_seconds": stages,
        "peak_bytes": rng.randrange(10**6, 10**9),
        "n_rows": cell.data.n_rows,
    }


def fill(store: Store, options: Options) -> None:
    """A line for every cell of every table and figure."""
    cells = [cell for problem, cell in describe_cells() if problem.is_present()]
    tables = [plan_table(problem, options) for problem in PROBLEMS.values()]
    cells += [cell for table in tables for row in table.rows for cell in row.tuning_cells]
    cells += [cell for table in tables for cell in table.refusals]
    parts = [part for plan, _ in figures.FIGURES.values() for part in plan(options)]
    cells += [cell for part in parts for cell in part.cells]
    _add(store, cells)
    for table in tables:
        _add(store, [cell for row in table.rows for cell in row.result_cells(store)])
        _add(store, table.partners(store))


def _add(store: Store, cells: list[Cell]) -> None:
    for cell in dict.fromkeys(cells):
        if store.get(cell) is None:
            store.add(cell, make_up(cell))


@pytest.fixture(scope="session")
def quick_run():
    """Options and a store with a line for every cell of a quick run, the same for all: read only."""
    options, store = Options("quick"), Store(None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "is_present", lambda problem: problem.registry in PRESENT)
        fill(store, options)
    return options, store


@pytest.fixture(scope="session")
def quick_facts(quick_run):
    """The facts of that run: read only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "is_present", lambda problem: problem.registry in PRESENT)
        return build_facts([*TABLES, *FIGURES], *quick_run)


@pytest.fixture
def made_up(some_data, quick_run):
    """Options and a store with a line for every cell of a quick run, to be changed at will."""
    options, filled = quick_run
    store = Store(None)
    store._lines = copy.deepcopy(filled._lines)
    return options, store


@pytest.fixture
def facts(some_data, quick_facts):
    """The facts of a quick run, to be changed at will."""
    return copy.deepcopy(quick_facts)


@pytest.fixture(scope="session")
def everything() -> list[str]:
    return [*TABLES, *FIGURES]


@pytest.fixture
def results_file(tmp_path) -> Path:
    return tmp_path / "results.jsonl"
