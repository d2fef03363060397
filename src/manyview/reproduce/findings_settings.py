"""What is measured of the paper's claims about anchors, alpha, normalisation and scaling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from manyview.reproduce.evidence import (
    OURS,
    STANDARDISED,
    Measured,
    Measurements,
    Outcome,
    Results,
    compare,
    effort,
    figure,
    finding,
    on_rows_of,
    scores,
)
from manyview.reproduce.plan import RELEASED, UNLABELLED, VARIANTS
from manyview.reproduce.tables import Facts
from manyview.wording import count

_LARGE_ALPHA = 0.1
"""The middle of the paper's grid, and what is above it."""


@finding(
    "How many anchors are best",
    "“Handwritten achieves the best results when the fewest anchors are used, i.e., cluster number "
    "10.” “Too many anchors will make themselves less representative.”",
)
def anchors(results: Results) -> Measurements:
    """Which number of anchors is best."""
    for grid, by_m in _compared_grids(results, "alpha", "n_anchors"):
        best = {m: max(same, key=lambda p: p["accuracy"]) for m, same in by_m.items()}
        top = max(best, key=lambda m: best[m]["accuracy"])
        listed = ", ".join(f"m = {m}: {figure(_summary([point]))}" for m, point in best.items())
        text = f"best accuracy over alpha ({_values(by_m, 'alpha')}) {listed}; the best m is {top}."
        outcome = None
        if grid["name"] == "handwritten" and _stands_for_paper(grid, results):
            fewest = best.pop(min(best))
            rest = max(best.values(), key=lambda point: point["accuracy"])
            outcome = _outcome(grid, _summary([fewest]), _summary([rest]))
        yield Measured(f"{_name(grid)}: {text}", _lines(by_m), outcome)


@finding(
    "Small alpha",
    "“Alpha tends to have a small value since the performance is degraded when alpha increases.”",
)
def alphas(results: Results) -> Measurements:
    """Which alpha is best."""
    for grid, by_alpha in _compared_grids(results, "n_anchors", "alpha"):
        means = {a: _summary(same) for a, same in by_alpha.items()}
        top = max(means, key=lambda a: means[a]["mean"])
        listed = ", ".join(f"{a:g}: {value['mean']:.3f}" for a, value in means.items())
        text = (
            f"mean accuracy over m ({_values(by_alpha, 'n_anchors')}) by alpha {listed}; the best is "
            f"{top:g}."
        )
        small = [means[a] for a in means if a < _LARGE_ALPHA]
        large = [means[a] for a in means if a >= _LARGE_ALPHA]
        outcome = None
        if small and large and _stands_for_paper(grid, results):
            best = [max(part, key=lambda s: float(s["mean"])) for part in (small, large)]
            outcome = _outcome(grid, *best)
        yield Measured(f"{_name(grid)}: {text}", _lines(by_alpha), outcome)


def _outcome(grid: Facts, one: Facts, other: Facts) -> Outcome:
    return Outcome(compare(one, other), grid["n_rows"] == grid["n_all_rows"])


def _stands_for_paper(grid: Facts, results: Results) -> bool:
    """Whether a grid is that of the better of the two published variants."""

    def top(one: Facts) -> float:
        return max(float(p["accuracy"]) for p in one["points"] if p["n"] == one["n_seeds"])

    others = [one for one in results.facts["figures"]["sensitivity"] if one["name"] == grid["name"]]
    return not grid["is_ours"] and grid is max((g for g in others if not g["is_ours"]), key=top)


def _compared_grids(
    results: Results, over: str, compared: str
) -> Iterator[tuple[Facts, dict[float, list[Facts]]]]:
    """Grids with two values of ``compared`` or more, and their comparable points by that value.

    Those are finished with all seeds, at the values of ``over`` that all of them have.
    """
    for grid in results.facts["figures"].get("sensitivity") or []:
        whole = [point for point in grid["points"] if point["n"] == grid["n_seeds"]]
        wanted = {point[compared] for point in whole}
        common = [
            value
            for value in {point[over] for point in whole}
            if {point[compared] for point in whole if point[over] == value} == wanted
        ]
        points = [point for point in whole if point[over] in common]
        values = sorted({point[compared] for point in points})
        if len(values) > 1:
            yield grid, {v: [point for point in points if point[compared] == v] for v in values}


def _summary(points: Sequence[Facts]) -> Facts:
    spreads = [point["accuracy_sd"] for point in points if point["accuracy_sd"] is not None]
    mean = fmean(point["accuracy"] for point in points)
    return {"mean": mean, "sd": fmean(spreads) if spreads else None}


def _name(grid: Facts) -> str:
    rows = f"{grid['n_rows']} of {grid['n_all_rows']} rows"
    return f"{grid['data']}, {grid['title']} ({rows}, {count(grid['n_seeds'], 'seed')})"


def _values(groups: dict[float, list[Facts]], name: str) -> str:
    values = sorted({point[name] for points in groups.values() for point in points})
    return ", ".join(f"{value:g}" for value in values)


def _lines(groups: dict[float, list[Facts]]) -> list[str]:
    return [line for points in groups.values() for point in points for line in point["lines"]]


@finding(
    "The missing normalisation",
    "The text scales anchor columns by the inverse square root of their sums; the authors' released "
    "script does not.",
)
def normalisation(results: Results) -> Measurements:
    """What the missing normalisation changes."""
    for table in results.tables:
        rows = [row for label in VARIANTS if (row := results.row(table, label))]
        if len(rows) == 2:
            with_it, without = (
                f"{scores(row, 'accuracy', 'nmi')} {effort(row, table)}" for row in rows
            )
            yield Measured(
                f"{table['title']}: with it (paper variant) accuracy {with_it}; without (released "
                f"variant) {without}.",
                rows[0]["lines"] + rows[1]["lines"],
            )


@finding(
    "What scaling features does",
    "Features are used as they are, so alpha means something else in every view.",
)
def scaling(results: Results) -> Measurements:
    """What standardised columns change."""
    for table in results.tables:
        raw, scaled = results.row(table, RELEASED), results.row(table, STANDARDISED)
        ours = results.row(table, OURS, UNLABELLED)
        if raw is None or scaled is None:
            continue
        raw = on_rows_of(raw, scaled)
        text = (
            f"{table['title']}: released variant on raw features {scores(raw)} accuracy "
            f"{effort(raw, table)}, on standardised columns {scores(scaled)} {effort(scaled, table)}"
        )
        lines: list[str] = []
        if ours is not None:
            text += f"; our defaults, which see no labels, {scores(ours)} {effort(ours, table)}"
            lines = ours["lines"]
        yield Measured(f"{text}.", lines + raw["lines"] + scaled["lines"])
