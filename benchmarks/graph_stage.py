"""The graph stage over the bare product X A' that it contains, and its gain from a second thread.

The stage starts from scaled rows in memory and ends with sparse graph rows; the product goes into
an array that is there already. Rows are shuffled, because neighbours in a file are often alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import medians, time_in_turn
from benchmarks.problems import Array, find, find_anchors, shuffled, standardised
from benchmarks.record import Report, Target
from manyview import LMVSC, Views
from manyview.datasets import make_views
from manyview.simplex import pilot_rows
from manyview.stages.graph import AnchorGraph, GraphRows, method_for
from manyview.stages.rows import ScaledRows
from manyview.stages.scaling import Scaler

CASES = (("covtype", 50), ("covtype", 100), ("mnist", 300))
SETTINGS = ((0.01, 0.1), (0.01, 0.0), (1.0, 0.0), (10.0, 0.0), (10.0, 0.1))  # alpha, locality

_QUICK_ROWS, _MADE_ROWS = 40_000, 200_000
_TILE_ROWS = 4096


class Setting(NamedTuple):
    """A data set and what its graph is made with."""

    name: str
    alpha: float
    locality: float

    def target(self, *, indicative: bool) -> Target | None:
        """Give the bar for the time of the stage over that of the product, where there is one."""
        if self.alpha == 10.0:
            return Target(at_most=40.0, stretch=15.0, indicative=indicative)
        if (self.alpha, self.locality) != (0.01, 0.1):
            return None
        if self.name == "mnist":
            return Target(at_most=1.6, indicative=indicative)
        return Target(at_most=9.0, stretch=6.0, indicative=indicative)


def run(report: Report) -> None:
    repeats = 3 if report.quick else 5
    rows: dict[str, Array] = {}
    for name, m in CASES:
        if name not in rows:
            views = find(report, name)
            if views is None:
                continue
            X = shuffled(standardised(views.arrays[0]))
            rows = {name: X[:_QUICK_ROWS] if report.quick else X}  # one at a time
        A = find_anchors(rows[name], m)
        for alpha, locality in SETTINGS:
            setting = Setting(name, alpha, locality)
            measure_stage(report, setting, rows[name], A, repeats=repeats)
    measure_large_alpha(report, _QUICK_ROWS if report.quick else _MADE_ROWS, repeats=repeats)
    if views := find(report, "covtype"):
        some = views[np.random.default_rng(0).permutation(len(views))]
        measure_threads(report, some[:_QUICK_ROWS] if report.quick else some, repeats=repeats)


def measure_large_alpha(report: Report, n_rows: int, *, repeats: int = 5) -> None:
    """Add what a large alpha, which spreads rows over most anchors, costs over a small one."""
    made = make_views(n_rows, 10, (64,), noise=2.0, random_state=0)
    X = standardised(made.arrays[0])
    A = find_anchors(X, 100)
    small, large = (
        measure_stage(report, Setting("made d=64", alpha, 0.0), X, A, repeats=repeats)
        for alpha in (0.01, 10.0)
    )
    report.add(
        "made d=64 m=100: alpha 10 / alpha 0.01", large / small,
        Target(at_most=6.0, indicative=report.quick), threads=1, clock="cpu", n_rows=n_rows,
    )  # fmt: skip


def measure_stage(
    report: Report, setting: Setting, X: Array, A: Array, *, repeats: int = 5
) -> float:
    """Add the time of the stage over that of the product, both on one thread; give the former."""
    graph = AnchorGraph((0,), (1.0,), A, setting.alpha, setting.locality)
    graph = replace(graph, method=method_for(graph, ScaledRows(X[pilot_rows(len(X))])))
    d = X.shape[1]
    builder = GraphRows((Scaler("X", None, np.zeros(d), np.ones(d)),), (graph,))
    transposed, out = np.ascontiguousarray(A.T), np.zeros((len(X), len(A)))
    calls: dict[str, Callable[[], Any]] = {
        "stage": lambda: build(builder, X),
        "product": lambda: np.matmul(X, transposed, out=out),
    }
    with threadpool_limits(1):
        n_entries = calls["stage"]()  # compiles or loads
        seconds = time_in_turn(calls, repeats=repeats, clock=time.process_time)
    middle = medians(seconds)
    report.add(
        f"{setting.name} m={len(A)} alpha={setting.alpha:g} locality={setting.locality:g}: "
        "stage / product",
        middle["stage"] / middle["product"], setting.target(indicative=report.quick),
        seconds=seconds, threads=1, clock="cpu", method=graph.method,
        support=n_entries / len(X), n_rows=len(X), columns=X.shape[1],
    )  # fmt: skip
    return middle["stage"]


def build(builder: GraphRows, X: Array) -> int:
    """Make all graph rows tile by tile, as the engine does; give the number of entries."""
    nnz = 0
    for start in range(0, len(X), _TILE_ROWS):
        tile = builder.of_scaled([ScaledRows(X[start : start + _TILE_ROWS])])
        nnz += sum(Z.nnz for Z in tile.parts)
    return nnz


def measure_threads(report: Report, views: Views, *, repeats: int = 5) -> None:
    """Add how much faster two threads make the graph stage of a fit."""
    stages: dict[int, list[float]] = {1: [], 2: []}

    def fit(n_jobs: int) -> Any:
        model = LMVSC(7, n_anchors=50, alpha=0.01, locality=0.1, random_state=0)
        model.set_params(fusion="late", n_repeats=1, scaling="standard", n_jobs=n_jobs)
        model.set_params(n_neighbors=None, n_axes=None)
        fitted = model.fit(views)
        stages[n_jobs].append(fitted.stage_seconds_["graph"])

    fit(2)  # compiles or loads
    stages[2].clear()
    time_in_turn({"one": lambda: fit(1), "two": lambda: fit(2)}, repeats=repeats)
    one, two = (float(np.median(stages[n_jobs])) for n_jobs in (1, 2))
    report.add(
        "covtype m=50: one thread / two threads in the graph stage of a fit",
        one / two, Target(at_least=1.7, indicative=report.quick),
        seconds=stages, threads=2, n_rows=len(views),
    )  # fmt: skip
