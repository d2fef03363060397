"""What is to be run: the rows of every table, each with its cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from manyview.reproduce import methods, paper
from manyview.reproduce.budget import MANY_SEEDS, SEEDS, Budget, find_budget, made_budget
from manyview.reproduce.cells import Cell, Store
from manyview.reproduce.problems import PROBLEMS, Data, Problem

TUNED, UNLABELLED, MADE = "tuned with labels", "without labels", "made data, time and memory only"
"""The protocols; a row belongs to one of them."""

RELEASED = "LMVSC, released variant"
"""The row that baselines are timed against."""

VARIANTS = ("LMVSC, paper variant", RELEASED)
"""The two published variants; the better one stands for the paper's."""

MANY = "LMVSC, released, m = k, many seeds"
"""The row that shows how rare a figure is."""

STANDARDISED, OURS = "LMVSC, released, standardised first", "LMVSC, our defaults"

TIMED_SETTINGS = {"variant": "released", "n_anchors": 50, "alpha": 0.01, "standardised": False}
"""Of the published method where only its time counts."""


@dataclass(frozen=True)
class Row:
    """One row of a table: what is run, and how its settings are chosen.

    ``candidates`` has for each setting its cells over seeds; the best in mean accuracy is chosen. Where
    that is on fewer rows, it is measured on ``final`` with ``final_seeds``; defaults that turn out
    better there are kept instead. Rows with the same ``job`` share work and time.
    """

    label: str
    method: str
    protocol: str
    job: str
    candidates: tuple[tuple[Cell, ...], ...]
    budget: Budget
    view: int | None = None
    final: Data | None = None
    final_seeds: tuple[int, ...] = ()

    @property
    def tuning_cells(self) -> list[Cell]:
        """All cells that settings are chosen from."""
        return [cell for cells in self.candidates for cell in cells]

    def result_cells(self, store: Store) -> tuple[Cell, ...]:
        """The cells that the row's figures are taken from: those of the best setting so far."""
        chosen = _best(self.candidates, store)
        if self.final is None:
            return chosen
        cells = [chosen[0], self.candidates[0][0]] if self.has_defaults else [chosen[0]]
        moved = [replace(cell, data=self.final) for cell in cells]
        finals = [tuple(replace(cell, seed=seed) for seed in self.final_seeds) for cell in moved]
        return _best(finals, store)

    @property
    def tuning_data(self) -> Data:
        """The rows that settings are chosen on."""
        return self.candidates[0][0].data

    @property
    def data(self) -> Data:
        """The rows that the row's figures are measured on."""
        return self.final or self.tuning_data

    @property
    def has_defaults(self) -> bool:
        """Whether the first setting is the method's own."""
        return not self.candidates[0][0].settings


def _best(candidates: Sequence[tuple[Cell, ...]], store: Store) -> tuple[Cell, ...]:
    """The first with the largest mean accuracy; fewer finished seeds do not win by luck."""

    def quality(cells: tuple[Cell, ...]) -> tuple[int, float]:
        found = [line["scores"]["accuracy"] for line in store.done(cells)]
        return len(found), fmean(found) if found else 0.0

    return max(candidates, key=quality)


@dataclass(frozen=True)
class Table:
    """One data set's table: its rows, or why there are none.

    ``refusals`` asks methods whether they would have the memory for the whole data set.
    """

    problem: Problem
    rows: tuple[Row, ...]
    is_present: bool
    refusals: tuple[Cell, ...] = ()

    def partners(self, store: Store, labels: Sequence[str] = VARIANTS) -> list[Cell]:
        """Cells of published variants on the rows that other methods were cut to, to be compared."""
        others = dict.fromkeys(row.data for row in self.rows)
        return [
            replace(row.result_cells(store)[0], data=data, seed=0)
            for row in self.rows
            if row.label in labels
            for data in others
            if data.n_rows < row.data.n_rows
        ]


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    form: str = "full"
    seeds: int | None = None

    @property
    def n_seeds(self) -> int:
        """Seeds of methods that are quick enough for them."""
        return SEEDS[self.form] if self.seeds is None else self.seeds

    def seed_numbers(self, budget: Budget) -> tuple[int, ...]:
        """The seeds that a budget allows."""
        return tuple(range(min(self.n_seeds, budget.seeds or self.n_seeds)))


def plan_table(problem: Problem, options: Options) -> Table:
    """The rows of one data set's table."""
    if not problem.is_present():
        return Table(problem, tuple(_made_rows(problem, options)), False, _refusals(problem))
    rows = (*_tuned_rows(problem, options), *_unlabelled_rows(problem, options))
    return Table(problem, rows, True, () if problem.is_small else _refusals(problem))


