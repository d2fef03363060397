"""Progress on a terminal: the library's line on stderr; nothing where no one looks."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from manyview.cli.console import current
from manyview.engines.progress import TerminalProgress


class StageLine(TerminalProgress):
    """The line that shows a fit, and what goes on around it."""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show one piece of work that cannot tell how far it is."""
        self._write(f"{name} ...")
        try:
            yield
        finally:
            self.wipe()

    def wipe(self) -> None:
        """Leave nothing of the line on the terminal."""
        self._wipe()


@contextmanager
def stage_line() -> Iterator[StageLine]:
    """A line to show stages in while this is entered; nobody sees it with --quiet."""
    line = StageLine(io.StringIO() if current().quiet else sys.stderr)
    try:
        yield line
    finally:
        line.wipe()
