"""What separates the fields of a table that is text, and how its text is encoded."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from manyview.readers.text import is_number

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "spaces"}
"""What is known, and what it is called."""

ENCODINGS = ("utf-8-sig", "cp1252", "latin-1")
"""What is tried, one after the other; the last can be anything."""

_UNLIKELY_IN_FIELDS = ("\t", "|", ";", ",")  # a comma may be a decimal mark, the others hardly


def find_encodings(head: bytes) -> tuple[str, ...]:
    """Encodings to try for a text that begins with these bytes.

    Examples
    --------
    >>> find_encodings("a,b".encode("utf-16"))
    ('utf-16',)
    """
    return ("utf-16",) if head[:2] in (b"\xff\xfe", b"\xfe\xff") else ENCODINGS


def find_separator(lines: Sequence[str], path: Path) -> str:
    r"""What separates fields, by the first lines that are not blank.

    What every line has as often goes before what only some have; then what the file's name says.

    Examples
    --------
    >>> find_separator(["a;b", "1,5;2,5"], Path("t.csv")), find_separator(["1 2", "3 4"], Path("t.txt"))
    (';', ' ')
    """
    usual = "\t" if {".tsv", ".tab"} & set(path.suffixes) else ","
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]
    counts = {each: {line.count(each) for line in bare} for each in _UNLIKELY_IN_FIELDS}
    steady = [each for each, found in counts.items() if len(found) == 1 and 0 not in found]
    if steady and len(lines) > 1:
        return usual if usual == "\t" and usual in steady else steady[0]
    if not any(each in lines[0] for each in _UNLIKELY_IN_FIELDS):
        return " " if _are_in_columns(lines) else usual
    first = {each: lines[0].count(each) for each in _UNLIKELY_IN_FIELDS}
    return usual if first[usual] else max(first, key=lambda each: first[each])


def split_fields(line: str, separator: str) -> list[str]:
    """The fields of a line, without spaces around them."""
    line = single_spaced(line) if separator == " " else line
    return [field.strip() for field in next(csv.reader([line], delimiter=separator), [])]


def single_spaced(line: str) -> str:
    """A line with one space between fields, and none before them."""
    return " ".join(line.split())


def _are_in_columns(lines: Sequence[str]) -> bool:
    """Whether all lines have as many words, several, and a number among those of the last."""
    fields = [line.split() for line in lines]
    is_even = len({len(each) for each in fields}) == 1 and len(fields[0]) > 1
    return is_even and any(map(is_number, fields[-1]))
