"""How much memory the rows of one call may take."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
_BINARY = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
_FALLBACK = 4 << 30  # where the system does not tell


def memory_limit(value: float | str | None) -> int:
    """Give a number of bytes: as it is, from text such as "1.5 GB", or a quarter of what is free.

    Examples
    --------
    >>> memory_limit("1.5 GB"), memory_limit("64MiB"), memory_limit(1e6)
    (1500000000, 67108864, 1000000)
    """
    if value is None:
        return free_memory() // 4
    number: Any = _from_text(value) if isinstance(value, str) else value
    is_number = isinstance(number, int | float | np.number) and not isinstance(number, bool)
    if not is_number or not 0 < number < float("inf"):
        raise ValueError(
            "memory_limit must be a positive number of bytes, or text such as '2 GB' or '512 MiB'; "
            f"got {value!r}."
        )
    return int(number)


def _from_text(text: str) -> float | None:
    found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([kmgt]?i?)b?\s*", text.lower())
    unit = None if found is None else {**_UNITS, **_BINARY}.get(found[2])
    return None if found is None or unit is None else float(found[1]) * unit


def free_memory() -> int:
    """Bytes of memory that this process can still get."""
    return min([_available(), *_left_in_group()])


def _available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not on every system
        return _FALLBACK


def _left_in_group() -> list[int]:
    """What a container's limit leaves, if there is one."""
    folder = Path("/sys/fs/cgroup")
    for limit, used in (
        (folder / "memory.max", folder / "memory.current"),
        (folder / "memory/memory.limit_in_bytes", folder / "memory/memory.usage_in_bytes"),
    ):
        try:
            return [max(int(limit.read_text()) - int(used.read_text()), 64 << 20)]
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return []


def in_words(n_bytes: float) -> str:
    """Give a number of bytes as text.

    Examples
    --------
    >>> in_words(1_234_567), in_words(2.5e9)
    ('1.3 MB', '2.5 GB')
    """
    # Rounded up, so that a limit copied from an error message is enough.
    for unit, size in (("GB", 1000**3), ("MB", 1000**2)):
        if n_bytes >= size:
            return f"{-(-n_bytes // (size / 10)) / 10:.1f} {unit}"
    return f"{-(-n_bytes // 1000):.0f} kB"
