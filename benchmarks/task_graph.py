"""A simulation of the Dask engine's task graph: one scheduler, many workers, sums in a tree."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview.stages.sampling import count_sample_rows

_FAN_IN = 8
_LATENCY = 1e-3  # seconds from a worker's news to the scheduler's answer


@dataclass(frozen=True)
class Costs:
    """What a task costs beside its work, in seconds; and bytes of the scheduler's memory."""

    scheduler_seconds: float
    driver_seconds: float
    scheduler_bytes: float


@dataclass(frozen=True)
class Cluster:
    """Workers of one thread each, and how fast one sends or receives."""

    n_workers: int
    bytes_per_second: float


def simulate(
    stages: dict[str, tuple[float, float]],
    size: dict[str, float],
    block_rows: int,
    cluster: Cluster,
    costs: Costs,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Give seconds of a fit and of its parts, its number of tasks, and the largest memories.

    Parameters
    ----------
    stages : dict
        Each stage's CPU seconds per row on workers, and in all on the driver.
    size : dict
        Numbers of rows n, columns d, views v, clusters k, anchor seeds u, anchors m, entries s of a
        row in each graph, components c and sweeps i; bytes of a block's sums of the graph.
    block_rows : int
        Rows of a block.
    cluster, costs : Cluster, Costs
        Where it runs, and what a task costs.
    seed : int
        Of the tasks' spread: each takes a tenth more or less than the mean.
    """
    rng = np.random.default_rng(seed)
    n_blocks = int(np.ceil(size["n"] / block_rows))
    gram = size["sums"]
    entries = size["u"] * (size["v"] + 1) * size["s"]
    centers = 8.0 * size["k"] * size["c"]
    n_sampled = count_sample_rows(int(size["m"]), int(size["k"]))
    sample = 4.0 * n_sampled * size["v"] * size["d"]
    per_row = {name: seconds for name, (seconds, _) in stages.items()}
    sweep = per_row["labels"] / size["i"]
    # Stage by stage: seconds a row, bytes of a partial sum, and how often.
    passes = [
        ("sample", 0.0, sample / n_blocks, 1),
        ("graph", per_row["graph"], gram, 1),
        ("embedding", per_row["embedding"], 0.0, 1),
        ("k-means", sweep, centers, int(size["i"])),
        ("oddness", per_row["oddness"], 0.0, 1),
        ("confidence", per_row["confidence"], 0.0, 1),
    ]
    seconds: dict[str, float] = {}
    n_tasks = busy = 0.0
    for name, row_seconds, part_bytes, times in passes:
        work = row_seconds * block_rows * rng.uniform(0.9, 1.1, n_blocks)
        took, tasks, working = _one_pass(work, part_bytes, cluster, costs)
        seconds[name] = times * took
        n_tasks += times * tasks
        busy += times * working
    seconds["driver"] = sum(once for _, once in stages.values())
    total = sum(seconds.values())
    return {
        "seconds": total,
        "by_stage": seconds,
        "n_blocks": n_blocks,
        "n_tasks": n_tasks,
        "workers_busy": busy / (total * cluster.n_workers),
        "scheduler_seconds": n_tasks * (costs.scheduler_seconds + costs.driver_seconds),
        "scheduler_bytes": 4 * n_blocks * costs.scheduler_bytes,  # rows of four stages are kept
        "driver_bytes": sample + 4 * gram,
        "worker_bytes": size["n"] / cluster.n_workers
        * (4 * size["v"] * size["d"] + 12 * entries + 8 * size["c"] + 4),
        "network_bytes": sample + n_blocks * gram * 8 / 7 + size["i"] * n_blocks * centers,
    }  # fmt: skip


def _one_pass(
    work: np.ndarray, part_bytes: float, cluster: Cluster, costs: Costs
) -> tuple[float, float, float]:
    """Seconds of one pass over all blocks, its number of tasks, and what workers worked.

    The driver builds and sends the graph, the scheduler hands out one task after the other (each
    costs it the same), the next free worker takes it. Partial sums are added eight at a time: seven
    of them travel first.
    """
    adds = part_bytes / cluster.bytes_per_second * (_FAN_IN - 1)
    free = [0.0] * cluster.n_workers
    started = len(work) * 8 / 7 * costs.driver_seconds
    scheduler = started
    level = []
    for seconds in work:
        scheduler += costs.scheduler_seconds
        begins = max(heapq.heappop(free), scheduler) + _LATENCY
        heapq.heappush(free, begins + seconds)
        level.append(begins + seconds)
    n_tasks, working = len(level), float(work.sum())
    while part_bytes > 0 and len(level) > 1:
        groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
        level = []
        for group in groups:
            scheduler = max(scheduler, max(group)) + costs.scheduler_seconds
            begins = max(heapq.heappop(free), scheduler) + _LATENCY
            heapq.heappush(free, begins + adds)
            level.append(begins + adds)
        n_tasks += len(level)
        working += adds * len(level)
    return max(level), n_tasks, working
