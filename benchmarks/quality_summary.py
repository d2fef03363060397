"""Tables and a picture of the lines that benchmarks.quality keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality_methods import METHODS, RIVALS
from benchmarks.record import Target

FIRST = (
    "3sources", "bbcsport", "reuters600", "reuters1200", "msrcv1", "leaves100", "handwritten", "scene15",
    "citeseq_pbmc10x", "covtype", "mnist", "hdigit", "aloi100",
)  # fmt: skip
LATER = ("wikipedia", "prokaryotic", "bdgp2", "tdt2", "citeseq_gse100866", "acm", "adt13")
ALL = (*FIRST, *LATER)
EASY_FOR_RIVALS, EASY_FOR_US, NEVER_BELOW = 0.98, 0.95, 0.85
BARS = {
    "mnist-whole": 0.86, "scene15": 0.56, "handwritten": 0.96, "leaves100": 0.99, "hdigit": 0.98,
    "aloi100": 0.96, "msrcv1": 0.84, "wikipedia": 0.53, "citeseq_gse100866": 0.88, "tdt2": 0.84,
}  # fmt: skip
"""Least NMI of the defaults."""
NEAR, FAR = 0.2, 2.5
"""A suggested number of clusters is near within this share, or one; and far above that many times k."""

Lines = Sequence[dict[str, Any]]


class Measured:
    """The last line of every data set, method and seed; of our methods, only those of one commit."""

    def __init__(self, lines: Lines, commit: str | None = None) -> None:
        ours = [line["commit"] or "" for line in lines if METHODS[line["method"]].is_ours]
        self.commit = next((c for c in reversed(ours) if c.startswith(commit or "")), None)
        self._lines: dict[tuple[str, str], dict[int, dict[str, Any]]] = defaultdict(dict)
        for line in lines:
            if not METHODS[line["method"]].is_ours or line["commit"] == self.commit:
                self._lines[line["data"], line["method"]][line["seed"]] = line

    def names(self, method: str) -> list[str]:
        """Data sets that a method ran on, in the order of the table."""
        ran = {data for data, key in self._lines if key == method}
        return [n for n in ALL if n in ran] + sorted(ran - set(ALL))

    def each(self, name: str, method: str, score: str = "nmi") -> dict[str, list[float]]:
        """A score of every seed, by setting."""
        lines = self._lines.get((name, method), {}).values()
        settings = {setting: None for line in lines for setting in line["tried"]}
        return {s: [line["tried"][s][score] for line in lines] for s in settings}

    def best(self, name: str, method: str) -> tuple[float, str]:
        """Mean NMI over seeds of the setting that the labels like best, and that setting."""
        means = {s: float(np.mean(values)) for s, values in self.each(name, method).items()}
        return max(((mean, setting) for setting, mean in means.items()), default=(np.nan, ""))

    def best_rival(self, name: str) -> tuple[float, str]:
        """The same over all rivals: the line to beat."""
        found = [(self.best(name, key), METHODS[key].name) for key in RIVALS]
        ran = [(mean, f"{method}, {s}") for (mean, s), method in found if s]
        return max(ran, default=(np.nan, ""))

    def mean(self, name: str, method: str, score: str = "nmi") -> float:
        """A score's mean over seeds, of a method with one setting; NaN where it did not run."""
        return float(np.mean(next(iter(self.each(name, method, score).values()), [np.nan])))

    def facts(self, name: str) -> dict[str, Any]:
        """Any line of a data set, for what does not depend on the method."""
        return next(
            line for key, by in self._lines.items() if key[0] == name for line in by.values()
        )


def describe(
    sets: Lines, easy: Lines, *, commit: str | None = None, against: str | None = None
) -> str:
    """The tables of data sets and of easy draws, and the figures that have targets."""
    found = Measured(sets, commit)
    before = Measured(sets, against) if against else None
    parts = [f"Our lines are those of commit {found.commit}.", table(found, before)]
    parts += [figures_of_sets(found, before), figures_of_noise(found)]
    parts += [figures_of_easy(Measured(easy, commit or found.commit))]
    return "\n\n".join(filter(None, parts))


