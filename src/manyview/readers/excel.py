"""Spreadsheets of Excel and OpenDocument: one sheet is one table, its first line the names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.columns import table_contents
from manyview.readers.contents import Contents, Request
from manyview.readers.csv import MISSING
from manyview.readers.numerals import convert_columns
from manyview.readers.text import need
from manyview.sources.room import refuse_large, refuse_large_archive
from manyview.wording import first_few, repeated


def read(request: Request) -> Contents:
    """Views of a sheet: the only one that holds something, or the one that the key names."""
    sheets = _read_sheets(request.path)
    name, key = _choose_sheet(sheets, request)
    table = _as_table(sheets[name], f"{request.path}::{name}")
    aside = (request.id_column, request.label_column, *request.levels)
    written = [n for n, c in table.items() if c.dtype.kind == "U" and n not in aside]
    found = convert_columns(table, written, request.decimal, usual=request.usual or ".")
    how = f"sheet {name!r}; {found.remark}" if found.remark else f"sheet {name!r}"
    # A sheet that is asked for by its name gives it to the view.
    own = request.name or (name if request.key is not None and key is None else None)
    asked = replace(request, key=key, name=own)
    contents = table_contents(found.table, asked, kind="Excel", how=how)
    return replace(contents, decimal=found.decimal)


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every column of the only sheet by name."""
    sheets = _read_sheets(path)
    name, _ = _choose_sheet(sheets, Request(path))
    return _as_table(sheets[name], f"{path}::{name}")


def _read_sheets(path: Path) -> dict[str, list[list[Any]]]:
    """The rows of every sheet that holds something."""
    calamine = need("python_calamine", path, "a spreadsheet", extra="excel")
    refuse_large_archive(path)
    with calamine.CalamineWorkbook.from_path(str(path)) as book:
        sheets = {name: _read_sheet(book, name, path) for name in book.sheet_names}
    found = {name: [row for row in rows if not _is_blank(row)] for name, rows in sheets.items()}
    found = {name: rows for name, rows in found.items() if rows}
    if not found:
        raise ReadError(f"{path} has no sheet that holds anything.")
    return found


def _read_sheet(book: Any, name: str, path: Path) -> list[list[Any]]:
    sheet = book.get_sheet_by_name(name)
    cells = int(sheet.total_height) * int(sheet.total_width)  # one far away makes many empty ones
    refuse_large(16 * cells, path, f"sheet {name!r}")
    rows: list[list[Any]] = sheet.to_python()
    return rows


def _is_blank(row: Sequence[Any]) -> bool:
    return all(cell is None or cell == "" for cell in row)


def _choose_sheet(sheets: dict[str, Any], request: Request) -> tuple[str, str | None]:
    """The sheet that is wanted, and what is wanted of it: ``SHEET``, ``COLUMN`` or ``SHEET::COLUMN``."""
    key = request.key
    if key is not None and key in sheets:
        return key, None
    sheet, separator, column = (key or "").partition("::")
    if separator and sheet in sheets:
        return sheet, column
    if len(sheets) == 1:
        return next(iter(sheets)), key
    what = f"no sheet {key!r}" if key is not None else "several sheets"
    raise ReadError(
        f"{request.path} has {what}: there are {first_few([*sheets])}. Say which one, "
        f"{request.path}::{next(iter(sheets))}."
    )


def _as_table(rows: Sequence[Sequence[Any]], where: str) -> dict[str, npt.NDArray[Any]]:
    width = max(map(len, rows))
    cells = [[*row, *[""] * (width - len(row))] for row in rows]
    has_names = any(isinstance(cell, str) and cell for cell in cells[0])
    names = [_as_text(cell) for cell in cells[0]] if has_names else [""] * width
    columns = list(zip(*cells[has_names:], strict=True))
    if not columns:
        raise ReadError(f"{where} has a line of names but no rows.")
    used = [i for i in range(width) if names[i] or not _is_blank(columns[i])]
    default = "unnamed" if has_names else "column"
    named = {i: names[i] or f"{default}_{i}" for i in used}
    if twice := repeated(named.values()):
        raise ReadError(f"{where} has several columns called {first_few(twice)}.")
    return {named[i]: _as_column(columns[i]) for i in used}


def _as_column(cells: Sequence[Any]) -> npt.NDArray[Any]:
    """Cells of a column as numbers, truth values or days if all are; else as text, empty if missing."""
    missing = [
        cell is None or (isinstance(cell, str) and cell.strip() in MISSING) for cell in cells
    ]
    known = [cell for cell, lacks in zip(cells, missing, strict=True) if not lacks]
    if known and all(isinstance(cell, bool) for cell in known) and len(known) == len(cells):
        return np.array(cells, dtype=bool)
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known):
        return np.array([np.nan if m else c for c, m in zip(cells, missing, strict=True)], float)
    for kind, unit in ((date, "datetime64[us]"), (timedelta, "timedelta64[us]")):
        if all(isinstance(cell, kind) for cell in known):
            return np.array(["NaT" if m else c for c, m in zip(cells, missing, strict=True)], unit)
    return np.array(
        ["" if m else _as_text(c) for c, m in zip(cells, missing, strict=True)], np.str_
    )


def _as_text(cell: Any) -> str:
    """A cell as text: 2019, not 2019.0."""
    is_whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if is_whole else str(cell).strip()
