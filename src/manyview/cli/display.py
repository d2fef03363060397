"""Progress on a terminal, drawn by rich on stderr; nothing where no one looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

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
)
from rich.text import Text

from manyview.cli.console import current
from manyview.engines.base import TILE_ROWS
from manyview.engines.progress import Estimate
from manyview.wording import seconds_in_words


class StageBars:
    """One bar for each stage, and one for all; a :class:`manyview.engines.progress.Progress`.

    A stage that starts again, as every sweep of k-means does, makes its bar longer.
    """

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._totals: dict[str, int] = {}
        self._open: list[str] = []
        self._estimate = Estimate()
        self._whole: TaskID | None = None
        self._remark: TaskID | None = None

    def plan(self, costs: Mapping[str, float]) -> None:
        """Show one more bar, for all stages together; only it tells the time left."""
        self._estimate.plan(costs)
        if self._whole is None:
            self._whole = self._bars.add_task("all of it", total=1.0, estimate=self._estimate)

    def start(self, stage: str, total: int) -> None:
        """Show a bar for ``stage``, or make it longer by ``total`` steps."""
        self._estimate.start(stage, total)
        self._open.append(stage)
        self._totals[stage] = self._totals.get(stage, 0) + total
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total or None, is_tiles=total > 0)
        if total:
            self._bars.update(self._tasks[stage], total=self._totals[stage], is_tiles=True)

    def advance(self, steps: int = 1) -> None:
        """Fill the current stage's bar by some steps."""
        self._estimate.advance(steps)
        self._bars.advance(self._tasks[self._open[-1]], steps)
        self._tell_whole()

    def finish(self) -> None:
        """Fill the bar; it stays until the display closes."""
        self._estimate.finish()
        stage = self._open.pop()
        full = max(self._totals[stage], 1)  # a stage may have nothing left to do
        self._bars.update(self._tasks[stage], total=full, completed=full)
        self._tell_whole()

    def say(self, text: str) -> None:
        """Show a remark as a line of its own, until the next."""
        if self._remark is not None:
            self._bars.remove_task(self._remark)
        self._remark = self._bars.add_task(text, total=None) if text else None

    def _tell_whole(self) -> None:
        if self._whole is not None:
            self._bars.update(self._whole, completed=self._estimate.share)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show one piece of work that cannot tell how far it is."""
        task = self._bars.add_task(name, total=None)
        try:
            yield
        finally:
            self._bars.update(task, total=1, completed=1)


class _RowsPerSecond(ProgressColumn):
    """How fast rows go by; a step of a stage is a tile of them."""

    def render(self, task: Task) -> Text:
        seconds = task.finished_time if task.finished else task.elapsed
        if not task.completed or not seconds or not task.fields.get("is_tiles"):
            return Text("")
        speed = task.completed * TILE_ROWS / seconds
        return Text(f"{speed:,.0f} rows/s".replace(",", " "), style="dim")


class _TimeLeft(ProgressColumn):
    """When all stages will be done."""

    def render(self, task: Task) -> Text:
        estimate = task.fields.get("estimate")
        left = None if estimate is None or task.finished else estimate.left
        return Text("" if left is None else f"about {seconds_in_words(round(left))} left")


@contextmanager
def stage_bars() -> Iterator[StageBars]:
    """Show bars while this is entered, if stderr is a terminal and --quiet was not given."""
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        _RowsPerSecond(),
        _TimeLeft(),
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
