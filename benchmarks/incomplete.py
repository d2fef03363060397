"""Samples that lack views: LMVSC without them, beside dropping samples and filling in means.

Of all (sample, view) pairs a share is removed at random; a sample that would lose all views gets one
back, so that with two views and 50 % a quarter of the samples has both. "blocks" are v + 1 groups of
samples as large as each other: one is complete, each of the others lacks another view. In a "mosaic"
each of the others has one view only.

python -m benchmarks.run incomplete     makes the lines
python -m benchmarks.incomplete         writes docs/guides/missing.inc and its picture from kept lines
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from benchmarks.field import list_table
from benchmarks.problems import find
from benchmarks.record import RESULTS, ROOT, Report, Target
from manyview import LMVSC, Views, metrics

Mask = npt.NDArray[np.bool_]
Labels = npt.NDArray[Any]

SETS = ("handwritten", "hdigit", "scene15", "leaves100")
CLOSE = ("handwritten", "hdigit")
SHARES = (0.1, 0.3, 0.5, 0.7)
BAR_SHARE = 0.5
N_SEEDS = 3
"""Of the pattern that has bars; the others have one."""


def at_random(n: int, v: int, rng: np.random.Generator, *, share: float) -> Mask:
    """Remove a share of all pairs; give one view back to samples that lost all."""
    present = rng.random((n, v)) >= share
    lost = np.flatnonzero(~present.any(axis=1))
    present[lost, rng.integers(0, v, len(lost))] = True
    return present


def in_blocks(n: int, v: int, rng: np.random.Generator, *, keeps_one: bool) -> Mask:
    """Remove one view, or all but one, from each of v of v + 1 groups of samples."""
    present = np.ones((n, v), dtype=bool)
    for view, block in enumerate(np.array_split(rng.permutation(n), v + 1)[:v]):
        present[block] = not keeps_one
        present[block, view] = keeps_one
    return present


PATTERNS: dict[str, Callable[[int, int, np.random.Generator], Mask]] = {
    **{
        f"{share:.0%}": lambda n, v, rng, share=share: at_random(n, v, rng, share=share)
        for share in SHARES
    },
    "blocks": lambda n, v, rng: in_blocks(n, v, rng, keeps_one=False),
    "mosaic": lambda n, v, rng: in_blocks(n, v, rng, keeps_one=True),
}


def without_views(views: Views, present: Mask, k: int, seed: int) -> Labels:
    """LMVSC that knows what is missing."""
    return LMVSC(k, random_state=seed).fit(Views(views, present=present)).labels_


def drop_samples(views: Views, present: Mask, k: int, seed: int) -> Labels | None:
    """LMVSC of complete samples; others join the cluster whose mean is nearest in what they have."""
    complete = present.all(axis=1)
    if complete.sum() < k:
        return None
    labels = np.empty(len(views), np.int64)
    labels[complete] = LMVSC(k, random_state=seed).fit(views[complete]).labels_
    X = standardised(views, present)
    found = np.unique(labels[complete])
    means = np.stack([X[complete][labels[complete] == c].mean(axis=0) for c in found])
    there = np.repeat(present, views.n_features, axis=1)[~complete].astype(float)
    rows = X[~complete] * there
    distances = there @ (means**2).T - 2 * rows @ means.T
    labels[~complete] = found[np.argmin(distances, axis=1)]
    return labels


def fill_means(views: Views, present: Mask, k: int, seed: int) -> Labels:
    """LMVSC with each view's mean in place of what is missing."""
    filled = {}
    for v, (name, X) in enumerate(views.items()):
        filled[name] = np.where(present[:, v, None], X, X[present[:, v]].mean(axis=0))
    return LMVSC(k, random_state=seed).fit(filled).labels_


def k_means(views: Views, present: Mask, k: int, seed: int) -> Labels:
    """k-means of all views side by side, standardised, with means in place of what is missing."""
    return KMeans(k, n_init=3, random_state=seed).fit(standardised(views, present)).labels_


def complete_data(views: Views, present: Mask, k: int, seed: int) -> Labels:
    """LMVSC with nothing missing: what there is to lose."""
    return LMVSC(k, random_state=seed).fit(views).labels_


WHOLE = "LMVSC, complete data"
OURS = "LMVSC, missing views"
METHODS: dict[str, Callable[[Views, Mask, int, int], Labels | None]] = {
    OURS: without_views,
    "LMVSC, complete samples only": drop_samples,
    "LMVSC, means filled in": fill_means,
    "k-means, means filled in": k_means,
}


