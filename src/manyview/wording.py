"""Numbers and names in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt


def count(number: int, noun: str) -> str:
    """Give a number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(12000, "row")
    ('1 row', '12 000 rows')
    """
    plural = noun if number == 1 else f"{noun}s"
    return f"{number:,} {plural}".replace(",", " ")


def lacks_columns(where: str, missing: Sequence[str]) -> str:
    """Say which columns of a fitted model are missing."""
    return (
        f"{where} lacks {count(len(missing), 'column')} that the model was fitted to: "
        f"{first_few(missing)}."
    )


def first_few(items: Sequence[Any] | npt.NDArray[Any], n: int = 5) -> str:
    """Give the first of many names, and how many there are beyond.

    Examples
    --------
    >>> first_few(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(str(item)) for item in items[:n])
    return shown if len(items) <= n else f"{shown} and {len(items) - n} more"
