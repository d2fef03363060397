"""Progress of long work: silent, or a line on a terminal."""

from __future__ import annotations

import logging
import sys
import time
from typing import Protocol, TextIO

from manyview.wording import seconds_in_words

logger = logging.getLogger("manyview")


class Progress(Protocol):
    """Told when a stage starts, how far it is, and when it ends."""

    def start(self, stage: str, total: int) -> None:
        """Start a stage of ``total`` steps."""

    def advance(self, steps: int = 1) -> None:
        """Report that some steps are done."""

    def finish(self) -> None:
        """End the stage."""


class SilentProgress:
    """Shows nothing; stages still go to the log at level DEBUG."""

    def start(self, stage: str, total: int) -> None:
        """Log the stage."""
        logger.debug("%s: %d tiles", stage, total)

    def advance(self, steps: int = 1) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""


class TerminalProgress:
    """One line that is written over: stage, share and tiles done, rate, time left.

    Nothing is written where no one looks.
    """

    def __init__(self, stream: TextIO | None = None, *, every: float = 0.1) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._shown = False
        self._is_terminal = self._stream.isatty()
        self._stage, self._total, self._done = "", 0, 0
        self._started = self._drawn = 0.0

    def start(self, stage: str, total: int) -> None:
        """Start a stage."""
        self._stage, self._total, self._done = stage, max(total, 1), 0
        self._started = self._drawn = time.monotonic()

    def advance(self, steps: int = 1) -> None:
        """Draw the line again if it is time to."""
        self._done += steps
        now = time.monotonic()
        if self._is_terminal and now - self._drawn >= self._every:
            self._drawn = now
            self._draw(now - self._started)

    def finish(self) -> None:
        """Wipe the line."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False

    def _draw(self, elapsed: float) -> None:
        share = min(self._done / self._total, 1.0)
        filled = int(24 * share)
        bar = "█" * filled + "·" * (24 - filled)
        done = f"{self._done} of {self._total} tiles"
        rate = f"{self._done / elapsed:.3g} a second" if elapsed > 0 else ""
        left = f"{seconds_in_words(round(elapsed / share - elapsed))} left" if share > 0 else ""
        line = f"{self._stage:<16} {bar} {share:4.0%}  {done}, {rate}, {left}"
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
        self._shown = True


def progress_for(verbose: int) -> Progress:
    """Progress on the terminal, or none."""
    return TerminalProgress() if verbose else SilentProgress()
