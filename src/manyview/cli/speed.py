"""``manyview bench --speed``: how fast this machine is, against k-means in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from manyview.cli.console import current, echo, print_result, print_table


def time_fits(rows: int) -> None:
    """Print default fits, as multiples of scikit-learn's KMeans on the same rows.

    Both run twice in turn, and the faster run counts. Seconds depend on the machine; compare ratios.
    """
    from manyview import LMVSC, datasets
    from manyview.cli.display import stage_line

    seed = current().seed
    jobs: dict[str, Callable[[], Any]] = {
        "digits": datasets.digits_views,
        f"made, {rows} rows": lambda: datasets.make_views(rows, 10, (20, 30), random_state=seed),
    }
    lines = []
    with stage_line() as line:
        with line.step("compiling (first run only)"):
            LMVSC(3, n_repeats=1).fit(datasets.make_views(9000, 3, (5, 6), random_state=0))
        for name, make in jobs.items():
            with line.step(name):
                lines.append({"data": name, **_measure(make(), seed)})

    def show() -> None:
        echo("LMVSC on default settings; KMeans with 10 starts, on all columns standardised")
        header = ["data", "rows", "LMVSC s", "KMeans s", "ratio", "LMVSC NMI", "KMeans NMI"]
        print_table(header, [list(line.values()) for line in lines], right=range(1, 7))

    print_result(lines, show)


def _measure(views: Any, seed: int) -> dict[str, Any]:
    """The seconds of both methods, their ratio, and their agreement with the classes."""
    from manyview import LMVSC, metrics

    k = len(set(views.target.tolist()))
    methods: dict[str, Callable[[], Any]] = {
        "lmvsc": lambda: LMVSC(k, random_state=seed).fit(views).labels_,
        "kmeans": lambda: kmeans_labels(views, k, seed),
    }
    seconds = dict.fromkeys(methods, float("inf"))
    nmi = {}
    for _ in range(2):
        for name, fit in methods.items():
            started = time.perf_counter()
            labels = fit()
            seconds[name] = min(seconds[name], time.perf_counter() - started)
            nmi[name] = metrics.nmi(views.target, labels)
    return {
        "n_rows": views.n_rows,
        **{f"{name}_seconds": round(taken, 3) for name, taken in seconds.items()},
        "ratio": round(seconds["lmvsc"] / seconds["kmeans"], 2),
        **{f"{name}_nmi": round(score, 4) for name, score in nmi.items()},
    }


def kmeans_labels(views: Any, n_clusters: int, seed: int) -> Any:
    """Labels of k-means on all standardised columns side by side, the best of 10 starts."""
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import StandardScaler

    X = StandardScaler().fit_transform(np.hstack(views.arrays))
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(X)
