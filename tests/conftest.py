"""What tests share: real data where it is present, made views, and how Hypothesis runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

# Tests run side by side: libraries that start a thread per core would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Examples are drawn from a fixed seed, and no test is judged by the clock: compiling takes seconds.
settings.register_profile(
    "manyview", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("manyview")


@pytest.fixture(scope="session")
def data():
    """Give a function: the name of a real data set -> its views; skips where they are absent."""
    folder = os.environ.get("MANYVIEW_DATA")

    @cache
    def load(name):
        from manyview import datasets

        if not folder:
            pytest.skip("MANYVIEW_DATA names no folder of real data")
        if not (Path(folder) / f"{name}.npz").exists():
            pytest.skip(f"{name}.npz is not in the folder named by MANYVIEW_DATA")
        return datasets.load(name, download=False)

    return load


@pytest.fixture(scope="session")
def blobs():
    """Give a function: rows of k clear groups, seen in views of the given widths."""

    def make(n=90, k=3, widths=(4, 6), *, spread=0.3, seed=0):
        rng = np.random.default_rng(seed)
        groups = np.arange(n) % k
        return [
            3.0 * rng.normal(size=(k, width))[groups] + spread * rng.normal(size=(n, width))
            for width in widths
        ]

    return make


class Cluster:
    """A real Dask cluster on loopback: a scheduler, workers and their nannies, and a client.

    The client is not the active one; enter ``client.as_current()`` where it should be.
    """

    def __init__(self, folder, *, n_workers=2):
        from distributed import Client

        self._processes = []
        file = folder / "scheduler.json"
        common = ["--host", "127.0.0.1", "--scheduler-file", str(file), "--no-dashboard"]
        try:
            self._start("scheduler", "--port", "0", *common)
            for _ in range(n_workers):
                self._start("worker", "--nthreads", "2", "--memory-limit", "2GiB", "--local-directory",
                            str(folder), *common)  # fmt: skip
            while not file.exists():
                assert self._processes[0].poll() is None, "the scheduler did not start"
                time.sleep(0.05)
            self.client = Client(scheduler_file=str(file), set_as_default=False)
            self.n_workers = n_workers
            self.wait_for_workers()
        except BaseException:
            self.close()
            raise

    def _start(self, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that a nanny and its worker end together
        )
        self._processes.append(process)

    def wait_for_workers(self):
        self.client.wait_for_workers(self.n_workers, timeout=120)

    def kill_workers(self, count=1):
        """Kill workers with SIGKILL; their nannies start others."""
        pids = self.client.run(os.getpid, on_error="ignore")
        for address in sorted(pids)[:count]:
            os.kill(pids[address], signal.SIGKILL)

    def tasks(self):
        """Give the keys of all tasks that the scheduler knows."""
        return self.client.run_on_scheduler(
            lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks]
        )

    def is_empty(self):
        """Whether the scheduler knows of no task; it takes a moment to forget one."""
        end = time.monotonic() + 20
        while self.tasks() and time.monotonic() < end:
            time.sleep(0.05)
        return not self.tasks()

    def close(self):
        if hasattr(self, "client"):
            self.client.close()
        for process in reversed(self._processes):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Give a Dask cluster of two worker processes, started by command line."""
    pytest.importorskip("distributed", reason="the Dask engine needs distributed")
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.close()