def table(found: Measured, before: Measured | None = None) -> str:
    """Every data set: NMI of the defaults and of rivals, suggested number of clusters, and cost."""
    head = ["data set", "rows", "k", "defaults", "sd", *(METHODS[key].name for key in RIVALS)]
    head += ["best rival", "ahead", "suggested k", "CPU s"] + (
        ["before", "CPU s before"] if before else []
    )
    rows = [head, ["---"] * len(head)]
    names = list(dict.fromkeys([*found.names("default"), *found.names("kmeans")]))
    for name in names:
        facts, ours = found.facts(name), found.mean(name, "default")
        spread = float(np.std(next(iter(found.each(name, "default").values()), [np.nan])))
        rival, who = found.best_rival(name)
        row = [name, str(facts["n_rows"]), str(facts["n_clusters"]), _nmi(ours), _nmi(spread)]
        row += [_nmi(found.best(name, key)[0]) for key in RIVALS]
        row += [f"{_nmi(rival)} {who}", f"{ours - rival:+.3f}", _suggested(found, name)]
        row += [f"{found.mean(name, 'default', 'cpu_seconds'):.1f}"]
        if before:
            row += [_nmi(before.mean(name, "default"))]
            row += [f"{before.mean(name, 'default', 'cpu_seconds'):.1f}"]
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def figures_of_sets(found: Measured, before: Measured | None) -> str:
    """Means over data sets, how many are won, and what changed."""
    lines = []
    for names, least, ahead, won in ((FIRST, 0.735, 0.03, 11), (ALL, 0.70, None, None)):
        both = [n for n in names if n in found.names("default")]
        ours = {n: found.mean(n, "default") for n in both}
        theirs = {n: found.best_rival(n)[0] for n in both}
        if not both:
            continue
        of = f"{len(both)} of the {'first 13' if names is FIRST else '20'} sets"
        partly = len(both) < len(names)
        mean, rival = np.mean(list(ours.values())), np.nanmean(list(theirs.values()))
        lines += [_figure(f"mean NMI of {of}", mean, Target(at_least=least, indicative=partly))]
        lines += [_figure("  best rival and scaling of each set, picked with the labels", rival)]
        target = None if ahead is None else Target(at_least=ahead, indicative=partly)
        lines += [_figure("  ahead of it", mean - rival, target)]
        wins = sum(ours[n] > theirs[n] for n in both)
        target = None if won is None else Target(at_least=won, indicative=partly)
        lines += [_figure("  sets won", wins, target)]
        for key in RIVALS:
            lines += [
                _figure(
                    f"  {METHODS[key].name}, each set's best scaling", _mean_best(found, both, key)
                )
            ]
    for name, least in BARS.items():
        if name in found.names("default"):
            lines += [_figure(f"{name}: NMI", found.mean(name, "default"), Target(at_least=least))]
    suggested = [n for n in ALL if n in found.names("auto")]
    if suggested:
        partly = len(suggested) < len(ALL)
        words = [_suggested(found, n).split()[-1] for n in suggested]
        near = Target(at_least=11, indicative=partly)
        lines += [_figure(f"suggested k near, of {len(suggested)} sets", words.count("near"), near)]
        far = Target(at_most=0, indicative=partly)
        lines += [_figure(f"suggested k above {FAR} times the truth", words.count("far"), far)]
    if before:
        both = [n for n in before.names("default") if n in found.names("default")]
        change = {n: found.mean(n, "default") - before.mean(n, "default") for n in both}
        lines += [
            _figure(
                f"change since {before.commit}, mean of {len(both)}", np.mean(list(change.values()))
            )
        ]
        worse = [f"{n} {c:+.3f}" for n, c in change.items() if c < -0.03]
        lines += [
            _figure("  sets more than .03 lower", len(worse), Target(at_most=0), ", ".join(worse))
        ]
        cost = {
            n: found.mean(n, "default", "cpu_seconds") / before.mean(n, "default", "cpu_seconds")
            for n in both
        }
        dear = [f"{n} x{c:.1f}" for n, c in cost.items() if c > 1]
        lines += [
            _figure("  sets that take more CPU", len(dear), Target(at_most=0), ", ".join(dear))
        ]
    return "\n".join(lines)


