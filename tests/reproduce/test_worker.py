"""The worker process: results come one by one, time is kept, and failures are lines."""

import pytest

from manyview.reproduce import methods
from manyview.reproduce.cells import Cell, Store
from manyview.reproduce.compute import Loaded, batches, compute
from manyview.reproduce.problems import Data
from manyview.reproduce.run import Job, _run_job
from manyview.reproduce.worker import Worker

DATA = Data("shape", shape=(90, 5, 2, 3), made=True)


def published(alpha, variant="paper", m=6, seed=0):
    settings = {"variant": variant, "n_anchors": m, "alpha": alpha, "standardised": False}
    return Cell(DATA, methods.PUBLISHED, settings, seed)


@pytest.fixture(scope="module")
def worker():
    with Worker() as running:
        yield running


def test_published_cells_that_share_anchors_are_one_batch():
    cells = [published(a, v, m) for m in (6, 12) for v in ("paper", "released") for a in (0.1, 1.0)]
    cells.append(Cell(DATA, "KMeans"))
    assert [len(batch) for batch in batches(cells)] == [4, 4, 1]


def test_results_belong_to_their_cells_whatever_the_order():
    cells = [published(1.0, "released"), published(0.1, "paper"), published(0.1, "released")]
    lines = {line["number"]: line for line in compute(cells, Loaded())}
    assert sorted(lines) == [0, 1, 2]
    loaded = Loaded()
    for number, cell in enumerate(cells):
        (alone,) = compute([cell], loaded)
        assert lines[number]["scores"] == alone["scores"]


@pytest.mark.parametrize(
    "method", [methods.DEFAULT, "KMeans", "KMeans standardised", "AMGL", "SSCOMP"]
)
def test_a_fit_has_all_scores_seconds_and_memory(method):
    view = 1 if method in methods.SINGLE_VIEW else None
    settings = {"n_repeats": 1} if method == methods.DEFAULT else {}
    (line,) = compute([Cell(DATA, method, settings, 0, view)], Loaded())
    assert line["status"] == "done" and line["n_rows"] == 90 and line["seconds"] > 0
    assert line["cpu_seconds"] > 0
    assert {"accuracy", "nmi", "nmi_arithmetic", "purity", "inverse_purity", "ari"} <= set(
        line["scores"]
    )


@pytest.mark.parametrize("method", methods.QUADRATIC)
@pytest.mark.parametrize("problem", ["mnist-gaussian", "nus"])
def test_methods_say_how_much_memory_the_whole_data_needs(method, problem):
    view = 0 if method in methods.SINGLE_VIEW else None
    cell = Cell(Data(problem), "refusal", {"method": method}, 0, view)
    (line,) = compute([cell], Loaded())
    assert line["status"] in ("refused", "fits") and line["bytes_needed"] > 1e6
    assert (line["status"] == "refused") == (line["bytes_needed"] > line["bytes_free"])


@pytest.mark.slow
def test_the_worker_gives_results_stops_in_time_and_starts_again(worker):
    cells = [published(0.1), published(1.0)]
    found = dict(worker.compute(cells, seconds=None))
    assert {line["status"] for line in found.values()} == {"done"}
    assert list(found) == cells
    endless = [Cell(DATA, "KMeans", {"n_init": 10**9})]
    ((cell, line),) = worker.compute(endless, seconds=0.2)
    assert (cell, line["status"], line["reason"]) == (endless[0], "stopped", "stopped after 0.2 s")
    again = dict(worker.compute(cells[:1], seconds=60))
    assert again[cells[0]]["scores"] == found[cells[0]]["scores"]


def test_data_that_does_not_load_in_time_is_tried_again():
    class Silent:
        def send(self, cells):
            pass

        def poll(self, patience):
            return False

    worker, store = Worker(), Store(None)
    worker._start = Silent
    cell = published(0.1)
    ((_, line),) = worker.compute([cell], seconds=5)
    assert line == {"status": "failed", "reason": "data did not load within 300 s"}
    store.add(cell, line, limit=5)
    assert store.missing([cell], limit=5) == [cell]


@pytest.mark.slow
def test_what_raises_is_a_line_that_says_why(worker):
    ((_, line),) = worker.compute([Cell(DATA, "KMeans", {"init": "wrong"})], seconds=60)
    assert line["status"] == "failed" and "init" in line["reason"]
    ((_, line),) = worker.compute([Cell(Data("nus"), "KMeans")], seconds=60)
    assert line["status"] in ("failed", "done")  # done where the data is


@pytest.mark.slow
def test_a_job_keeps_to_its_limit_and_names_what_was_not_run(worker):
    store, told = Store(None), []
    slow = [Cell(DATA, "KMeans", {"n_init": 10**9}, seed) for seed in range(3)]
    job = Job("slow", [*slow, Cell(DATA, "KMeans")], 0.2)
    assert _run_job(job, store, worker, lambda *facts: told.append(facts), None)
    lines = store.lines(job.cells)
    assert [line["status"] for line in lines] == ["stopped"] * 4
    assert lines[0]["reason"] == "stopped after 0.2 s"
    assert store.missing(job.cells, limit=0.3) == list(job.cells)
    assert lines[3]["reason"] == "not run: other settings used up the 0.2 s"
    assert store.missing(job.cells, limit=0.2) == [] and told[0] == ("slow", 4, 0)
