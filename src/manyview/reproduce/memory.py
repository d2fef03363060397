"""Peak memory of a piece of work."""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path


class PeakMemory:
    """Largest resident memory while this is entered, beyond what was there before.

    ``bytes`` stays None where the system cannot tell (it is read from Linux's /proc).
    """

    def __init__(self) -> None:
        self.bytes: int | None = None
        self._before: int | None = None

    def __enter__(self) -> PeakMemory:
        gc.collect()
        if sys.platform == "linux":
            try:
                # What was freed but is still held would hide the first of what is used next.
                ctypes.CDLL(None).malloc_trim(0)
                Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
                self._before = status_bytes("VmRSS")
            except (OSError, AttributeError):  # not allowed, or another C library
                self._before = None
        return self

    def __exit__(self, *error: object) -> None:
        self.bytes = self.so_far()

    def so_far(self) -> int | None:
        """Give the peak up to now."""
        return None if self._before is None else status_bytes("VmHWM") - self._before


def status_bytes(name: str) -> int:
    """Give a line of Linux's /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(name)
