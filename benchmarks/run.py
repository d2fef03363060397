"""Run benchmarks: all of them, or those named.

python -m benchmarks.run [NAME ...] [--quick] [--list] [--results FOLDER]
"""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path

from benchmarks.record import RESULTS, Report

NAMES = ("start_up", "simplex_qp", "graph_stage", "whole_fit", "published", "growth")
"""Modules of this package with a function ``run(report)``; the shortest first."""

ALONE = (
    "successors",
    "quality",
    "unseen",
    "default_fit",
    "label_free",
    "answers",
    "single_cell",
    "batches",
    "atlas",
    "incomplete",
    "out_of_core",
    "dask_cluster",
    "cost_model",
    "peers",
)
"""More of them, run only by name: they take long, much disk, or install packages of their own."""


def run(name: str, *, quick: bool, folder: Path = RESULTS) -> Report:
    """Run one benchmark and print its table."""
    module = importlib.import_module(f"benchmarks.{name}")
    report = Report(name, quick=quick, folder=folder)
    print(f"\n{name} ({'quick' if quick else 'full'} form)", flush=True)
    started = time.perf_counter()
    module.run(report)
    print(f"  took {time.perf_counter() - started:.0f} s\n\n{report.summary()}", flush=True)
    return report


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller or fewer cases")
    parser.add_argument("--list", action="store_true", help="show the names and what they measure")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for result lines")
    chosen = parser.parse_args(arguments)
    known = (*NAMES, *ALONE)
    if unknown := set(chosen.names) - set(known):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    names = chosen.names or NAMES
    if chosen.list:
        for name in chosen.names or known:
            text = importlib.import_module(f"benchmarks.{name}").__doc__ or ""
            print(f"{name:<22} {text.splitlines()[0]}")
        return
    reports = [run(name, quick=chosen.quick, folder=chosen.results) for name in names]
    if len(reports) > 1:
        print("\n" + "\n\n".join(report.summary() for report in reports))


if __name__ == "__main__":
    main()
