"""A default fit on a Dask cluster of two worker processes over one in memory with two threads.

A scheduler and two workers of one thread are started by command line on loopback. The rows are made
on the workers, all views of a row side by side in one table, and held there; the same rows are made
again in this process for the engine in memory. The two take turns. Also: what workers hold and send.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import medians, time_in_turn
from benchmarks.record import Report, Target
from manyview import LMVSC
from manyview.machine import forget_peak, peak_bytes

N_ROWS, QUICK_ROWS = 2_000_000, 100_000
BLOCK_ROWS = 1 << 16
COLUMNS, N_VIEWS = 64, 3
N_CLUSTERS = 10


def run(report: Report) -> None:
    n_rows = QUICK_ROWS if report.quick else N_ROWS
    with tempfile.TemporaryDirectory() as folder, local_cluster(Path(folder)) as client:
        compare(report, client, n_rows, repeats=1 if report.quick else 3)


@contextmanager
def local_cluster(folder: Path, *, n_workers: int = 2, n_threads: int = 1) -> Iterator[Any]:
    """Start a scheduler and workers by command line; give a client, which is the active one."""
    from distributed import Client

    file = folder / "scheduler.json"
    # All transfers are to be counted, not the last thousand.
    log = {"DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "1000000"}
    common = ["--host", "127.0.0.1", "--scheduler-file", str(file), "--no-dashboard"]
    worker = ["worker", "--nthreads", str(n_threads), "--no-nanny", "--memory-limit", "0"]
    worker += ["--local-directory", str(folder)]
    commands = [["scheduler", "--port", "0"], *[worker] * n_workers]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "dask", *command, *common],
            env={**os.environ, **log},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for command in commands
    ]
    try:
        while not file.exists():
            if processes[0].poll() is not None:
                raise RuntimeError("The Dask scheduler did not start.")
            time.sleep(0.1)
        with Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(n_workers, timeout=120)
            yield client
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def make_rows(first_row: int, n_rows: int) -> np.ndarray:
    """Rows (n, v d) of ten Gaussian groups in every view, by their numbers."""
    centers = np.random.default_rng(0).normal(size=(N_CLUSTERS, 8)).astype(np.float32)
    maps = np.random.default_rng(1).normal(size=(8, N_VIEWS * COLUMNS)).astype(np.float32)
    rng = np.random.default_rng([2, first_row])
    points = 2.0 * centers[rng.integers(0, N_CLUSTERS, n_rows)]
    points += rng.standard_normal((n_rows, 8), dtype=np.float32)
    noise = rng.standard_normal((n_rows, N_VIEWS * COLUMNS), dtype=np.float32)
    return points @ maps + noise


def _make_block(block_info: Any) -> np.ndarray:
    (start, end), _ = block_info[None]["array-location"]
    return make_rows(start, end - start)


def lazy_table(n_rows: int) -> Any:
    """Give all views of all rows as one Dask array."""
    import dask.array as da

    chunks = da.core.normalize_chunks((BLOCK_ROWS, -1), (n_rows, N_VIEWS * COLUMNS), dtype="f4")
    meta = np.empty((0, 0), np.float32)
    return da.map_blocks(_make_block, chunks=chunks, dtype=np.float32, meta=meta)


def cut(table: np.ndarray) -> list[np.ndarray]:
    """Give the views of a table."""
    return [table[:, v * COLUMNS : (v + 1) * COLUMNS] for v in range(N_VIEWS)]


def cut_lazily(table: Any) -> list[Any]:
    """Give the views of a Dask table, cut inside the tasks that use them: its chunks stay."""
    chunks = (table.chunks[0], (COLUMNS,))
    return [
        table.map_blocks(_view, v, dtype=table.dtype, chunks=chunks, meta=table._meta)
        for v in range(N_VIEWS)
    ]


def _view(block: np.ndarray, v: int) -> np.ndarray:
    return cut(block)[v]


def compare(report: Report, client: Any, n_rows: int, *, repeats: int) -> None:
    """Add the time over that in memory, and what the workers held and sent."""
    from distributed import wait

    table = client.persist(lazy_table(n_rows))
    wait(table)
    starts = range(0, n_rows, BLOCK_ROWS)
    rows = np.concatenate([make_rows(s, min(BLOCK_ROWS, n_rows - s)) for s in starts])
    in_memory = [np.ascontiguousarray(view) for view in cut(rows)]
    del rows
    models: dict[str, LMVSC] = {}

    def fit(name: str, views: list[Any]) -> None:
        models[name] = LMVSC(N_CLUSTERS, random_state=0, n_jobs=2).fit(views)

    fit("memory", [view[:20_000] for view in in_memory])  # compiles or loads
    fit("dask", [view[:20_000] for view in cut_lazily(table)])
    if sys.platform == "linux":
        client.run(forget_peak)
    sent = _sent(client)
    rivals = {
        "memory": lambda: fit("memory", in_memory),
        "dask": lambda: fit("dask", cut_lazily(table)),
    }
    seconds = time_in_turn(rivals, repeats=repeats)
    middle = medians(seconds)
    n_fits = len(seconds["dask"])
    moved = [(after - before) / n_fits for before, after in zip(sent, _sent(client), strict=True)]
    peaks = list(client.run(peak_bytes).values())
    same = np.array_equal(models["dask"].labels_.compute(), models["memory"].labels_)
    facts = {"n_rows": n_rows, "columns": [COLUMNS] * N_VIEWS}
    facts |= {"block_rows": BLOCK_ROWS, "repeats": repeats}
    is_small = n_rows < N_ROWS
    report.add(
        f"{n_rows:,} rows: time / in memory with 2 threads", middle["dask"] / middle["memory"],
        Target(at_most=1.5, indicative=is_small), seconds=seconds, threads=2,
        stages={name: model.stage_seconds_ for name, model in models.items()}, **facts,
    )  # fmt: skip
    report.add(
        "labels are those of the engine in memory", float(same), Target(at_least=1.0), **facts
    )
    size = 4 * n_rows * COLUMNS * N_VIEWS
    report.add("bytes between workers / bytes of input", moved[0] / size, bytes=moved[0], **facts)
    report.add("bytes to the driver / bytes of input", moved[1] / size, bytes=moved[1], **facts)
    largest = max(peaks) if None not in peaks else None
    report.add(
        "peak memory of a worker / its half of the input",
        None if largest is None else largest / (size / 2), peak_bytes=peaks, **facts,
    )  # fmt: skip


def _sent(client: Any) -> tuple[float, float]:
    """Bytes that workers sent to one another, and to anyone else."""
    ports = {address.rsplit(":", 1)[1] for address in client.nthreads()}
    between = others = 0.0
    for sent in client.run(_sent_by).values():
        for who, total in sent.items():
            is_worker = who is not None and who.rsplit(":", 1)[1] in ports
            between += total if is_worker else 0.0
            others += 0.0 if is_worker else total
    return between, others


def _sent_by(dask_worker: Any) -> dict[str, float]:
    sent: dict[str, float] = {}
    for transfer in dask_worker.transfer_outgoing_log:
        sent[transfer["who"]] = sent.get(transfer["who"], 0.0) + transfer["total"]
    return sent
