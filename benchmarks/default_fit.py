"""What a default fit costs on many kinds of data, by stage, beside k-means and spectral clustering.

Each fit has a process of its own, in which a small one was made before, so that nothing is compiled: CPU
and wall seconds, and the peak of memory beyond the input. Ratios are of wall seconds, of CPU with one
thread. Rivals get all columns side by side, made beforehand. Single cases, and a profile of each of
our fits to look at as a flame graph:

python -m benchmarks.default_fit --cases handwritten,acm --rivals "KMeans n_init=1" --profiles FOLDER
"""

from __future__ import annotations

import argparse
import cProfile
import importlib.util
import resource
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from scipy import sparse

from benchmarks.default_fit_data import SETS, join, load
from benchmarks.measure import PeakMemory, in_child
from benchmarks.problems import standardised
from benchmarks.quality_methods import METHODS
from benchmarks.record import RESULTS, Report, Target
from benchmarks.whole_fit import RIVALS
from manyview import LMVSC, metrics
from manyview.errors import DatasetNotFoundError
from manyview.machine import count_jobs

OURS = "LMVSC, defaults"
SPECTRAL, UMAP = "SpectralClustering", "UMAP + k-means"
ONE, TEN, BATCHES = "KMeans n_init=1", "KMeans n_init=10", "MiniBatchKMeans"
FEW, MANY, MOST_GROWTH = "made k=100", "made k=1000", 12.0
"""As many rows in ten times as many clusters, and how much more CPU these may take."""
LARGE_ROWS, LARGE_COLUMNS, LARGE_SHARE = 100_000, 100, 0.5
"""Inputs from these on, and the share of them, as float64, that a fit may take beyond them."""
NEIGHBOUR_ROWS = 20_000
"""Most rows that methods which look for neighbours of rows are asked to handle."""
QUICK_ROWS = 2_000


@dataclass(frozen=True)
class Case:
    """How much of a rival's seconds our fit may take, at most; of CPU; and of memory, in bytes."""

    bars: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float | None = None
    peak_bytes: float | None = None
    is_standardised: bool = False  # for rivals; we scale by ourselves


CASES: dict[str, Case] = {
    "handwritten": Case({SPECTRAL: 5.0}),
    "leaves100": Case({SPECTRAL: 5.0}),
    "scene15": Case({SPECTRAL: 0.6}),
    "hdigit": Case({SPECTRAL: 0.3, TEN: 0.6}),
    "aloi100": Case({TEN: 1.0}),
    "mnist": Case({TEN: 0.15, ONE: 1.4}),
    "covtype": Case({ONE: 3.0}, is_standardised=True),
    "tdt2": Case(cpu_seconds=8.0),
    "acm": Case(cpu_seconds=6.0),
    "reuters600": Case(),
    "made k=100": Case(),
    "made k=300": Case({ONE: 6.0}),
    "made k=1000": Case({ONE: 3.0}, peak_bytes=2e9),
    "made embeddings": Case({BATCHES: 1.0, ONE: 0.3}),
    "made texts": Case(peak_bytes=1.2e9),
}


@dataclass(frozen=True)
class Cost:
    """What one fit took."""

    cpu: float
    wall: float
    peak_bytes: int | None
    nmi: float
    n_rows: int
    input_bytes: int  # counted as float64
    stages: dict[str, float]


def run(report: Report) -> None:
    """Measure all cases, some rows of each in the quick form."""
    rivals = [name for name in (*RIVALS, UMAP) if not name.endswith("standardised")]
    measure(report, list(CASES), rivals, repeats=1 if report.quick else 5)


def measure(
    report: Report,
    cases: Sequence[str],
    rivals: Sequence[str],
    *,
    repeats: int,
    profiles: Path | None = None,
) -> None:
    """Add our cost of each case, and over that of each rival that can run on so many rows."""
    n_rows, cpu = QUICK_ROWS if report.quick else None, {}
    for name in cases:
        try:
            costs = {OURS: [in_child(fit_once, name, OURS, n_rows, profiles)]}
        except DatasetNotFoundError:
            report.add(f"{name}: not on this machine", note="missing data")
            continue
        todo = [OURS, *applicable(rivals, costs[OURS][0].n_rows)]
        for turn in range(repeats):
            for method in todo:
                if turn > 0 or method != OURS:
                    cost = in_child(fit_once, name, method, n_rows, None)
                    costs.setdefault(method, []).append(cost)
        add_lines(report, name, costs)
        cpu[name] = median(cost.cpu for cost in costs[OURS])
    if FEW in cpu and MANY in cpu:
        growth, bar = cpu[MANY] / cpu[FEW], _target(report, MOST_GROWTH)
        report.add(f"{MANY}: CPU / {FEW}", growth, bar, cpu_seconds=cpu, repeats=repeats)


def applicable(rivals: Sequence[str], n_rows: int) -> list[str]:
    """The rivals that can run on so many rows with what is installed."""
    left_out = {SPECTRAL, UMAP} if n_rows > NEIGHBOUR_ROWS else set()
    if not importlib.util.find_spec("umap"):
        left_out.add(UMAP)
    return [name for name in rivals if name not in left_out]