def figures_of_noise(found: Measured) -> str:
    """What views of noise besides cost."""
    lines = []
    for key in ("noise1", "noise3"):
        loss = []
        for name in found.names(key):
            noisy, clean = (found.each(name, one).get("auto", []) for one in (key, "default"))
            n = min(len(noisy), len(clean))
            loss += [np.mean(clean[:n]) - np.mean(noisy[:n])] if n else []
        if loss:
            lines += [
                _figure(
                    f"{METHODS[key].name}: NMI lost, {len(loss)} sets",
                    np.mean(loss),
                    Target(at_most=0.01),
                )
            ]
    return "\n".join(lines)


def figures_of_easy(found: Measured) -> str:
    """Of the draws that some rival solves: how many the defaults solve, and which they do not."""
    rivals = {n: found.best(n, "easy")[0] for n in found.names("easy")}
    ours = {n: found.mean(n, "default") for n in rivals if n in found.names("default")}
    easy = [n for n in ours if rivals[n] >= EASY_FOR_RIVALS]
    if not easy:
        return ""
    right = [n for n in easy if ours[n] >= EASY_FOR_US]
    wrong = sorted((n for n in easy if ours[n] < EASY_FOR_US), key=lambda n: ours[n])
    partly = len(rivals) < 300
    title = f"easy draws, {len(easy)} of {len(ours)}: share with {EASY_FOR_US} or more"
    share = _figure(title, len(right) / len(easy), Target(at_least=0.98, indicative=partly))
    below = sum(ours[n] < NEVER_BELOW for n in easy)
    lines = [share, _figure(f"  below {NEVER_BELOW}", below, Target(at_most=0, indicative=partly))]
    for setting in METHODS["easy"].tries:
        solved = sum(found.each(n, "easy")[setting][0] >= EASY_FOR_US for n in easy)
        lines += [_figure(f"    {setting}: share with {EASY_FOR_US} or more", solved / len(easy))]
    told = {n: found.mean(n, "auto", "n_found") for n in easy if n in found.names("auto")}
    if told:
        exact = sum(k == found.facts(n)["n_clusters"] for n, k in told.items())
        lines += [
            _figure(f"  suggested k right, of {len(told)}", exact / len(told), Target(at_least=0.9))
        ]
    lines += [f"  {n} {ours[n]:.3f}" for n in wrong]
    return "\n".join(lines)


def draw(lines: Lines, path: Path, *, commit: str | None = None) -> None:
    """Draw NMI of the defaults and of every rival's best scaling on every data set."""
    from matplotlib.figure import Figure

    found = Measured(lines, commit)
    names = sorted(found.names("default"), key=lambda name: found.mean(name, "default"))
    figure = Figure(figsize=(8, 0.36 * len(names) + 2.0), layout="constrained")
    axes = figure.subplots()
    for i, key in enumerate(("default", *RIVALS)):
        is_ours = key == "default"
        points = [(found.best(n, key)[0], y) for y, n in enumerate(names) if found.best(n, key)[1]]
        if points:
            axes.scatter(
                *zip(*points, strict=True), s=70 if is_ours else 28, zorder=4 if is_ours else 3,
                marker="D" if is_ours else "o", color=f"C{i}", alpha=1.0 if is_ours else 0.75,
                label=METHODS[key].name + ("" if is_ours else ", best of 3 scalings by the labels"),
            )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("NMI (max), mean over seeds, rows shuffled")
    axes.grid(axis="both", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    figure.savefig(path, dpi=130)


def _mean_best(found: Measured, names: Sequence[str], key: str) -> float:
    return float(np.nanmean([found.best(n, key)[0] for n in names]))


def _suggested(found: Measured, name: str) -> str:
    """The median number over seeds, and whether it is near, off, or far above the truth."""
    numbers = next(iter(found.each(name, "auto", "n_found").values()), [])
    if not numbers:
        return ""
    k, number = found.facts(name)["n_clusters"], float(np.median(numbers))
    near = abs(number - k) <= max(1.0, NEAR * k)
    return f"{number:g} of {k}, {'near' if near else 'far' if number > FAR * k else 'off'}"


def _nmi(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


def _figure(text: str, value: float, target: Target | None = None, note: str = "") -> str:
    judged = "" if target is None else f"{target!s:<10} {target.verdict(value)}"
    return f"{text:<75} {value:>8.4g}  {judged} {note}".rstrip()
