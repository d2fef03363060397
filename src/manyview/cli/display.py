"""Progress on a terminal, drawn by rich on stderr; nothing where no one looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from manyview.engines import Memory
from manyview.engines.base import Rows, Run


class StageBars:
    """One bar for each stage; a :class:`manyview.progress.Progress`.

    A stage that starts again, as every sweep of k-means does, makes its bar longer.

    Parameters
    ----------
    bars : rich.progress.Progress
        What draws them.
    """

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._totals: dict[str, int] = {}
        self._stage = ""

    def start(self, stage: str, total: int) -> None:
        """Show a bar for ``stage``, or make it longer by ``total`` steps."""
        self._stage = stage
        self._totals[stage] = self._totals.get(stage, 0) + total
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total)
        self._bars.update(self._tasks[stage], total=self._totals[stage])

    def advance(self, steps: int = 1) -> None:
        """Fill the current stage's bar by some steps."""
        self._bars.advance(self._tasks[self._stage], steps)

    def finish(self) -> None:
        """Fill the bar; it stays until the display closes."""
        full = max(self._totals[self._stage], 1)  # a stage may have nothing left to do
        self._bars.update(self._tasks[self._stage], total=full, completed=full)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show one piece of work that cannot tell how far it is."""
        task = self._bars.add_task(name, total=None)
        try:
            yield
        finally:
            self._bars.update(task, total=1, completed=1)


class WatchedMemory:
    """The memory engine, telling a display about every stage.

    Parameters
    ----------
    bars : StageBars
        Told what starts and how far it is.
    """

    name = Memory.name

    def __init__(self, bars: StageBars) -> None:
        self._bars = bars

    def open(self, arrays: Sequence[Any], run: Run) -> Rows:
        """Give rows whose stages are shown."""
        return Memory().open(arrays, replace(run, progress=self._bars))


@contextmanager
def stage_bars(*, quiet: bool = False) -> Iterator[StageBars]:
    """Show bars while this is entered, if stderr is a terminal; wipe them afterwards."""
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    hidden = quiet or not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=hidden) as bars:
        yield StageBars(bars)
