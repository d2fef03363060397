"""What the figures need: cells of pictures, of sensitivity, and of time against size."""

from __future__ import annotations

from typing import NamedTuple

from manyview.datasets import PAPER_NOISE_LEVELS
from manyview.reproduce import methods, paper
from manyview.reproduce.cells import Cell
from manyview.reproduce.plan import TIMED_SETTINGS, VARIANTS, Options, Row, plan_table
from manyview.reproduce.problems import PROBLEMS, Data, Problem

PICTURED = ("handwritten", "caltech7", "mnist-gaussian")
NOISY = ("mnist-gaussian", "mnist-speckle", "mnist-salt-and-pepper")
SENSITIVE = ("handwritten", "mnist-gaussian")
TIMED = "mnist-gaussian"
TIMED_MADE = "nus"
TIMED_CURVE = "LMVSC, released, m = 50"
"""The curve that the paper's claim of linear time is judged by."""

_MORE_ANCHORS = (200, 300)
_POINTS = {"quick": 250, "full": 800, "unlimited": 1500}
_PICTURE_ROWS = {"quick": 500, "full": 3000, "unlimited": None}
_SIZES = {
    "quick": (125, 250, 500, 1000),
    "full": tuple(1000 * 2**power for power in range(7)),
    "unlimited": tuple(1000 * 2**power for power in range(7)),
}
_BASELINE_SECONDS = {"quick": 8.0, "full": 90.0, "unlimited": None}
_OWN_SECONDS = {"quick": 8.0, "full": 300.0, "unlimited": None}
SECONDS = {"quick": 40.0, "full": 900.0, "unlimited": None}
"""Most seconds of a figure's part, but for the curves of time against rows."""

_BASE = {"m": 50, "d": 40, "v": 3, "k": 10}
_TERMS = {
    "m": (10, 25, 50, 100, 200),
    "d": (10, 20, 40, 80, 160),
    "v": (1, 2, 4, 8),
    "k": (5, 10, 20, 40),
}
_TERM_ROWS = {"quick": 1000, "full": 8000, "unlimited": 20_000}


class Panel(NamedTuple):
    """One picture of a row of pictures."""

    problem: Problem
    title: str
    cell: Cell


def plan_panels(options: Options) -> list[Panel]:
    """Panels of the t-SNE figure: each raw view, the published embedding, and ours."""
    panels = []
    points = _POINTS[options.form]
    for problem in _present(PICTURED):
        data = Data(problem.name, None if problem.is_small else _PICTURE_ROWS[options.form])
        for view, name in enumerate(view_titles(problem)):
            cell = Cell(data, "t-SNE", {"of": "raw", "points": points}, 0, view)
            panels.append(Panel(problem, f"raw: {name}", cell))
        m = data.n_clusters if problem.is_small else 50
        released = {"of": "released", "points": points, "n_anchors": m, "alpha": 0.01}
        text = f"LMVSC released, m = {m}, alpha = 0.01"
        panels.append(Panel(problem, text, Cell(data, "t-SNE", released)))
        ours = {"of": "default", "points": points}
        panels.append(Panel(problem, "LMVSC, our defaults", Cell(data, "t-SNE", ours)))
    return panels


def view_titles(problem: Problem) -> list[str]:
    """Names of a data set's views as the paper has them."""
    if problem.noise is not None:
        return [f"{problem.noise} {level:g}" for level in PAPER_NOISE_LEVELS[problem.noise]]
    return list(paper.VIEWS[problem.name])


def plan_digits() -> list[tuple[Problem, Cell]]:
    """Pictures of the noisy digits."""
    return [(p, Cell(Data(p.name, 1000), "digits")) for p in _present(NOISY)]


class Sensitivity(NamedTuple):
    """Grids on the same rows: both published variants, and ours."""

    problem: Problem
    published: tuple[Row, ...]
    ours: tuple[tuple[Cell, ...], ...]


def plan_sensitivity(options: Options) -> list[Sensitivity]:
    """Grids of numbers of anchors and alphas."""
    found = []
    for problem in _present(SENSITIVE):
        rows = plan_table(problem, options).rows
        published = tuple(row for row in rows if row.label in VARIANTS)
        grid = published[0].candidates
        alphas = sorted({cells[0].settings["alpha"] for cells in grid})
        numbers = sorted({cells[0].settings["n_anchors"] for cells in grid} | set(_MORE_ANCHORS))
        seeds = [cell.seed for cell in grid[0]][: 1 if options.form == "quick" else 3]
        settings = [
            {"n_anchors": m, "alpha": alpha, "n_repeats": 1} for m in numbers for alpha in alphas
        ]
        data = grid[0][0].data
        ours = [tuple(Cell(data, methods.DEFAULT, s, seed) for seed in seeds) for s in settings]
        found.append(Sensitivity(problem, published, tuple(ours)))
    return found


class Curve(NamedTuple):
    """One method's time at growing sizes, all of them in so many seconds at most."""

    title: str
    cells: tuple[Cell, ...]
    seconds: float | None


def plan_growth(options: Options) -> list[Curve]:
    """Time against the number of rows, for us and the baselines, on the same rows."""
    is_real = PROBLEMS[TIMED].is_present()
    name = TIMED if is_real else TIMED_MADE
    whole = PROBLEMS[name].info.n_samples
    sizes = [n for n in _SIZES[options.form] if n <= whole]

    def curve(
        title: str, method: str, settings: methods.Settings, view: int | None = None
    ) -> Curve:
        cells = [Cell(Data(name, n, made=not is_real), method, settings, 0, view) for n in sizes]
        is_own = method in (methods.PUBLISHED, methods.DEFAULT)
        seconds = (_OWN_SECONDS if is_own else _BASELINE_SECONDS)[options.form]
        return Curve(title, tuple(cells), seconds)

    curves = [
        curve(TIMED_CURVE, methods.PUBLISHED, TIMED_SETTINGS),
        curve("LMVSC, our defaults", methods.DEFAULT, {}),
        curve(methods.title(methods.KMEANS), methods.KMEANS, {}),
    ]
    for method in methods.BASELINES:
        view = 0 if method in methods.SINGLE_VIEW else None
        curves.append(curve(methods.title(method, view), method, {}, view))
    return curves


def plan_terms(options: Options) -> dict[str, list[tuple[int, Cell]]]:
    """For each of m, d, v and k: its values, and the fits of made data that differ in it alone."""

    def cell(**varied: int) -> Cell:
        m, d, v, k = (_BASE | varied).values()
        data = Data("shape", shape=(_TERM_ROWS[options.form], d, v, k), made=True)
        return Cell(data, methods.PUBLISHED, {**TIMED_SETTINGS, "n_anchors": m})

    return {name: [(v, cell(**{name: v})) for v in values] for name, values in _TERMS.items()}


def _present(names: tuple[str, ...]) -> list[Problem]:
    return [PROBLEMS[name] for name in names if PROBLEMS[name].is_present()]
