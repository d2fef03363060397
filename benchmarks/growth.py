"""Time and memory of a fit as rows grow, on made views of 32, 64 and 128 columns.

Every size runs in a process of its own, which makes its data, fits a little to load the code, and
then fits; the picture goes beside the result lines.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.measure import PeakMemory, in_child
from benchmarks.record import Report, Target
from manyview import LMVSC, Views, metrics
from manyview.datasets import make_views

SIZES = (250_000, 1_000_000, 4_000_000, 10_000_000)
QUICK_SIZES = (50_000, 200_000, 800_000)
COLUMNS = (32, 64, 128)
N_CLUSTERS, N_ANCHORS = 10, 100


def run(report: Report) -> None:
    measure_sizes(report, QUICK_SIZES if report.quick else SIZES, repeats=3)


def measure_sizes(report: Report, sizes: tuple[int, ...], *, repeats: int) -> None:
    """Add time and peak memory of every size, the cost of four times as many rows, the exponent."""
    seconds: list[float] = []
    peaks: list[int | None] = []
    for n in sizes:
        times, peak, score = in_child(fit_made_rows, n, repeats)
        seconds.append(median(times))
        peaks.append(peak)
        gigabytes = "" if peak is None else f", {peak / 1e9:.2f} GB beyond the input"
        report.add(
            f"{n:,} rows: seconds{gigabytes}", seconds[-1], seconds=times, peak_bytes=peak,
            scores={"nmi": score}, n_rows=n, n_anchors=N_ANCHORS, columns=COLUMNS,
            input_bytes=4 * n * sum(COLUMNS),
        )  # fmt: skip
    for i in range(1, len(sizes)):
        # Where sizes differ by another factor than four: what four would cost at that rate.
        exponent = math.log(seconds[i] / seconds[i - 1]) / math.log(sizes[i] / sizes[i - 1])
        case = f"{sizes[i - 1]:,} to {sizes[i]:,} rows: cost of 4n / n"
        report.add(case, 4.0**exponent, Target(at_most=4.4), exponent=exponent)
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    report.add("fitted exponent of time", slope)
    draw(report.folder / "growth.png", sizes, seconds, peaks, slope)


def fit_made_rows(n_rows: int, repeats: int) -> tuple[list[float], int | None, float]:
    """Give seconds of each fit, peak memory of the first beyond the input, and NMI."""
    views = make_views(n_rows, N_CLUSTERS, COLUMNS, dtype=np.float32, random_state=0)
    model = LMVSC(N_CLUSTERS, n_anchors=min(N_ANCHORS, n_rows // 3), alpha=0.01, random_state=0)
    model.set_params(fusion="late", n_repeats=1)
    model.fit(views[: max(n_rows // 100, 500)])
    with PeakMemory() as peak:
        times = [_seconds_to_fit(model, views)]
    times += [_seconds_to_fit(model, views) for _ in range(repeats - 1)]
    return times, peak.bytes, metrics.nmi(views.target, model.labels_)


def _seconds_to_fit(model: LMVSC, views: Views) -> float:
    started = time.perf_counter()
    model.fit(views)
    return time.perf_counter() - started


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
    figure.suptitle(f"LMVSC, {N_ANCHORS} anchors, float32 views of {columns} columns")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
