"""Seconds and memory of each stage of a fit."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STATM = Path("/proc/self/statm")
_EVERY = 0.02


class Stopwatch:
    """Times stages, and watches how much memory the process holds meanwhile.

    ``peak_bytes`` is the most that was seen resident during each stage, looked at fifty times a
    second; it stays empty where the system does not tell (it is read from Linux's /proc).

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch.stage("sum"):
    ...     total = sum(range(1000))
    >>> list(watch.seconds)
    ['sum']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.peak_bytes: dict[str, int] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what happens inside."""
        started = time.perf_counter()
        with self._watching(name):
            yield
        self.seconds[name] = time.perf_counter() - started

    @contextmanager
    def _watching(self, name: str) -> Iterator[None]:
        if not _STATM.exists():
            yield
            return
        ended = threading.Event()

        def look() -> None:
            self.peak_bytes[name] = max(self.peak_bytes.get(name, 0), resident_bytes())

        def watch() -> None:
            while not ended.wait(_EVERY):
                look()

        look()
        watcher = threading.Thread(target=watch, name="manyview-memory", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
            look()


def resident_bytes() -> int:
    """Memory that this process holds now (Linux)."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
