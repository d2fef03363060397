"""Tables as text, whatever separates its fields, with or without a line of names."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ParameterError, ReadError
from manyview.readers.columns import table_contents
from manyview.readers.comments import find_comments, without_mark
from manyview.readers.contents import Contents, Request
from manyview.readers.guarding import unguard
from manyview.readers.numerals import Conversion, convert_columns
from manyview.readers.separators import (
    ENCODINGS,
    SEPARATORS,
    find_encodings,
    find_separator,
    single_spaced,
    split_fields,
)
from manyview.readers.text import is_number, open_bytes, packing_errors
from manyview.wording import count, first_few, repeated

MISSING = (
    "", "NA", "N/A", "na", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN",
    "null", "NULL", "None", "?",
)  # fmt: skip
"""Texts that stand for a missing value."""

_BATCH_ROWS, _BATCH_FIELDS = 20_000, 2_000_000  # whichever is reached first
_BLANK = " \r\n"  # not tabs: a line of them is a row of empty fields
_LOOKED_AT = 10  # lines


@dataclass(frozen=True)
class _Layout:
    separator: str
    names: list[str]
    has_names: bool
    has_numbers_as_names: bool = False
    encoding: str = ENCODINGS[0]
    n_comments: int = 0  # lines before it
    has_mark: bool = False  # before its names, as if they were a comment

    @property
    def words(self) -> str:
        words = f"separated by {SEPARATORS[self.separator]}"
        if self.encoding != ENCODINGS[0]:
            words += f"; not in UTF-8, read as {self.encoding}"
        if self.n_comments:
            words += f"; comments before it are skipped ({count(self.n_comments, 'line')})"
        if self.has_mark:
            words += "; its names are in the line that begins with #"
        if self.has_numbers_as_names:
            words += "; the first line numbers the columns"
        return words if self.has_names else f"{words}; no line of names, so columns are numbered"


def read(request: Request) -> Contents:
    """Views of a table; empty fields and NA are missing values."""
    mark = request.decimal or request.usual
    found, layout = _read_numbers(request, is_all_text=mark == ",")
    if mark is None and found.decimal == ",":
        # Where a column has decimal commas, what looks like a number may be another one: 1.234 is 1234.
        mark = found.decimal
        found, layout = _read_numbers(replace(request, usual=mark), is_all_text=True)
    table = found.table
    if request.id_column is not None and request.id_column in table:
        table[request.id_column] = _integers_if_same(table[request.id_column])
    kind = "TSV" if layout.separator == "\t" else "CSV"
    how = f"{layout.words}; {found.remark}" if found.remark else layout.words
    contents = table_contents(table, request, kind=kind, how=how)
    return replace(contents, decimal=mark or found.decimal)


def _read_numbers(request: Request, *, is_all_text: bool) -> tuple[Conversion, _Layout]:
    """The table with numbers where it has them, also where all of it is read as text first."""
    # Ids stay as they are written: "007" is not 7, and long ones do not fit a float.
    aside, levels = {request.id_column, request.label_column}, {*request.levels}
    names, columns, layout = _read_table(
        request.path, lambda name: is_all_text or name in aside | levels, request.encoding
    )
    table = dict(zip(names, columns, strict=True))
    for name in names:
        if name in aside:
            table[name] = unguard(table[name])
        elif is_all_text or name in levels:
            table[name] = _without_missing(table[name])
    written = [n for n in names if table[n].dtype.kind == "U" and n not in aside | levels]
    usual = request.usual or ("," if layout.separator == ";" else ".")
    found = convert_columns(table, written, request.decimal, usual=usual)
    still = [n for n in written if is_all_text and found.table[n].dtype.kind == "U"]
    plain = {name: _numbers_if_all(found.table[name].tolist()) for name in still}
    return found._replace(table={**found.table, **plain}), layout


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every column by name, as text."""
    names, columns, _ = _read_table(path, lambda name: True)
    return dict(zip(names, map(unguard, columns), strict=True))


def _read_table(
    path: Path, is_text: Callable[[str], bool], encoding: str | None = None
) -> tuple[list[str], list[npt.NDArray[Any]], _Layout]:
    with packing_errors(path):
        with open_bytes(path) as raw:
            encodings = (encoding,) if encoding else find_encodings(raw.read(2))
        for each in encodings:
            try:
                return _read_encoded(path, is_text, each)
            except UnicodeError as error:
                wrong = error
            except LookupError as error:
                raise ParameterError(
                    "encoding", f"must be one that Python knows; {error}."
                ) from error
    raise ReadError(
        f"{path} is not text in {encodings[0]} ({wrong}). Say what it is in, or save it as UTF-8."
    )


