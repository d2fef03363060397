"""How much one method may spend on one data set, so that a whole run ends in time.

Three forms: "quick" (a run stops before ten minutes), "full" (before three hours) and "unlimited".
What was cut is printed in the row; what a run did not reach, the next one goes on with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from manyview.report.advice import number
from manyview.reproduce import methods
from manyview.reproduce.problems import Problem

RUN_SECONDS = {"quick": 540.0, "full": 10_200.0, "unlimited": None}
"""No new work is started after so many seconds of a run: what is left is done by the next one."""

SEEDS = {"quick": 2, "full": 10, "unlimited": 10}
"""Seeds, where --seeds does not say."""

MANY_SEEDS = {"quick": 0, "full": 100, "unlimited": 100}
"""Seeds of one setting on a small data set, to see how rare the paper's figure is."""

_ROWS_A_CLASS = 4
"""A sample has at least so many rows for each class."""


@dataclass(frozen=True)
class Budget:
    """What a method may spend on a data set.

    Attributes
    ----------
    rows : int or None
        Rows that it sees; None is all.
    tuning_rows : int or None
        Rows that settings are chosen on, where they are fewer.
    grid : {"none", "tiny", "small", "full"}
        How many settings are tried.
    seeds : int or None
        Most seeds; None is as many as are asked for.
    seconds : float or None
        Most seconds for all its fits.
    """

    rows: int | None = None
    tuning_rows: int | None = None
    grid: str = "full"
    seeds: int | None = None
    seconds: float | None = None

    def describe(self, n_rows: int, *, is_tuned: bool = True) -> str:
        """Give what was cut, for the row of a table; its grid only where settings were chosen."""
        parts = []
        if self.rows is not None and self.rows < n_rows:
            parts.append(f"{number(self.rows)} of {number(n_rows)} rows")
        if (
            is_tuned
            and self.tuning_rows is not None
            and self.tuning_rows < min(self.rows or n_rows, n_rows)
        ):
            parts.append(f"settings chosen on {number(self.tuning_rows)}")
        if is_tuned and self.grid != "full":
            parts.append(f"{self.grid} grid")
        if self.seconds is not None:
            parts.append(f"at most {self.seconds:g} s")
        return "; ".join(parts)


