"""Labels of the same rows from two places: files, models, or folders that a fit wrote."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.console import Failure, say
from manyview.cli.inputs import words
from manyview.errors import ReadError
from manyview.wording import count

if TYPE_CHECKING:
    from manyview.readers import LabelFile


join_option = click.option(
    "--join",
    type=click.Choice(["exact", "inner", "order"]),
    default="exact",
    show_default=True,
    help="By id, the same in both; by id, the common ones; or by place.",
)


def read_label_pair(
    texts: Sequence[str], *, id_column: str | None, join: str
) -> tuple[Any, Any, Any]:
    """Labels of two files for the same rows, matched by id where both have ids; and the ids."""
    named = _ids_name(texts) if id_column is None else id_column
    files = [_read(text, named) for text in texts]
    for file in files:
        say(file.note)
    if id_column is not None and id_column not in [file.ids_name for file in files]:
        raise Failure(f"--id-column must name a column of the files; none has {id_column!r}.")
    return _same_rows(files, texts, join)


def _ids_name(texts: Sequence[str]) -> str | None:
    """The column of ids in the first file that leaves no doubt about it, for the other one, too."""
    for text in texts:
        with suppress(ReadError):
            if not _is_model(text) and (name := _read(text, None).ids_name) is not None:
                return name
    return None


def label_path(text: str) -> Path:
    """The file that labels are read from."""
    from manyview.readers import parse

    return parse(_in_folder(text)).path


def _in_folder(text: str) -> str:
    """The labels in a folder that a fit wrote; any other text as it is."""
    labels = Path(text) / "labels.csv"
    return str(labels) if labels.is_file() else text


def _read(text: str, id_column: str | None) -> LabelFile:
    """Labels of a file, of a model, or of the folder that a fit wrote."""
    from manyview.readers import LabelFile, read_labels

    if not _is_model(text):
        return read_labels(_in_folder(text), id_column=id_column)
    from manyview import load
    from manyview.sources import as_ids

    model = load(text)
    if not hasattr(model, "labels_"):
        raise Failure(f"{text} is the model of a stream, which keeps no labels of its rows.")
    ids = None if model.ids_ is None else as_ids(model.ids_)
    note = f"{text}: {count(len(model.labels_), 'label')} of a model, "
    note += "in the order of the rows." if ids is None else "with the ids of its rows."
    return LabelFile(model.labels_, ids, note, None if ids is None else id_column)


def _is_model(text: str) -> bool:
    path = Path(text)
    return path.suffix == ".mv" and not path.is_dir()


def _refuse_other_order(ids: Sequence[Any], names: Sequence[str]) -> None:
    """Refuse to match rows by their place where their ids say that they are in another order."""
    first, second = (own.tolist() for own in ids)
    if first != second and sorted(first) == sorted(second):
        place = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
        raise Failure(
            f"rows of {names[0]} and {names[1]} are in different orders: row {place} is "
            f"{first[place]!r} and {second[place]!r}. Leave --join order out, to match them by id."
        )


def _same_rows(files: Sequence[LabelFile], names: Sequence[str], join: str) -> tuple[Any, Any, Any]:
    from manyview.views.joining import match_ids

    labels, ids = [file.labels for file in files], [f.ids for f in files if f.ids is not None]
    if len(ids) == len(files) and join != "order":
        match = match_ids(ids, names, join, replace(words(), outer=""))  # no choice of evaluate
        for text in (match.note, *match.doubts):
            say(text)
        pairs = zip(labels, match.places, strict=True)
        first, second = (own if places is None else own[places] for own, places in pairs)
        return first, second, match.ids
    if len(ids) == len(files):
        _refuse_other_order(ids, names)
    if len(labels[0]) != len(labels[1]):
        raise Failure(
            f"{names[0]} has {len(labels[0])} labels but {names[1]} has {len(labels[1])}, and there "
            "are no ids on both sides to match them by."
        )
    if ids and join != "order" and not all(file.are_places for file in files):
        raise Failure(
            f"only {names[0] if files[0].ids is not None else names[1]} has ids. If both files have "
            "their rows in the same order, say --join order."
        )
    say("Rows are matched by their place in the files.")
    return labels[0], labels[1], ids[0] if ids else None