def fit_once(name: str, method: str, n_rows: int | None, profiles: Path | None) -> Cost:
    """The cost of one fit in this process."""
    views = load(name, n_rows)
    k = int(views.target.max()) + 1
    n_values = sum(int(a.nnz if sparse.issparse(a) else a.size) for a in views.arrays)
    few = views[: max(200, 3 * k)]
    profiler: Any = nullcontext() if profiles is None else cProfile.Profile()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was not converged or is alike
        fit, X = prepare(name, method, views, k)
        fit_few, few_X = prepare(name, method, few, min(k, 20))
        fit_few(few_X)
        del few, few_X
        cpu, wall = _cpu_seconds(), time.perf_counter()
        with PeakMemory() as peak, profiler:
            labels, stages = fit(X)
        cpu, wall = _cpu_seconds() - cpu, time.perf_counter() - wall
    if profiles is not None:
        profiles.mkdir(parents=True, exist_ok=True)
        profiler.dump_stats(profiles / f"{name.replace(' ', '-')}.prof")
    nmi = float(metrics.nmi(views.target, labels))
    return Cost(cpu, wall, peak.bytes, nmi, len(views), 8 * n_values, stages)


def prepare(name: str, method: str, views: Any, k: int) -> tuple[Any, Any]:
    """A function that gives labels and seconds by stage, and what it is called with."""
    if method == OURS:
        return lambda X: _stages_of(LMVSC(k, random_state=0).fit(X)), views
    X = join(views)
    if CASES[name].is_standardised:
        X = standardised(X)
    if method == UMAP:
        (one, *_) = METHODS["umap"].tries.values()
        return lambda X: (one(views, k, 0), {}), X
    return lambda X: (RIVALS[method](k).fit(X).labels_, {}), X


def _stages_of(model: LMVSC) -> tuple[Any, dict[str, float]]:
    return model.labels_, model.stage_seconds_


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def add_lines(report: Report, name: str, costs: dict[str, list[Cost]]) -> None:
    """Add a line of our cost, one of its memory, and one for each rival."""
    case, first = CASES[name], costs[OURS][0]
    cpu = {method: median(c.cpu for c in each) for method, each in costs.items()}
    wall = {method: median(c.wall for c in each) for method, each in costs.items()}
    # With one thread both are the same, but for the time that others were running.
    clock, seconds = ("CPU", cpu) if count_jobs() == 1 else ("wall", wall)
    facts = {"data": name, "n_rows": first.n_rows, "repeats": len(costs[OURS])}
    bar = None if case.cpu_seconds is None else _target(report, case.cpu_seconds)
    report.add(
        f"{name}: CPU seconds (NMI {first.nmi:.3f})", cpu[OURS], bar,
        seconds=[c.wall for c in costs[OURS]], cpu_seconds=[c.cpu for c in costs[OURS]],
        stages=first.stages, scores={"nmi": first.nmi}, **facts,
    )  # fmt: skip
    if first.peak_bytes is not None:
        is_large = (
            first.n_rows >= LARGE_ROWS and first.input_bytes >= 8 * LARGE_COLUMNS * first.n_rows
        )
        limit = LARGE_SHARE * first.input_bytes if is_large else None
        limit = case.peak_bytes or limit
        bar = None if limit is None else _target(report, limit / 1e6)
        report.add(
            f"{name}: peak memory beyond the input, MB", first.peak_bytes / 1e6, bar,
            peak_bytes=first.peak_bytes, input_bytes_as_float64=first.input_bytes, **facts,
        )  # fmt: skip
    for rival, each in costs.items():
        if rival != OURS:
            limit = case.bars.get(rival)
            report.add(
                f"{name}: {clock} / {rival} (NMI {each[0].nmi:.3f})",
                seconds[OURS] / seconds[rival], None if limit is None else _target(report, limit),
                clock=clock, cpu_ratio=cpu[OURS] / cpu[rival], seconds=[c.wall for c in each],
                cpu_seconds=[c.cpu for c in each], peak_bytes=each[0].peak_bytes,
                scores={"nmi": each[0].nmi}, **facts,
            )  # fmt: skip


def _target(report: Report, at_most: float) -> Target:
    return Target(at_most=at_most, indicative=report.quick)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.default_fit", description=__doc__)
    parser.add_argument("--cases", default=",".join(SETS), help="names with commas between")
    parser.add_argument("--rivals", default="", help=f"some of {', '.join((*RIVALS, UMAP))}")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS} rows of each")
    parser.add_argument("--profiles", type=Path, help="folder for a cProfile file of each case")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for result lines")
    chosen = parser.parse_args()
    report = Report("default_fit", quick=chosen.quick, folder=chosen.results)
    rivals = [name for name in chosen.rivals.split(",") if name]
    measure(
        report, chosen.cases.split(","), rivals, repeats=chosen.repeats, profiles=chosen.profiles
    )


if __name__ == "__main__":
    main()
