"""How much memory the rows of one call may take."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from manyview.machine import free_memory

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
_BINARY = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
_FALLBACK = 4 << 30  # where the system does not tell what is free
_LEAST = 64 << 20  # what counts as free in any case


def memory_limit(value: float | str | None) -> int:
    """Give a number of bytes: as it is, from text such as "1.5 GB", or a quarter of what is free.

    Examples
    --------
    >>> memory_limit("1.5 GB"), memory_limit("64MiB"), memory_limit(1e6)
    (1500000000, 67108864, 1000000)
    """
    if value is None:
        free = free_memory()
        return max(_FALLBACK if free is None else free, _LEAST) // 4
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
