"""The figures: the cells they need, and from result lines plain facts, times with fitted slopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, product
from statistics import fmean
from typing import NamedTuple

import numpy as np

from manyview.datasets import PAPER_NOISE_LEVELS
from manyview.reproduce import methods, paper
from manyview.reproduce.cells import Cell, Line, Store
from manyview.reproduce.plan import OURS, TIMED_SETTINGS, VARIANTS, Options, plan_table
from manyview.reproduce.problems import PROBLEMS, Data, Problem
from manyview.reproduce.tables import Facts, summarise

TIMED_CURVE = "LMVSC, released, m = 50"
"""The curve that the paper's claim of linear time is judged by."""

SENSITIVE_SCORES = {"accuracy": "Accuracy", "nmi": "NMI", "inverse_purity": "Inverse purity"}

_PICTURED = ("handwritten", "caltech7", "mnist-gaussian")
_NOISY = ("mnist-gaussian", "mnist-speckle", "mnist-salt-and-pepper")
_SENSITIVE = ("handwritten", "mnist-gaussian")
_TIMED, _TIMED_MADE = "mnist-gaussian", "nus"

_MORE_ANCHORS = (200, 300)
_POINTS = {"quick": 250, "full": 800, "unlimited": 1500}
_PICTURE_ROWS = {"quick": 500, "full": 3000, "unlimited": None}
_SMALLEST = {"quick": 125, "full": 1000, "unlimited": 1000}
_N_SIZES = {"quick": 4, "full": 7, "unlimited": 7}
_BASELINE_SECONDS = {"quick": 8.0, "full": 90.0, "unlimited": None}
_OWN_SECONDS = {"quick": 8.0, "full": 300.0, "unlimited": None}
_SECONDS = {"quick": 40.0, "full": 900.0, "unlimited": None}  # of a job of any other figure

_BASE = {"m": 50, "d": 40, "v": 3, "k": 10}
_TERMS = {
    "m": (10, 25, 50, 100, 200),
    "d": (10, 20, 40, 80, 160),
    "v": (1, 2, 4, 8),
    "k": (5, 10, 20, 40),
}
_TERM_ROWS = {"quick": 1000, "full": 8000, "unlimited": 20_000}


class Part(NamedTuple):
    """A panel, a grid or a curve of a figure; all parts of one job share its seconds."""

    job: str
    title: str
    cells: Sequence[Cell]
    seconds: float | None

    @property
    def problem(self) -> Problem:
        """The data set it shows."""
        return PROBLEMS[self.cells[0].data.problem]


def plan_panels(options: Options) -> list[Part]:
    """Panels of the t-SNE figure: each raw view, the published embedding, and ours."""
    panels = []
    for problem in _present(_PICTURED):
        data = Data(problem.name, None if problem.is_small else _PICTURE_ROWS[options.form])
        m = data.n_clusters if problem.is_small else 50
        shown: list[tuple[str, methods.Settings, int | None]]
        shown = [(f"raw: {name}", {"of": "raw"}, v) for v, name in enumerate(_view_titles(problem))]
        released = {"of": "released", "n_anchors": m, "alpha": 0.01}
        shown.append((f"LMVSC released, m = {m}, alpha = 0.01", released, None))
        shown.append((OURS, {"of": "default"}, None))
        for title, settings, view in shown:
            cell = Cell(data, "t-SNE", {**settings, "points": _POINTS[options.form]}, 0, view)
            panels.append(Part("t-SNE", title, [cell], _SECONDS[options.form]))
    return panels


def _view_titles(problem: Problem) -> Sequence[str]:
    """Names of a data set's views as the paper has them."""
    if problem.noise is not None:
        return [f"{problem.noise} {level:g}" for level in PAPER_NOISE_LEVELS[problem.noise]]
    return paper.VIEWS[problem.name]


def describe_panels(options: Options, store: Store) -> list[Facts]:
    """The t-SNE figure: one group of panels a data set."""
    groups: dict[str, list[Facts]] = {}
    for panel in plan_panels(options):
        for line in store.done(panel.cells):
            facts = {key: line[key] for key in ("points", "classes")}
            facts |= {
                "title": panel.title,
                "neighbours": _same_class(**facts),
                "lines": [line["id"]],
            }
            groups.setdefault(panel.problem.title, []).append(facts)
    return [{"title": title, "panels": panels} for title, panels in groups.items()]


