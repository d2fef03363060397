"""Result lines -> the figures as plain facts: places, grids, and times with their fitted slopes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

import numpy as np

from manyview.reproduce import figure_plan, paper
from manyview.reproduce.cells import Cell, Line, Store
from manyview.reproduce.plan import Options
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.tables import Facts

SENSITIVE_SCORES = {"accuracy": "Accuracy", "nmi": "NMI", "inverse_purity": "Inverse purity"}


def describe_panels(options: Options, store: Store) -> list[Facts]:
    """The t-SNE figure: one group of panels a data set."""
    groups: dict[str, Facts] = {}
    for panel in figure_plan.plan_panels(options):
        for line in store.done([panel.cell]):
            title = panel.problem.title
            group = groups.setdefault(
                title, {"title": title, "n_rows": line["n_rows"], "panels": []}
            )
            group["panels"].append(
                {
                    "title": panel.title,
                    "points": line["points"],
                    "classes": line["classes"],
                    "neighbours": _same_class(line["points"], line["classes"]),
                    "lines": [line["id"]],
                }
            )
    return list(groups.values())


def _same_class(points: list[list[int]], classes: list[int]) -> float:
    """Share of places whose nearest neighbour in the picture is of the same class."""
    from scipy.spatial import cKDTree

    tree = cKDTree(np.asarray(points, dtype=float) + 1e-6 * np.arange(len(points))[:, None])
    nearest = tree.query(tree.data, k=2)[1][:, 1]
    labels = np.asarray(classes)
    return float((labels[nearest] == labels).mean())


def describe_digits(store: Store) -> list[Facts]:
    """The pictures of noisy digits."""
    return [
        {
            "title": problem.title,
            "noise": problem.noise,
            **{key: line[key] for key in ("png", "levels", "mean_change")},
            "lines": [line["id"]],
        }
        for problem, cell in figure_plan.plan_digits()
        for line in store.done([cell])
    ]


def describe_sensitivity(options: Options, store: Store) -> list[Facts]:
    """Each grid: scores by number of anchors and alpha, for the published method and ours."""
    found = []
    for plan in figure_plan.plan_sensitivity(options):
        grids = {f"{row.label}, raw features": row.candidates for row in plan.published}
        grids["LMVSC, ours: normalised, scaled, one anchor seed"] = plan.ours
        for title, candidates in grids.items():
            points = [point for cells in candidates if (point := _grid_point(cells, store))]
            if points:
                found.append(
                    {
                        "data": plan.problem.title,
                        "name": plan.problem.name,
                        "title": title,
                        "is_ours": candidates is plan.ours,
                        "n_rows": candidates[0][0].data.n_rows,
                        "n_all_rows": plan.problem.info.n_samples,
                        "n_seeds": max(point["n"] for point in points),
                        "anchors": sorted({point["n_anchors"] for point in points}),
                        "alphas": sorted({point["alpha"] for point in points}),
                        "points": points,
                    }
                )
    return found


def _grid_point(cells: tuple[Cell, ...], store: Store) -> Facts | None:
    lines = store.done(cells)
    if not lines:
        return None
    accuracies = [line["scores"]["accuracy"] for line in lines]
    return {
        **{name: cells[0].settings[name] for name in ("n_anchors", "alpha")},
        **{name: fmean(line["scores"][name] for line in lines) for name in SENSITIVE_SCORES},
        "accuracy_sd": stdev(accuracies) if len(accuracies) > 1 else None,
        "n": len(lines),
        "lines": [line["id"] for line in lines],
    }


def describe_growth(options: Options, store: Store) -> Facts:
    """Time against rows: for each method its points, and the slope of their logarithms."""
    plans = figure_plan.plan_growth(options)
    data = plans[0].cells[0].data  # the same for all
    name = PROBLEMS[data.problem].title
    curves = []
    for curve in plans:
        lines, given = store.done(curve.cells), store.lines(curve.cells)
        sizes, seconds = ([line[name] for line in lines] for name in ("n_rows", "seconds"))
        stopped = [line for line in given if line["status"] != "done"]
        curves.append(
            {
                "title": curve.title,
                **_fitted(sizes, seconds, lines),
                "slope_without_anchors": _slope_without_anchors(lines),
                "stopped": stopped[0].get("reason", stopped[0]["status"]) if stopped else None,
                "lines": [line["id"] for line in given],
            }
        )
    return {
        "data": f"made data like {name}" if data.made else name,
        "is_made": data.made,
        "curves": [c for c in curves if c["points"] or c["stopped"]],
    }


def _fitted(x: Sequence[float], y: Sequence[float], lines: Sequence[Line]) -> Facts:
    points = [{"x": a, "y": b, "lines": [c["id"]]} for a, b, c in zip(x, y, lines, strict=True)]
    return {"points": points, "slope": fit_slope(x, y)}


def _slope_without_anchors(lines: Sequence[Line]) -> float | None:
    """The slope of what the authors' timer measures: all but the anchors' k-means."""
    stages = [line["stage_seconds"] for line in lines if "anchors" in line.get("stage_seconds", {})]
    rest = [sum(seconds.values()) - seconds["anchors"] for seconds in stages]
    return fit_slope([line["n_rows"] for line in lines], rest) if len(rest) == len(lines) else None


def describe_terms(options: Options, store: Store) -> list[Facts]:
    """Time against m, d, v and k: seconds of each stage, slopes, and the paper's powers."""
    found = []
    for varied, cells in figure_plan.plan_terms(options).items():
        values = [value for value, cell in cells if store.done([cell])]
        lines = store.done(cell for _, cell in cells)
        stages = [
            {
                "stage": term.stage,
                "text": term.text,
                "power": term.powers[varied],
                **_fitted(values, [_seconds_of(term.stage, line) for line in lines], lines),
            }
            for term in paper.COST_TERMS
        ]
        if lines:
            found.append({"varied": varied, "n_rows": lines[0]["n_rows"], "stages": stages})
    return found


def _seconds_of(stage: str, line: Line) -> float:
    """Our stages under the names of the paper's terms."""
    parts = {"graph": ("products", "graph"), "embedding": ("spectrum", "embedding")}
    return sum(float(line["stage_seconds"][part]) for part in parts.get(stage, (stage,)))


def fit_slope(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The power p of the best fit of y by c x^p, by least squares on logarithms.

    Examples
    --------
    >>> round(fit_slope([1, 2, 4], [3, 12, 48]), 6)
    2.0
    >>> fit_slope([1], [2]) is None
    True
    """
    if len(x) < 2:
        return None
    from scipy.stats import linregress

    return float(linregress(np.log(x), np.log(np.maximum(y, 1e-9))).slope)