def _read_encoded(
    path: Path, is_text: Callable[[str], bool], encoding: str
) -> tuple[list[str], list[npt.NDArray[Any]], _Layout]:
    with open_bytes(path) as raw:
        text = io.TextIOWrapper(raw, encoding=encoding, newline="")
        try:
            layout = replace(_find_layout(text, path), encoding=encoding)
            lines = map(single_spaced, text) if layout.separator == " " else text
            columns = _read_columns(lines, layout, path, is_text)
        except csv.Error as error:
            raise ReadError(f"{path} cannot be read as a table: {error}.") from error
    mixed = {name for name, column in zip(layout.names, columns, strict=True) if column is None}
    if mixed:
        names, again, layout = _read_encoded(path, lambda n: is_text(n) or n in mixed, encoding)
        each = zip(names, again, strict=True)
        return names, [_without_missing(c) if n in mixed else c for n, c in each], layout
    return layout.names, [column for column in columns if column is not None], layout


def _find_layout(text: io.TextIOWrapper, path: Path) -> _Layout:
    n_comments, has_mark = find_comments(text, path)
    _rewind(text, n_comments)
    lines = [line for line in (_next_line(text) for _ in range(_LOOKED_AT)) if line]
    if not lines:
        raise ReadError(f"{path} is empty.")
    if "\0" in lines[0]:
        raise ReadError(f"{path} is not a text file.")
    first = without_mark(lines[0]) if has_mark else lines[0]
    lines[0], has_mark = first, first != lines[0]
    separator = find_separator(lines, path)
    _rewind(text, n_comments)
    _next_line(text)
    fields = split_fields(lines[0], separator)
    counts = _count_columns(fields, lines[1:2], separator)
    if counts or not all(is_number(field) or field in MISSING for field in fields):
        # A table written with its index has no name for the first column.
        names = [field or f"unnamed_{i}" for i, field in enumerate(fields)]
        if twice := repeated(names):
            raise ReadError(f"{path} has several columns called {first_few(twice)}.")
        return _Layout(
            separator, names, has_names=True, has_numbers_as_names=counts, n_comments=n_comments,
            has_mark=has_mark,
        )  # fmt: skip
    _rewind(text, n_comments)
    names = [f"column_{i}" for i in range(len(fields))]
    return _Layout(separator, names, has_names=False, n_comments=n_comments)


def _rewind(text: io.TextIOWrapper, n_lines: int) -> None:
    """Go to the line after the first ``n_lines``."""
    text.seek(0)
    for _ in range(n_lines):
        text.readline()


def _next_line(text: io.TextIOWrapper) -> str:
    """The next line that is not blank; empty at the end."""
    line = text.readline()
    while line and not line.strip(_BLANK):
        line = text.readline()
    return line


def _count_columns(fields: list[str], following: Sequence[str], separator: str) -> bool:
    """Whether the first line numbers the columns from 0, as pandas does where they have no names.

    ``0,1`` may as well be a row of whole numbers: two columns are numbered only if the next line
    holds anything else.
    """
    numbered = fields[1:] if fields[0] == "" else fields  # a table written with its index
    if len(fields) < 2 or numbered != [str(i) for i in range(len(numbered))]:
        return False
    if len(fields) > 2 or len(numbered) < len(fields):
        return True
    following = [field for line in following for field in line.strip(_BLANK).split(separator)]
    return not all(field.strip().isdecimal() for field in following)


