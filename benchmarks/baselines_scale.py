"""Baselines at the sizes they must manage: SSCOMP on 10 000 rows, AMGL on hdigit and covtype.

Each with its defaults in a process of its own; memory is the peak of that whole process, libraries
and input included, and seconds are those of the fit by the clock on the wall.

python -m benchmarks.baselines_scale [--quick] [--cases SSCOMP,AMGL] [--results FOLDER]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from benchmarks.measure import in_child
from benchmarks.record import RESULTS, Report, Target
from manyview import baselines, datasets, metrics
from manyview.machine import peak_bytes
from manyview.views.container import Views

SEED = 0
SECONDS = 300.0
GIGABYTES = 4.0

# Method, data, rows (None: all), settings, and whether the targets of time and memory hold for it.
CASES: dict[str, tuple[str, str, int | None, dict[str, Any], bool]] = {
    "SSCOMP": ("SSCOMP", "mnist", 10_000, {}, True),
    "AMGL": ("AMGL", "hdigit", None, {}, True),
    "AMGL(anchors)": ("AMGL", "covtype", None, {"graph": "anchors"}, False),
}
QUICK_ROWS = 2000


def measure(method: str, data: str, rows: int | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Fit once; seconds, peak memory and scores."""
    views = datasets.load(data, download=False)
    arrays, target = views.arrays, views.target
    if rows is not None and rows < len(target):
        chosen = np.sort(np.random.default_rng(SEED).permutation(len(target))[:rows])
        arrays, target = tuple(view[chosen] for view in arrays), target[chosen]
    model = getattr(baselines, method)(len(np.unique(target)), random_state=SEED, **settings)
    # One view is an array: methods for a single view take nothing else.
    given: Any = arrays[0] if len(arrays) == 1 else Views(arrays, names=views.names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started, cpu_started = time.perf_counter(), time.process_time()
        labels = model.fit_predict(given)
        seconds = time.perf_counter() - started
        cpu_seconds = time.process_time() - cpu_started
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "peak_bytes": peak_bytes(),
        "scores": metrics.scores(target, labels),
        "threads": max((pool["num_threads"] for pool in threadpool_info()), default=1),
        "rows": len(target),
        "warnings": sorted({str(one.message) for one in caught}),
    }


def run(report: Report, cases: Sequence[str] | None = None) -> None:
    """Add a line for the time and one for the memory of every case."""
    for case in CASES if cases is None else cases:
        method, data, rows, settings, judged = CASES[case]
        # In a process of its own, so that its peak memory is its own.
        asked = QUICK_ROWS if report.quick else rows
        found = in_child(measure, method, data, asked, settings)
        name = f"{case} on {found['rows']} rows of {data}"
        facts = {**found, "data": data, "settings": settings, "seed": SEED}
        indicative = report.quick
        report.add(
            f"{name}: seconds",
            found["seconds"],
            Target(at_most=SECONDS, indicative=indicative) if judged else None,
            **facts,
        )
        peak = found["peak_bytes"]
        report.add(
            f"{name}: peak GB",
            None if peak is None else peak / 1e9,
            Target(at_most=GIGABYTES, indicative=indicative) if judged else None,
            **facts,
        )
    print("\n" + table(report.lines))


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Lay out a case a row, its targets beside the figures."""
    width = 44
    rows = [
        f"{'':<{width}} seconds  target     CPU s  peak GB  target       Acc    NMI    purity threads",
    ]
    for time_line, memory_line in zip(lines[::2], lines[1::2], strict=True):
        scores = time_line["scores"]
        memory = "" if memory_line["figure"] is None else f"{memory_line['figure']:.2f}"
        rows.append(
            f"{time_line['case'].split(':')[0]:<{width}} {time_line['figure']:>7.1f}  "
            f"{time_line['target'] or '':<8} {time_line['cpu_seconds']:>7.1f}  "
            f"{memory:>7}  {memory_line['target'] or '':<8}  "
            f"{scores['accuracy']:.4f} {scores['nmi']:.4f} {scores['purity']:.4f} "
            f"{time_line['threads']:>6}"
        )
        rows.extend(f"    warned: {text}" for text in time_line["warnings"])
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2000 rows of each")
    parser.add_argument("--cases", help="names with commas between; all by default")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for result lines")
    chosen = parser.parse_args(arguments)
    report = Report("baselines_scale", quick=chosen.quick, folder=chosen.results)
    run(report, chosen.cases.split(",") if chosen.cases else None)


if __name__ == "__main__":
    main()
