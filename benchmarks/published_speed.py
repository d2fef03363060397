"""Time of the published method, exactly: beside k-means, and beside other code of this project.

The folder named by ``$MANYVIEW_BEFORE`` is a clone (or worktree) of another commit with a ``.venv`` of
its own; without one, that ratio is left out. Every fit is in a process of its own, and all cores are
used by everyone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.problems import find
from benchmarks.record import ROOT, Report, Target

BEFORE = "MANYVIEW_BEFORE"
CASES = (("covtype", 7, 50, 60_000), ("noisy mnist", 10, 100, 7_000))
"""Data, clusters, anchors, and rows in the quick form."""
ALPHA = 0.1

_READ = """
import json, sys, time, warnings
import numpy as np
from manyview import LMVSC, datasets
warnings.simplefilter("ignore")
name, k, m, alpha, n_rows = json.loads(sys.argv[1])
views = datasets.load("mnist" if name == "noisy mnist" else name, download=False)
if n_rows is not None and n_rows < len(views):
    views = views[np.sort(np.random.default_rng(0).permutation(len(views))[:n_rows])]
if name == "noisy mnist":
    levels = datasets.PAPER_NOISE_LEVELS["gaussian"]
    views = datasets.noisy_views(views, "gaussian", levels, random_state=0)
"""
_OURS = """
make = lambda rows: LMVSC.as_published(k, m, alpha, variant="released", random_state=0).fit(rows)
make(views[:300])  # compiles, or loads what is compiled
started = time.perf_counter()
model = make(views)
print(json.dumps([time.perf_counter() - started, model.stage_seconds_]))
"""
_KMEANS = """
from sklearn.cluster import KMeans
X = np.hstack(views.arrays)
started = time.perf_counter()
KMeans(k, n_init=10, random_state=0).fit(X)
print(json.dumps([time.perf_counter() - started, {}]))
"""


def run(report: Report) -> None:
    before = os.environ.get(BEFORE)
    for name, k, m, n_quick in CASES:
        if find(report, "mnist" if name == "noisy mnist" else name) is None:
            continue
        case = [name, k, m, ALPHA, n_quick if report.quick else None]
        rivals = {"KMeans n_init=10": (ROOT, _KMEANS, 5.0 if name == "covtype" else None)}
        if before:
            most = 1.0 if name == "noisy mnist" else None
            rivals[f"as published at {_commit(before)}"] = (Path(before), _OURS, most)
        compare(report, case, rivals)


def compare(
    report: Report, case: list[object], rivals: dict[str, tuple[Path, str, float | None]]
) -> None:
    """Add our seconds, and their ratio to each rival's."""
    name = f"{case[0]}, m={case[2]}"
    seconds, stages = measure(ROOT, _OURS, case)
    report.add(f"{name}: as published, seconds", seconds, seconds=seconds, stage_seconds=stages)
    for rival, (folder, code, most) in rivals.items():
        rival_seconds, rival_stages = measure(folder, code, case)
        target = None if most is None else Target(at_most=most, indicative=report.quick)
        report.add(
            f"{name}: time / {rival}", seconds / rival_seconds, target,
            seconds=[seconds, rival_seconds], rival_stage_seconds=rival_stages,
        )  # fmt: skip


def measure(folder: Path, code: str, case: list[object]) -> tuple[float, dict[str, float]]:
    """Seconds of a fit by the code in a folder, in a process of its own, and those of its stages."""
    python = folder / ".venv" / "bin" / "python"
    command = [sys.executable if folder == ROOT else str(python), "-c", _READ + code]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run(
        [*command, json.dumps(case)], env=environment, check=True, capture_output=True, text=True
    )
    seconds, stages = json.loads(done.stdout.splitlines()[-1])
    return seconds, stages


def _commit(folder: str) -> str:
    command = ["git", "-C", folder, "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
