"""Each baseline on Handwritten, beside the row that the LMVSC paper prints for it.

As in the paper, settings are chosen with the true labels: the best accuracy over a small grid. That
flatters every method alike, and is no way to choose settings in practice.

python -m benchmarks.baselines_handwritten [--quick] [--methods E3SC,SSCOMP] [--results FOLDER]
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from benchmarks.measure import PeakMemory, in_child
from benchmarks.record import RESULTS, Report, Target
from manyview import baselines, datasets, metrics
from manyview.reproduce import methods
from manyview.reproduce.paper import find_row

SEED = 0

WITHIN = 0.08
"""How far below the paper's accuracy a method may be and still count as the same."""


def printed(name: str, view: int | None) -> tuple[float | None, ...] | None:
    """Accuracy, NMI, "purity" (inverse purity) and seconds as the paper prints them, or None."""
    row = find_row("handwritten", name, view)
    return None if row is None else (row.accuracy, row.nmi, row.purity, row.seconds)


def available() -> list[str]:
    """Methods whose module is there."""
    return [
        name
        for name in baselines.names()
        if importlib.util.find_spec(f"manyview.baselines.{baselines._MODULES[name]}")
    ]


def tune(name: str, view: int | None, grid: list[dict[str, Any]]) -> dict[str, Any]:
    """Fit every setting; give the one with the best accuracy, and what all of them reached."""
    views = datasets.load("handwritten")
    data = views if view is None else views.arrays[view]
    tried = []
    with PeakMemory() as memory:
        for settings in grid:
            model = getattr(baselines, name)(10, random_state=SEED, **settings)
            started = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a fixed number of iterations was too few
                labels = model.fit_predict(data)
            seconds = round(time.perf_counter() - started, 2)
            scores = metrics.scores(views.target, labels)
            tried.append({"settings": settings, "seconds": seconds, "scores": scores})
    best = max(tried, key=lambda one: one["scores"]["accuracy"])
    return {
        **best,
        "peak_bytes": memory.bytes,
        "threads": max((pool["num_threads"] for pool in threadpool_info()), default=1),
        "view": None if view is None else views.names[view],
        "tried": [
            {**one["settings"], "accuracy": one["scores"]["accuracy"], "seconds": one["seconds"]}
            for one in tried
        ],
    }


def run(report: Report, names: Sequence[str] | None = None) -> None:
    """Add a line for every method, or for every view of a method for one view."""
    for name in available() if names is None else names:
        for view in range(6) if name in methods.SINGLE_VIEW else [None]:
            row = name if view is None else f"{name}({view + 1})"
            # In a process of its own, so that its peak memory is its own.
            grid = [{}, *methods.GRIDS.get(name, [])]
            found = in_child(tune, name, view, grid[:2] if report.quick else grid)
            paper = printed(name, view)
            report.add(
                row,
                found["scores"]["accuracy"],
                Target(at_least=round(paper[0] - WITHIN, 4)) if paper else None,
                paper=paper,
                **found,
                seed=SEED,
            )
    print("\n" + table(report.lines))


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Lay out what was found beside what the paper prints."""
    heading = "Acc    NMI    invPur  seconds"
    rows = [
        f"{'Handwritten':<12} {'found here':<30}  the paper",
        f"{'':<12} {heading}   {heading}   chosen settings",
    ]
    for line in lines:
        scores, paper = line["scores"], line["paper"]
        ours = [scores["accuracy"], scores["nmi"], scores["inverse_purity"], line["seconds"]]
        settings = " ".join(f"{name}={value}" for name, value in line["settings"].items())
        theirs = _numbers(paper) if paper else " " * len(_numbers(ours))
        rows.append(f"{line['case']:<12} {_numbers(ours)}   {theirs}   {settings}")
    return "\n".join(rows)


def _numbers(figures: Sequence[float]) -> str:
    return "{:.4f} {:.4f} {:.4f} {:8.2f}".format(*figures)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small grid")
    parser.add_argument("--methods", help="names with commas between; all by default")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for result lines")
    chosen = parser.parse_args(arguments)
    report = Report("baselines_handwritten", quick=chosen.quick, folder=chosen.results)
    run(report, chosen.methods.split(",") if chosen.methods else None)


if __name__ == "__main__":
    main()
