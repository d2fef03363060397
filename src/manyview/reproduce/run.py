"""Run what is missing: job by job, each within its limit, every finished cell kept at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from manyview.reproduce import figures, methods
from manyview.reproduce.budget import RUN_SECONDS
from manyview.reproduce.cells import Cell, Store
from manyview.reproduce.compute import batches
from manyview.reproduce.plan import Options, Row, Table, describe_cells, plan_table
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.worker import Worker

Tell = Callable[[str, int, int], None]
"""Told a job's title, its number of cells, and how many of them are done."""

_TABLE_OF = {name: name.partition("-")[0] for name in PROBLEMS}
TABLES: dict[str, tuple[str, ...]] = {"datasets": ()} | {
    table: tuple(name for name in PROBLEMS if _TABLE_OF[name] == table)
    for table in _TABLE_OF.values()
}
"""Tables by the name to ask for them, with their data sets; "datasets" are the two descriptions."""

FIGURES = tuple(figures.FIGURES)

_TUNING_SHARE = 0.5  # of a limit, where the chosen setting is fitted again to more rows


@dataclass(frozen=True)
class Job:
    """Cells that are run together within one limit of seconds."""

    title: str
    cells: Sequence[Cell]
    seconds: float | None


def targets(wanted: Sequence[str]) -> list[str]:
    """Names of the tables and figures that were asked for; "all" is all of them."""
    known = [*TABLES, *FIGURES]
    unknown = [name for name in wanted if name not in (*known, "all")]
    if unknown:
        raise ValueError(
            f"There is no table or figure {unknown[0]!r}. There are: all, {', '.join(known)}."
        )
    return known if "all" in wanted or not wanted else [name for name in known if name in wanted]


def run(wanted: Sequence[str], options: Options, store: Store, tell: Tell) -> bool:
    """Compute every missing cell that is asked for; False if the run's time was up before the last."""
    limit = RUN_SECONDS[options.form]
    deadline = None if limit is None else time.monotonic() + limit
    with Worker() as worker:
        for name in sorted(targets(wanted), key=_is_made):
            for job in _jobs(name, options, store):
                if not _run_job(job, store, worker, tell, deadline):
                    return False
    return True


def count_unreached(names: Sequence[str], options: Options, store: Store) -> int:
    """How many cells of tables and figures have no line yet, not even one that says why."""
    jobs = [job for name in names for job in _jobs(name, options, store)]
    cells = {cell for job in jobs for cell in job.cells}
    return len(cells) - len(store.lines(cells))


def _is_made(name: str) -> bool:
    """Whether a table's data is not here: made data comes last, should time run out."""
    return any(not PROBLEMS[problem].is_present() for problem in TABLES.get(name, ()))


def _jobs(name: str, options: Options, store: Store) -> Iterator[Job]:
    """Jobs of one table or figure; later ones are worked out from what earlier ones gave."""
    if name == "datasets":
        cells = [cell for problem, cell in describe_cells() if problem.is_present()]
        yield Job("descriptions of the data", cells, None)
    elif name in TABLES:
        for problem in TABLES[name]:
            yield from _table_jobs(plan_table(PROBLEMS[problem], options), store)
    else:
        yield from _figure_jobs(name, options)


def _table_jobs(table: Table, store: Store) -> Iterator[Job]:
    title = table.problem.title if table.is_present else f"made like {table.problem.title}"
    by_job: dict[str, list[Row]] = {}
    for row in table.rows:
        by_job.setdefault(row.job, []).append(row)
    for rows in by_job.values():
        limit = rows[0].budget.seconds
        named = f"{title}: {rows[0].job}"
        finals = [row for row in rows if row.final is not None]
        share = limit * _TUNING_SHARE if limit is not None and finals else limit
        tuning = [row for row in rows if row.final is not None or not finals]
        yield Job(f"{named}, settings" if finals else named, _by_setting(tuning), share)
        if finals:
            cells = [cell for row in finals for cell in row.result_cells(store)]
            cells += [cell for row in rows if row.final is None for cell in row.tuning_cells]
            yield Job(named, cells, share)
    seconds = [row.budget.seconds for row in table.rows if row.method == methods.PUBLISHED]
    yield Job(f"{title}: LMVSC on the rows of others", table.partners(store), seconds[0])
    yield Job(f"{title}: memory that methods need", table.refusals, 60.0)


def _by_setting(rows: Sequence[Row]) -> list[Cell]:
    """Cells of several rows, setting by setting, so that a limit cuts all rows alike."""
    settings = zip_longest(*(row.candidates for row in rows), fillvalue=())
    return [cell for candidates in settings for cells in candidates for cell in cells]


def _figure_jobs(name: str, options: Options) -> Iterator[Job]:
    jobs: dict[tuple[str, float | None], list[Cell]] = {}
    for part in figures.FIGURES[name][0](options):
        jobs.setdefault((part.job, part.seconds), []).extend(part.cells)
    for (title, seconds), cells in jobs.items():
        yield Job(title, cells, seconds)


def _run_job(job: Job, store: Store, worker: Worker, tell: Tell, deadline: float | None) -> bool:
    """Compute a job's missing cells; False if the run's time was up before."""
    missing = store.missing(job.cells, limit=job.seconds)
    n_cells = len(set(job.cells))
    n_done, spent = n_cells - len(missing), 0.0
    if missing:
        tell(job.title, n_cells, n_done)
    for batch in batches(missing):
        left = None if job.seconds is None else job.seconds - spent
        overall = None if deadline is None else deadline - time.monotonic()
        if overall is not None and overall <= 0:
            return False
        if left is not None and left <= 0:
            reason = f"not run: other settings used up the {job.seconds:g} s"
            for cell in batch:
                store.add(cell, {"status": "stopped", "reason": reason}, limit=job.seconds)
            continue
        is_cut = overall is not None and (left is None or overall < left)
        for cell, line in worker.compute(batch, seconds=overall if is_cut else left):
            if is_cut and line["status"] == "stopped":
                return False  # by the run's end, not by its own limit: the next run tries again
            if line["status"] == "stopped" and spent > 0:
                line["reason"] += f", all that was left of {job.seconds:g} s"
            store.add(cell, line, limit=job.seconds)
            n_done += 1
            tell(job.title, n_cells, n_done)
        spent += worker.busy_seconds
    return True
