"""The worker process: results come one by one, time is kept, and failures are lines."""

import pytest

from manyview.bench.cells import Cell, Store
from manyview.bench.worker import Worker
from manyview.reproduce.compute import Computer
from manyview.reproduce.problems import Data

CELL = Cell(Data("msrcv1"), "KMeans")


@pytest.mark.slow
def test_the_worker_gives_results_stops_in_time_and_says_what_failed(small_msrc):
    with Worker(Computer) as worker:
        ((cell, first),) = worker.compute([CELL], seconds=None)
        assert cell == CELL and first["status"] == "done"
        endless = Cell(CELL.data, "KMeans", {"n_init": 10**9})
        ((_, line),) = worker.compute([endless], seconds=0.2)
        assert (line["status"], line["reason"]) == ("stopped", "stopped after 0.2 s")
        ((_, again),) = worker.compute([CELL], seconds=60)
        assert again["scores"] == first["scores"]
        ((_, line),) = worker.compute([Cell(CELL.data, "KMeans", {"init": "wrong"})], seconds=60)
        assert line["status"] == "failed" and "init" in line["reason"]


def test_data_that_does_not_load_in_time_is_tried_again():
    class Silent:
        def send(self, cells):
            pass

        def poll(self, patience):
            return False

    worker, store = Worker(Computer), Store(None)
    worker._start = Silent
    ((_, line),) = worker.compute([CELL], seconds=5)
    assert line == {"status": "failed", "reason": "data did not load within 300 s"}
    store.add(CELL, line, limit=5)
    assert store.missing([CELL], 5) == [CELL]


def test_data_does_not_count_as_memory_of_a_fit():
    class Large:
        def prepare(self, cells):
            import numpy as np

            self.data = np.empty(4 * 10**8, np.uint8)

        def compute(self, cells):
            import numpy as np

            for cell in cells:
                np.empty(cell.seed, np.uint8)
                yield {"status": "done"}

    with Worker(Large, memory_limit=2 * 10**8) as worker:
        for n_bytes, status in ((10**8, "done"), (4 * 10**8, "failed"), (10**8, "done")):
            ((_, line),) = worker.compute([Cell(CELL.data, "A", seed=n_bytes)], seconds=60)
            assert line["status"] == status


class Odd:
    """Does what the name of a method says, in the process of a worker."""

    def prepare(self, cells):
        pass

    def compute(self, cells):
        (cell,) = cells
        getattr(self, cell.method)()
        yield {"status": "done"}

    def end(self):
        import os

        os._exit(3)

    def kill(self):
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    def speak(self):
        import sys

        sys.stdout.write("noise")

    def raise_lines(self):
        raise RuntimeError("one\n\n  two")


def test_what_methods_do_to_their_process_is_told(capfd):
    told = {
        "speak": ("done", None),
        "raise_lines": ("failed", "RuntimeError: one two"),
        "end": ("failed", "the process ended with code 3"),
        "kill": ("failed", "the process was killed (signal 9); most likely memory ran out"),
    }
    with Worker(Odd) as worker:
        for method, expected in told.items():
            ((_, line),) = worker.compute([Cell(CELL.data, method)], seconds=60)
            assert (line["status"], line.get("reason")) == expected
    assert capfd.readouterr().out == ""  # what is printed must not stand among the results
