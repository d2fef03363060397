"""Run what has no result line yet: every method on every data set with every seed."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from manyview.bench.cells import Cell, Line, Store
from manyview.bench.compute import Computer
from manyview.bench.data import Rows, as_sources, content_of
from manyview.bench.methods import Method, as_methods
from manyview.bench.results import FREE, TUNED, Results
from manyview.bench.worker import Worker
from manyview.checks import check_count, check_number
from manyview.errors import ParameterError

Tell = Callable[[str], None]
"""Told what is run next."""


def compare(
    methods: Any,
    data: Any,
    *,
    seeds: int | Sequence[int] = 5,
    tuned: bool = False,
    results: str | os.PathLike[str] | None = None,
    again: Sequence[str] = (),
    shuffle: bool = True,
    max_rows: int | None = None,
    max_seconds: float | None = 600.0,
    memory_limit: int | None = None,
    total_seconds: float | None = None,
    tell: Tell = lambda text: None,
) -> Results:
    """Scores of methods on data sets, each fit in a process that is stopped when its time is up.

    Parameters
    ----------
    methods : str, estimator, class, sequence of them, or mapping of titles to them
        Names of manyview's methods, also with settings as in ``"FPMVS=SMVSC(lam=0)"``;
        ``"module:Class"``; or any clusterer of scikit-learn's kind, from a notebook too. See
        :class:`~manyview.bench.Method` for what it is given.
    data : str, path, Views, sequence of them, or mapping of names to them
        Names of known data sets ("all": those on this machine); a file of views and labels; a folder
        with a file for each view and ``labels.*``; or views that have a ``target``.
    seeds : int or sequence of int, default 5
        How many seeds, or which. A seed sets ``random_state`` and the order of rows.
    tuned : bool, default False
        Fit the settings of each method's grid too, of which the true labels choose the best. These
        results are kept apart: ``Results.table(protocol="label-tuned")``.
    results : path-like, optional
        A file of JSON lines to keep results in. What it has is not run again, but for what failed, or
        was stopped with fewer seconds.
    again : sequence of str, optional
        Titles of methods to run again all the same, because their code has changed.
    shuffle : bool, default True
        Rows in random order, another for every seed. Public files are sorted by class, which helps
        methods that start from the first rows.
    max_rows : int, optional
        Draw this many rows from larger data sets.
    max_seconds : float, optional
        Longest time for one fit in seconds, 600 by default; None for no limit. A method that was
        stopped on a data set is not tried there with other seeds.
    memory_limit : int, optional
        Most bytes that a fit may take besides the data; one that needs more is refused.
    total_seconds : float, optional
        Start no further fit after so many seconds; call again to go on.
    tell : callable, optional
        Told, in words, what is run next.

    Returns
    -------
    Results
        Tables, ranks and pictures of these methods and data sets.

    Examples
    --------
    >>> from manyview import bench
    >>> bench.compare(["LMVSC", "sklearn.cluster:KMeans"], "digits").table()  # doctest: +SKIP
    """
    chosen, sources = as_methods(methods), as_sources(data)
    numbers = list(range(check_count("seeds", seeds))) if isinstance(seeds, int) else list(seeds)
    for name, value in (("max_seconds", max_seconds), ("total_seconds", total_seconds)):
        if value is not None:
            check_number(name, value, above=0)
    if unknown := set(again) - {method.name for method in chosen}:
        raise ParameterError("again", f"must name methods of this run; got {sorted(unknown)[0]!r}.")
    path = None if results is None else Path(results)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    store, limit = Store(path), math.inf if max_seconds is None else max_seconds
    deadline = math.inf if total_seconds is None else time.monotonic() + total_seconds
    found: list[Line] = []
    with Worker(partial(Computer, chosen, sources), memory_limit=memory_limit) as worker:
        for name, source in sources.items():
            content = content_of(source)
            rows = [Rows(name, max_rows, seed if shuffle else None, content) for seed in numbers]
            go = partial(
                _run, store=store, worker=worker, limit=limit, deadline=deadline, again=again,
                tell=tell,
            )  # fmt: skip
            plain = [
                Cell(data, method.name, method.settings, seed)
                for data, seed in zip(rows, numbers, strict=True)
                for method in chosen
            ]
            go(plain, FREE)
            grid = _grid_cells(chosen, rows, numbers, store.done(plain)) if tuned else []
            go(grid, TUNED)
            # Only these: the file may hold other settings and rows, and settings from another's grid.
            found += [{**line, "protocol": FREE} for line in store.lines(plain)]
            found += store.lines(dict.fromkeys(cell for cell in grid if cell not in plain))
    return Results(found).select([method.name for method in chosen], list(sources))


def _grid_cells(
    methods: Sequence[Method], rows: Sequence[Rows], seeds: Sequence[int], done: Sequence[Line]
) -> list[Cell]:
    """Cells of every method's grid, which may depend on the number of clusters that results tell."""
    if not done:
        return []
    return [
        Cell(data, method.name, {**method.settings, **settings}, seed)
        for data, seed in zip(rows, seeds, strict=True)
        for method in methods
        for settings in method.grid(int(done[0]["n_clusters"]))
    ]


def _run(
    cells: Sequence[Cell],
    protocol: str,
    *,
    store: Store,
    worker: Worker,
    limit: float,
    deadline: float,
    again: Sequence[str],
    tell: Tell,
) -> None:
    """Compute the cells of a data set that have no line or are to be run again, before the deadline."""
    too_slow = {line["method"] for line in store.lines(cells) if line["status"] == "stopped"}
    unsettled = set(store.missing(cells, limit))
    missing = [cell for cell in cells if cell.method in again or cell in unsettled]
    too_slow -= {
        cell.method for cell in missing if store.get(cell)
    }  # tried again with more seconds
    for cell in missing:
        left = deadline - time.monotonic()
        if left <= 0:
            return
        if cell.method in too_slow:
            continue
        tell(f"{cell.data.name}: {cell.method}, seed {cell.seed}")
        seconds = min(limit, left)
        for _, line in worker.compute([cell], seconds=None if seconds == math.inf else seconds):
            if line["status"] == "stopped" and left < limit:
                return  # by the end of the run, not by its own limit: the next run tries again
            if line["status"] == "stopped":
                too_slow.add(cell.method)
            had = None if limit == math.inf else limit
            store.add(cell, {"protocol": protocol, **line}, limit=had)
