"""Lines before a table that begin with a number sign: remarks, or the names of its columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from manyview.readers.separators import find_separator, split_fields
from manyview.readers.text import is_number

_MARK = "#"


def find_comments(lines: Iterable[str], path: Path) -> tuple[int, bool]:
    r"""How many lines stand before a table, and whether its line of names begins with the mark, too.

    The last line with a mark has the names if it has as many fields as the one that follows, and that
    one has none itself. Where all lines begin with the mark, it belongs to the values.

    Examples
    --------
    >>> find_comments(["# made by hand\n", "a,b\n", "1,2\n"], Path("t.csv"))
    (1, False)
    >>> find_comments(["## made by hand\n", "#a,b\n", "1,2\n"], Path("t.csv"))
    (1, True)
    """
    n_lines, last = 0, None
    after: list[str] = []
    for number, line in enumerate(lines):
        if not line.strip(" \r\n"):
            continue
        if line.startswith(_MARK) and not after:
            n_lines, last = number + 1, (number, line)
        elif last is None:
            return 0, False
        else:
            after.append(line)
        if len(after) == 2:
            break
    if last is None or not after:
        return 0, False
    if _names_columns(without_mark(last[1]), after, path):
        return last[0], True
    return n_lines, False


def without_mark(line: str) -> str:
    """The line without its mark, unless the mark is a name of its own."""
    bare = line.lstrip(_MARK).lstrip(" ")
    return bare if bare[:1].isalnum() or bare[:1] in "_\"'" else line


def _names_columns(line: str, after: list[str], path: Path) -> bool:
    separator = find_separator([line, *after], path)
    names, first, *more = [split_fields(each, separator) for each in (line, *after)]
    if len(names) < 2 or len(names) != len(first) or any(map(is_number, names)):
        return False
    has_own = not any(map(is_number, first)) and any(map(is_number, more[0] if more else []))
    return not has_own
