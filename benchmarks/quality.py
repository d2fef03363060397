"""Labels without labels: the default LMVSC beside rivals, several of them tuned with the true labels.

python -m benchmarks.quality [--quick] [--data FOLDER] [--sets 'A;B'] [--methods default,kmeans,...]
                             [--seeds N] [--extras noise,clusters,cost] [--summary] [--results FOLDER]

Every figure is a line of quality.jsonl; ``--summary`` runs nothing and sums up the last line of every
data set and method there, so a long run can be made in parts. FOLDER holds ``NAME.npz`` files with
``view_0``, ``view_1``, ... (or CSR parts) and ``labels``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.measure import medians, time_in_turn
from benchmarks.quality_methods import METHODS, Method, Timed
from benchmarks.record import RESULTS, Report, Target
from manyview import LMVSC, Views, datasets, metrics
from manyview.datasets.originals import read_one

SCORES = ("nmi", "accuracy", "ari", "largest_share")
NOISE_VIEWS = (1, 3)
DEVELOPMENT = (
    "3sources", "bbcsport", "reuters600", "reuters1200", "msrcv1", "handwritten", "hdigit", "mnist",
    "scene15", "leaves100", "citeseq_pbmc10x", "covtype", "aloi100",
)  # fmt: skip
NOISES = ("gaussian", "speckle", "salt-and-pepper")
BARS = {
    "handwritten": 0.95, "hdigit": 0.975, "leaves100": 0.98, "aloi100": 0.93, "scene15": 0.50,
    "mnist": 0.70, "bbcsport": 0.90, "citeseq_pbmc10x": 0.73, "covtype": 0.1273,
    **{f"mnist, {noise}": 0.65 for noise in NOISES},
}  # fmt: skip
"""Least NMI of the defaults."""
OTHER_BARS = {
    ("handwritten", "accuracy"): Target(at_least=0.98),
    ("covtype", "accuracy"): Target(at_least=0.0, stretch=0.3862),
    ("covtype", "largest_share"): Target(at_most=0.80),
}
RIVALS = [method.name for key, method in METHODS.items() if key != "tuned"]
"""Who may be the best; our own settings tuned with labels are a ceiling, not a rival."""
ANY_KMEANS = "k-means, best of all 5 scalings by the labels"
COST_SETS = ("handwritten", "hdigit", "scene15", "bbcsport", "covtype")
QUICK_ROWS = 2_100


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
    raw = read_one(folder / f"{name}.npz")
    return Views(raw.arrays, target=raw.labels)


def score(report: Report, name: str, views: Views, method: Method, n_seeds: int) -> None:
    """Run every setting of a method with every seed; add the best by the labels."""
    k = len(np.unique(views.target))
    seeds = range(min(n_seeds, method.n_seeds or n_seeds))
    results = {}
    for label, fit in method.tries(k):
        each, seconds = [], []
        for seed in seeds:
            started = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = fit(views, seed)
            spent = time.perf_counter() - started
            labels, spent = found if isinstance(found, Timed) else (found, spent)
            seconds.append(spent)
            agreement = metrics.scores(views.target, labels)
            share = float(np.bincount(labels).max() / len(labels))
            each.append({**{s: agreement[s] for s in SCORES[:-1]}, "largest_share": share})
        results[label] = (each, seconds)
    tried = {
        label: float(np.mean([e["nmi"] for e in each])) for label, (each, _) in results.items()
    }
    best = max(tried, key=lambda label: tried[label])
    each, seconds = results[best]
    mean = {s: float(np.mean([e[s] for e in each])) for s in SCORES}
    spread = float(np.std([e["nmi"] for e in each]))
    bar = BARS.get(name) if method is METHODS["default"] else None
    report.add(
        f"{name}: {method.name}",
        mean["nmi"],
        None if bar is None else Target(at_least=bar, indicative=report.quick),
        scores=each, seconds=seconds, seed=list(seeds), data=name, method=method.name,
        settings=best, spread=spread, mean=mean, n_rows=len(views), tried=tried,
        note=f"ACC {mean['accuracy']:.3f} ARI {mean['ari']:.3f} sd {spread:.3f} "
        f"largest {mean['largest_share']:.2f} {np.median(seconds):.1f} s [{best}]",
    )  # fmt: skip
    if method is METHODS["default"]:
        for (data, which), target in OTHER_BARS.items():
            if data == name:
                report.add(
                    f"{name}: {which.replace('_', ' ')} of {method.name}", mean[which], target
                )


def score_noise(report: Report, name: str, views: Views, n_seeds: int) -> None:
    """Add the scores with one and with three views of noise besides."""
    rng = np.random.default_rng(0)
    for n_noise in NOISE_VIEWS:
        noise = {f"noise {i}": rng.normal(size=(len(views), 50)) for i in range(n_noise)}
        noisy = Views({**dict(views.items()), **noise}, target=views.target)
        score(report, name, noisy, Method(_with_noise(n_noise), METHODS["default"].tries), n_seeds)


def _with_noise(n_noise: int) -> str:
    return f"{METHODS['default'].name}, {n_noise} views of noise"


def suggest(report: Report, name: str, views: Views) -> None:
    """Add the suggested number of clusters, and whether it is within a fifth, or one, of k."""
    k = len(np.unique(views.target))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LMVSC("auto", random_state=0).fit(views)
    found, suggestion = model.n_clusters_, model.suggestion_
    is_near = abs(found - k) <= max(1.0, 0.2 * k)
    report.add(
        f"{name}: suggested number of clusters, of {k}", found, data=name, is_near=is_near,
        runners_up=suggestion.runners_up(), stability=suggestion.stability,
        note=f"{'near' if is_near else 'off'}; next {suggestion.runners_up()}",
    )  # fmt: skip


def add_cost(report: Report, name: str, views: Views) -> None:
    """Add the time of the defaults over that of one late fusion, and on CoverType over k-means."""
    k = len(np.unique(views.target))
    model = LMVSC(k, random_state=0).fit(views)
    m = max(map(len, model.anchors_))
    rivals = {
        "defaults": LMVSC(k, random_state=0),
        "one late fusion": LMVSC(
            k, n_anchors=m, alpha=0.01, fusion="late", n_repeats=1, scaling="standard",
            view_weights="equal", random_state=0,
        ),
    }  # fmt: skip
    seconds = medians(
        time_in_turn({key: partial(each.fit, views) for key, each in rivals.items()}, repeats=3)
    )
    ratio = seconds["defaults"] / seconds["one late fusion"]
    report.add(f"{name}: time of the defaults / of one late fusion", ratio, Target(at_most=6.0))
    if name == "covtype":
        X = np.hstack(views.arrays)
        started = time.perf_counter()
        KMeans(k, n_init=10, random_state=0).fit(X)
        ratio = seconds["defaults"] / (time.perf_counter() - started)
        report.add(f"{name}: time of the defaults / KMeans n_init=10", ratio, Target(at_most=1.0))


def run(report: Report) -> None:
    """Run everything on the data sets of the registry."""
    compare(report, ["default", "kmeans", "kmeans-ours"] if report.quick else list(METHODS))
    summarise(report, report.lines)


def compare(
    report: Report,
    methods: Sequence[str],
    *,
    folder: Path | None = None,
    sets: Sequence[str] | None = None,
    n_seeds: int = 5,
    extras: Sequence[str] = ("noise", "clusters", "cost"),
) -> None:
    """Score methods on data sets; then noise views, suggested numbers of clusters, and costs."""
    for name, views in find_sets(folder, sets):
        if report.quick and len(views) > QUICK_ROWS:
            continue
        for key in methods:
            method = METHODS[key]
            is_affordable = method.most_rows is None or len(views) <= method.most_rows
            if is_affordable and ("," not in name or key == "default"):  # noisy MNIST: ours alone
                try:
                    score(report, name, views, method, n_seeds)
                except (ValueError, TypeError, MemoryError) as error:
                    report.add(f"{name}: {method.name}", note=f"did not run: {error}"[:200])
        if "," in name:
            continue
        if "noise" in extras and views.n_views >= 3:
            score_noise(report, name, views, min(n_seeds, 2))
        if "clusters" in extras:
            suggest(report, name, views)
        if "cost" in extras and name in COST_SETS:
            add_cost(report, name, views)


def summarise(report: Report, lines: Sequence[dict[str, Any]]) -> None:
    """Add means over data sets and who is ahead where, from the last line of each."""
    scored = {(line["data"], line["method"]): line for line in lines if "method" in line}
    names = [n for n in dict.fromkeys(data for data, _ in scored) if "," not in n]
    nmi = {
        method: {n: scored[n, method]["figure"] for n in names if (n, method) in scored}
        for method in dict.fromkeys(method for _, method in scored)
    }
    default = METHODS["default"].name
    ours = nmi.get(default)
    if not ours:
        return
    partly = report.quick or len(ours) < len(DEVELOPMENT)
    report.add(
        f"mean NMI of {len(ours)} data sets", float(np.mean(list(ours.values()))),
        Target(at_least=0.70, stretch=0.72, indicative=partly),
    )  # fmt: skip
    spread = float(np.mean([scored[n, default]["spread"] for n in ours]))
    report.add(
        "mean standard deviation of NMI between seeds", spread,
        Target(at_most=0.015, indicative=partly),
    )  # fmt: skip
    rivals = {METHODS[key].name: nmi.get(METHODS[key].name, {}) for key in ("kmeans", "published")}
    usual = rivals[METHODS["kmeans"].name]
    with_ours = nmi.get(METHODS["kmeans-ours"].name, {})
    rivals[ANY_KMEANS] = {n: max(usual[n], with_ours[n]) for n in usual if n in with_ours}
    tuned = METHODS["tuned"].name
    ahead = {METHODS["kmeans"].name: Target(at_least=0.10, indicative=partly)}
    for name, theirs in {**rivals, tuned: nmi.get(tuned, {})}.items():
        add_gaps(report, ours, theirs, name, ahead.get(name))
    for name, theirs in rivals.items():
        most = 1 if name == METHODS["published"].name else 2
        behind = [n for n in ours if n in theirs and ours[n] < theirs[n] - 0.01]
        if theirs:
            report.add(
                f"data sets behind {name} by more than .01", len(behind),
                Target(at_most=most, indicative=partly), behind=behind,
                note=", ".join(behind),
            )  # fmt: skip
    for method in RIVALS:
        best = [n for n, value in nmi.get(method, {}).items() if value == _best(nmi, n)]
        if method in nmi:
            mean = float(np.mean(list(nmi[method].values())))
            report.add(
                f"{method}: best on, of {len(nmi[method])} sets it ran on", len(best),
                note=f"mean NMI there {mean:.3f}; ours {_mean(ours, nmi[method]):.3f}", best=best,
            )  # fmt: skip
    for count in NOISE_VIEWS:
        name = _with_noise(count)
        theirs = nmi.get(name, {})
        clean = {n: _same_seeds(scored[n, default], scored[n, name]) for n in theirs if n in ours}
        add_gaps(report, clean, theirs, name, Target(at_most=0.03, indicative=partly))
    near = {line["data"]: line["is_near"] for line in lines if "is_near" in line}
    if near:
        report.add(
            f"numbers of clusters suggested within a fifth or one, of {len(near)} sets",
            sum(near.values()), Target(at_least=6, stretch=9, indicative=partly),
        )  # fmt: skip


def add_gaps(
    report: Report,
    ours: dict[str, float],
    theirs: dict[str, float],
    name: str,
    target: Target | None,
) -> None:
    """Add by how much we are ahead in the mean."""
    gaps = {n: ours[n] - theirs[n] for n in ours if n in theirs}
    if gaps:
        mean = float(np.mean(list(gaps.values())))
        report.add(f"mean NMI ahead of {name}, {len(gaps)} sets", mean, target, gaps=gaps)


def _same_seeds(line: dict[str, Any], other: dict[str, Any]) -> float:
    """Give the mean NMI of the first seeds of a line, as many as the other has."""
    return float(np.mean([each["nmi"] for each in line["scores"][: len(other["scores"])]]))


def _best(nmi: dict[str, dict[str, float]], name: str) -> float:
    return max(nmi[method][name] for method in RIVALS if name in nmi.get(method, {}))


def _mean(values: dict[str, float], names: Iterable[str]) -> float:
    return float(np.mean([values[n] for n in names if n in values] or [np.nan]))


def draw(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw NMI of every method on every data set that several ran on, from result lines."""
    from matplotlib.figure import Figure

    last = {(line["data"], line["method"]): line["figure"] for line in lines if "method" in line}
    ours, ceiling = METHODS["default"].name, METHODS["tuned"].name
    methods = [method.name for method in METHODS.values()]
    ran = {data: [m for m in methods if (data, m) in last] for data, _ in last}
    names = [data for data in ran if len(ran[data]) > 1] or list(ran)
    names.sort(key=lambda name: last.get((name, ours), 0.0))
    figure = Figure(figsize=(8, 0.36 * len(names) + 2.0), layout="constrained")
    axes = figure.subplots()
    for i, method in enumerate(methods):
        points = [(last[n, method], y) for y, n in enumerate(names) if (n, method) in last]
        if not points:
            continue
        colour = "black" if method == ceiling else f"C{i}"
        axes.scatter(
            *zip(*points, strict=True), s=70 if method == ours else 28, label=method,
            zorder=4 if method == ours else 3, marker="D" if method == ours else "o",
            facecolor="none" if method == ceiling else colour, edgecolor=colour,
            alpha=1.0 if method == ours else 0.75,
        )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("NMI (max), mean over seeds")
    axes.grid(axis="both", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"sets of {QUICK_ROWS} rows at most")
    parser.add_argument("--data", type=Path, help="a folder of files in the same format")
    parser.add_argument("--sets", help="names, separated by semicolons")
    parser.add_argument("--methods", default=",".join(METHODS), help="some of %(default)s, or none")
    parser.add_argument("--extras", default="noise,clusters,cost", help="some of these, or nothing")
    parser.add_argument("--summary", action="store_true", help="only sum up the lines there are")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--results", type=Path,
        help="folder for result lines; by default benchmarks/results, with --data quality-results",
    )  # fmt: skip
    chosen = parser.parse_args()
    if chosen.results is None:
        chosen.results = RESULTS if chosen.data is None else Path("quality-results")
    report = Report("quality", quick=chosen.quick, folder=chosen.results)
    path = chosen.results / "quality.jsonl"
    if not chosen.summary:
        compare_chosen(report, chosen)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    summarise(report, lines)
    print(f"\n{report.summary()}")
    draw(lines, path.with_suffix(".png"))


def compare_chosen(report: Report, chosen: argparse.Namespace) -> None:
    compare(
        report,
        [key for key in chosen.methods.split(",") if key not in ("", "none")],
        folder=chosen.data,
        sets=chosen.sets.split(";") if chosen.sets else None,
        n_seeds=chosen.seeds,
        extras=chosen.extras.split(","),
    )


if __name__ == "__main__":
    main()