def standardised(views: Views, present: Mask) -> npt.NDArray[np.float64]:
    """All views side by side, columns to mean 0 and variance 1 by what is there; 0 where it is not."""
    parts = []
    for v, (_, X) in enumerate(views.items()):
        rows = np.asarray(X, dtype=np.float64)[present[:, v]]
        deviation = rows.std(axis=0)
        part = np.zeros(X.shape)
        part[present[:, v]] = (rows - rows.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
        parts.append(part)
    return np.hstack(parts)


def run(report: Report) -> None:
    """Score every method on every data set: first where the bars are, then the other patterns."""
    bar = f"{BAR_SHARE:.0%}"
    others = ["blocks"] if report.quick else [pattern for pattern in PATTERNS if pattern != bar]
    names = ("handwritten", "leaves100") if report.quick else SETS
    sets = {name: views for name in names if (views := find(report, name)) is not None}
    seeds = range(1 if report.quick else N_SEEDS)
    margins, losses = {}, {}
    for name, views in sets.items():
        whole = _score(report, name, views, "complete", WHOLE, seeds)
        found = {method: _score(report, name, views, bar, method, seeds) for method in METHODS}
        ours = found.pop(OURS)
        margins[name], losses[name] = ours - max(found.values()), whole - ours
    if margins:
        report.add(
            f"NMI ahead of the best other at {bar}, mean of {len(margins)} sets",
            float(np.mean(list(margins.values()))),
            Target(at_least=0.05, indicative=report.quick or len(margins) < len(SETS)),
            margins=margins, seed=list(seeds),
        )  # fmt: skip
    for name in CLOSE:
        if name in losses:
            report.add(
                f"{name}: NMI lost to complete data at {bar}", losses[name],
                Target(at_most=0.10, indicative=report.quick), seed=list(seeds),
            )  # fmt: skip
    for pattern in others:
        for name, views in sets.items():
            for method in METHODS:
                _score(report, name, views, pattern, method, seeds[:1])


def _score(
    report: Report, name: str, views: Views, pattern: str, method: str, seeds: Sequence[int]
) -> float:
    """Add the mean score of a method over seeds; a seed draws both the holes and the anchors."""
    k, runs = len(np.unique(views.target)), []
    shares = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        present = np.ones((len(views), views.n_views), dtype=bool)
        if pattern in PATTERNS:
            present = PATTERNS[pattern](len(views), views.n_views, rng)
        shares.append((float((~present).mean()), float(present.all(axis=1).mean())))
        fit = complete_data if method == WHOLE else METHODS[method]
        runs.append(_timed(lambda p=present, s=seed, fit=fit: fit(views, p, k, s)))
    missing, complete = np.mean(shares, axis=0)
    note = f"{missing:.0%} missing, {complete:.0%} of the samples complete"
    return _add(report, name, views, pattern, method, runs, seeds, note)


def _add(
    report: Report,
    name: str,
    views: Views,
    pattern: str,
    method: str,
    runs: list[tuple[Labels | None, float]],
    seeds: Sequence[int],
    note: str = "",
) -> float:
    if any(labels is None for labels, _ in runs):
        report.add(f"{name}, {pattern}: {method}", note="too few complete samples", data=name)
        return 0.0
    scores = [metrics.scores(views.target, labels) for labels, _ in runs]
    each = [{s: found[s] for s in ("nmi", "accuracy", "ari")} for found in scores]
    mean = float(np.mean([one["nmi"] for one in each]))
    spread = float(np.std([one["nmi"] for one in each]))
    seconds = [took for _, took in runs]
    report.add(
        f"{name}, {pattern}: {method}", mean, scores=each, seconds=seconds, seed=list(seeds),
        data=name, pattern=pattern, method=method, spread=spread, n_rows=len(views),
        note=f"sd {spread:.3f}, {np.median(seconds):.1f} s{', ' if note else ''}{note}",
    )  # fmt: skip
    return mean


def _timed(fit: Callable[[], Labels | None]) -> tuple[Labels | None, float]:
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = fit()
    return labels, time.perf_counter() - started


def last_figures(lines: Sequence[dict[str, Any]]) -> dict[tuple[str, str, str], float]:
    """The last figure of each data set, pattern and method that has one."""
    return {
        (line["data"], line["pattern"], line["method"]): line["figure"]
        for line in lines
        if "pattern" in line
    }


def describe(lines: Sequence[dict[str, Any]]) -> str:
    """The table of the share that has bars, in reStructuredText."""
    last, bar = last_figures(lines), f"{BAR_SHARE:.0%}"
    columns = {WHOLE: "complete", **dict.fromkeys(METHODS, bar)}
    rows = [
        [
            name,
            *(
                f"{last[name, where, method]:.3f}".removeprefix("0")
                for method, where in columns.items()
            ),
        ]
        for name in SETS
        if (name, "complete", WHOLE) in last
    ]
    return list_table(["NMI", *(method.removeprefix("LMVSC, ") for method in columns)], rows)


def draw(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw NMI over what is missing for every method, one panel a data set, from result lines."""
    from matplotlib.figure import Figure

    last = last_figures(lines)
    names = [name for name in SETS if any(data == name for data, _, _ in last)]
    figure = Figure(figsize=(3.1 * len(names), 3.6), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for panel, name in zip(panels, names, strict=True):
        panel.axhline(last[name, "complete", WHOLE], color="0.6", linestyle=":", label=WHOLE)
        for i, method in enumerate(METHODS):
            points = [(x, last.get((name, p, method))) for x, p in enumerate(PATTERNS)]
            there = [(x, y) for x, y in points if y is not None]
            if not there:
                continue
            panel.plot(
                *zip(*there, strict=True), "D-" if method == OURS else "o--", color=f"C{i}",
                label=method, linewidth=2 if method == OURS else 1,
            )  # fmt: skip
        panel.set_xticks(range(len(PATTERNS)), PATTERNS, rotation=45)
        panel.set_title(name)
        panel.set_ylim(0, 1)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("NMI (max), mean over seeds")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")
    figure.savefig(path, dpi=150)


def main(folder: Path = ROOT / "docs") -> None:
    """Write what the documentation shows, from the lines that are kept."""
    kept = (RESULTS / "incomplete.jsonl").read_text(encoding="utf-8").splitlines()
    lines = [line for line in map(json.loads, kept) if line["form"] == "full"]
    mark = "..\n   Written by ``python -m benchmarks.incomplete``; do not edit.\n\n"
    (folder / "guides" / "missing.inc").write_text(mark + describe(lines), encoding="utf-8")
    draw(lines, folder / "_static" / "incomplete.png")


if __name__ == "__main__":
    main()
