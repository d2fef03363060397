"""Baselines at the sizes they must manage: SSCOMP on 10 000 rows, AMGL on hdigit and covtype.

Each with its defaults in a process of its own; memory is the peak of that whole process, libraries
and input included, and seconds are those of the fit by the clock on the wall.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from benchmarks.measure import in_child
from benchmarks.record import Report, Target
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


def run(report: Report) -> None:
    """Add a line for the time and one for the memory of every case."""
    for case, (method, data, rows, settings, judged) in CASES.items():
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
