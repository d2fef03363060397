"""Run what is missing: job by job, each within its seconds, every finished cell kept at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from manyview.bench.cells import Store
from manyview.bench.worker import Worker
from manyview.reproduce import figures, paper
from manyview.reproduce.compute import Computer, batches
from manyview.reproduce.figures import Jobs
from manyview.reproduce.plan import RUN_SECONDS, Options, Steps, entries
from manyview.reproduce.problems import PROBLEMS

Tell = Callable[[str, int], None]
"""Told a job's title, and how many cells it has computed."""

_TABLE_OF = {name: name.partition("-")[0] for name in PROBLEMS if name in paper.ROWS}
TABLES: dict[str, list[str]] = {
    table: [name for name in _TABLE_OF if _TABLE_OF[name] == table] for table in _TABLE_OF.values()
}
"""Tables by the name to ask for them, with their data sets."""

FIGURES = tuple(figures.JOBS)


def targets(wanted: Sequence[str]) -> list[str]:
    """Names of the tables and figures that were asked for; "all" is all of them."""
    known = [*TABLES, *FIGURES]
    unknown = [name for name in wanted if name not in (*known, "all")]
    if unknown:
        raise ValueError(
            f"There is no table or figure {unknown[0]!r}. There are: all, {', '.join(known)}."
        )
    return known if "all" in wanted or not wanted else [name for name in known if name in wanted]


def jobs(name: str, options: Options, store: Store) -> Jobs:
    """Jobs of one table or figure, of data that is on this machine."""
    if name in FIGURES:
        yield from figures.JOBS[name](options, store)
        return
    for problem in (PROBLEMS[each] for each in TABLES[name]):
        for entry in entries(problem) if problem.is_present() else []:
            steps = entry.steps(options.budget(entry.method), store)
            yield f"{problem.title}: {entry.label}", steps


def run(wanted: Sequence[str], options: Options, store: Store, tell: Tell) -> bool:
    """Compute every missing cell that is asked for; False if the run's time was up before the last."""
    limit = RUN_SECONDS[options.form]
    deadline = math.inf if limit is None else time.monotonic() + limit
    with Worker(Computer) as worker:
        for name in targets(wanted):
            for title, steps in jobs(name, options, store):
                if not _run_job(title, steps, store, worker, tell, deadline):
                    return False
    return True


def count_unfinished(names: Sequence[str], options: Options, store: Store) -> int:
    """How many jobs of tables and figures have work left."""
    every = [steps for name in names for _, steps in jobs(name, options, store)]
    return sum(any(store.missing(*step) for step in _known(steps, store)) for steps in every)


def _known(steps: Steps, store: Store) -> Steps:
    """Steps up to the first that has work left: what comes after depends on it."""
    for step in steps:
        yield step
        if store.missing(*step):
            return


def _run_job(
    title: str, steps: Steps, store: Store, worker: Worker, tell: Tell, deadline: float
) -> bool:
    """Compute a job's missing cells; False if the run's time was up before."""
    n_done = 0
    for cells, seconds in steps:
        for batch in batches(store.missing(cells, seconds)):
            tell(title, n_done)
            overall = deadline - time.monotonic()
            if overall <= 0:
                return False
            limit, is_charged = min(seconds, overall), False
            for cell, line in worker.compute(batch, seconds=None if limit == math.inf else limit):
                if line["status"] == "stopped" and overall < seconds:
                    return False  # by the run's end, not by its own: the next run tries again
                if line["status"] == "stopped":  # the first of a batch has used up the seconds
                    line["spent_seconds"] = 0.0 if is_charged else limit
                    is_charged = True
                store.add(cell, line, limit=None if seconds == math.inf else seconds)
                n_done += 1
            seconds -= worker.busy_seconds
            if seconds <= 0:
                break
    return True