def _same_class(points: list[list[int]], classes: list[int]) -> float:
    """Share of places whose nearest neighbour in the picture is of the same class."""
    from scipy.spatial import cKDTree

    tree = cKDTree(np.asarray(points, dtype=float) + 1e-6 * np.arange(len(points))[:, None])
    nearest = tree.query(tree.data, k=2)[1][:, 1]
    labels = np.asarray(classes)
    return float((labels[nearest] == labels).mean())


def plan_digits(options: Options) -> list[Part]:
    """Pictures of the noisy digits."""
    return [
        Part("noisy digits", p.title, [Cell(Data(p.name, 1000), "digits")], _SECONDS[options.form])
        for p in _present(_NOISY)
    ]


def describe_digits(options: Options, store: Store) -> list[Facts]:
    """The pictures of noisy digits."""
    return [
        {
            "title": picture.title,
            "noise": picture.problem.noise,
            **{key: line[key] for key in ("png", "levels", "mean_change")},
            "lines": [line["id"]],
        }
        for picture in plan_digits(options)
        for line in store.done(picture.cells)
    ]


def plan_sensitivity(options: Options) -> list[Part]:
    """Grids of numbers of anchors and alphas on the same rows: both published variants, and ours."""
    found = []
    for problem in _present(_SENSITIVE):
        job, seconds = f"sensitivity, {problem.title}", _SECONDS[options.form]
        published = [row for row in plan_table(problem, options).rows if row.label in VARIANTS]
        found += [
            Part(f"{job}, published", f"{row.label}, raw features", row.tuning_cells, seconds)
            for row in published
        ]
        grid = published[0].tuning_cells
        numbers = {cell.settings["n_anchors"] for cell in grid} | set(_MORE_ANCHORS)
        alphas = {cell.settings["alpha"] for cell in grid}
        seeds = sorted({cell.seed for cell in grid})[: 1 if options.form == "quick" else 3]
        ours = [
            Cell(grid[0].data, methods.DEFAULT, {"n_anchors": m, "alpha": a, "n_repeats": 1}, seed)
            for m, a, seed in product(sorted(numbers), sorted(alphas), seeds)
        ]
        title = "LMVSC, ours: normalised, scaled, one anchor seed"
        found.append(Part(f"{job}, ours", title, ours, seconds))
    return found


def describe_sensitivity(options: Options, store: Store) -> list[Facts]:
    """Each grid: scores by number of anchors and alpha, for the published method and ours."""
    found = []
    for grid in plan_sensitivity(options):
        settings = groupby(grid.cells, key=lambda cell: cell.settings)
        points = [_grid_point(lines) for _, cells in settings if (lines := store.done(cells))]
        if points:
            found.append(
                {
                    "data": grid.problem.title,
                    "name": grid.problem.name,
                    "title": grid.title,
                    "is_ours": grid.cells[0].method == methods.DEFAULT,
                    "n_rows": grid.cells[0].data.n_rows,
                    "n_all_rows": grid.problem.info.n_samples,
                    "n_seeds": max(point["n"] for point in points),
                    "anchors": sorted({point["n_anchors"] for point in points}),
                    "alphas": sorted({point["alpha"] for point in points}),
                    "points": points,
                }
            )
    return found


def _grid_point(lines: Sequence[Line]) -> Facts:
    accuracy = summarise([line["scores"]["accuracy"] for line in lines])
    return {
        **{name: lines[0]["settings"][name] for name in ("n_anchors", "alpha")},
        **{name: fmean(line["scores"][name] for line in lines) for name in SENSITIVE_SCORES},
        "accuracy_sd": accuracy and accuracy["sd"],
        "n": len(lines),
        "lines": [line["id"] for line in lines],
    }


