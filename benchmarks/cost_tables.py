"""Tables and the picture of the page on scaling, from what ``cost_model`` found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.field import list_table

Seconds = Callable[[dict[str, Any]], float]


def write_tables(path: Path, content: dict[str, Any], predict: Seconds) -> None:
    """Write what the page includes; ``predict`` gives a run's seconds by the model."""
    parts = [
        "..\n   Written by ``python -m benchmarks.run cost_model``; do not edit.\n",
        _coefficients(content),
        _held_back(content, predict),
        _tasks(content),
        _example(content, predict),
        _predictions(content),
    ]
    path.write_text("\n".join(parts))


def _coefficients(content: dict[str, Any]) -> str:
    rows = [
        [stage, name.replace("^2", "²").replace("^3", "³"), f"{1e9 * value:.3g}"]
        for stage, terms in content["coefficients"].items()
        for name, value in terms.items()
        if value > 0
    ]
    title = "CPU nanoseconds for one unit of each term"
    return list_table(["stage", "term", "nanoseconds"], rows, title=title)


def _held_back(content: dict[str, Any], predict: Seconds) -> str:
    rows = []
    for run in sorted(content["held_back"], key=lambda run: run["n"]):
        measured = sum(run["seconds"].values())
        sizes = [f"{run['n']:,}", *(str(run[name]) for name in "dvkrum"), f"{run['s']:.1f}"]
        error = predict(run) / measured - 1.0
        rows.append([*sizes, f"{measured:.2f}", f"{predict(run):.2f}", f"{error:+.0%}"])
    errors = np.array(content["errors"])
    title = (
        f"Fits that were not used for the model: mean error {errors.mean():.0%}, "
        f"median {np.median(errors):.0%}, largest {errors.max():.0%}"
    )
    head = ["n", "d", "v", "k", "r", "u", "m", "s", "seconds", "predicted", "error"]
    return list_table(head, rows, title=title)


def _tasks(content: dict[str, Any]) -> str:
    task = content["task"]
    return (
        f"Measured on a real scheduler ({content['cpu']}): a task costs the scheduler "
        f"{1e3 * task['scheduler_seconds']:.2f} ms of CPU time, and the driver, which builds and sends "
        f"the graph, {1e3 * task['driver_seconds']:.2f} ms; a block that is kept takes "
        f"{task['scheduler_bytes'] / 1e3:.0f} kB of the scheduler's memory.\n"
    )


def _example(content: dict[str, Any], predict: Seconds) -> str:
    size, sums = content["example"], content["sums"]
    work = (predict({**size, "n": 2e9}) - predict({**size, "n": 1e9})) / 1e9
    seen = ", ".join(f"{name} = {round(size[name], 1):g}" for name in "rumsciqp")
    parts = ", ".join(f"{n_bytes / 1e6:.3g} MB of {tiles}" for tiles, n_bytes in sums.items())
    return (
        f"The example has {size['v']} views of {size['d']} columns and {size['k']} clusters. In a fit "
        f"of it {seen}. By the model, a row takes {1e6 * work:.0f} µs of work over all passes. The sums "
        f"over graph rows of a block take {parts} tiles.\n"
    )


def _predictions(content: dict[str, Any]) -> str:
    best: dict[tuple[float, int], dict[str, Any]] = {}
    for point in content["predictions"]:
        key = point["n"], point["n_workers"]
        if key not in best or point["seconds"] < best[key]["seconds"]:
            best[key] = point
    rows = [
        [
            f"{point['n']:.0e}".replace("e+0", "e"),
            str(point["n_workers"]),
            f"{point['block_rows'] // 4096} × 4096",
            f"{point['seconds']:,.0f}",
            f"{point['workers_busy']:.0%}",
            f"{point['n_tasks']:,.0f}",
            f"{point['scheduler_seconds']:,.0f}",
            f"{point['worker_bytes'] / 1e9:.3g}",
            f"{point['network_bytes'] / 1e9:.3g}",
        ]
        for point in best.values()
    ]
    head = ["rows", "workers", "best block", "seconds", "workers busy", "tasks"]
    head += ["seconds of scheduler and driver", "GB per worker", "GB sent in all"]
    return list_table(head, rows, title="Simulated, with the best of five block sizes")


def draw(path: Path, content: dict[str, Any], predict: Seconds) -> None:
    """Draw predicted against measured time, and the time of 1e9 rows by block size."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    every: list[float] = []
    for name, mark in (("fits", "."), ("held_back", "o")):
        measured = [sum(run["seconds"].values()) for run in content[name]]
        left.loglog(measured, [*map(predict, content[name])], mark, label=name.replace("_", " "))
        every += measured
    ends = np.array([min(every) / 1.5, max(every) * 1.5])
    left.loglog(ends, ends, "-", color="grey", lw=0.8)
    left.fill_between(ends, 0.75 * ends, 1.25 * ends, color="grey", alpha=0.15, label="± 25 %")
    left.set(xlabel="measured CPU seconds", ylabel="predicted CPU seconds")
    left.legend()
    for n_workers in (10, 100, 1000):
        points = [
            (point["block_rows"], point["seconds"])
            for point in content["predictions"]
            if point["n"] == 1e9 and point["n_workers"] == n_workers
        ]
        right.loglog(*zip(*points, strict=True), "o-", label=f"{n_workers} workers")
    right.set(xlabel="rows in a block", ylabel="seconds, simulated", title="1e9 rows")
    right.legend(loc="upper right", bbox_to_anchor=(1.0, 0.85))  # between the lines
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
