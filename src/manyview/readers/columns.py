"""Tables: which columns are features, which are ids and labels, and how they make views."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ParameterError, ReadError
from manyview.readers.contents import LABEL_NAMES, Contents, Request, as_labels
from manyview.sources import Part, stored_ids
from manyview.sources.table import Table
from manyview.wording import count, first_few, lacks_columns

Column = npt.NDArray[Any]

_ID_NAMES = ("id", "index", "row", "unnamed_0")


def split_columns(names: Sequence[str], request: Request) -> dict[str, list[str]]:
    """The columns of each view of a table, by the view's name."""
    if request.key is not None:
        return {request.key: match_columns(names, [request.key], request)}
    if request.columns:
        return {
            view: match_columns(names, wanted, request) for view, wanted in request.columns.items()
        }
    dropped = found_drops(names, request)
    unused = match_columns(names, dropped, request)
    if request.features is not None:
        for parameter, own in (("drop", unused), ("label_column", [request.label_column])):
            for name in {*own} & {*request.features}:
                raise ParameterError(parameter, f"must not name a fitted column; got {name!r}.")
        return {request.name or request.stem: _known_features(names, request.features, request)}
    left_out = {request.id_column, request.label_column, *unused}
    kept = [name for name in names if name not in left_out]
    if dropped and not kept:
        raise ParameterError("drop", f"must leave some column of {request.path} as a feature.")
    if not kept:
        raise ReadError(
            f"{request.path} has no column left that could be a feature: its columns are "
            f"{first_few(names)}."
        )
    return {request.name or request.stem: kept}


def found_drops(names: Sequence[str], request: Request) -> tuple[str, ...]:
    """What the request drops that these columns have; another file may have the rest."""
    return tuple(
        pattern
        for pattern in request.drop
        if pattern in names or any(fnmatchcase(name, pattern) for name in names)
    )


def _known_features(names: Sequence[str], features: Sequence[str], request: Request) -> list[str]:
    """The columns with these names in this order; a column of lists numbers its parts."""
    wanted = dict.fromkeys(f if f in names else re.sub(r"_\d+$", "", f) for f in features)
    missing = [name for name in wanted if name not in names]
    if missing:
        raise ReadError(lacks_columns(str(request.path), missing))
    return list(wanted)


def match_columns(names: Sequence[str], patterns: Sequence[str], request: Request) -> list[str]:
    """The columns with these names, or that match these patterns, in the table's order."""
    found: set[str] = set()
    for pattern in patterns:
        # A name is taken as it is even if it holds a star or a bracket.
        matches = [pattern] if pattern in names else [n for n in names if fnmatchcase(n, pattern)]
        if not matches and request.key is None:
            problem = f"must be among those of {request.path}, {first_few(names)}; got {pattern!r}."
            raise ParameterError("columns", problem)
        if not matches:
            raise ReadError(
                f"{request.path} has no column {pattern!r}; its columns are {first_few(names)}."
            )
        found.update(matches)
    found -= {request.id_column, request.label_column} - set(patterns)
    return [name for name in names if name in found]


def table_contents(
    columns: Mapping[str, Column],
    request: Request,
    *,
    kind: str,
    how: str = "",
    index: npt.NDArray[Any] | None = None,
) -> Contents:
    """Views, ids and labels of a table's columns, given in the table's order.

    A column may hold a list of the same length in every row: shape (n, d). ``kind`` and ``how`` say in
    the note what the format is, and how the file was understood. The ``index`` names rows where no
    column does.
    """
    ids = take_ids(columns, request)
    is_indexed = ids is None and index is not None
    if is_indexed:
        ids, request = index, replace(request, id_column=None)
    parts = tuple(
        _make_part(view, {name: columns[name] for name in names}, ids)
        for view, names in split_columns(list(columns), request).items()
    )
    if parts[0].rows.shape[0] == 0:
        raise ReadError(f"{request.path} has columns but no rows.")
    note = table_note(parts, request, kind=kind, how=how)
    labels, dropped = take_labels(columns, request), found_drops([*columns], request)
    return Contents(parts, note, labels, dropped, is_indexed)


def table_note(parts: Sequence[Part], request: Request, *, kind: str, how: str = "") -> str:
    """What was taken as rows and columns of a table, in words."""
    views = [
        f"{part.name!r}: {count(part.rows.shape[1], 'column')}"
        + (f" ({_ends(part.columns)})" if part.columns else "")
        for part in parts
    ]
    n_rows = count(parts[0].rows.shape[0], "row")
    words = f"{request.path}: {kind}, {n_rows}, one line each; {'; '.join(views)}"
    if parts[0].ids is not None:
        words += (
            f"; ids from {request.id_column!r}" if request.id_column else "; ids from its index"
        )
    if request.label_column:
        words += f"; labels from {request.label_column!r}"
    return f"{words}{'; ' + how if how else ''}.{_doubts(parts, request)}"


def _doubts(parts: Sequence[Part], request: Request) -> str:
    """Columns that are called like ids or labels, but were not named as such, in words."""
    names, words = [name for part in parts for name in part.columns or ()], request.vocabulary
    doubts = [(name, "ids", words.id_column) for name in names if name.lower() in _ID_NAMES]
    labels = [name for name in names if name.lower() in LABEL_NAMES]
    doubts += [(name, "true labels", words.label_column) for name in labels]
    return "".join(
        f" Column {name!r} is taken as any other: if it holds {what}, name it with {how}."
        for name, what, how in doubts
    )


def _ends(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} ... {names[-1]}"


def take_ids(columns: Mapping[str, Any], request: Request) -> npt.NDArray[Any] | None:
    """The ids that a table has, if it has the column that was asked for."""
    if request.id_column is None or request.id_column not in columns:
        return None
    return stored_ids(columns[request.id_column])


def take_labels(columns: Mapping[str, Any], request: Request) -> npt.NDArray[Any] | None:
    """The labels that a table has, if it has the column that was asked for."""
    if request.label_column is None or request.label_column not in columns:
        return None
    return as_labels(columns[request.label_column])


def _make_part(view: str, columns: Mapping[str, Column], ids: npt.NDArray[Any] | None) -> Part:
    """A view of some columns: an array if all are numbers, else a table of them as they are."""
    parts = [c if c.ndim == 2 else c[:, None] for c in columns.values()]
    # A column of one number for each row keeps its name; one of lists numbers its parts.
    names = [
        part_name
        for name, part in zip(columns, parts, strict=True)
        for part_name in (
            [name] if part.shape[1] == 1 else [f"{name}_{i}" for i in range(part.shape[1])]
        )
    ]
    if any(part.dtype.kind not in "biuf" for part in parts):
        each = (part[:, i] for part in parts for i in range(part.shape[1]))
        return Part(view, Table(dict(zip(names, each, strict=True))), tuple(names), ids)
    kind = np.result_type(*(part.dtype for part in parts))
    return Part(view, np.concatenate(parts, axis=1, dtype=kind), tuple(names), ids)
