"""How much memory is free, and a refusal before more than that is allocated."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")

_assumed: ContextVar[int | None] = ContextVar("assumed free bytes", default=None)


class TooLargeError(MemoryError):
    """A refusal before anything was allocated.

    Attributes
    ----------
    bytes_needed : int
        What the computation would have held at its peak.
    """

    def __init__(self, message: str, bytes_needed: int) -> None:
        super().__init__(message)
        self.bytes_needed = bytes_needed


@contextmanager
def assume_free(n_bytes: int) -> Iterator[None]:
    """While this is entered, so many bytes count as free: with 0, methods say what they need.

    Examples
    --------
    >>> with assume_free(0):
    ...     try:
    ...         refuse_if_too_large(800, what="", instead="", force=False)
    ...     except TooLargeError as refusal:
    ...         print(refusal.bytes_needed)
    800
    """
    before = _assumed.set(n_bytes)
    try:
        yield
    finally:
        _assumed.reset(before)


def free_bytes() -> int | None:
    """Bytes that can be allocated now without swapping, or None where it cannot be told.

    The operating system's own estimate, or what is left of the control group's limit (a container
    or a batch job) where that is less.

    Examples
    --------
    >>> free = free_bytes()
    >>> free is None or free > 0
    True
    """
    if (assumed := _assumed.get()) is not None:
        return assumed
    known = [free for free in (_free_of_machine(), _free_of_control_group()) if free is not None]
    return min(known, default=None)


def _free_of_machine() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            found = os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            continue
        if found > 0:
            return found
    return None


def _free_of_control_group() -> int | None:
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        # File pages that were not touched lately count as used but are given back on demand.
        for line in (_CGROUP / "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                used -= int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return max(limit - used, 0)


def refuse_if_too_large(bytes_needed: int, *, what: str, instead: str, force: bool) -> None:
    """Raise TooLargeError, before anything is allocated, if ``bytes_needed`` are not free.

    Parameters
    ----------
    bytes_needed : int
        What the computation will hold at its peak, beyond its input.
    what : str
        What needs it, to start the message: ``"MLRSSC on 60 000 rows and 3 views"``.
    instead : str
        What the user can do, as a sentence.
    force : bool
        Go ahead all the same (an estimator's ``force`` parameter).

    Examples
    --------
    >>> refuse_if_too_large(10**18, what="This method on 10**9 rows",
    ...                     instead="Set n_exemplars=1000.", force=False)
    Traceback (most recent call last):
        ...
    manyview.baselines.memory.TooLargeError: This method on 10**9 rows needs
    1 000 000 000 000 000 000 bytes (1 EB) of memory and ... are free.
    Set n_exemplars=1000. With force=True it is tried all the same.
    >>> refuse_if_too_large(10**18, what="", instead="", force=True)
    """
    if force:
        return
    free = free_bytes()
    if free is None or bytes_needed <= free:
        return
    raise TooLargeError(
        f"{what} needs {format_bytes(bytes_needed)} of memory and {format_bytes(free)} are free. "
        f"{instead} With force=True it is tried all the same.",
        bytes_needed,
    )


def format_bytes(count: int) -> str:
    """Give a number of bytes exactly, and rounded for reading.

    Examples
    --------
    >>> format_bytes(123_456_789)
    '123 456 789 bytes (123 MB)'
    >>> format_bytes(12)
    '12 bytes'
    """
    exact = f"{count:,} bytes".replace(",", " ")
    if count < 1000:
        return exact
    size, units = float(count), ["kB", "MB", "GB", "TB", "PB", "EB"]
    for unit in units:
        size /= 1000
        if size < 999.5 or unit == units[-1]:
            break
    return f"{exact} ({size:.3g} {unit})"
