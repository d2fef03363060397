"""``manyview bench``: how fast this machine is, against k-means in the same run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import click

from manyview.cli.shared import current, shared_options


@click.command(name="bench", short_help="Time fits against k-means on this machine.")
@click.option(
    "--rows",
    type=click.IntRange(min=1000),
    metavar="N",
    default=50_000,
    show_default=True,
    help="Made rows that are fitted besides the embedded digits.",
)
@shared_options("seed", "quiet", "verbose", "as_json")
def command(rows: int) -> None:
    """Time default fits, as multiples of scikit-learn's KMeans on the same rows.

    Both run twice in turn, and the faster run counts. Seconds depend on the machine; compare ratios.
    """
    from manyview import datasets
    from manyview.cli.display import stage_bars

    seed = current().seed
    jobs: dict[str, Callable[[], Any]] = {
        "digits": datasets.digits_views,
        f"made, {rows} rows": lambda: datasets.make_views(rows, 10, (20, 30), random_state=seed),
    }
    lines = []
    with stage_bars(quiet=current().quiet) as bars:
        with bars.step("compiling (first run only)"):
            _compile(seed)
        for name, make in jobs.items():
            with bars.step(name):
                lines.append({"data": name, **_measure(make(), seed)})
    if current().as_json:
        click.echo(json.dumps(lines, indent=2))
    else:
        _print(lines)


def _compile(seed: int) -> None:
    from manyview import LMVSC, datasets

    LMVSC(3, random_state=seed).fit(datasets.make_views(9000, 3, (5, 6), random_state=seed))


def _measure(views: Any, seed: int) -> dict[str, Any]:
    """Give the seconds of both methods, their ratio, and their agreement with the classes."""
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import StandardScaler

    from manyview import LMVSC, metrics

    k = len(set(views.target.tolist()))
    X = StandardScaler().fit_transform(np.hstack(views.arrays))
    methods: dict[str, Callable[[], Any]] = {
        "lmvsc": lambda: LMVSC(k, random_state=seed).fit(views),
        "kmeans": lambda: KMeans(k, n_init=10, random_state=seed).fit(X),
    }
    seconds = dict.fromkeys(methods, float("inf"))
    scores = {}
    for _ in range(2):
        for name, fit in methods.items():
            started = time.perf_counter()
            fitted = fit()
            seconds[name] = min(seconds[name], time.perf_counter() - started)
            scores[name] = metrics.nmi(views.target, fitted.labels_)
    return {
        "n_rows": views.n_rows,
        "lmvsc_seconds": round(seconds["lmvsc"], 3),
        "kmeans_seconds": round(seconds["kmeans"], 3),
        "ratio": round(seconds["lmvsc"] / seconds["kmeans"], 2),
        "lmvsc_nmi": round(scores["lmvsc"], 4),
        "kmeans_nmi": round(scores["kmeans"], 4),
    }


def _print(lines: list[dict[str, Any]]) -> None:
    from manyview.cli.tables import print_table

    click.echo("LMVSC on default settings; KMeans with 10 starts, on all columns standardised")
    rows = [
        [
            line["data"],
            f"{line['lmvsc_seconds']:.2f}",
            f"{line['kmeans_seconds']:.2f}",
            f"{line['ratio']:.2f}",
            f"{line['lmvsc_nmi']:.3f}",
            f"{line['kmeans_nmi']:.3f}",
        ]
        for line in lines
    ]
    header = ["data", "LMVSC s", "KMeans s", "ratio", "LMVSC NMI", "KMeans NMI"]
    print_table(header, rows, right=[1, 2, 3, 4, 5])
