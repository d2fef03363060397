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
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from manyview.cli.console import current
from manyview.engines import choose_engine
from manyview.engines.base import TILE_ROWS, Rows, Run


class StageBars:
    """One bar for each stage; a :class:`manyview.engines.progress.Progress`.

    A stage that starts again, as every sweep of k-means does, makes its bar longer.
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
            self._tasks[stage] = self._bars.add_task(stage, total=total, is_tiles=True)
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


class Watched:
    """An engine, telling a display about every stage; "auto" is settled by the first arrays."""

    track_memory = True

    def __init__(self, engine: Any, bars: StageBars) -> None:
        self._engine, self._bars = engine, bars

    @property
    def name(self) -> str:
        """Name of the engine that computes."""
        return self._engine if isinstance(self._engine, str) else str(self._engine.name)

    def open(self, arrays: Sequence[Any], run: Run) -> Rows:
        """Rows whose stages are shown."""
        if isinstance(self._engine, str):
            self._engine = choose_engine(self._engine, tuple(arrays))
        rows: Rows = self._engine.open(arrays, replace(run, progress=self._bars))
        return rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class _RowsPerSecond(ProgressColumn):
    """How fast rows go by; a step of a stage is a tile of them."""

    def render(self, task: Task) -> Text:
        seconds = task.finished_time if task.finished else task.elapsed
        if not task.completed or not seconds or not task.fields.get("is_tiles"):
            return Text("")
        speed = task.completed * TILE_ROWS / seconds
        return Text(f"{speed:,.0f} rows/s".replace(",", " "), style="dim")


@contextmanager
def stage_bars() -> Iterator[StageBars]:
    """Show bars while this is entered, if stderr is a terminal and --quiet was not given."""
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        _RowsPerSecond(),
    )
    bars = Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        disable=current().quiet or not sys.stderr.isatty(),
        speed_estimate_period=3600,  # results of several threads come in bursts
    )
    with bars:
        yield StageBars(bars)
