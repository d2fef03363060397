"""Several files -> views of the same samples, in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.checks import check_option
from manyview.errors import MemoryLimitError, ParameterError, ReadError
from manyview.machine import free_memory
from manyview.readers import Contents, LabelFile, Request, Vocabulary, parse, read_file, read_labels
from manyview.sources import Part, as_ids, is_source
from manyview.views.container import Views
from manyview.views.ids import find_places, refuse_missing, refuse_repeated
from manyview.views.joining import JOINS, Match, join_parts
from manyview.views.selection import transpose as transposed
from manyview.wording import bytes_in_words, count, first_few, repeated


@dataclass(frozen=True)
class Assembled:
    """Views of the same samples, and how they came about.

    Attributes
    ----------
    views : Views
        With ``ids`` if the files have them, and ``target`` if labels are known.
    notes : tuple of str
        What was taken as rows, and how they were joined, in words.
    files : tuple of str
        Where each view came from, as it was written.
    marks : dict of str to str
        The decimal mark of each view's file, where it shows one.
    """

    views: Views
    notes: tuple[str, ...]
    files: tuple[str, ...]
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> npt.NDArray[Any] | None:
        """What identifies the rows."""
        return self.views.ids


def read_views(
    texts: Sequence[str],
    *,
    labels: str | None = None,
    id_column: str | Sequence[str] | None = None,
    label_column: str | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    drop: Sequence[str] = (),
    decimal: str | None = None,
    encoding: str | None = None,
    transpose: Sequence[str] = (),
    join: str = "exact",
    memory_limit: int | None = None,
    folder: Path | None = None,
    vocabulary: Vocabulary | None = None,
) -> Assembled:
    r"""Views of files, their rows joined.

    Parameters
    ----------
    texts : sequence of str
        ``PATH``, ``NAME=PATH``, ``PATH::KEY`` or ``NAME=PATH::KEY``.
    labels : str, optional
        A file of true labels.
    id_column : str or sequence of str, optional
        Column of the files that identifies rows; several, in the order of the files, where they call it
        differently.
    label_column : str, optional
        Column of the files that holds true labels.
    columns : mapping of str to sequence of str, optional
        Views to make of the columns of the only file, a table.
    drop : sequence of str
        Columns of tables that are no features; each must be in at least one of the files.
    decimal : {".", ","}, optional
        The mark before the fraction of numbers in text; found by default.
    encoding : str, optional
        Of text; found by default.
    transpose : sequence of str
        Names of views whose columns are the samples.
    join : {"exact", "inner", "outer", "order"}
        Rows are joined by id where all files have ids. "exact": all files must have the same ids;
        "inner": ids that all have are kept; "outer": all ids are kept, and some rows lack views.
        "order" takes rows by their place, whatever their ids.
    memory_limit : int, optional
        Files that can be read by rows are loaded if all views take at most so many bytes; by default
        all of them stay on disk.
    folder : Path, optional
        Where relative paths start.
    vocabulary : Vocabulary, optional
        Words for advice in messages; these parameters by default.

    Returns
    -------
    Assembled
        The views, and how they came about.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manyview.views.files import read_views
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "colour.csv").write_text("id,red\na,1\nb,2\n")
    >>> _ = (folder / "shape.csv").write_text("id,width\nb,20\na,10\n")
    >>> found = read_views(["colour.csv", "shape.csv"], id_column="id", folder=folder)
    >>> found.views.ids.tolist(), found.views["shape"].tolist()
    (['a', 'b'], [[10.0], [20.0]])
    """
    check_option("join", join, JOINS)
    check_option("decimal", decimal, (".", ",", None))
    words = vocabulary or Vocabulary()
    id_columns = [id_column] if isinstance(id_column, str) else [*(id_column or ())]
    if columns and len(texts) != 1:
        raise ParameterError("columns", f"can split one table only; there are {len(texts)} files.")
    if label_column is not None and labels is not None:
        raise ReadError(
            f"Labels are given twice, with {words.labels} and {words.label_column}. Give one of them."
        )
    requests = [
        replace(
            parse(text, folder=folder),
            label_column=label_column,
            columns=columns or {},
            drop=tuple(drop),
            decimal=decimal,
            encoding=encoding,
            vocabulary=words,
        )
        for text in texts
    ]
    try:
        file = None if labels is None else read_labels(labels, id_column=id_columns, folder=folder)
    except ReadError as error:
        raise ParameterError("labels", f"cannot be read: {error}") from error
    return assemble(
        requests,
        id_columns=id_columns,
        labels=file,
        needs=(*id_columns, label_column, *drop),
        transpose=transpose,
        join=join,
        memory_limit=memory_limit,
    )


def assemble(
    requests: Sequence[Request],
    *,
    id_columns: Sequence[str] = (),
    labels: LabelFile | None = None,
    needs: Sequence[str | None] = (),
    transpose: Sequence[str] = (),
    join: str = "exact",
    memory_limit: int | None = None,
) -> Assembled:
    """Views of files of which each is asked for in its own way, else as in :func:`read_views`.

    ``id_columns`` identify rows, and ``needs`` are columns among those asked for that one of the files
    must have.
    """
    words = requests[0].vocabulary
    read = [_read(request, id_columns, place) for place, request in enumerate(requests)]
    contents, named = [each for each, _ in read], [name for _, name in read]
    _check_columns_found(contents, requests[0], needs, {name: name in named for name in id_columns})
    known = [part.name for each in contents for part in each.parts]
    for name in transpose:
        check_option("transpose", name, known)
    contents = [_exchange(each, transpose) for each in contents]
    if memory_limit is not None:
        contents = _load(contents, memory_limit)
    if twice := sorted(repeated(known)):
        raise ReadError(
            f"Several views would be called {first_few(twice)}. Give them names: NAME=PATH."
        )
    texts = [request.text for request in requests]
    parts, match = join_parts([each.parts for each in contents], texts, join, words)
    target, matched = _find_target(contents, match, labels, join, words)
    notes = [each.note for each in contents]
    notes += [] if labels is None else [labels.note]
    notes += [note for note in (match.note, *match.doubts, matched) if note]
    files = tuple(text for text, each in zip(texts, contents, strict=True) for _ in each.parts)
    views = Views({part.name: part for part in parts}, target=target)
    marks = {part.name: each.decimal for each in contents for part in each.parts if each.decimal}
    return Assembled(views, tuple(notes), files, marks)


def _read(request: Request, id_columns: Sequence[str], place: int) -> tuple[Contents, str | None]:
    """A file, and which of the columns names its rows: the one at its own place, or another."""
    names = [*id_columns[place : place + 1], *id_columns[:place], *id_columns[place + 1 :]]
    for name in names:
        contents = read_file(replace(request, id_column=name))
        if contents.ids is not None and not contents.is_indexed:
            return contents, name
    return contents if names else read_file(request), None


def _check_columns_found(
    contents: Sequence[Contents],
    asked: Request,
    needs: Sequence[str | None],
    id_columns: Mapping[str, bool],
) -> None:
    """Raise ParameterError if a column that was asked for is in no file."""
    dropped = [name for each in contents for name in each.dropped]
    columns = [
        *(("id_column", name, is_found) for name, is_found in id_columns.items()),
        ("label_column", asked.label_column, any(each.labels is not None for each in contents)),
        *(("drop", pattern, pattern in dropped) for pattern in asked.drop),
    ]
    for parameter, name, is_found in columns:
        if name is not None and name in needs and not is_found:
            raise ParameterError(parameter, f"must name a column of the files; none has {name!r}.")


def _exchange(contents: Contents, names: Sequence[str]) -> Contents:
    """Exchange rows and columns of some views of a file, and with them ids and names of columns."""
    asked = [part for part in contents.parts if part.name in names]
    if not asked:
        return contents
    ids, columns, first = contents.ids, None, asked[0]
    # The ids of a file of which only some views lie on their side are those of the samples.
    if ids is not None and len(asked) == len(contents.parts) and len(ids) == first.rows.shape[0]:
        columns = tuple(as_ids(ids).tolist())
        ids = None if first.columns is None else as_ids(first.columns)
    parts = tuple(
        replace(part, rows=transposed(part.rows), columns=columns, ids=ids)
        if part in asked
        else replace(part, ids=ids)
        for part in contents.parts
    )
    note, labels = contents.note, contents.labels
    for part in asked:
        note += f" Rows and columns of {part.name!r} are exchanged, as asked."
    if labels is not None and len(labels) != parts[0].rows.shape[0]:
        labels = None
        note += " Its labels are not those of the samples, and are left out."
    return replace(contents, parts=parts, note=note, labels=labels)


def _load(contents: list[Contents], limit: int) -> list[Contents]:
    """The same with what is on disk read into memory, if all of it fits."""
    sources = [part.rows for each in contents for part in each.parts if is_source(part.rows)]
    n_bytes, free = sum(source.row_bytes * source.shape[0] for source in sources), free_memory()
    if n_bytes > limit:
        return contents
    if free is not None and n_bytes > free:
        raise MemoryLimitError(
            f"The views take {bytes_in_words(n_bytes)} in memory, of which {bytes_in_words(free)} are "
            "free.",
            remedy="Give a memory_limit that there is, or none: rows are then read when needed.",
            parameter="engine",
        )
    return [replace(each, parts=tuple(map(_loaded, each.parts))) for each in contents]


def _loaded(part: Part) -> Part:
    rows = part.rows
    return replace(part, rows=rows.read(0, rows.shape[0])) if is_source(rows) else part


def _find_target(
    contents: Sequence[Contents],
    match: Match,
    labels: LabelFile | None,
    join: str,
    words: Vocabulary,
) -> tuple[npt.NDArray[Any] | None, str]:
    """The labels in the order of the joined rows, and how they were matched, in words."""
    if labels is None:
        return _labels_among_views(contents, match), ""
    n_rows = contents[0].n_rows if match.places[0] is None else len(match.places[0])
    ids = match.ids
    if labels.ids is not None and ids is not None and join != "order":
        refuse_missing(labels.ids, "The file of labels")
        refuse_repeated(labels.ids, "The file of labels")
        places = find_places(labels.ids, ids)
        if (places < 0).any():
            n_lacking = count(int((places < 0).sum()), "row")
            raise ParameterError("labels", f"lacks {n_lacking}: {first_few(ids[places < 0], 3)}.")
        return labels.labels[places], "Labels are matched by id."
    if len(labels.labels) != n_rows:
        raise ParameterError(
            "labels",
            f"has {count(len(labels.labels), 'label')} for {count(n_rows, 'row')}, and there are no ids "
            "on both sides to match them by.",
        )
    if any(places is not None for places in match.places):
        raise ParameterError(
            "labels",
            "has no ids, but the files' rows are in different order. Give labels with ids.",
        )
    if join != "order" and not labels.are_places:
        raise ParameterError(
            "labels",
            f"has ids, but the views have none. Name their column with {words.id_column}, or, if all "
            f"rows are in the same order, say {words.order}.",
        )
    return labels.labels, "Labels are matched by their place."


def _labels_among_views(
    contents: Sequence[Contents], match: Match
) -> npt.NDArray[np.generic] | None:
    for each, places in zip(contents, match.places, strict=True):
        if each.labels is None:
            continue
        if places is not None and (places < 0).any():
            raise ReadError(
                "The column of labels is in a file that lacks some of the rows. Give the labels of all "
                "rows as a file of their own, with ids."
            )
        return each.labels if places is None else each.labels[places]
    return None
