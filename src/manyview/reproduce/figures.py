"""The experiments beside the tables: sensitivity, growth and the order of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from manyview.bench.cells import Cell, Store
from manyview.bench.methods import Settings
from manyview.reproduce import methods, paper
from manyview.reproduce.plan import Entry, Options, Purse, Steps, run_all
from manyview.reproduce.problems import PROBLEMS, Data, Problem

NOISY = ("mnist-gaussian", "mnist-speckle", "mnist-salt-and-pepper")
SENSITIVE = ("handwritten", "mnist-gaussian")
GROWING = "mnist-gaussian"
ORDERED, CONTROL = "msrcv1", "TBGL without its tensor step"

_OUR_ANCHORS, _OUR_ROWS = (10, 50, 100, 200, 300), 4375

Jobs = Iterator[tuple[str, Steps]]
"""Titles, and work that shares a number of seconds."""


def our_grid(problem: Problem, options: Options) -> list[Cell]:
    """Our method by number of anchors and alpha, one anchor seed."""
    data = Data(problem.name, _OUR_ROWS if len(problem.sizes) > 2 else None)
    seeds = range(options.budget("figure").seeds)
    return [
        Cell(data, methods.DEFAULT, {"n_anchors": m, "alpha": alpha, "n_repeats": 1}, seed)
        for seed, m, alpha in product(seeds, _OUR_ANCHORS, paper.ALPHAS)
    ]


def growing() -> list[Entry]:
    """The methods whose time is shown against the rows."""
    own = (methods.RELEASED, methods.DEFAULT, methods.KMEANS)
    return [
        Entry(PROBLEMS[GROWING], name, _first_view(name)) for name in (*own, *methods.BASELINES)
    ]


def _first_view(method: str) -> int | None:
    return 0 if method in methods.SINGLE_VIEW else None


class Ordered(NamedTuple):
    """A method, and its fits on rows in the order of the file and on shuffled rows."""

    title: str
    in_file_order: list[Cell]
    shuffled: list[Cell]


def ordered(options: Options) -> list[Ordered]:
    """LMVSC, the published method, every baseline, and TBGL with and without its tensor step."""
    tried: list[tuple[str, str, Settings]] = [
        *(
            (methods.title(name), name, methods.FIRST.get(name, {}))
            for name in (*methods.PUBLISHED, methods.DEFAULT, *methods.COMPARED)
        ),
        ("TBGL", "TBGL", {}),
        (CONTROL, "TBGL", {"tensor_step": False}),
    ]
    seeds, filed = range(options.budget("figure").seeds), Data(ORDERED)
    return [
        Ordered(
            title,
            [Cell(filed, method, settings, s, _first_view(method)) for s in seeds],
            [Cell(Data(ORDERED, None, s), method, settings, s, _first_view(method)) for s in seeds],
        )
        for title, method, settings in tried
    ]


def _present(*names: str) -> list[Problem]:
    return [PROBLEMS[name] for name in names if PROBLEMS[name].is_present()]


def _sensitivity_jobs(options: Options, store: Store) -> Jobs:
    for problem in _present(*SENSITIVE):
        for entry in [Entry(problem, name) for name in methods.PUBLISHED]:
            budget = options.budget(entry.method)
            steps = _climb_and_tune(entry, Purse(budget.seconds, store), budget.seeds, store)
            yield f"sensitivity, {problem.title}: {entry.label}", steps
        ours = our_grid(problem, options)
        seconds = options.budget("figure").seconds
        yield f"sensitivity, {problem.title}: LMVSC", run_all(ours, seconds, store)


def _climb_and_tune(entry: Entry, purse: Purse, n_seeds: int, store: Store) -> Steps:
    yield from entry.climb(purse, store)
    yield from entry.tune(purse, n_seeds, store)


def _growth_jobs(options: Options, store: Store) -> Jobs:
    for entry in growing() if _present(GROWING) else []:
        purse = Purse(options.budget(entry.method).seconds, store)
        yield f"time against rows: {entry.label}", entry.climb(purse, store)


def _order_jobs(options: Options, store: Store) -> Jobs:
    for one in ordered(options) if _present(ORDERED) else []:
        pairs = zip(one.in_file_order, one.shuffled, strict=True)
        cells = [cell for pair in pairs for cell in pair]
        yield f"row order: {one.title}", run_all(cells, options.budget("figure").seconds, store)


JOBS: dict[str, Callable[[Options, Store], Jobs]] = {
    "time-rows": _growth_jobs,
    "row-order": _order_jobs,
    "sensitivity": _sensitivity_jobs,
}
"""What a figure needs, by its name."""
