"""What is measured of the paper's claims about anchors, alpha, normalisation and scaling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from manyview.reproduce.evidence import (
    OURS,
    STANDARDISED,
    Outcome,
    Results,
    compare,
    effort,
    figure,
    judge,
    make,
    on_rows_of,
)
from manyview.reproduce.plan import RELEASED, UNLABELLED, VARIANTS
from manyview.reproduce.tables import Facts
from manyview.wording import count

_LARGE_ALPHA = 0.1
"""The middle of the paper's grid, and what is above it."""


def anchors(results: Results) -> Facts:
    """Which number of anchors is best."""
    found = make(
        "How many anchors are best",
        "“Handwritten achieves the best results when the fewest anchors are used, i.e., cluster "
        "number 10.” “Too many anchors will make themselves less representative.”",
    )
    outcomes = []
    for grid, by_m in _compared_grids(results, "alpha", "n_anchors"):
        points = [point for same in by_m.values() for point in same]
        best = {m: max(same, key=lambda p: p["accuracy"]) for m, same in by_m.items()}
        top = max(best, key=lambda m: best[m]["accuracy"])
        listed = ", ".join(f"m = {m}: {figure(_summary([point]))}" for m, point in best.items())
        found["measured"].append(
            f"{_name(grid)}: best accuracy over alpha ({_values(points, 'alpha')}) {listed}; the best "
            f"m is {top}."
        )
        found["lines"] += _lines(points)
        if grid["name"] == "handwritten" and _stands_for_paper(grid, results):
            fewest = best.pop(min(best))
            rest = max(best.values(), key=lambda point: point["accuracy"])
            share = compare(_summary([fewest]), _summary([rest]))
            outcomes.append(Outcome(share, grid["n_rows"] == grid["n_all_rows"]))
    judge(found, outcomes, results)
    return found


def alphas(results: Results) -> Facts:
    """Which alpha is best."""
    found = make(
        "Small alpha",
        "“Alpha tends to have a small value since the performance is degraded when alpha increases.”",
    )
    outcomes = []
    for grid, by_alpha in _compared_grids(results, "n_anchors", "alpha"):
        points = [point for same in by_alpha.values() for point in same]
        means = {a: _summary(same) for a, same in by_alpha.items()}
        top = max(means, key=lambda a: means[a]["mean"])
        listed = ", ".join(f"{a:g}: {value['mean']:.3f}" for a, value in means.items())
        found["measured"].append(
            f"{_name(grid)}: mean accuracy over m ({_values(points, 'n_anchors')}) by alpha {listed}; "
            f"the best is {top:g}."
        )
        found["lines"] += _lines(points)
        small = [means[a] for a in means if a < _LARGE_ALPHA]
        large = [means[a] for a in means if a >= _LARGE_ALPHA]
        if small and large and _stands_for_paper(grid, results):
            share = compare(*(max(part, key=lambda s: s["mean"]) for part in (small, large)))
            outcomes.append(Outcome(share, grid["n_rows"] == grid["n_all_rows"]))
    judge(found, outcomes, results)
    return found


def _stands_for_paper(grid: Facts, results: Results) -> bool:
    """Whether a grid is that of the better of the two published variants."""
    same = [
        other
        for other in results.facts["figures"]["sensitivity"]
        if other["name"] == grid["name"] and not other["is_ours"]
    ]
    return not grid["is_ours"] and grid is max(same, key=_top)


def _top(grid: Facts) -> float:
    return max(float(p["accuracy"]) for p in grid["points"] if p["n"] == grid["n_seeds"])


def _compared_grids(
    results: Results, over: str, compared: str
) -> Iterator[tuple[Facts, dict[float, list[Facts]]]]:
    """Grids with two values of ``compared`` or more, and their comparable points by that value."""
    for grid in results.facts["figures"].get("sensitivity") or []:
        points = _comparable(grid, over, compared)
        values = sorted({point[compared] for point in points})
        if len(values) > 1:
            yield grid, {v: [point for point in points if point[compared] == v] for v in values}


def _comparable(grid: Facts, over: str, compared: str) -> list[Facts]:
    """Points of a grid finished with all seeds, at those values of ``over`` that all of them have."""
    whole = [point for point in grid["points"] if point["n"] == grid["n_seeds"]]
    wanted = {point[compared] for point in whole}
    common = [
        value
        for value in {point[over] for point in whole}
        if {point[compared] for point in whole if point[over] == value} == wanted
    ]
    return [point for point in whole if point[over] in common]


def _summary(points: Sequence[Facts]) -> Facts:
    spreads = [point["accuracy_sd"] for point in points if point["accuracy_sd"] is not None]
    return {
        "mean": fmean(point["accuracy"] for point in points),
        "sd": fmean(spreads) if spreads else None,
    }


def _name(grid: Facts) -> str:
    rows = f"{grid['n_rows']} of {grid['n_all_rows']} rows"
    return f"{grid['data']}, {grid['title']} ({rows}, {count(grid['n_seeds'], 'seed')})"


def _values(points: Sequence[Facts], name: str) -> str:
    return ", ".join(f"{value:g}" for value in sorted({point[name] for point in points}))


def _lines(points: Sequence[Facts]) -> list[str]:
    return [line for point in points for line in point["lines"]]


def normalisation(results: Results) -> Facts:
    """What the missing normalisation changes."""
    found = make(
        "The missing normalisation",
        "The text scales anchor columns by the inverse square root of their sums; the authors' released "
        "script does not.",
    )
    for table in results.tables:
        rows = [results.row(table, label) for label in VARIANTS]
        if all(rows):
            with_it, without = (row for row in rows if row is not None)
            found["measured"].append(
                f"{table['title']}: with it (paper variant) accuracy "
                f"{figure(with_it['scores']['accuracy'])}, NMI {figure(with_it['scores']['nmi'])} "
                f"{effort(with_it, table)}; without (released variant) "
                f"{figure(without['scores']['accuracy'])}, NMI {figure(without['scores']['nmi'])} "
                f"{effort(without, table)}."
            )
            found["lines"] += with_it["lines"] + without["lines"]
    return found


def scaling(results: Results) -> Facts:
    """What standardised columns change."""
    found = make(
        "What scaling features does",
        "Features are used as they are, so alpha means something else in every view.",
    )
    for table in results.tables:
        raw, scaled = results.row(table, RELEASED), results.row(table, STANDARDISED)
        ours = results.row(table, OURS, UNLABELLED)
        if raw is None or scaled is None:
            continue
        raw = on_rows_of(raw, scaled)
        text = (
            f"{table['title']}: released variant on raw features {figure(raw['scores']['accuracy'])} "
            f"accuracy {effort(raw, table)}, on standardised columns "
            f"{figure(scaled['scores']['accuracy'])} {effort(scaled, table)}"
        )
        if ours is not None:
            text += (
                f"; our defaults, which see no labels, {figure(ours['scores']['accuracy'])} "
                f"{effort(ours, table)}"
            )
            found["lines"] += ours["lines"]
        found["measured"].append(text + ".")
        found["lines"] += raw["lines"] + scaled["lines"]
    return found
