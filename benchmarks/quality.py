"""Labels without labels: the default LMVSC beside rivals, several of them tuned with the true labels.

python -m benchmarks.quality [--quick] [--data FOLDER] [--sets A,B] [--methods default,kmeans,...]
                             [--seeds N] [--results FOLDER]

FOLDER holds ``NAME.npz`` files with ``view_0``, ``view_1``, ... (or CSR parts) and ``labels``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.record import RESULTS, Report, Target
from manyview import LMVSC, Views, baselines, datasets, metrics
from manyview.datasets.loaders import read_npz
from manyview.stages.scaling import fit_scaler
from manyview.stages.scaling import side_by_side as join_scaled

SCORES = ("nmi", "accuracy", "ari")
DEVELOPMENT = (
    "3sources", "bbcsport", "reuters600", "reuters1200", "msrcv1", "handwritten", "hdigit", "mnist",
    "scene15", "leaves100", "citeseq_pbmc10x", "covtype", "aloi100",
)  # fmt: skip
NOISES = ("gaussian", "speckle", "salt-and-pepper")
BARS = {
    "handwritten": ("nmi", 0.95), "hdigit": ("nmi", 0.975), "leaves100": ("nmi", 0.98),
    "aloi100": ("nmi", 0.93), "scene15": ("nmi", 0.50), "mnist": ("nmi", 0.70),
    "bbcsport": ("nmi", 0.90), "citeseq_pbmc10x": ("nmi", 0.73), "covtype": ("nmi", 0.1273),
    **{f"mnist, {noise}": ("nmi", 0.65) for noise in NOISES},
}  # fmt: skip
SCALINGS = ("standard", "energy", "unit", "hellinger", "normal-scores")
GRID_ANCHORS = (None, 50, 100)  # None is k
GRID_ALPHAS = (0.001, 0.01, 0.1, 1.0, 10.0)
SLOW_ROWS = 12_000
"""Most rows for grids that are tuned with labels, and for the comparison methods."""
RIVAL_ROWS = 2_100
QUICK_ROWS = 2_100


@dataclass(frozen=True)
class Method:
    """A way to cluster: settings to try; of several, the best by the labels is kept."""

    name: str
    tries: Callable[[int], Sequence[tuple[str, Callable[[Views, int], Any]]]]
    most_rows: int | None = None
    n_seeds: int | None = None


def _default(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
    return [("auto", lambda views, seed: LMVSC(k, random_state=seed).fit(views).labels_)]


def _kmeans(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
    def fit(views: Views, seed: int, kind: str) -> Any:
        return KMeans(k, n_init=10, random_state=seed).fit(side_by_side(views, kind)).labels_

    return [(kind, lambda views, seed, kind=kind: fit(views, seed, kind)) for kind in SCALINGS]


def _published(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
    def fit(views: Views, seed: int, m: int, alpha: float) -> Any:
        m = min(m, len(views))
        return LMVSC.as_published(k, m, alpha, random_state=seed).fit(views).labels_

    pairs = product(sorted({m or k for m in GRID_ANCHORS}), GRID_ALPHAS)
    return [
        (f"m={m} alpha={alpha:g}", lambda views, seed, m=m, alpha=alpha: fit(views, seed, m, alpha))
        for m, alpha in pairs
    ]


def _tuned(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
    def fit(views: Views, seed: int, **settings: Any) -> Any:
        return LMVSC(k, random_state=seed, **settings).fit(views).labels_

    grid = product(("normal-scores", "standard", "hellinger", "unit"), (0.0, 0.03, 0.1))
    return [
        (
            f"{kind} locality={g:g}",
            lambda views, seed, kind=kind, g=g: fit(views, seed, scaling=kind, locality=g),
        )
        for kind, g in grid
    ]


def _baseline(name: str) -> Callable[[int], list[tuple[str, Callable[[Views, int], Any]]]]:
    def tries(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
        make = getattr(baselines, name)
        return [
            ("defaults", lambda views, seed: make(k, random_state=seed).fit(views).labels_),
        ]

    return tries


METHODS = {
    "default": Method("LMVSC, defaults", _default),
    "kmeans": Method("k-means, best of 5 scalings by the labels", _kmeans, n_seeds=1),
    "published": Method("the paper's LMVSC, tuned with labels", _published, SLOW_ROWS, 2),
    "tuned": Method("LMVSC, tuned with labels (a ceiling)", _tuned, SLOW_ROWS, 2),
    **{
        name: Method(name, _baseline(name), RIVAL_ROWS, 1)
        for name in ("LSC", "AMGL", "MLRSSC", "MSCIAS")
    },
}


def side_by_side(views: Views, kind: str) -> Any:
    """Give all views scaled, as one matrix. Their centres do not matter to k-means."""
    scaled = [fit_scaler(array, name=name, kind=kind).apply(array) for name, array in views.items()]
    return join_scaled(scaled, [1.0] * len(scaled)).matrix


def find_sets(folder: Path | None, wanted: Sequence[str] | None) -> Iterator[tuple[str, Views]]:
    """Give the names and views of the data sets in a folder, noisy MNIST among them."""
    if folder is not None:
        os.environ["MANYVIEW_DATA"] = str(folder)
        names: Sequence[str] = sorted(path.stem for path in folder.glob("*.npz"))
    else:
        names = DEVELOPMENT
    for name in names:
        if wanted is not None and not any(each.split(",")[0] == name for each in wanted):
            continue
        try:
            views = load(name, folder)
        except (OSError, ValueError) as error:
            print(f"  {name}: left out ({error})")
            continue
        if wanted is None or name in wanted:
            yield name, views
        if name == "mnist" and folder is None:
            for noise in NOISES:
                if wanted is None or f"mnist, {noise}" in wanted:
                    levels = datasets.PAPER_NOISE_LEVELS[noise]
                    yield (
                        f"mnist, {noise}",
                        datasets.noisy_views(views, noise, levels, random_state=0),
                    )


def load(name: str, folder: Path | None) -> Views:
    """Give one data set, from the registry or from a file of the same format."""
    if folder is None or name in datasets.names():
        return datasets.load(name, download=False)
    raw = read_npz(folder / f"{name}.npz")
    return Views(raw.arrays, target=raw.labels)


def score(report: Report, name: str, views: Views, method: Method, n_seeds: int) -> dict[str, Any]:
    """Run every setting of a method with every seed; add the best by the labels, give its scores."""
    k = len(np.unique(views.target))
    seeds = range(min(n_seeds, method.n_seeds or n_seeds))
    results = {}
    for label, fit in method.tries(k):
        each, seconds = [], []
        for seed in seeds:
            started = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = fit(views, seed)
            seconds.append(time.perf_counter() - started)
            found = metrics.scores(views.target, labels)
            share = float(np.bincount(labels).max() / len(labels))
            each.append({**{s: found[s] for s in SCORES}, "largest_share": share})
        results[label] = (each, seconds)
    best = max(results, key=lambda label: np.mean([e["nmi"] for e in results[label][0]]))
    each, seconds = results[best]
    mean = {s: float(np.mean([e[s] for e in each])) for s in (*SCORES, "largest_share")}
    spread = float(np.std([e["nmi"] for e in each]))
    bar = BARS.get(name) if method is METHODS["default"] else None
    report.add(
        f"{name}: {method.name}",
        mean["nmi"],
        None if bar is None else Target(at_least=bar[1], indicative=report.quick),
        scores=each, seconds=seconds, seed=list(seeds), data=name, method=method.name,
        settings=best, spread=spread, n_rows=len(views), tried=len(results),
        note=f"ACC {mean['accuracy']:.3f} ARI {mean['ari']:.3f} sd {spread:.3f} "
        f"largest {mean['largest_share']:.2f} {np.median(seconds):.1f} s [{best}]",
    )  # fmt: skip
    return {**mean, "spread": spread, "seconds": float(np.median(seconds)), "settings": best}


def score_noise(report: Report, name: str, views: Views, plain: float, n_seeds: int) -> list[float]:
    """Add what one and three views of noise cost; give the losses."""
    rng = np.random.default_rng(0)
    losses = []
    for n_noise in (1, 3):
        noise = {f"noise {i}": rng.normal(size=(len(views), 50)) for i in range(n_noise)}
        noisy = Views({**dict(views.items()), **noise}, target=views.target)
        method = Method(f"LMVSC, defaults, {n_noise} views of noise", _default)
        found = score(report, name, noisy, method, n_seeds)
        losses.append(plain - found["nmi"])
    return losses


def suggest(report: Report, name: str, views: Views) -> bool:
    """Add the suggested number of clusters; give whether it is within a fifth, or one, of k."""
    k = len(np.unique(views.target))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LMVSC("auto", random_state=0).fit(views)
    found, suggestion = model.n_clusters_, model.suggestion_
    is_near = abs(found - k) <= max(1.0, 0.2 * k)
    report.add(
        f"{name}: suggested number of clusters, of {k}", found, data=name,
        runners_up=suggestion.runners_up(), stability=suggestion.stability,
        note=f"{'near' if is_near else 'off'}; next {suggestion.runners_up()}",
    )  # fmt: skip
    return is_near


def run(report: Report) -> None:
    """Run everything on the data sets of the registry."""
    compare(report, ["default", "kmeans"] if report.quick else list(METHODS))


def compare(
    report: Report,
    methods: Sequence[str],
    *,
    folder: Path | None = None,
    sets: Sequence[str] | None = None,
    n_seeds: int = 5,
    extras: Sequence[str] = ("noise", "clusters"),
) -> None:
    """Score methods on data sets; then what noise views cost, and suggested numbers of clusters."""
    table: dict[str, dict[str, dict[str, Any]]] = {}
    losses: list[list[float]] = []
    near: list[bool] = []
    for name, views in find_sets(folder, sets):
        if report.quick and len(views) > QUICK_ROWS:
            continue
        row = table.setdefault(name, {})
        for key in methods:
            method = METHODS[key]
            if method.most_rows is None or len(views) <= method.most_rows:
                try:
                    row[key] = score(report, name, views, method, n_seeds)
                except (ValueError, TypeError, MemoryError) as error:
                    report.add(f"{name}: {method.name}", note=f"did not run: {error}"[:200])
        if "default" in row and "noise" in extras and views.n_views >= 3 and "," not in name:
            losses.append(score_noise(report, name, views, row["default"]["nmi"], min(n_seeds, 2)))
        if "clusters" in extras and "," not in name:
            near.append(suggest(report, name, views))
    summarise(report, {n: row for n, row in table.items() if "," not in n}, losses, near)


def summarise(
    report: Report,
    table: dict[str, dict[str, dict[str, Any]]],
    losses: list[list[float]],
    near: list[bool],
) -> None:
    """Add means over data sets and who is ahead where."""
    partly = report.quick or len(table) < len(DEVELOPMENT)
    ours = {name: row["default"] for name, row in table.items() if "default" in row}
    if not ours:
        return
    mean = float(np.mean([row["nmi"] for row in ours.values()]))
    report.add(
        f"mean NMI of {len(ours)} data sets", mean,
        Target(at_least=0.70, stretch=0.72, indicative=partly),
    )  # fmt: skip
    spread = float(np.mean([row["spread"] for row in ours.values()]))
    report.add(
        "mean standard deviation of NMI between seeds", spread,
        Target(at_most=0.015, indicative=partly),
    )  # fmt: skip
    for key, most in (("kmeans", 2), ("published", 1)):
        both = [name for name in ours if key in table[name]]
        if both:
            gaps = {n: ours[n]["nmi"] - table[n][key]["nmi"] for n in both}
            ahead = Target(at_least=0.10, indicative=partly) if key == "kmeans" else None
            report.add(
                f"mean NMI ahead of {METHODS[key].name}, {len(both)} sets",
                float(np.mean(list(gaps.values()))), ahead, gaps=gaps,
            )  # fmt: skip
            behind = [n for n, gap in gaps.items() if gap < -0.01]
            report.add(
                f"data sets behind {METHODS[key].name} by more than .01", len(behind),
                Target(at_most=most, indicative=partly), behind=behind,
            )  # fmt: skip
    for at, count in enumerate((1, 3)):
        if losses:
            report.add(
                f"mean NMI lost by {count} views of noise, {len(losses)} sets",
                float(np.mean([loss[at] for loss in losses])),
                Target(at_most=0.03, indicative=partly),
            )  # fmt: skip
    if near:
        report.add(
            f"numbers of clusters suggested within a fifth or one, of {len(near)} sets", sum(near),
            Target(at_least=6, stretch=9, indicative=partly),
        )  # fmt: skip


def draw(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw NMI of every method on every data set, from result lines."""
    from matplotlib.figure import Figure

    last = {(line["data"], line["method"]): line["figure"] for line in lines if "method" in line}
    names = list(dict.fromkeys(data for data, _ in last))
    methods = list(dict.fromkeys(method for _, method in last))
    ours = METHODS["default"].name
    names.sort(key=lambda name: last.get((name, ours), 0.0))
    figure = Figure(figsize=(8, 0.34 * len(names) + 1.6), layout="constrained")
    axes = figure.subplots()
    for i, method in enumerate(methods):
        points = [(last[n, method], y) for y, n in enumerate(names) if (n, method) in last]
        is_ours = method == ours
        axes.scatter(
            *zip(*points, strict=True), s=60 if is_ours else 28, zorder=3 if is_ours else 2,
            marker="D" if is_ours else "o", label=method, color=f"C{i}",
            alpha=1.0 if is_ours else 0.75,
        )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("NMI (max), mean over seeds")
    axes.grid(axis="both", alpha=0.3)
    axes.legend(loc="lower right", fontsize="small")
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"sets of {QUICK_ROWS} rows at most")
    parser.add_argument("--data", type=Path, help="a folder of files in the same format")
    parser.add_argument("--sets", help="names, separated by semicolons")
    parser.add_argument(
        "--methods", default="", help=f"some of {','.join(METHODS)}; all by default"
    )
    parser.add_argument("--extras", default="noise,clusters", help="noise, clusters, or nothing")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for result lines")
    chosen = parser.parse_args()
    report = Report("quality", quick=chosen.quick, folder=chosen.results)
    compare(
        report,
        chosen.methods.split(",") if chosen.methods else list(METHODS),
        folder=chosen.data,
        sets=chosen.sets.split(";") if chosen.sets else None,
        n_seeds=chosen.seeds,
        extras=chosen.extras.split(","),
    )
    print(f"\n{report.summary()}")
    path = chosen.results / "quality.jsonl"
    draw([json.loads(line) for line in path.read_text().splitlines()], path.with_suffix(".png"))


if __name__ == "__main__":
    main()
