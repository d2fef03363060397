"""Tables and a picture of the lines that benchmarks.quality keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.easy import N_DRAWS, draw_easy
from benchmarks.quality_methods import METHODS, RIVALS
from benchmarks.record import Target
from manyview.bench.results import FREE, TUNED, Results

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


class Figure(NamedTuple):
    """A figure of the summary, and its target if it has one."""

    title: str
    value: float
    target: Target | None = None
    note: str = ""

    def __str__(self) -> str:
        judged = (
            "" if self.target is None else f"{self.target!s:<10} {self.target.verdict(self.value)}"
        )
        return f"{self.title:<60} {self.value:>8.4g}  {judged} {self.note}".rstrip()


class Measured(Results):
    """The last line of every data set, method and seed; of each of ours, only those of one commit."""

    def __init__(self, lines: Lines, commit: str | None = None) -> None:
        self.commits: dict[str, str] = {}  # of each of our methods: the last, or that asked for
        for line in lines:
            if METHODS[line["method"]].is_ours and (line["commit"] or "").startswith(commit or ""):
                self.commits[line["method"]] = line["commit"]
        self._facts: dict[str, dict[str, Any]] = {}
        last = {}
        for line in lines:
            is_ours = METHODS[line["method"]].is_ours
            if not is_ours or line["commit"] == self.commits.get(line["method"], ""):
                self._facts.setdefault(line["data"], line)
                for setting, scores in line["tried"].items():
                    last[line["data"], line["method"], line["seed"], setting] = {
                        "data": {"name": line["data"]}, "method": line["method"], "settings": setting,
                        "protocol": FREE, "status": "done", "scores": scores, "seconds": 0.0,
                    }  # fmt: skip
        super().__init__(last.values())

    def names(self, method: str) -> list[str]:
        """Data sets that a method ran on, in the order of the table."""
        ran = {line["data"]["name"] for line in self.lines if line["method"] == method}
        return [n for n in ALL if n in ran] + sorted(ran - set(ALL))

    def best(self, name: str, method: str) -> tuple[float, str]:
        """Mean NMI over seeds of the setting that the labels like best, and that setting."""
        figure = self.figure(method, name, protocol=TUNED)
        return figure.mean, figure.settings

    def best_rival(self, name: str) -> tuple[float, str]:
        """The same over all rivals: the line to beat."""
        found = [(self.best(name, key), METHODS[key].name) for key in RIVALS]
        ran = [(mean, f"{method}, {s}") for (mean, s), method in found if s]
        return max(ran, default=(np.nan, ""))

    def seeds(self, name: str, method: str, score: str = "nmi") -> list[float]:
        """A score of every seed, of a method with one setting."""
        return list(self.figure(method, name, score).values)

    def mean(self, name: str, method: str, score: str = "nmi") -> float:
        """Its mean; NaN where the method did not run."""
        return self.figure(method, name, score).mean

    def facts(self, name: str) -> dict[str, Any]:
        """Any line of a data set, for what does not depend on the method."""
        return self._facts[name]


def describe(
    sets: Lines, easy: Lines, *, commit: str | None = None, against: str | None = None
) -> str:
    """The table of data sets, and all figures beside their targets."""
    found = Measured(sets, commit)
    figures = [*means(found), *bars(found), *suggestions(found), *losses_by_noise(found)]
    figures += costs(found)
    if against:
        figures += changes(found, Measured(sets, against))
    figures += easy_draws(Measured(easy, commit))
    whose = ", ".join(f"{each} (method {method!r})" for method, each in found.commits.items())
    parts = [f"Our lines are those of commit {whose}.", table(found), *map(str, figures)]
    return "\n\n".join([*parts[:2], "\n".join(parts[2:])])


def table(found: Measured) -> str:
    """Every data set: NMI of the defaults and of rivals, suggested number of clusters, and cost."""
    head = ["data set", "rows", "k", "defaults", "sd", *(METHODS[key].name for key in RIVALS)]
    rows = [[*head, "best rival", "ahead", "suggested k", "CPU s"]]
    rows.append(["---"] * len(rows[0]))
    for name in dict.fromkeys([*found.names("default"), *found.names("kmeans")]):
        facts, ours = found.facts(name), found.mean(name, "default")
        seeds = found.seeds(name, "default")
        spread = float(np.std(seeds)) if len(seeds) > 1 else np.nan
        rival, who = found.best_rival(name)
        row = [name, str(facts["n_rows"]), str(facts["n_clusters"]), _nmi(ours), _nmi(spread)]
        row += [_nmi(found.best(name, key)[0]) for key in RIVALS]
        row += [f"{_nmi(rival)} {who}", _number(ours - rival, "+.3f"), _suggested(found, name)]
        rows.append([*row, _number(found.mean(name, "default", "cpu_seconds"), ".1f")])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def means(found: Measured) -> Iterator[Figure]:
    """Means of the first 13 data sets and of all 20, or of others, beside the line to beat."""
    ran = found.names("default")
    groups = {FIRST: (0.735, 0.03, 11), ALL: (0.70, 0.0, 10)}
    if not set(ran) & set(ALL):
        groups = {tuple(ran): None}
    for all_names, least in groups.items():
        names = [name for name in all_names if name in ran]
        if not names:
            continue
        partly = len(names) < len(all_names)
        ours = np.array([found.mean(name, "default") for name in names])
        best = np.array([found.best_rival(name)[0] for name in names])
        of = f"{len(names)} of {len(all_names)} sets"
        bars = [Target(at_least=bar, indicative=partly) for bar in least] if least else [None] * 3
        yield Figure(f"mean NMI, {of}", ours.mean(), bars[0])
        yield Figure("  best rival and scaling of each, picked with the labels", np.nanmean(best))
        gap = float(np.nanmean(ours - best))
        yield Figure("  ahead of it", gap, bars[1])
        wins = int((ours > best).sum())
        yield Figure("  sets won", wins, bars[2])
        for key in RIVALS:
            each = [found.best(name, key)[0] for name in names if found.best(name, key)[1]]
            if each:
                title = f"  {METHODS[key].name}, best scaling of each, {len(each)} sets"
                yield Figure(title, float(np.mean(each)))


def bars(found: Measured) -> Iterator[Figure]:
    """Data sets with a bar of their own."""
    for name in found.names("default"):
        if name in BARS:
            yield Figure(f"{name}: NMI", found.mean(name, "default"), Target(at_least=BARS[name]))


def suggestions(found: Measured) -> Iterator[Figure]:
    """How many suggested numbers of clusters are near, and how many far above the truth."""
    words = [_suggested(found, name).split()[-1] for name in found.names("auto") if name in ALL]
    if words:
        partly = len(words) < len(ALL)
        near, far = Target(at_least=11, indicative=partly), Target(at_most=0, indicative=partly)
        yield Figure(f"suggested k near, of {len(words)} sets", words.count("near"), near)
        yield Figure(f"  above {FAR} times the truth", words.count("far"), far)


def losses_by_noise(found: Measured) -> Iterator[Figure]:
    """NMI lost by views of noise besides, with the seeds that both ran with."""
    for key in ("noise1", "noise3"):
        losses = []
        for name in found.names(key):
            noisy, clean = found.seeds(name, key), found.seeds(name, "default")
            losses += [np.mean(clean[: len(noisy)]) - np.mean(noisy)] if clean else []
        if losses:
            title = f"{METHODS[key].name}: NMI lost, {len(losses)} sets"
            yield Figure(title, float(np.mean(losses)), Target(at_most=0.01))


def costs(found: Measured) -> Iterator[Figure]:
    """CPU of the defaults over that of one fit of one graph a view."""
    late = {n: found.mean(n, "late", "cpu_seconds") for n in found.names("late")}
    ratios = [found.mean(n, "default", "cpu_seconds") / late[n] for n in late]
    if ratios:
        title = f"CPU of the defaults / of one graph a view, once, {len(late)} sets"
        yield Figure(title, float(np.nanmedian(ratios)), None, f"at most {np.nanmax(ratios):.1f}")


def changes(found: Measured, before: Measured) -> Iterator[Figure]:
    """What became better, worse and dearer since another commit."""
    names = [name for name in before.names("default") if name in found.names("default")]
    if not names:
        return
    gain = {n: found.mean(n, "default") - before.mean(n, "default") for n in names}
    cost, cost_before = (
        {n: each.mean(n, "default", "cpu_seconds") for n in names} for each in (found, before)
    )
    yield Figure(
        f"NMI gained since {before.commits['default']}, {len(names)} sets",
        np.mean([*gain.values()]),
    )
    worse = ", ".join(f"{n} {change:+.3f}" for n, change in gain.items() if change < -0.03)
    yield Figure("  least gain", min(gain.values()), Target(at_least=-0.03), worse)
    ratio = {n: cost[n] / cost_before[n] for n in names}
    dearer = ", ".join(f"{n} x{each:.1f}" for n, each in ratio.items() if each > 1)
    yield Figure("  greatest ratio of CPU", max(ratio.values()), Target(at_most=1.0), dearer)
    yield Figure("  ratio of CPU of all", sum(cost.values()) / sum(cost_before.values()))


def easy_draws(found: Measured) -> Iterator[Figure]:
    """Of the draws that some rival solves: how many the defaults solve, and which they do not."""
    ours = {n: found.mean(n, "default") for n in found.names("default") if found.best(n, "easy")[1]}
    easy = [n for n in ours if found.best(n, "easy")[0] >= EASY_FOR_RIVALS]
    if not easy:
        return
    partly = len(ours) < N_DRAWS
    wrong = sorted((n for n in easy if ours[n] < EASY_FOR_US), key=lambda n: ours[n])
    share = 1 - len(wrong) / len(easy)
    title = f"easy draws, {len(easy)} of {len(ours)}: share with {EASY_FOR_US} or more"
    yield Figure(title, share, Target(at_least=0.98, indicative=partly))
    below = sum(ours[n] < NEVER_BELOW for n in easy)
    yield Figure(f"  below {NEVER_BELOW}", below, Target(at_most=0, indicative=partly))
    made = {n: draw_easy(int(n.removeprefix("easy-"))) for n in easy}
    for shape in dict.fromkeys(draw.settings["shape"] for draw in made.values()):
        solved = [ours[n] >= EASY_FOR_US for n in easy if made[n].settings["shape"] == shape]
        yield Figure(f"  {shape}, {len(solved)}: the same share", float(np.mean(solved)))
    rivals = defaultdict(list)
    for line in found.select(["easy"], easy).lines:
        rivals[line["settings"]].append(line)
    for setting in METHODS["easy"].tries:
        solved = [line["scores"]["nmi"] >= EASY_FOR_US for line in rivals[setting]]
        yield Figure(f"  {setting}: the same share", float(np.mean(solved)))
    told = [n for n in easy if n in found.names("auto")]
    if told:
        right = [found.mean(n, "auto", "n_found") == found.facts(n)["n_clusters"] for n in told]
        share = float(np.mean(right))
        yield Figure(f"  suggested k right, of {len(told)}", share, Target(at_least=0.9))
    for name in wrong:
        yield Figure(f"  {name}", ours[name], None, str(made[name]))


def draw(lines: Lines, path: Path, *, commit: str | None = None) -> None:
    """Draw NMI of the defaults and of every rival's best scaling on every data set."""
    from matplotlib.figure import Figure

    found = Measured(lines, commit)
    names = sorted(found.names("default"), key=lambda name: found.mean(name, "default"))
    if not names:
        return
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


def _suggested(found: Measured, name: str) -> str:
    """The median number over seeds, and whether it is near, off, or far above the truth."""
    numbers = found.seeds(name, "auto", "n_found")
    if not numbers:
        return ""
    k, number = found.facts(name)["n_clusters"], float(np.median(numbers))
    near = abs(number - k) <= max(1.0, NEAR * k)
    return f"{number:g} of {k}, {'near' if near else 'far' if number > FAR * k else 'off'}"


def _nmi(value: float) -> str:
    return _number(value, ".3f")


def _number(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)