def plan_growth(options: Options) -> list[Part]:
    """Time against the number of rows, for us and the baselines, on the same rows."""
    is_real = PROBLEMS[_TIMED].is_present()
    name = _TIMED if is_real else _TIMED_MADE
    sizes = [_SMALLEST[options.form] * 2**power for power in range(_N_SIZES[options.form])]
    rows = [Data(name, n, made=not is_real) for n in sizes if n <= PROBLEMS[name].info.n_samples]
    shown: list[tuple[str, str, methods.Settings, int | None]] = [
        (TIMED_CURVE, methods.PUBLISHED, TIMED_SETTINGS, None),
        (OURS, methods.DEFAULT, {}, None),
        (methods.title(methods.KMEANS), methods.KMEANS, {}, None),
    ]
    for method in methods.BASELINES:
        view = 0 if method in methods.SINGLE_VIEW else None
        shown.append((methods.title(method, view), method, {}, view))
    curves = []
    for title, method, settings, view in shown:
        is_own = method in (methods.PUBLISHED, methods.DEFAULT)
        seconds = (_OWN_SECONDS if is_own else _BASELINE_SECONDS)[options.form]
        cells = [Cell(data, method, settings, 0, view) for data in rows]
        curves.append(Part(f"time against rows: {title}", title, cells, seconds))
    return curves


def describe_growth(options: Options, store: Store) -> Facts:
    """Time against rows: for each method its points, and the slope of their logarithms."""
    plans = plan_growth(options)
    is_made, name = plans[0].cells[0].data.made, plans[0].problem.title  # the same for all
    curves = []
    for curve in plans:
        lines, given = store.done(curve.cells), store.lines(curve.cells)
        stopped = [line for line in given if line["status"] != "done"]
        sizes = [line["n_rows"] for line in lines]
        curves.append(
            {
                "title": curve.title,
                **_fitted(sizes, [line["seconds"] for line in lines], lines),
                "slope_without_anchors": _slope_without_anchors(lines),
                "stopped": stopped[0].get("reason", stopped[0]["status"]) if stopped else None,
                "lines": [line["id"] for line in given],
            }
        )
    return {
        "data": f"made data like {name}" if is_made else name,
        "is_made": is_made,
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


def plan_terms(options: Options) -> list[Part]:
    """For each of m, d, v and k: the fits of made data that differ in it alone."""

    def cell(**varied: int) -> Cell:
        m, d, v, k = (_BASE | varied).values()
        data = Data("shape", shape=(_TERM_ROWS[options.form], d, v, k), made=True)
        return Cell(data, methods.PUBLISHED, {**TIMED_SETTINGS, "n_anchors": m})

    return [
        Part(
            f"time against {name}",
            name,
            [cell(**{name: v}) for v in values],
            _SECONDS[options.form],
        )
        for name, values in _TERMS.items()
    ]


def describe_terms(options: Options, store: Store) -> list[Facts]:
    """Time against m, d, v and k: seconds of each stage, slopes, and the paper's powers."""
    found = []
    for part in plan_terms(options):
        varied, lines = part.title, store.done(part.cells)
        tried = zip(_TERMS[varied], part.cells, strict=True)
        values = [value for value, cell in tried if store.done([cell])]
        stages = [
            {
                "stage": term.stage,
                "text": term.text,
                "power": term.powers[varied],
                **_fitted(values, [_seconds_of(term.stage, line) for line in lines], lines),
            }
            for term in paper.COST_TERMS
        ]
        found += [{"varied": varied, "stages": stages}] if lines else []
    return found


def _seconds_of(stage: str, line: Line) -> float:
    """Our stages under the names of the paper's terms."""
    parts = {"graph": ("products", "graph"), "embedding": ("spectrum", "embedding")}
    return sum(float(line["stage_seconds"][part]) for part in parts.get(stage, (stage,)))


def fit_slope(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The power p of the best fit of y by c x^p, by least squares on logarithms; None of one point."""
    if len(x) < 2:
        return None
    from scipy.stats import linregress

    return float(linregress(np.log(x), np.log(np.maximum(y, 1e-9))).slope)


def _present(names: tuple[str, ...]) -> list[Problem]:
    return [PROBLEMS[name] for name in names if PROBLEMS[name].is_present()]


FIGURES: dict[
    str, tuple[Callable[[Options], list[Part]], Callable[[Options, Store], list[Facts] | Facts]]
] = {
    "tsne": (plan_panels, describe_panels),
    "digits": (plan_digits, describe_digits),
    "sensitivity": (plan_sensitivity, describe_sensitivity),
    "time-rows": (plan_growth, describe_growth),
    "time-terms": (plan_terms, describe_terms),
}
"""What a figure needs, and what it shows, by its name."""