_FULL_SMALL = {
    methods.PUBLISHED: Budget(seconds=900),
    "standardised": Budget(seeds=3, seconds=300),
    "one view": Budget(seeds=3, grid="small", seconds=300),
    "many seeds": Budget(seconds=600),
    methods.DEFAULT: Budget(seconds=300),
    methods.KMEANS: Budget(seconds=120),
    methods.KMEANS_STANDARDISED: Budget(seconds=120),
    "E3SC": Budget(tuning_rows=500, grid="small", seeds=2, seconds=800),
    "SSCOMP": Budget(grid="small", seeds=3, seconds=300),
    "AMGL": Budget(seeds=3, seconds=200),
    "MLRSSC": Budget(tuning_rows=300, seeds=1, seconds=1100),
    "MSCIAS": Budget(seeds=3, seconds=200),
}
_FULL_LARGE = {
    methods.PUBLISHED: Budget(rows=10_000, tuning_rows=3000, seeds=3, seconds=1500),
    "standardised": Budget(rows=3000, seeds=1, seconds=200),
    "one view": Budget(rows=3000, seeds=1, grid="small", seconds=200),
    methods.DEFAULT: Budget(rows=10_000, seeds=3, seconds=300),
    methods.KMEANS: Budget(rows=10_000, seeds=3, seconds=200),
    methods.KMEANS_STANDARDISED: Budget(rows=10_000, seeds=3, seconds=200),
    "E3SC": Budget(rows=500, grid="none", seeds=1, seconds=60),
    "SSCOMP": Budget(rows=5000, tuning_rows=1000, grid="small", seeds=1, seconds=300),
    "AMGL": Budget(rows=5000, grid="none", seeds=1, seconds=120),
    "MLRSSC": Budget(rows=500, grid="none", seeds=1, seconds=60),
    "MSCIAS": Budget(rows=5000, grid="none", seeds=1, seconds=120),
}
_QUICK_SMALL = {
    methods.PUBLISHED: Budget(seconds=60),
    "standardised": Budget(seeds=1, grid="tiny", seconds=20),
    "one view": Budget(seeds=1, grid="tiny", seconds=20),
    methods.DEFAULT: Budget(seconds=25),
    methods.KMEANS: Budget(seconds=10),
    methods.KMEANS_STANDARDISED: Budget(seconds=10),
    "E3SC": Budget(rows=150, grid="none", seeds=1, seconds=12),
    "SSCOMP": Budget(rows=1000, grid="none", seeds=1, seconds=15),
    "AMGL": Budget(grid="none", seeds=1, seconds=15),
    "MLRSSC": Budget(rows=100, grid="none", seeds=1, seconds=10),
    "MSCIAS": Budget(grid="none", seeds=1, seconds=15),
}
_QUICK_LARGE = {
    methods.PUBLISHED: Budget(rows=400, grid="small", seeds=1, seconds=25),
    "standardised": Budget(rows=400, grid="tiny", seeds=1, seconds=10),
    "one view": Budget(rows=400, grid="tiny", seeds=1, seconds=10),
    methods.DEFAULT: Budget(rows=400, seeds=1, seconds=15),
    methods.KMEANS: Budget(rows=400, seeds=1, seconds=10),
    methods.KMEANS_STANDARDISED: Budget(rows=400, seeds=1, seconds=10),
    "E3SC": Budget(rows=100, grid="none", seeds=1, seconds=10),
    "SSCOMP": Budget(rows=400, grid="none", seeds=1, seconds=10),
    "AMGL": Budget(rows=400, grid="none", seeds=1, seconds=10),
    "MLRSSC": Budget(rows=100, grid="none", seeds=1, seconds=10),
    "MSCIAS": Budget(rows=400, grid="none", seeds=1, seconds=10),
}
_TABLES = {
    ("full", True): _FULL_SMALL,
    ("full", False): _FULL_LARGE,
    ("quick", True): _QUICK_SMALL,
    ("quick", False): _QUICK_LARGE,
}
_EXCEPTIONS: dict[tuple[str, str, str], Budget] = {
    ("full", "covertype", methods.PUBLISHED): Budget(seeds=3, seconds=1200),
    ("full", "covertype", "standardised"): Budget(rows=20_000, seeds=1, seconds=200),
    ("full", "covertype", methods.DEFAULT): Budget(seeds=3, seconds=300),
    ("full", "covertype", methods.KMEANS): Budget(seeds=3, seconds=200),
    ("full", "covertype", methods.KMEANS_STANDARDISED): Budget(seeds=3, seconds=200),
    ("quick", "covertype", "standardised"): Budget(rows=10_000, grid="tiny", seeds=1, seconds=20),
    ("quick", "covertype", methods.PUBLISHED): Budget(rows=10_000, seeds=1, seconds=30),
    ("quick", "covertype", methods.KMEANS): Budget(rows=10_000, seeds=1, seconds=10),
    ("quick", "covertype", methods.KMEANS_STANDARDISED): Budget(rows=10_000, seeds=1, seconds=10),
    ("quick", "covertype", methods.DEFAULT): Budget(rows=10_000, seeds=1, seconds=15),
}
_MADE = {"quick": Budget(rows=200, grid="none", seeds=1, seconds=10),
         "full": Budget(grid="none", seeds=1, seconds=150),
         "unlimited": Budget(grid="none", seeds=1)}  # fmt: skip
_MADE_BASELINES = {"quick": Budget(rows=200, grid="none", seeds=1, seconds=10),
                "full": Budget(rows=1000, grid="none", seeds=1, seconds=60),
                "unlimited": Budget(grid="none", seeds=1)}  # fmt: skip


def find_budget(form: str, problem: Problem, method: str) -> Budget:
    """Give what a method may spend on a data set.

    Examples
    --------
    >>> from manyview.reproduce.problems import PROBLEMS
    >>> find_budget("unlimited", PROBLEMS["handwritten"], "E3SC")
    Budget(rows=None, tuning_rows=None, grid='full', seeds=None, seconds=None)
    """
    if form == "unlimited":
        return Budget()
    special = _EXCEPTIONS.get((form, problem.name, method))
    budget = special or _TABLES[form, problem.is_small][method]
    least = _ROWS_A_CLASS * problem.info.n_clusters
    return budget if budget.rows is None else replace(budget, rows=max(budget.rows, least))


def made_budget(form: str, problem: Problem, method: str) -> Budget:
    """Give what a method may spend on made data: fixed settings, one seed, for time and memory."""
    if method in methods.BASELINES and not problem.is_small:
        return _MADE_BASELINES[form]
    budget = _MADE[form]
    if form == "full" and problem.is_sparse and method in (methods.PUBLISHED, methods.KMEANS):
        # Their ten k-means starts take longest, and do not end in time on all of these sparse rows.
        return replace(budget, rows=max(4000, problem.info.n_samples // 10))
    return budget
