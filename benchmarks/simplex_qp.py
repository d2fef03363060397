"""Simplex problems in every regime, on one thread, against exact solvers called row by row.

Every solver gets the same prepared problem (unit energy, shifted to be well conditioned) and the same
linear terms. Ours solves them in the batches that the library uses; what a solver prepares once
per problem (our choice of method, daqp's set-up in its reused form) is not timed for anyone.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

import daqp
import numpy as np
import quadprog
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.measure import medians, time_in_turn
from benchmarks.problems import Array, find, find_anchors, shuffled, standardised
from benchmarks.record import Report, Target
from manyview.simplex import (
    SimplexProblem,
    Solver,
    certify,
    choose_method,
    pilot_rows,
    prepare,
    product_rows,
)

# Nominal number of columns -> data set, view, columns of it.
SOURCES: dict[int, tuple[str, int, slice]] = {
    4: ("covtype", 0, slice(10, 14)),
    6: ("handwritten", 3, slice(None)),
    20: ("scene15", 0, slice(None)),
    54: ("covtype", 0, slice(None)),
    216: ("handwritten", 0, slice(None)),
    784: ("mnist", 0, slice(None)),
}
ANCHORS = (50, 100, 300, 1000)
ALPHAS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
LOCALITIES = (0.0, 0.1)
QUICK_ANCHORS = (50, 100, 300)
QUICK_ALPHAS = (1e-2, 1.0, 10.0)

TARGETS = {"daqp": (400.0, 12.0), "daqp reused": (120.0, 5.0)}
"""Geometric mean and minimum over all cells, at least."""
MAX_CERTIFICATE = 1e-9

_MAX_ROWS = 4096  # one tile
_MIN_SECONDS, _MAX_SECONDS = 0.05, 0.5  # of our solver in one turn
_RIVAL_ROWS = {50: 40, 100: 20, 300: 4, 1000: 1}  # in one turn; other rows each turn


@dataclass(frozen=True)
class Cell:
    """One point of the grid."""

    d: int
    m: int
    alpha: float
    locality: float

    def __str__(self) -> str:
        return f"d={self.d} m={self.m} alpha={self.alpha:g} locality={self.locality:g}"


def run(report: Report) -> None:
    ratios: dict[Cell, dict[str, float]] = {}
    certificates: dict[Cell, float] = {}
    anchors = QUICK_ANCHORS if report.quick else ANCHORS
    alphas = QUICK_ALPHAS if report.quick else ALPHAS
    with threadpool_limits(1):
        for d, (name, view, columns) in SOURCES.items():
            views = find(report, name)
            if views is None:
                continue
            X = shuffled(standardised(views.arrays[view][:, columns]))
            for m in anchors:
                A = find_anchors(X, m)
                for alpha, locality in itertools.product(alphas, LOCALITIES):
                    cell = Cell(d, m, alpha, locality)
                    ratios[cell], certificates[cell] = measure_cell(report, cell, X, A)
    if ratios:
        summarise(report, ratios, certificates)


def measure_cell(
    report: Report, cell: Cell, X: Array, A: Array, *, repeats: int = 5
) -> tuple[dict[str, float], float]:
    """Give how many times faster than each rival we are, and the worst certificate of our rows."""
    problem = prepare(A, alpha=cell.alpha, locality=cell.locality)
    pilot = problem.linear_terms(X[pilot_rows(len(X))])
    solver = Solver(problem, choose_method(problem, pilot))
    step = product_rows(X.shape[1], len(A))
    n_rows, passes = _enough_work(solver, problem.linear_terms(X[:step]))
    rows = X[:n_rows]
    B = problem.linear_terms(rows)
    n_rival = min(_RIVAL_ROWS.get(cell.m, 10), len(B))
    rivals = make_rivals(problem, B[-1])
    calls = {name: _next_rows(solve, B, n_rival) for name, solve in rivals.items()}
    calls["ours"] = lambda: [_solve(solver, B, step) for _ in range(passes)]
    if report.quick:
        repeats = min(repeats, 3)
    # Several seconds a row, and no target hangs on it: once is enough.
    slow = {"quadprog": calls.pop("quadprog")} if cell.m >= 1000 else {}
    seconds = time_in_turn(calls, repeats=repeats, clock=time.process_time)
    seconds |= time_in_turn(slow, repeats=1, clock=time.process_time)
    a_row = {name: t / n_rival for name, t in medians(seconds).items()}
    a_row["ours"] = medians(seconds)["ours"] / (len(B) * passes)
    ratios = {name: a_row[name] / a_row["ours"] for name in rivals}

    solution = solver.solve(B)
    Z = solution.rows(len(A))
    worst = certify(Z, rows, A, alpha=cell.alpha, locality=cell.locality).worst
    report.add(
        str(cell), ratios["daqp"], threads=1, seconds=seconds, clock="cpu", ratios=ratios,
        microseconds_a_row={name: 1e6 * t for name, t in a_row.items()}, certificate=worst,
        rival_gap=_rival_gap(rivals["daqp reused"], problem, rows, A, cell),
        method=solver.method, support=Z.nnz / len(B), n_rows=len(B), columns=X.shape[1],
        n_handed_on=solution.n_handed_on, n_failed=solution.n_failed,
        note=_note(ratios, worst) or f"reused {ratios['daqp reused']:.3g}; "
        f"{solver.method} {1e6 * a_row['ours']:.3g} us",
    )  # fmt: skip
    return ratios, worst


def _note(ratios: Mapping[str, float], certificate: float) -> str:
    """Say which bars a cell misses."""
    below = [
        f"{rival} {ratios[rival]:.3g} < {least:g}"
        for rival, (_, least) in TARGETS.items()
        if ratios[rival] < least
    ]
    above = [f"certificate {certificate:.1e}"] if certificate > MAX_CERTIFICATE else []
    return "; ".join(["MISS", *below, *above]) if below or above else ""


def _solve(solver: Solver, B: Array, step: int) -> None:
    for start in range(0, len(B), step):
        solver.solve(B[start : start + step])


def _enough_work(solver: Solver, B: Array) -> tuple[int, int]:
    """Give the number of rows and of passes over them that take about the wanted time."""
    solver.solve(B)  # compiles or loads, and prepares
    started = time.process_time()
    solver.solve(B)
    a_row = max(time.process_time() - started, 1e-9) / len(B)
    n_rows = int(min(max(_MAX_SECONDS / a_row, 64), _MAX_ROWS))
    return n_rows, max(1, math.ceil(_MIN_SECONDS / (a_row * n_rows)))


def make_rivals(problem: SimplexProblem, first: Array) -> dict[str, Callable[[Array], Array]]:
    """Give solvers of one row; ``first`` is the row that the reused model is set up with."""
    m = problem.n_anchors
    G, ones = np.ascontiguousarray(problem.gram), np.ones((1, m))
    upper, lower = np.append(np.full(m, 1e30), 1.0), np.append(np.zeros(m), 1.0)
    sense = np.append(np.zeros(m, np.int32), np.int32(5))  # the last one is an equation
    constraints, bounds = np.hstack([ones.T, np.eye(m)]), np.append(1.0, np.zeros(m))
    model = daqp.Model()
    model.setup(G, -first, ones, upper, lower, sense)
    model.solve()  # the first solve starts cold

    def one_shot(b: Array) -> Any:
        return daqp.solve(G, -b, ones, upper, lower, sense)[0]

    def reused(b: Array) -> Any:
        model.update(f=-b)
        return model.solve()[0]

    def by_quadprog(b: Array) -> Any:
        return quadprog.solve_qp(G, b, constraints, bounds, 1)[0]

    return {"daqp": one_shot, "daqp reused": reused, "quadprog": by_quadprog}


def _next_rows(solve: Callable[[Array], Array], B: Array, n_rows: int) -> Callable[[], Any]:
    """Solve the next rows at every call, so that more of them count than fit into one turn."""
    numbers: Iterator[int] = itertools.cycle(range(len(B)))
    return lambda: [solve(B[i]) for i in itertools.islice(numbers, n_rows)]


def _rival_gap(
    solve: Callable[[Array], Array], problem: SimplexProblem, X: Array, A: Array, cell: Cell
) -> float:
    """Duality gap of a rival on two rows, on the scale of our certificate.

    Its KKT residual would say nothing: it leaves weights of 1e-12 where ours are zero.
    """
    z = np.array([np.array(solve(b)) for b in problem.linear_terms(X[:2])]).clip(min=0.0)
    Z = sparse.csr_array(z / z.sum(axis=1, keepdims=True))
    return float(certify(Z, X[:2], A, alpha=cell.alpha, locality=cell.locality).gap.max())


def summarise(
    report: Report,
    ratios: Mapping[Cell, Mapping[str, float]],
    certificates: Mapping[Cell, float],
) -> None:
    """Add the figures over all cells, and by number of anchors."""
    for rival in ("daqp", "daqp reused", "quadprog"):
        mean, least = TARGETS.get(rival, (None, None))
        of_all = [each[rival] for each in ratios.values()]
        for m in sorted({cell.m for cell in ratios}):
            of_m = [each[rival] for cell, each in ratios.items() if cell.m == m]
            report.add(
                f"{rival}: m={m}, geometric mean (least {min(of_m):.1f})",
                geometric_mean(of_m), threads=1, n_cells=len(of_m), least=min(of_m),
            )  # fmt: skip
        report.add(
            f"{rival}: all cells, geometric mean", geometric_mean(of_all),
            None if mean is None else Target(at_least=mean, indicative=report.quick),
            threads=1, n_cells=len(of_all),
        )  # fmt: skip
        worst = min(ratios, key=lambda cell: ratios[cell][rival])
        report.add(
            f"{rival}: all cells, least ({worst})", min(of_all),
            None if least is None else Target(at_least=least), threads=1,
        )  # fmt: skip
    worst = max(certificates, key=lambda cell: certificates[cell])
    report.add(
        f"worst certificate ({worst})",
        certificates[worst],
        Target(at_most=MAX_CERTIFICATE),
        threads=1,
    )
