"""Result lines -> the figures as plain facts: places, grids, and times with their fitted slopes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from manyview.reproduce import figure_plan, paper
from manyview.reproduce.cells import Cell, Line, Store
from manyview.reproduce.plan import Options
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.tables import Facts

SENSITIVE_SCORES = {"accuracy": "Accuracy", "nmi": "NMI", "inverse_purity": "Inverse purity"}


def describe_panels(options: Options, store: Store) -> list[Facts]:
    """Give the t-SNE figure: one group of panels a data set."""
    groups: dict[str, Facts] = {}
    for panel in figure_plan.plan_panels(options):
        line = store.get(panel.cell)
        if line is None or line["status"] != "done":
            continue
        title = panel.problem.title
        group = groups.setdefault(title, {"title": title, "n_rows": line["n_rows"], "panels": []})
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
    import numpy as np
    from scipy.spatial import cKDTree

    tree = cKDTree(np.asarray(points, dtype=float) + 1e-6 * np.arange(len(points))[:, None])
    nearest = tree.query(tree.data, k=2)[1][:, 1]
    labels = np.asarray(classes)
    return float((labels[nearest] == labels).mean())


def describe_digits(store: Store) -> list[Facts]:
    """Give the pictures of noisy digits."""
    found = []
    for problem, cell in figure_plan.plan_digits():
        line = store.get(cell)
        if line is not None and line["status"] == "done":
            keys = ("png", "levels", "mean_change")
            found.append(
                {"title": problem.title, "noise": problem.noise, **{key: line[key] for key in keys},
                 "lines": [line["id"]]}
            )  # fmt: skip
    return found


def describe_sensitivity(options: Options, store: Store) -> list[Facts]:
    """Give each grid: scores by number of anchors and alpha, for the published method and ours."""
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
        "n_anchors": cells[0].settings["n_anchors"],
        "alpha": cells[0].settings["alpha"],
        **{name: fmean(line["scores"][name] for line in lines) for name in SENSITIVE_SCORES},
        "accuracy_sd": stdev(accuracies) if len(accuracies) > 1 else None,
        "n": len(lines),
        "lines": [line["id"] for line in lines],
    }


def describe_growth(options: Options, store: Store) -> Facts:
    """Give time against rows: for each method its points, and the slope of their logarithms."""
    plans = figure_plan.plan_growth(options)
    data = plans[0].cells[0].data  # the same for all
    name = PROBLEMS[data.problem].title
    curves = []
    for curve in plans:
        lines = store.done(curve.cells)
        points = [(line["n_rows"], line["seconds"]) for line in lines]
        stopped = [line for line in store.lines(curve.cells) if line["status"] != "done"]
        curves.append(
            {
                "title": curve.title,
                "points": [
                    {"x": x, "y": y, "lines": [line["id"]]}
                    for (x, y), line in zip(points, lines, strict=True)
                ],
                "slope": fit_slope([x for x, _ in points], [y for _, y in points]),
                "slope_without_anchors": _slope_without_anchors(lines),
                "stopped": stopped[0].get("reason", stopped[0]["status"]) if stopped else None,
                "lines": [line["id"] for line in store.lines(curve.cells)],
            }
        )
    return {
        "data": f"made data like {name}" if data.made else name,
        "is_made": data.made,
        "curves": [c for c in curves if c["points"] or c["stopped"]],
    }


def _slope_without_anchors(lines: Sequence[Line]) -> float | None:
    """The slope of what the authors' timer measures: all but the anchors' k-means."""
    stages = [line["stage_seconds"] for line in lines if "anchors" in line.get("stage_seconds", {})]
    rest = [sum(seconds.values()) - seconds["anchors"] for seconds in stages]
    return fit_slope([line["n_rows"] for line in lines], rest) if len(rest) == len(lines) else None


def describe_terms(options: Options, store: Store) -> list[Facts]:
    """Give time against m, d, v and k: seconds of each stage, slopes, and the paper's powers."""
    found = []
    for varied, cells in figure_plan.plan_terms(options).items():
        lines = [(value, line) for value, cell in cells if (line := _done(cell, store))]
        stages = []
        for term in paper.COST_TERMS:
            times = [_stage_seconds(term.stage, line["stage_seconds"]) for _, line in lines]
            if lines:
                values = [value for value, _ in lines]
                stages.append(
                    {
                        "stage": term.stage,
                        "text": term.text,
                        "power": term.powers[varied],
                        "slope": fit_slope(values, times),
                        "points": [
                            {"x": x, "y": y, "lines": [line["id"]]}
                            for (x, line), y in zip(lines, times, strict=True)
                        ],
                    }
                )
        if stages:
            found.append({"varied": varied, "n_rows": lines[0][1]["n_rows"], "stages": stages})
    return found


def _done(cell: Cell, store: Store) -> Any:
    line = store.get(cell)
    return line if line is not None and line["status"] == "done" else None


def _stage_seconds(stage: str, seconds: dict[str, float]) -> float:
    """Our stages under the names of the paper's terms."""
    parts = {"graph": ("products", "graph"), "embedding": ("spectrum", "embedding")}
    return sum(seconds[part] for part in parts.get(stage, (stage,)))


def fit_slope(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Give the power p of the best fit of y by c x^p, by least squares on logarithms.

    Examples
    --------
    >>> round(fit_slope([1, 2, 4], [3, 12, 48]), 6)
    2.0
    >>> fit_slope([1], [2]) is None
    True
    """
    if len(x) < 2:
        return None
    logs = [(math.log(a), math.log(max(b, 1e-9))) for a, b in zip(x, y, strict=True)]
    mean_x, mean_y = fmean(a for a, _ in logs), fmean(b for _, b in logs)
    spread = sum((a - mean_x) ** 2 for a, _ in logs)
    return sum((a - mean_x) * (b - mean_y) for a, b in logs) / spread
