"""Numbers and names in messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt


def count(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(12000, "row")
    ('1 row', '12 000 rows')
    """
    plural = noun if number == 1 else f"{noun}s"
    return f"{number:,} {plural}".replace(",", " ")


def visible(text: str) -> str:
    r"""Text whose control characters, and those that turn its direction, are shown as codes.

    A terminal, or a page, would obey them otherwise. Ends of lines and tabs stay.

    Examples
    --------
    >>> print(visible("red\x1b[31m, \u202eabc"))
    red\x1b[31m, \u202eabc
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def bytes_in_words(number: float) -> str:
    """A number of bytes in the unit that suits it, rounded up: a limit copied from it is enough.

    Examples
    --------
    >>> bytes_in_words(900), bytes_in_words(2_234_567), bytes_in_words(41e9)
    ('900 B', '2.3 MB', '41 GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            digits = 1 if number < 10 * size else 0
            return f"{ceil(round(number / size * 10**digits, 6)) / 10**digits:.{digits}f} {unit}"
    return f"{number:.0f} B"


def seconds_in_words(seconds: float) -> str:
    """A time in the unit that suits it.

    Examples
    --------
    >>> seconds_in_words(0.234), seconds_in_words(7.25), seconds_in_words(200), seconds_in_words(7300)
    ('0.23 s', '7.2 s', '3 min 20 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.2g} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def lacks_columns(where: str, missing: Sequence[str]) -> str:
    """Say which columns of a fitted model are missing."""
    return (
        f"{where} lacks {count(len(missing), 'column')} that the model was fitted to: "
        f"{first_few(missing)}."
    )


def align(rows: Sequence[Sequence[object]], *, right: Container[int] = ()) -> list[str]:
    r"""Lines with the cells of each row below each other, in some columns to the right.

    Examples
    --------
    >>> print(*align([["name", "rows"], ["a", 5], ["long one", 120]], right=[1]), sep="\n")
    name      rows
    a            5
    long one   120
    """
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]


def repeated(names: Iterable[str]) -> list[str]:
    """The names that are there more than once, in the order of their first.

    Examples
    --------
    >>> repeated(["b", "a", "c", "a", "b"])
    ['b', 'a']
    """
    return [name for name, times in Counter(names).items() if times > 1]


def first_few(items: Sequence[Any] | npt.NDArray[Any], n: int = 5) -> str:
    """The first of many names, and how many there are beyond.

    Examples
    --------
    >>> first_few(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(str(item)) for item in items[:n])
    return shown if len(items) <= n else f"{shown} and {len(items) - n} more"
