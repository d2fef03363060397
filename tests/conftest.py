"""What tests share: where they run, real data, made views, a cluster, a browser."""

import base64
import os
import shutil
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

_BY_FIXTURE = {"cluster": "dask", "browser": "browser"}
"""What is slow to start, and a word in the path or name of every test that needs it: one worker has
them all, and starts it once. Not by marks, which newer pytests keep from the scheduler of xdist 3.8."""

_SPREAD = ("tests/test_console.py", "tests/test_docs.py", "tests/test_published.py")
"""Files of a few long tests that share no fixtures: each runs on whichever worker is free."""


def _group(nodeid):
    return next((word for word in _BY_FIXTURE.values() if word in nodeid), None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Long things first, so that both workers end at the same time."""
    for item in items:
        for fixture in _BY_FIXTURE.keys() & set(getattr(item, "fixturenames", ())):
            if _group(item.nodeid) != (word := _BY_FIXTURE[fixture]):
                raise pytest.UsageError(f"{item.nodeid} needs {fixture}: name it with {word!r}")
    items.sort(key=lambda item: (_group(item.nodeid) is None, not item.nodeid.startswith(_SPREAD)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With ``--dist loadgroup``: tests of a file run on one worker, which makes its fixtures once."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class FilesAndGroups(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            alone = nodeid if nodeid.startswith(_SPREAD) else nodeid.split("::")[0]
            return _group(nodeid) or alone

    return FilesAndGroups(config, log)


@pytest.fixture(scope="session")
def data():
    """A function: the name of a real data set -> its views; skips where they are absent."""
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


@pytest.fixture
def small_msrc(tmp_path, monkeypatch):
    """A folder of data with something like MSRC-v1: five views of rows sorted by class."""
    from manyview.datasets import info
    from manyview.reproduce.problems import load_whole

    target, rng = np.repeat(np.arange(7), 30), np.random.default_rng(0)
    middles = [rng.random((7, width)) for width in info("msrcv1").n_features]
    views = [M[target] + 0.1 * rng.random((210, M.shape[1])) for M in middles]
    np.savez(
        tmp_path / "msrcv1.npz", labels=target, **{f"view_{i}": X for i, X in enumerate(views)}
    )
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    load_whole.cache_clear()
    yield
    load_whole.cache_clear()


@pytest.fixture(scope="session")
def blobs():
    """A function: rows of k clear groups, seen in views of the given widths."""

    def make(n=90, k=3, widths=(4, 6), *, spread=0.3, seed=0):
        rng = np.random.default_rng(seed)
        groups = np.arange(n) % k
        return [
            3.0 * rng.normal(size=(k, width))[groups] + spread * rng.normal(size=(n, width))
            for width in widths
        ]

    return make


@pytest.fixture(scope="session")
def authors_kmeans():
    """A function: rows (n, d) and the numbers (r, k) of those that runs start from -> the run kept.

    The k-means that the paper's authors use, from its description alone: nothing of ours is in it. The
    run is a tuple: sum of distances, centres, labels, rounds.
    """

    def run(X, start, max_iter):
        centers, last, lengths = X[start], None, (X**2).sum(axis=1)[:, None]
        for n_rounds in range(1, max_iter + 1):  # noqa: B007
            squares = lengths - 2 * (X @ centers.T) + (centers**2).sum(axis=1)
            labels = squares.argmin(axis=1)
            empty = np.flatnonzero(np.bincount(labels, minlength=len(centers)) == 0)
            if len(empty):
                labels[np.argsort(-squares.min(axis=1), kind="stable")[: len(empty)]] = empty
            members = np.eye(len(centers))[labels]
            centers = members.T @ X / members.sum(axis=0)[:, None]
            if np.array_equal(labels, last):
                break
            last = labels
        return np.linalg.norm(X - centers[labels], axis=1).sum(), centers, labels, n_rounds

    def best_run(X, starts, *, max_iter=100):
        return min((run(X, start, max_iter) for start in starts), key=lambda found: found[0])

    return best_run


@pytest.fixture
def one_anchor_seed(monkeypatch):
    """Default fits join one anchor seed, not up to nine: where the labels do not matter."""
    from manyview import LMVSC

    monkeypatch.setitem(LMVSC.__init__.__kwdefaults__, "n_repeats", 1)


# A cluster that waits for the next test would otherwise take a tenth of a core to watch itself.
_QUIET = {
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "2s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}


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
            env=os.environ | _QUIET,
            cwd=Path(__file__).parents[1],  # tests send functions, whichever is first to ask
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
        """The keys of all tasks that the scheduler knows."""
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
    """A Dask cluster of two worker processes, started by command line."""
    pytest.importorskip("distributed", reason="the Dask engine needs distributed")
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.close()


_NO_CHROMIUM = "there is no Chromium on this machine"


def find_chromium():
    """The browser that MANYVIEW_CHROMIUM names, or one on the path; None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("MANYVIEW_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """Say loudly, at the very end, that browser tests were skipped; a line among many is not read."""
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    if n_skipped := sum(_NO_CHROMIUM in str(report.longrepr) for report in skipped):
        line = f"BROWSER TESTS DID NOT RUN: no Chromium ({n_skipped} tests skipped)"
        terminalreporter.write_sep("=", line, red=True, bold=True)


@pytest.fixture(scope="session")
def browser():
    """The system's Chromium. Where there is one, tests in CI run or fail; they are never skipped."""
    path = find_chromium()
    if path is None:
        pytest.skip(_NO_CHROMIUM)
    if os.environ.get("CI") != "true":
        pytest.importorskip("playwright", reason="playwright is not installed")
    from playwright import sync_api as playwright

    with playwright.sync_playwright() as engine:
        # No graphics card is needed: WebGL is computed.
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
        opened = engine.chromium.launch(executable_path=path, args=flags)
        yield opened
        opened.close()


class Reader:
    """One reader of one page: opens it, and remembers what went wrong or was asked for."""

    def __init__(self, context, path):
        self.complaints, self.requests = [], []
        self.page = context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def _hear(self, message):
        # Reading pixels back stalls a computed WebGL; that is the test's doing, not the page's.
        if message.type in ("error", "warning") and "ReadPixels" not in message.text:
            self.complaints.append(message.text)

    def wait_for_map(self):
        self.page.wait_for_selector("#stage[data-ready]", timeout=60_000)
        return self.page

    def pixels(self):
        """The colours on the canvas, as an array (height, width, 4)."""
        values, width, height = self.page.evaluate(
            """() => {
                const canvas = document.getElementById("canvas");
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
                copy.drawImage(canvas, 0, 0);
                const image = copy.getImageData(0, 0, canvas.width, canvas.height);
                let text = "";
                for (const value of image.data) text += String.fromCharCode(value);
                return [btoa(text), canvas.width, canvas.height];
            }"""
        )
        return np.frombuffer(base64.b64decode(values), np.uint8).reshape(height, width, 4)


@pytest.fixture
def read(browser):
    """A function that opens a page for a reader with a taste and a screen."""
    contexts = []

    def open_page(path, *, width=1280, height=900, **taste):
        context = browser.new_context(
            viewport={"width": width, "height": height}, accept_downloads=True, **taste
        )
        contexts.append(context)
        return Reader(context, path)

    yield open_page
    for context in contexts:
        context.close()