def _tuned_rows(problem: Problem, options: Options) -> Iterator[Row]:
    def row(
        label: str,
        method: str,
        variant: str = "released",
        *,
        kind: str = "",
        view: int | None = None,
    ) -> Row:
        budget = find_budget(options.form, problem, kind or method)
        if method in methods.BASELINES:
            settings = methods.baseline_settings(method, budget.grid)
        else:
            settings = methods.published_settings(
                problem.info.n_clusters, variant, budget.grid, standardised=kind == "standardised"
            )
        seeds, whole = options.seed_numbers(budget), Data(problem.name, budget.rows)
        data, tuning_seeds, final = whole, seeds, None
        if budget.tuning_rows is not None and budget.tuning_rows < whole.n_rows:
            data, tuning_seeds, final = Data(problem.name, budget.tuning_rows), (0,), whole
        cells = [
            tuple(Cell(data, method, s, seed, view) for seed in tuning_seeds) for s in settings
        ]
        return Row(
            label, method, TUNED, f"{method}, {kind}" if kind else method, tuple(cells), budget, view,
            final=final, final_seeds=() if final is None else seeds,
        )  # fmt: skip

    yield row(VARIANTS[0], methods.PUBLISHED, "paper")
    yield (released := row(RELEASED, methods.PUBLISHED))
    if problem.is_small and MANY_SEEDS[options.form]:
        # The paper's choice on small data, as many anchors as clusters, over many more seeds.
        k, seeds = problem.info.n_clusters, tuple(range(MANY_SEEDS[options.form]))
        fewest = [cells for cells in released.candidates if cells[0].settings["n_anchors"] == k]
        yield replace(
            released, label=MANY, job=f"{methods.PUBLISHED}, many seeds", candidates=tuple(fewest),
            budget=find_budget(options.form, problem, "many seeds"),
            final=released.data, final_seeds=seeds,
        )  # fmt: skip
    yield row(STANDARDISED, methods.PUBLISHED, kind="standardised")
    for view in range(problem.n_views) if problem.n_views > 1 else []:
        label = f"LMVSC({view + 1}), released, one view"
        yield row(label, methods.PUBLISHED, kind="one view", view=view)
    for method in methods.BASELINES:
        for one in _views_of(problem, method):
            yield row(methods.title(method, one), method, view=one)


def _views_of(problem: Problem, method: str) -> Sequence[int | None]:
    if method not in methods.SINGLE_VIEW or problem.n_views == 1:
        return [None]
    return range(problem.n_views)


def _unlabelled_rows(problem: Problem, options: Options) -> Iterator[Row]:
    labels = {methods.DEFAULT: OURS, methods.KMEANS: _kmeans_title(problem)}
    for method in (*labels, methods.KMEANS_STANDARDISED, *methods.BASELINES):
        budget = find_budget(options.form, problem, method)
        data, seeds = Data(problem.name, budget.rows), options.seed_numbers(budget)
        for view in _views_of(problem, method):
            label = labels.get(method, methods.title(method, view))
            cells = tuple(Cell(data, method, {}, seed, view) for seed in seeds)
            yield Row(label, method, UNLABELLED, method, (cells,), budget, view)


def _kmeans_title(problem: Problem) -> str:
    name = methods.title(methods.KMEANS)
    return f"{name}, raw" if problem.n_views == 1 else f"{name}, views at equal energy"


def _made_rows(problem: Problem, options: Options) -> Iterator[Row]:
    def row(label: str, method: str, settings: methods.Settings, view: int | None = None) -> Row:
        budget = made_budget(options.form, problem, method)
        cell = Cell(Data(problem.name, budget.rows, made=True), method, settings, 0, view)
        return Row(label, method, MADE, method, ((cell,),), budget, view)

    for label, variant in zip(VARIANTS, ("paper", "released"), strict=True):
        yield row(label, methods.PUBLISHED, {**TIMED_SETTINGS, "variant": variant})
    yield row(OURS, methods.DEFAULT, {})
    yield row(_kmeans_title(problem), methods.KMEANS, {})
    for method in methods.BASELINES:
        view = _views_of(problem, method)[0]
        yield row(methods.title(method, view), method, {}, view)


def _refusals(problem: Problem) -> tuple[Cell, ...]:
    """Ask methods how much memory they need; those for one view see the first."""
    whole = Data(problem.name)
    return tuple(
        Cell(whole, "refusal", {"method": method}, 0, _views_of(problem, method)[0])
        for method in methods.QUADRATIC
    )


def describe_cells() -> list[tuple[Problem, Cell]]:
    """Cells that load each data set of the paper's two descriptions, where it is on this machine."""
    return [(PROBLEMS[name], Cell(Data(name), "describe")) for name in paper.VIEWS]
