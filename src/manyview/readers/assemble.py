"""Several files -> views of the same rows, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.contents import Contents, ReadView, Request
from manyview.readers.formats import read_file, refuse_columns
from manyview.readers.join import JOINS, match_rows
from manyview.readers.labels import LabelFile, read_labels
from manyview.readers.specification import Specification, parse
from manyview.sources import is_source
from manyview.views.container import Views
from manyview.views.ids import as_ids, places, refuse_repeated
from manyview.views.reordered import select_rows, turned
from manyview.wording import count, first_few


@dataclass(frozen=True)
class Assembled:
    """Views of the same rows.

    Attributes
    ----------
    views : Views
        With ``target`` if labels are known.
    ids : ndarray of str, shape (n,), or None
        What identifies the rows.
    notes : tuple of str
        What was taken as rows, and how they were joined, in words.
    files : tuple of str
        Where each view came from, as it was written.
    """

    views: Views
    ids: npt.NDArray[np.str_] | None
    notes: tuple[str, ...]
    files: tuple[str, ...]


def read_views(
    texts: Sequence[str],
    *,
    labels: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    drop: Sequence[str] = (),
    transpose: Sequence[str] = (),
    join: str = "exact",
    memory_limit: int | None = None,
    folder: Path | None = None,
) -> Assembled:
    r"""Read views from files, and join their rows.

    Parameters
    ----------
    texts : sequence of str
        ``PATH``, ``NAME=PATH``, ``PATH::KEY`` or ``NAME=PATH::KEY``.
    labels : str, optional
        A file of true labels.
    id_column, label_column : str, optional
        Columns of the files that identify rows, and that hold true labels.
    columns : mapping of str to sequence of str, optional
        Views to make of the columns of the only file, a table.
    drop : sequence of str
        Columns of tables that are no features; one of the files must have each.
    transpose : sequence of str
        Names of views whose columns are the samples.
    join : {"exact", "inner", "outer", "order"}
        Rows are joined by id where all files have ids: they must have the same ones, or the common
        ones are kept, or all of them, of which some then lack views. "order" takes rows by their
        place, whatever their ids.
    memory_limit : int, optional
        Files that can be read by rows are loaded if all views take at most so many bytes; by default
        all of them stay on disk.
    folder : Path, optional
        Where relative paths start.

    Returns
    -------
    Assembled

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "colour.csv").write_text("id,red\na,1\nb,2\n")
    >>> _ = (folder / "shape.csv").write_text("id,width\nb,20\na,10\n")
    >>> found = read_views(["colour.csv", "shape.csv"], id_column="id", folder=folder)
    >>> found.ids.tolist(), found.views["shape"].tolist()
    (['a', 'b'], [[10.0], [20.0]])
    """
    if join not in JOINS:
        raise ValueError(f"join must be one of {list(JOINS)}; got {join!r}.")
    if columns and len(texts) != 1:
        raise ReadError(f"Columns split one table into views, but there are {len(texts)} files.")
    parsed = [parse(text, folder=folder) for text in texts]
    if columns:
        refuse_columns(parsed[0].path)
    parts = []
    for found in parsed:
        request = Request(
            found.path, found.key, id_column, label_column, columns or {}, tuple(drop)
        )
        contents = read_file(request)
        parts.append(contents if found.name is None else contents.under(found.name))
    _check_columns_found(parts, id_column, label_column, labels is not None)
    for pattern in drop:
        if not any(pattern in part.dropped for part in parts):
            raise ReadError(f"No file has a column {pattern!r} to drop.")
    file = None if labels is None else read_labels(labels, id_column=id_column, folder=folder)
    return assemble(
        parts, parsed, labels=file, transpose=transpose, join=join, memory_limit=memory_limit
    )


def assemble(
    parts: Sequence[Contents],
    parsed: Sequence[Specification],
    *,
    labels: LabelFile | None = None,
    transpose: Sequence[str] = (),
    join: str = "exact",
    memory_limit: int | None = None,
) -> Assembled:
    """Put what was read from several files together."""
    parts = _turn(parts, transpose)
    if memory_limit is not None:
        parts = _load(parts, memory_limit)
    notes = [part.note for part in parts]
    if labels is not None:
        notes.append(labels.note)
    files = tuple(p.text for part, p in zip(parts, parsed, strict=True) for _ in part.views)
    _check_names([view.name for part in parts for view in part.views])
    ids, rows, words = match_rows(parts, [p.text for p in parsed], join)
    views = [(view, order) for part, order in zip(parts, rows, strict=True) for view in part.views]
    selected = {view.name: select_rows(view.data, order) for view, order in views}
    target, more = _find_target(parts, rows, labels, ids, join)
    made = Views(selected, target=target)
    if any(view.columns for view, _ in views):
        made.feature_names = tuple(view.columns for view, _ in views)
    return Assembled(made, ids, tuple(notes + words + more), files)


def check_ids_found(parts: Sequence[Contents], id_column: str | None) -> None:
    """Raise ReadError if a column of ids was asked for, and no file has it."""
    if id_column is not None and all(part.ids is None for part in parts):
        raise ReadError(f"No file has a column {id_column!r} to identify rows by.")


def _check_columns_found(
    parts: Sequence[Contents], id_column: str | None, label_column: str | None, has_labels: bool
) -> None:
    check_ids_found(parts, id_column)
    if label_column is not None and all(part.labels is None for part in parts):
        raise ReadError(f"No file has a column {label_column!r} of labels.")
    if label_column is not None and has_labels:
        raise ReadError("Labels are given twice: as a file, and as a column. Give one of them.")


def _turn(parts: Sequence[Contents], names: Sequence[str]) -> list[Contents]:
    """Exchange rows and columns of the views with these names."""
    known = [view.name for part in parts for view in part.views]
    for name in names:
        if name not in known:
            raise ReadError(f"There is no view {name!r} to transpose; the views are {known}.")
    return [_turn_part(part, names) for part in parts]


def _turn_part(part: Contents, names: Sequence[str]) -> Contents:
    """Exchange rows and columns of some views of a file, and with them ids and names of columns."""
    asked = [view for view in part.views if view.name in names]
    if not asked:
        return part
    old_ids, first = part.ids, asked[0]
    # The ids of a file of which only some views lie on their side are those of the samples.
    columns = None
    if old_ids is not None and len(asked) == len(part.views):
        columns = tuple(old_ids.tolist()) if len(old_ids) == first.data.shape[0] else None
    views = tuple(
        ReadView(view.name, turned(view.data), columns) if view in asked else view
        for view in part.views
    )
    ids = old_ids
    if columns is not None:
        ids = None if first.columns is None else as_ids(first.columns)
    labels, words = part.labels, ""
    for view in asked:
        words += f" Rows and columns of {view.name!r} are exchanged, as asked."
    if labels is not None and len(labels) != views[0].data.shape[0]:
        labels = None
        words += " Its labels are not those of the samples, and are left out."
    return replace(part, views=views, note=part.note + words, ids=ids, labels=labels)


def _load(parts: Sequence[Contents], limit: int) -> list[Contents]:
    """Read what is on disk into memory, if all of it fits."""
    sizes = [
        view.data.row_bytes * view.data.shape[0]
        for part in parts
        for view in part.views
        if is_source(view.data)
    ]
    if not sizes or sum(sizes) > limit:
        return list(parts)
    return [
        replace(
            part,
            views=tuple(
                replace(view, data=view.data.read(0, view.data.shape[0]))
                if is_source(view.data)
                else view
                for view in part.views
            ),
        )
        for part in parts
    ]


def _check_names(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ReadError(
            f"Several views would be called {first_few(twice)}. Give them names: NAME=PATH."
        )


def _in_order(labels: npt.NDArray[Any], order: npt.NDArray[np.int64] | None) -> npt.NDArray[Any]:
    if order is not None and (order < 0).any():
        raise ReadError(
            "The column of labels is in a file that lacks some of the rows. Give the labels of all rows "
            "as a file of their own, with ids."
        )
    return labels if order is None else labels[order]


def _find_target(
    parts: Sequence[Contents],
    rows: Sequence[npt.NDArray[np.int64] | None],
    labels: LabelFile | None,
    ids: npt.NDArray[np.str_] | None,
    join: str,
) -> tuple[npt.NDArray[Any] | None, list[str]]:
    """Give the labels in the order of the joined rows."""
    if labels is None:
        for part, order in zip(parts, rows, strict=True):
            if part.labels is not None:
                return _in_order(part.labels, order), []
        return None, []
    n_rows = parts[0].n_rows if rows[0] is None else len(rows[0])
    if labels.ids is not None and ids is not None and join != "order":
        refuse_repeated(labels.ids, "The file of labels")
        known = np.isin(ids, labels.ids)
        if not known.all():
            raise ReadError(
                f"{count(int((~known).sum()), 'row')} have no label in the file of labels: "
                f"{first_few(ids[~known], 3)}."
            )
        return labels.labels[places(labels.ids, ids)], ["Labels are matched by id."]
    if len(labels.labels) != n_rows:
        raise ReadError(
            f"There are {count(len(labels.labels), 'label')} for {count(n_rows, 'row')}, and no ids on "
            "both sides to match them by."
        )
    if any(order is not None for order in rows):
        raise ReadError(
            "The labels have no ids, but the files' rows are in different order. Give labels with ids."
        )
    if join != "order" and not labels.are_places:
        raise ReadError(
            "The labels have ids, but the views have none. Name their column with --id-column, or, if "
            "all rows are in the same order, say --join order."
        )
    return labels.labels, ["Labels are matched by their place."]
