"""Time and memory of a default fit as rows grow, on made views of 32, 64 and 128 columns.

Every size runs in a process of its own, which makes its data, fits a little to load the code, and
then fits; the picture goes beside the result lines.
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import PeakMemory, in_child
from benchmarks.record import Report, Target
from manyview import LMVSC, metrics
from manyview.datasets import make_views

SIZES = (250_000, 1_000_000, 4_000_000, 10_000_000)
QUICK_SIZES = (50_000, 200_000, 800_000)
COLUMNS = (32, 64, 128)
N_CLUSTERS = 10
NOISE = 2.0  # with less of it clusters are evident, and most of the work is left out


def run(report: Report) -> None:
    measure_sizes(report, QUICK_SIZES if report.quick else SIZES)


def measure_sizes(report: Report, sizes: tuple[int, ...]) -> None:
    """Add time and peak memory of every size, the cost of four times as many rows, the exponent."""
    seconds: list[float] = []
    peaks: list[int | None] = []
    for n in sizes:
        seconds_of_one, peak, score = in_child(fit_made_rows, n)
        seconds.append(seconds_of_one)
        peaks.append(peak)
        gigabytes = "" if peak is None else f", {peak / 1e9:.2f} GB beyond the input"
        report.add(
            f"{n:,} rows: seconds{gigabytes}", seconds[-1], peak_bytes=peak, scores={"nmi": score},
            n_rows=n, columns=COLUMNS, input_bytes=4 * n * sum(COLUMNS),
        )  # fmt: skip
    for i in range(1, len(sizes)):
        # Where sizes differ by another factor than four: what four would cost at that rate.
        exponent = math.log(seconds[i] / seconds[i - 1]) / math.log(sizes[i] / sizes[i - 1])
        case = f"{sizes[i - 1]:,} to {sizes[i]:,} rows: cost of 4n / n"
        report.add(case, 4.0**exponent, Target(at_most=4.4), exponent=exponent)
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    report.add("fitted exponent of time", slope)
    draw(report.folder / "growth.png", sizes, seconds, peaks, slope)


def fit_made_rows(n_rows: int) -> tuple[float, int | None, float]:
    """Give the seconds of a fit, its peak memory beyond the input, and NMI."""
    views = make_views(n_rows, N_CLUSTERS, COLUMNS, noise=NOISE, dtype=np.float32, random_state=0)
    model = LMVSC(N_CLUSTERS, random_state=0)
    model.fit(views[: max(n_rows // 100, 500)])  # loads the code
    with PeakMemory() as peak:
        started = time.perf_counter()
        model.fit(views)
        seconds = time.perf_counter() - started
    return seconds, peak.bytes, metrics.nmi(views.target, model.labels_)


def draw(
    path: Path, sizes: tuple[int, ...], seconds: list[float], peaks: list[int | None], slope: float
) -> None:
    """Draw time and memory against rows, with a line of slope one through the first point."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    straight = [seconds[0] * n / sizes[0] for n in sizes]
    left.loglog(sizes, straight, ":", color="grey", label="slope 1")
    left.loglog(sizes, seconds, "o-", label=f"fit (slope {slope:.2f})")
    left.set(xlabel="rows", ylabel="seconds")
    left.legend()
    right.loglog(sizes, [4e-9 * n * sum(COLUMNS) for n in sizes], ":", color="grey", label="input")
    if None not in peaks:
        right.loglog(sizes, [peak / 1e9 for peak in peaks if peak], "o-", label="beyond the input")
    right.set(xlabel="rows", ylabel="GB, peak")
    right.legend()
    columns = ", ".join(map(str, COLUMNS))
    figure.suptitle(f"LMVSC by default, float32 views of {columns} columns")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