def _read_columns(
    text: Iterable[str], layout: _Layout, path: Path, is_text: Callable[[str], bool]
) -> list[npt.NDArray[Any] | None]:
    """Each column; None for one that is text, but not in all batches."""
    width = len(layout.names)
    keep = np.array([is_text(name) for name in layout.names])
    parts: list[list[npt.NDArray[Any]]] = [[] for _ in range(width)]
    first = layout.n_comments + (2 if layout.has_names else 1)
    n_rows = max(1, min(_BATCH_ROWS, _BATCH_FIELDS // width))
    for batch in _batches(text, layout.separator, n_rows):
        whole = [row for row in batch if row and (isinstance(row, list) or row.strip(_BLANK))]
        _refuse_ragged(batch, layout.separator, width, path, first)
        first += len(batch)
        if whole:
            for part, column in zip(parts, _convert(whole, layout.separator, keep), strict=True):
                part.append(column)
    if not any(parts):
        raise ReadError(f"{path} has a line of names but no rows.")
    joined = [np.concatenate(p) if len({c.dtype.kind for c in p}) == 1 else None for p in parts]
    each = zip(joined, keep, strict=True)
    return [c if k or c is None or c.dtype.kind != "U" else _flags_if_all(c) for c, k in each]


def _batches(text: Iterable[str], separator: str, n_rows: int) -> Iterator[list[Any]]:
    """Lines, many at a time; from the first quotation mark on, lists of fields instead."""
    text = _without_nul(text)
    while lines := list(islice(text, n_rows)):
        if any('"' in line for line in lines):
            # A quoted field may hold separators, and go on over several lines.
            reader = csv.reader(chain(lines, text), delimiter=separator)
            while rows := list(islice(reader, n_rows)):
                yield rows
            return
        yield lines


def _without_nul(lines: Iterable[str]) -> Iterator[str]:
    """The lines, unless there is a NUL in one, which no text has."""
    for line in lines:
        if "\0" in line:
            raise csv.Error("it holds NUL bytes; it is damaged, or text in another encoding")
        yield line


def _refuse_ragged(batch: list[Any], separator: str, width: int, path: Path, first: int) -> None:
    for i, row in enumerate(batch):
        n_fields = len(row) if isinstance(row, list) else row.count(separator) + 1
        if n_fields != width and (row if isinstance(row, list) else row.strip(_BLANK)):
            raise ReadError(
                f"{path} is ragged: line {first + i} has {n_fields} fields, but the first has {width}."
            )


def _convert(
    rows: list[Any], separator: str, keep: npt.NDArray[np.bool_]
) -> Iterator[npt.NDArray[Any]]:
    """Each column as numbers if all its fields are and it is not kept as text."""
    parsed = _parse_numbers(rows, separator, np.flatnonzero(~keep))
    numbers = iter(() if parsed is None else parsed)
    texts = _fields(rows, separator, np.flatnonzero(keep | (parsed is None)))
    for is_kept in keep:
        if is_kept:
            yield np.array([field.strip() for field in next(texts)], dtype=np.str_)
        else:
            yield _numbers_if_all(next(texts)) if parsed is None else next(numbers)


def _parse_numbers(
    rows: list[Any], separator: str, columns: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64] | None:
    """Columns of lines all at once, shape (columns, rows); None if a field is no number."""
    if len(columns) == 0:
        return np.zeros((0, len(rows)))
    if isinstance(rows[0], list):
        return None
    try:
        parsed: npt.NDArray[np.float64] = np.loadtxt(
            rows, delimiter=separator, usecols=columns.tolist(), ndmin=2, comments=None
        )
    except ValueError:
        return None
    return parsed.T


def _fields(
    rows: list[Any], separator: str, columns: npt.NDArray[np.int64]
) -> Iterator[tuple[str, ...]]:
    """The fields of some columns, one column after the other."""
    places = columns.tolist()
    split = (row if isinstance(row, list) else row.rstrip("\r\n").split(separator) for row in rows)
    yield from zip(*([row[i] for i in places] for row in split), strict=True)


def _numbers_if_all(fields: Sequence[str]) -> npt.NDArray[Any]:
    missing = set(MISSING)
    if "_" not in "".join(fields):  # Python would take 12_34 for 1234
        with suppress(ValueError):
            return np.array(list(map(float, fields)))
        with suppress(ValueError):
            return np.array([np.nan if f.strip() in missing else float(f) for f in fields])
    text = map(str.strip, fields)
    return np.array(["" if field in missing else field for field in text], dtype=np.str_)


def _without_missing(texts: npt.NDArray[np.str_]) -> npt.NDArray[Any]:
    missing = set(MISSING)
    return _flags_if_all(np.array(["" if t in missing else t for t in texts.tolist()], np.str_))


def _flags_if_all(texts: npt.NDArray[np.str_]) -> npt.NDArray[Any]:
    """Text, where missing is empty, as truth values if all of it is True or False; else as it is."""
    words = {text.lower() for text in set(texts.tolist())}
    if words <= {"true", "false"}:
        return np.asarray(np.char.lower(texts) == "true")
    return np.char.capitalize(texts) if words <= {"true", "false", ""} else texts


def _integers_if_same(texts: npt.NDArray[np.str_]) -> npt.NDArray[Any]:
    """Text as integers, if they are written as it is: not 007, 1e3 or what takes more than 64 bits."""
    try:
        numbers = texts.astype(np.int64)
    except (ValueError, OverflowError):
        return texts
    return numbers if np.array_equal(numbers.astype(np.str_), texts) else texts
