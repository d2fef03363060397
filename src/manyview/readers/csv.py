"""Tables as text, separated by commas, tabs or semicolons, with or without a line of names."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.columns import table_contents
from manyview.readers.contents import Contents, Request
from manyview.readers.text import is_number, open_bytes, packing_errors
from manyview.wording import first_few

MISSING = ("", "NA", "N/A", "na", "NaN", "nan", "null", "NULL", "None", "?")
"""Texts that stand for a missing value."""

_BATCH_FIELDS = 100_000  # small batches stay in the processor's cache
_BLANK = " \r\n"  # not tabs: a line of them is a row of empty fields
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons"}


@dataclass(frozen=True)
class _Layout:
    separator: str
    names: list[str]
    has_names: bool
    has_numbers_as_names: bool = False

    @property
    def words(self) -> str:
        words = f"separated by {_SEPARATORS[self.separator]}"
        if self.has_numbers_as_names:
            words += "; the first line numbers the columns"
        return words if self.has_names else f"{words}; no line of names, so columns are numbered"


def read(request: Request) -> Contents:
    """Views of a table; empty fields and NA are missing values."""
    # Ids stay as they are written: "007" is not 7, and long ones do not fit a float.
    as_text = {request.id_column, request.label_column}
    names, columns, layout = _read_table(request.path, lambda name: name in as_text)
    table = dict(zip(names, columns, strict=True))
    kind = "TSV" if layout.separator == "\t" else "CSV"
    return table_contents(table, request, kind=kind, how=layout.words)


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every column by name, as text."""
    names, columns, _ = _read_table(path, lambda name: True)
    return dict(zip(names, columns, strict=True))


def _read_table(
    path: Path, is_text: Callable[[str], bool]
) -> tuple[list[str], list[npt.NDArray[Any]], _Layout]:
    with packing_errors(path), open_bytes(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        try:
            layout = _find_layout(text, path)
            columns = _read_columns(text, layout, path, is_text)
        except UnicodeDecodeError as error:
            raise ReadError(
                f"{path} is not text in UTF-8 ({error.reason} at byte {error.start}). Save it as UTF-8."
            ) from error
        except csv.Error as error:
            raise ReadError(f"{path} cannot be read as a table: {error}.") from error
    return layout.names, columns, layout


def _find_layout(text: io.TextIOWrapper, path: Path) -> _Layout:
    line = _next_line(text)
    if not line:
        raise ReadError(f"{path} is empty.")
    if "\0" in line:
        raise ReadError(f"{path} is not a text file.")
    if not any(separator in line for separator in _SEPARATORS):
        _refuse_spaces(line, text, path)
    separator = _find_separator(line, path)
    fields = [field.strip() for field in next(csv.reader([line], delimiter=separator))]
    counts = _count_columns(fields, text, separator)
    if counts or not all(is_number(field) or field in MISSING for field in fields):
        # A table written with its index has no name for the first column.
        names = [field or f"unnamed_{i}" for i, field in enumerate(fields)]
        _refuse_repeated(names, path)
        return _Layout(separator, names, has_names=True, has_numbers_as_names=counts)
    text.seek(0)
    return _Layout(separator, [f"column_{i}" for i in range(len(fields))], has_names=False)


def _next_line(text: io.TextIOWrapper) -> str:
    """The next line that is not blank; empty at the end."""
    line = text.readline()
    while line and not line.strip(_BLANK):
        line = text.readline()
    return line


def _count_columns(fields: list[str], text: io.TextIOWrapper, separator: str) -> bool:
    """Whether the first line numbers the columns from 0, as pandas does where they have no names.

    ``0,1`` may as well be a row of whole numbers: two columns are numbered only if the next line
    holds anything else.
    """
    numbered = fields[1:] if fields[0] == "" else fields  # a table written with its index
    if len(fields) < 2 or numbered != [str(i) for i in range(len(numbered))]:
        return False
    if len(fields) > 2 or len(numbered) < len(fields):
        return True
    following = _next_line(text).strip(_BLANK).split(separator)
    text.seek(0)
    _next_line(text)
    return not all(field.strip().isdecimal() for field in following)


def _refuse_spaces(line: str, text: io.TextIOWrapper, path: Path) -> None:
    """Refuse a table whose first or second line is several numbers with spaces between."""
    for found in (line.split(), _next_line(text).split()):
        if len(found) > 1 and all(map(is_number, found)):
            raise ReadError(
                f"{path} has its numbers separated by spaces. Separate them by commas, tabs or "
                "semicolons (numpy.savetxt does with delimiter=',')."
            )
    text.seek(0)
    _next_line(text)


def _refuse_repeated(names: list[str], path: Path) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ReadError(f"{path} has several columns called {first_few(repeated)}.")


def _find_separator(line: str, path: Path) -> str:
    usual = "\t" if {".tsv", ".tab"} & set(path.suffixes) else ","
    counts = {separator: line.count(separator) for separator in _SEPARATORS}
    return usual if counts[usual] else max(counts, key=lambda s: (counts[s], s == usual))


def _read_columns(
    text: io.TextIOWrapper, layout: _Layout, path: Path, is_text: Callable[[str], bool]
) -> list[npt.NDArray[Any]]:
    width = len(layout.names)
    parts: list[list[npt.NDArray[Any]]] = [[] for _ in range(width)]
    rows = _rows(text, layout, path)
    while batch := list(islice(rows, max(1, _BATCH_FIELDS // width))):
        for name, part, fields in zip(layout.names, parts, zip(*batch, strict=True), strict=True):
            part.append(_as_text(fields) if is_text(name) else _numbers_if_all(fields))
    if not any(parts):
        raise ReadError(f"{path} has a line of names but no rows.")
    return [_join(part) for part in parts]


def _rows(text: io.TextIOWrapper, layout: _Layout, path: Path) -> Iterator[list[str]]:
    """The fields of every line that is not blank; lines with more or fewer are refused."""
    width, reader = len(layout.names), csv.reader(text, delimiter=layout.separator)
    for row in reader:
        if not row or (len(row) == 1 and row[0] and not row[0].strip(_BLANK)):
            continue
        if len(row) != width:
            raise ReadError(
                f"{path} is ragged: line {reader.line_num + layout.has_names} has {len(row)} fields, "
                f"but the first has {width}."
            )
        yield row


def _as_text(fields: Sequence[str]) -> npt.NDArray[np.str_]:
    return np.array([field.strip() for field in fields], dtype=np.str_)


def _numbers_if_all(fields: Sequence[str]) -> npt.NDArray[Any]:
    try:
        return np.array(list(map(float, fields)))
    except ValueError:
        pass
    text, missing = _as_text(fields), set(MISSING)
    try:
        return np.array([np.nan if field in missing else float(field) for field in text])
    except ValueError:
        return text


def _join(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Put a column's batches together; text in any of them makes all text."""
    if len({part.dtype.kind for part in parts}) > 1:
        parts = [
            p if p.dtype.kind == "U" else np.array([f"{value:g}" for value in p]) for p in parts
        ]
    return np.concatenate(parts)
