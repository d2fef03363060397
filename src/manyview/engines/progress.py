"""Progress of long work: silent, or one line on a terminal or in a notebook."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TextIO

from manyview.errors import ParameterTypeError
from manyview.wording import seconds_in_words

logger = logging.getLogger("manyview")


class Progress(Protocol):
    """Told when a stage starts, how far it is, and when it ends; stages may lie inside others.

    Two more methods are called where they are there: ``plan(costs)`` before the first stage of a fit,
    with what each is expected to cost in a unit of its own, and ``say(text)`` with a remark that holds
    until the next, which may be empty: that kernels are compiled, which takes time that no stage does.
    """

    def start(self, stage: str, total: int) -> None:
        """Start a stage of ``total`` steps; 0 if it cannot tell how far it is."""

    def advance(self, steps: int = 1) -> None:
        """Report that some steps are done."""

    def finish(self) -> None:
        """End the stage that was started last."""


def announce(progress: Progress, costs: Mapping[str, float]) -> None:
    """Tell what each stage ahead is expected to cost, if this is asked for."""
    plan = getattr(progress, "plan", None)
    if plan is not None:
        plan(costs)


class SilentProgress:
    """Shows nothing; stages still go to the log at level DEBUG."""

    def start(self, stage: str, total: int) -> None:
        """Log the stage."""
        if total:
            logger.debug("%s: %d tiles", stage, total)

    def advance(self, steps: int = 1) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""


class Estimate:
    """How far all stages together are, and when they will be done.

    Without a plan, the stage under way is all there is.

    Examples
    --------
    >>> estimate = Estimate()
    >>> estimate.plan({"anchors": 1.0, "graph": 3.0})
    >>> estimate.start("anchors", 0); estimate.finish()
    >>> estimate.start("graph", 10); estimate.advance(5)
    >>> estimate.share
    0.625
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or time.monotonic
        self._paused: float | None = None
        self._costs: dict[str, float] = {}
        self._done: set[str] = set()
        self._is_planned = False
        self._open: list[str] = []
        self._fraction = self._started = 0.0
        self._total = self._n_done = 0

    def plan(self, costs: Mapping[str, float]) -> None:
        """Take what each stage is expected to cost; the time starts now."""
        self._costs, self._done = dict(costs), set()
        self._is_planned, self._open = True, []
        self._begin()

    def _begin(self) -> None:
        self._started, self._fraction = self._clock(), 0.0
        self._paused = None if self._paused is None else self._started

    def start(self, stage: str, total: int) -> None:
        """Start a stage."""
        if not self._is_planned and not self._open:
            self._costs, self._done = {stage: 1.0}, set()
            self._begin()
        if stage in self._costs and stage not in self._open:
            self._fraction = 0.0
        self._open.append(stage)
        self._total, self._n_done = total, 0

    def advance(self, steps: int = 1) -> None:
        """Count steps of the stage that was started last."""
        self._n_done += steps
        if self._open and self._open[-1] in self._costs:
            self._fraction = min(self._n_done / max(self._total, 1), 1.0)

    def finish(self) -> None:
        """End the stage that was started last."""
        stage = self._open.pop() if self._open else ""
        if stage in self._costs and stage not in self._open:
            self._done.add(stage)
            self._fraction = 0.0

    def pause(self) -> None:
        """Count no time until :meth:`resume`."""
        self._paused = self._clock() if self._paused is None else self._paused

    def resume(self) -> None:
        """Count the time again."""
        if self._paused is not None:
            self._started += self._clock() - self._paused
            self._paused = None

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning, without pauses."""
        return (self._clock() if self._paused is None else self._paused) - self._started

    @property
    def share(self) -> float:
        """What is done of all that is expected."""
        if self._done and self._done == self._costs.keys():
            return 1.0
        current = next((stage for stage in self._open if stage in self._costs), None)
        done = sum(self._costs[stage] for stage in self._done)
        if current is not None and current not in self._done:
            done += self._fraction * self._costs[current]
        return min(done / (sum(self._costs.values()) or 1.0), 1.0)

    @property
    def left(self) -> float | None:
        """Seconds until all is done; None if there is nothing to tell it by."""
        share = self.share
        return self.elapsed * (1 - share) / share if share > 0.01 else None


class _Line:
    """One line about all stages: what is done now, how much of all, and the time left."""

    def __init__(self, *, every: float) -> None:
        self._every = every
        self._estimate = Estimate()
        self._stages: list[tuple[str, int, float]] = []  # name, steps, when it started
        self._done, self._drawn, self._remark, self._is_planned = 0, 0.0, "", False

    def plan(self, costs: Mapping[str, float]) -> None:
        """Take what each stage is expected to cost."""
        self._estimate.plan(costs)
        self._is_planned, self._stages = True, []

    def start(self, stage: str, total: int) -> None:
        """Start a stage."""
        self._estimate.start(stage, total)
        self._stages.append((stage, total, time.monotonic()))
        self._done, self._drawn = 0, time.monotonic()
        if self._is_planned:
            self._draw()

    def advance(self, steps: int = 1) -> None:
        """Draw the line again if it is time to."""
        self._estimate.advance(steps)
        self._done += steps
        now = time.monotonic()
        if now - self._drawn >= self._every:
            self._drawn = now
            self._draw()

    def finish(self) -> None:
        """End the stage; the line goes with the last one."""
        self._estimate.finish()
        if self._stages:
            self._stages.pop()
        if not self._stages:
            self._wipe()

    def say(self, text: str) -> None:
        """Show a remark until the next; the time until then is no part of any stage."""
        self._remark = text
        if text:
            self._estimate.pause()
        else:
            self._estimate.resume()
        if self._stages:
            self._draw()

    def _draw(self) -> None:
        stage, total, started = self._stages[-1]
        share, left = self._estimate.share, self._estimate.left
        filled = int(24 * share)
        words = [self._remark] if self._remark else []
        if total:
            words.append(f"{self._done} of {total} tiles")
            elapsed = time.monotonic() - started
            words += [f"{self._done / elapsed:.3g} a second"] if self._done and elapsed > 0 else []
        words += [f"about {seconds_in_words(round(left))} left"] if left is not None else []
        bar = "█" * filled + "·" * (24 - filled)
        self._write(f"{stage:<16} {bar} {share:4.0%}  {', '.join(words)}")

    def _write(self, line: str) -> None:
        raise NotImplementedError

    def _wipe(self) -> None:
        raise NotImplementedError


class TerminalProgress(_Line):
    """One line that is written over. Nothing is written where no one looks.

    Warnings that are shown meanwhile wipe it first.
    """

    def __init__(self, stream: TextIO | None = None, *, every: float = 0.1) -> None:
        super().__init__(every=every)
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._is_shown = False
        self._show_warning: Any = None

    def _write(self, line: str) -> None:
        if not self._is_terminal:
            return
        if not self._is_shown:
            self._show_warning = warnings.showwarning
            warnings.showwarning = self._show_below
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
        self._is_shown = True

    def _wipe(self) -> None:
        if self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._is_shown = False
            if warnings.showwarning == self._show_below:  # else it is for others to put back
                warnings.showwarning = self._show_warning

    def _show_below(self, *args: Any, **options: Any) -> None:
        """Show a warning on a line of its own; the next step draws the line again below it."""
        show = self._show_warning
        self._wipe()
        show(*args, **options)


class NotebookProgress(_Line):
    """A line below a notebook's cell that changes, and in the end tells how long it took.

    Parameters
    ----------
    display : callable, optional
        Shows text for the first time, and gives an object whose ``update`` shows other text there;
        IPython's by default.
    every : float
        Seconds between changes.
    """

    def __init__(self, display: Callable[[str], Any] | None = None, *, every: float = 0.3) -> None:
        super().__init__(every=every)
        self._display = display or _Shown
        self._handle: Any = None

    def _write(self, line: str) -> None:
        if self._handle is None:
            self._handle = self._display(line)
        else:
            self._handle.update(line)

    def _wipe(self) -> None:
        if self._handle is not None and self._estimate.share >= 1:
            self._handle.update(f"done in {seconds_in_words(self._estimate.elapsed)}")


class _Shown:
    """Text in a notebook that can be changed."""

    def __init__(self, text: str) -> None:
        display = sys.modules["IPython"].display.display
        self._handle = display({"text/plain": text}, raw=True, display_id=True)

    def update(self, text: str) -> None:
        self._handle.update({"text/plain": text}, raw=True)


def _is_in_notebook() -> bool:
    """Whether whoever called this looks at it in a notebook; IPython is not imported for it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def progress_for(verbose: Any) -> Progress:
    """Progress where someone looks, none, or what was given: an object with a method ``start``."""
    if hasattr(verbose, "start"):
        return verbose  # type: ignore[no-any-return]
    if not isinstance(verbose, int) or verbose < 0:
        raise ParameterTypeError(
            "verbose",
            f"must be 0, 1, or an object with start, advance and finish; got {verbose!r}.",
        )
    if not verbose:
        return SilentProgress()
    return NotebookProgress() if _is_in_notebook() else TerminalProgress()
