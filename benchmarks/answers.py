"""What people ask of a clustering: how sure, which are odd, how many; measured against known labels.

How far confidence is from the share of right rows (expected calibration error), how much of junk is
found and how few rows of clean sets are marked, what a cut of the tree is worth beside a fresh fit, what
an update makes of a class that was not fitted, what a report costs beside the fit, and what a few labels
improve.

python -m benchmarks.answers measures all of it; with --parts NAME,... some of it, with --sets NAME,...
on these data sets.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from benchmarks.record import Report, Target
from manyview import LMVSC, Views, datasets, metrics
from manyview.engines.base import Run
from manyview.engines.memory import Memory
from manyview.errors import DatasetNotFoundError
from manyview.pipeline.oddness import learn_oddness
from manyview.pipeline.settings import resolve

NAMES = (
    "3sources", "msrcv1", "bbcsport", "handwritten", "leaves100", "bdgp2", "reuters600", "reuters1200",
    "scene15", "wikipedia", "prokaryotic", "hdigit", "citeseq_pbmc10x", "citeseq_gse100866", "adt13",
    "acm", "tdt2", "aloi100", "mnist", "covtype",
)  # fmt: skip
QUICK = ("3sources", "msrcv1", "bbcsport")
_MOST_ROWS = 3_000
_N_JUNK, _SEEDS = 20, 8
_REPORTS = 3  # whose costs are compared
_BINS = 15
_CLEAR = 0.01  # of NMI


PARTS = ("mixtures", "junk", "clean", "updates", "reports", "cuts", "labels")


def run(report: Report, parts: Sequence[str] = PARTS, names: Sequence[str] = ()) -> None:
    chosen = names or (QUICK if report.quick else NAMES)
    measures: dict[str, Callable[[Report], None]] = {
        "mixtures": run_mixtures,
        "junk": run_junk,
        "clean": partial(run_clean, names=chosen),
        "updates": run_updates,
        "reports": run_reports,
        "cuts": partial(run_cuts, names=chosen),
        "labels": partial(run_labels, names=("handwritten",) if report.quick else chosen),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in parts:
            measures[part](report)


def run_mixtures(report: Report) -> None:
    """Calibration where clusters are Gaussian with one covariance."""
    for k, separation in ((3, 4.5), (5, 4.5), (10, 6.0)):
        rng = np.random.default_rng(k)
        target = rng.integers(k, size=1500)
        centers = separation / np.sqrt(2.0) * np.linalg.qr(rng.normal(size=(12, 12)))[0][:k]
        X = centers[target] + rng.normal(size=(1500, 12))
        model = LMVSC(k, random_state=0).fit([X[:, :6], X[:, 6:]])
        report.add(
            f"calibration error, mixture of {k}, {separation:g} deviations apart",
            calibration_error(model, target),
            Target(at_most=0.05),
            scores={"accuracy": metrics.accuracy(target, model.labels_)},
        )


def run_junk(report: Report) -> None:
    """Junk among digits: what is found, what is lost in the mean of several seeds.

    Rows that are marked count nothing, so the fit is that of the others alone; yet these are drawn
    otherwise than without junk. One seed would compare two draws, and about one in thirty is .05 lower.
    """
    views, seeds = datasets.digits_views(), range(2 if report.quick else _SEEDS)
    target, n = np.asarray(views.target), views.n_rows

    def fit(X: Any, seed: int, **settings: Any) -> Any:
        return LMVSC(10, random_state=seed, **settings).fit(X).labels_

    clean = np.array([metrics.accuracy(target, fit(views, seed)) for seed in seeds])
    for kind in ("far",) if report.quick else ("far", "uniform"):
        arrays = [with_junk(np.asarray(X, np.float64), kind) for X in views.arrays]
        rows = dict(zip(views.names, arrays, strict=True))
        found = [fit(rows, seed, outliers="mark") for seed in seeds]
        lost = clean - [metrics.accuracy(target, labels[:n]) for labels in found]
        report.add(
            f"accuracy lost to {_N_JUNK} rows of junk ({kind}) among digits, marked, mean of "
            f"{len(seeds)} seeds",
            float(lost.mean()),
            Target(at_most=0.01, indicative=report.quick),
            scores={
                "clean": float(clean.mean()),
                "deviation of clean": float(clean.std(ddof=1)),
                "deviation of lost": float(lost.std(ddof=1)),
                "least lost": float(lost.min()),
                "most lost": float(lost.max()),
                "kept, first seed": metrics.accuracy(target, fit(rows, seeds[0])[:n]),
            },
        )
        n_found = float(min((labels[n:] < 0).sum() for labels in found))
        false = float(max((labels[:n] < 0).mean() for labels in found))
        report.add(f"rows of junk found ({kind})", n_found, Target(at_least=18))
        report.add(f"digits marked beside junk ({kind})", false, Target(at_most=0.01))


def with_junk(X: npt.NDArray[np.float64], kind: str) -> npt.NDArray[np.float64]:
    """Rows, and junk after them: normal, ten times as wide as all values; or even in each column."""
    rng = np.random.default_rng(X.shape[1])
    size = (_N_JUNK, X.shape[1])
    if kind == "far":
        junk = X.mean(axis=0) + 10.0 * X.std() * rng.normal(size=size)
    else:
        junk = X.min(axis=0) + np.ptp(X, axis=0) * rng.random(size)
    return np.vstack([X, junk])


def run_clean(report: Report, names: Sequence[str]) -> None:
    """The share of rows that would be marked in data as they are."""
    for name, views in load_sets(names):
        settings = resolve(LMVSC(3, outliers="mark").get_params(), views)
        rows = Memory().open(views.arrays, Run(1))
        oddness = learn_oddness(rows, views.names, settings)
        share = float(oddness.is_odd(views.arrays, 0).mean())
        report.add(f"marked of {name}", share, Target(at_most=0.02))


def run_updates(report: Report) -> None:
    """Handwritten fitted without a class and updated with it, each in turn."""
    for _, views in load_sets(("handwritten",)):
        target = np.asarray(views.target)
        classes = np.unique(target)
        for name in classes[:2] if report.quick else classes:
            old, new = views[np.flatnonzero(target != name)], views[np.flatnonzero(target == name)]
            model = LMVSC(len(classes) - 1, random_state=0).fit(old)
            before, k = model.labels_, model.n_clusters_
            model.update(new)
            held = np.bincount(model.labels_[old.n_rows :], minlength=k + 1)[k:] / new.n_rows
            scores = {"new clusters": len(held) if model.n_clusters_ > k else 0}
            case = f"class {name} of handwritten in one new cluster"
            report.add(case, float(held.max()), Target(at_least=0.9), scores=scores)
            stayed = float((model.predict(old) == before).mean())
            report.add(f"old labels that stay without class {name}", stayed, Target(at_least=0.99))


def run_reports(report: Report) -> None:
    """Processor time of a report over that of the fit: the middle one of three, after a first of each.

    The first loads compiled code and libraries, which later ones have.
    """
    cases = {
        "600 rows, 4 groups": (
            datasets.make_views(600, 4, (6, 8), separation=4.0, random_state=0),
            4,
        ),
        "digits": (datasets.digits_views(), 10),
        **{name: (views, 10) for name, views in load_sets(("handwritten", "hdigit"))},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, (views, k) in cases.items():
            costs = []
            for _ in range(1 + _REPORTS):
                started = time.process_time()
                model = LMVSC(k, random_state=0).fit(views)
                fitted = time.process_time()
                model.report(f"{folder}/report.html", views, force=True)
                costs.append({"fit": fitted - started, "report": time.process_time() - fitted})
            by_ratio = sorted(costs[1:], key=lambda each: each["report"] / each["fit"])
            middle = by_ratio[_REPORTS // 2]
            report.add(
                f"cost of a report over the fit, {name}", middle["report"] / middle["fit"],
                Target(at_most=1.0), scores=middle,
            )  # fmt: skip


def run_cuts(report: Report, names: Sequence[str]) -> None:
    """Calibration, and cuts beside fresh fits, on real data."""
    lost: dict[str, list[float]] = {"half": [], "twice": []}
    for name, views in load_sets(names):
        target = np.unique(np.asarray(views.target), return_inverse=True)[1]
        k = int(target.max()) + 1
        model = LMVSC(k, random_state=0).fit(views)
        report.add(
            f"calibration error, {name}",
            calibration_error(model, target),
            scores={"accuracy": metrics.accuracy(target, model.labels_)},
        )
        for word, n in (("half", max(k // 2, 2)), ("twice", 2 * k)):
            fresh = metrics.nmi(target, LMVSC(n, random_state=0).fit(views).labels_)
            try:
                cut = metrics.nmi(target, model.cut(n))
            except ValueError as error:  # clusters that cannot be split
                report.add(f"NMI of a cut at {word} as many, {name}", note=str(error))
                continue
            lost[word].append(fresh - cut)
            report.add(
                f"NMI of a fresh fit less a cut's at {word} as many, {name}",
                fresh - cut,
                scores={"fresh": fresh, "cut": cut},
            )
    for word, values in lost.items():
        report.add(
            f"NMI of a fresh fit less a cut's at {word} as many, mean of {len(values)} sets",
            float(np.mean(values)),
            Target(at_most=0.03, indicative=report.quick),
        )


def run_labels(report: Report, names: Sequence[str]) -> None:
    """NMI of the rows without a label when one row in a hundred has one, in the mean of three draws."""
    gains = []
    for name, views in load_sets(names):
        target = np.unique(np.asarray(views.target), return_inverse=True)[1]
        n, k = len(target), int(target.max()) + 1
        plain = LMVSC(k, random_state=0).fit(views).labels_
        pairs = []
        for seed in range(3):
            few = np.random.default_rng(seed).permutation(n)[: max(n // 100, 1)]
            known = np.full(n, -1)
            known[few] = target[few]
            found = LMVSC(k, random_state=0).fit(views, partial_labels=known).labels_
            others = known < 0
            pairs.append([metrics.nmi(target[others], x[others]) for x in (plain, found)])
        without, with_labels = np.mean(pairs, axis=0)
        gains.append(float(with_labels - without))
        scores = {"without": float(without), "with": float(with_labels)}
        report.add(f"NMI that 1 % of labels add, {name}", gains[-1], scores=scores)
    n_better = float(np.sum(np.array(gains) > _CLEAR))
    bar = Target(at_least=3, indicative=report.quick)
    report.add(
        f"sets of {len(gains)} that 1 % of labels improve by {_CLEAR} or more", n_better, bar
    )


def load_sets(names: Sequence[str]) -> Iterator[tuple[str, Views]]:
    """Data sets that are on this machine, of large ones some rows."""
    for name in names:
        try:
            views = datasets.load(name, download=False)
        except DatasetNotFoundError:
            continue
        if views.n_rows > _MOST_ROWS:
            chosen = np.random.default_rng(0).permutation(views.n_rows)[:_MOST_ROWS]
            views = views[np.sort(chosen)]
        yield name, views


def calibration_error(model: LMVSC, target: Any) -> float:
    """Mean difference of confidence and the share of right rows, over bins of confidence."""
    labels = np.asarray(model.labels_)
    size = int(max(labels.max(), target.max())) + 1
    counts = np.zeros((size, size))
    np.add.at(counts, (labels, target), 1)
    is_right = linear_sum_assignment(-counts)[1][labels] == target
    confidence = np.asarray(model.confidence_)
    bins = np.minimum((_BINS * confidence).astype(int), _BINS - 1)
    gaps = [(confidence[bins == b] - is_right[bins == b]).sum() for b in np.unique(bins)]
    return float(np.abs(gaps).sum() / len(confidence))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS), help="some of %(default)s")
    parser.add_argument("--sets", default="", help="names of data sets, separated by commas")
    chosen = parser.parse_args(arguments)
    parts, names = chosen.parts.split(","), [name for name in chosen.sets.split(",") if name]
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    run(Report("answers"), parts, names)


if __name__ == "__main__":
    main()
