"""How much one method may spend on one data set, so that a whole run ends in time.

Three forms: "quick" (a run stops before ten minutes), "full" (before three hours) and "unlimited".
What was cut is printed in the row; what a run did not reach, the next one goes on with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from manyview.report.advice import number
from manyview.reproduce import methods, paper
from manyview.reproduce.problems import Problem

RUN_SECONDS = {"quick": 540.0, "full": 10_200.0, "unlimited": None}
"""No new work is started after so many seconds of a run: what is left is done by the next one."""

SEEDS = {"quick": 2, "full": 10, "unlimited": 10}
"""Seeds, where --seeds does not say."""

MANY_SEEDS = {"quick": 0, "full": 100, "unlimited": 100}
"""Seeds of one setting on a small data set, to see how rare the paper's figure is."""

_ROWS_A_CLASS = 4  # that a sample has at least


@dataclass(frozen=True)
class Budget:
    """What a method may spend on a data set; None is as much as there is, or is asked for.

    Settings are chosen on ``tuning_rows``, where they are fewer than ``rows``, from the "none", "tiny",
    "small" or "full" grid; ``seconds`` are for all its fits.
    """

    rows: int | None = None
    tuning_rows: int | None = None
    grid: str = "full"
    seeds: int | None = None
    seconds: float | None = None

    def describe(self, n_rows: int, *, is_tuned: bool = True) -> str:
        """What was cut, for the row of a table; its grid only where settings were chosen."""
        parts = []
        if self.rows is not None and self.rows < n_rows:
            parts.append(f"{number(self.rows)} of {number(n_rows)} rows")
        chosen_on = self.tuning_rows or n_rows
        if is_tuned and chosen_on < min(self.rows or n_rows, n_rows):
            parts.append(f"settings chosen on {number(chosen_on)}")
        if is_tuned and self.grid != "full":
            parts.append(f"{self.grid} grid")
        if self.seconds is not None:
            parts.append(f"at most {self.seconds:g} s")
        return "; ".join(parts)


def _read_budgets() -> dict[tuple[str, str, str], Budget]:
    """By form, data ("small", "large" or one data set) and method; an empty field is no limit."""
    found = {}
    for line in paper.read_table("budgets.csv"):
        key = (line.pop("form"), line.pop("data"), line.pop("method"))
        grid = line.pop("grid")
        limits = {name: int(value) if value else None for name, value in line.items()}
        found[key] = Budget(grid=grid, **limits)
    return found


_BUDGETS = _read_budgets()


def find_budget(form: str, problem: Problem, method: str) -> Budget:
    """What a method may spend on a data set."""
    if form == "unlimited":
        return Budget()
    if method == methods.KMEANS_STANDARDISED:
        method = methods.KMEANS
    size = "small" if problem.is_small else "large"
    budget = _BUDGETS.get((form, problem.name, method)) or _BUDGETS[form, size, method]
    least = _ROWS_A_CLASS * problem.info.n_clusters
    return budget if budget.rows is None else replace(budget, rows=max(budget.rows, least))


def made_budget(form: str, problem: Problem, method: str) -> Budget:
    """What a method may spend on made data: fixed settings, one seed, for time and memory."""
    size = "small" if problem.is_small else "large"
    kind = "baseline" if method in methods.BASELINES else method
    for data, who in ((problem.name, kind), (size, kind), (size, "any")):
        if budget := _BUDGETS.get((form, f"made {data}", who)):
            return budget
    return Budget(grid="none", seeds=1)
