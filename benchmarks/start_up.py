"""What the first second costs: imports, --help, compiling once, loading from the cache.

Every figure comes from fresh processes, which find compiled bytecode, as after an installation.
Compiling and loading are the first call less the second.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.measure import medians, time_in_turn
from benchmarks.record import ROOT, Report, Target

IMPORTS = {
    "import sklearn.cluster": None,
    "import manyview": Target(at_most=0.25),
    "from manyview import LMVSC": Target(at_most=1.0),
}

_IMPORT_AT_DEPTH = """
import time
def nest(depth):
    a = b = c = d = e = 0
    if depth:
        nest(depth - 1)
    else:
        {statement}
start = time.process_time()
nest({depth})
print(time.process_time() - start)
"""

DEFAULT_FIT = """
from manyview import LMVSC, datasets
views = datasets.digits_views()
def call(): LMVSC(10, random_state=0).fit(views)
"""

ALL_METHODS = """
from scipy import sparse
from manyview import LMVSC
from manyview.datasets import make_views
from manyview.simplex import METHODS, solve_simplex_qp
X = make_views(300, 3, (5,), random_state=0).arrays[0]
def call():
    LMVSC(3, n_anchors=20, random_state=0).fit([X, sparse.csr_array(X)])
    LMVSC.as_published(3, 20, 0.1, random_state=0).fit([X, sparse.csr_array(X)])
    for method in METHODS:
        solve_simplex_qp(X, X[:20], alpha=1.0, method=method)
"""

_FIRST_LESS_SECOND = """
import time
def timed():
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu
first = timed()
later = [timed() for _ in range(3)]
print(*(f - min(l) for f, l in zip(first, zip(*later))))
"""


def run(report: Report) -> None:
    measure_imports(report, repeats=6 if report.quick else 12)
    measure_help(report, repeats=5)
    repeats = 1 if report.quick else 5
    measure_kernels(report, "a default fit", DEFAULT_FIT, Target(at_most=4), repeats)
    measure_kernels(report, "all methods", ALL_METHODS, Target(at_most=40, stretch=20), repeats)


def measure_imports(report: Report, *, repeats: int) -> None:
    """Add the CPU time of each import over that of scikit-learn's clustering.

    In Python 3.11 the depth of the stack alone, at which modules are loaded, moves it by a tenth or
    two: a loop may cross the edge of a piece of the stack's memory at every call. So each statement is
    run at several depths.
    """
    inner: dict[str, list[float]] = {statement: [] for statement in IMPORTS}
    for statement in IMPORTS:  # writes the bytecode
        run_python(statement)
    for depth in range(0, 4 * repeats, 4):
        for statement, times in inner.items():
            code = _IMPORT_AT_DEPTH.format(statement=statement, depth=depth)
            times.append(float(run_python(code)))
    middle = medians(inner)
    for statement, target in IMPORTS.items():
        report.add(f"{statement}: seconds", middle[statement], seconds=inner[statement], threads=1)
        if target is not None:
            ratio = middle[statement] / middle["import sklearn.cluster"]
            report.add(f"{statement} / import sklearn.cluster", ratio, target, threads=1)


def measure_help(report: Report, *, repeats: int) -> None:
    """Add the time of whole processes: the command line's help, and Python doing nothing."""
    calls: dict[str, Callable[[], object]] = {
        "python -c pass": lambda: run_python("pass"),
        "manyview --help": lambda: _run(["-m", "manyview", "--help"]),
    }
    seconds = time_in_turn(calls, repeats=repeats)
    for name, middle in medians(seconds).items():
        report.add(f"{name}: seconds", middle, seconds=seconds[name], threads=1)


def measure_kernels(report: Report, what: str, code: str, target: Target, repeats: int) -> None:
    """Add the time to compile the kernels of ``code`` with an empty cache, then to load them."""
    times: dict[str, list[list[float]]] = {"compile, once": [], "load from the cache": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            for each in times.values():
                printed = run_python(code + _FIRST_LESS_SECOND, cache=Path(cache))
                each.append([float(number) for number in printed.split()])
    for (step, each), bar in zip(times.items(), (target, Target(at_most=1.0)), strict=True):
        wall, cpu = ([pair[i] for pair in each] for i in (0, 1))
        report.add(
            f"{what}: seconds to {step} ({median(cpu):.2f} of CPU)",
            median(wall), bar, seconds=wall, cpu_seconds=cpu,
        )  # fmt: skip


def run_python(code: str, *, cache: Path | None = None) -> str:
    """Run code in a new process; give what it prints."""
    return _run(["-c", code], cache=cache)


def _run(arguments: list[str], *, cache: Path | None = None) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout
