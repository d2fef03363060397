"""Files that hold named arrays: which are views, which are labels and ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.contents import LABEL_NAMES, Contents, Request, as_labels
from manyview.sources import Part, stored_ids
from manyview.wording import count

ALONE = ""
"""Name of an array that is alone in its file and has no name there."""


@dataclass(frozen=True)
class Entry:
    """One array of a file, not read yet: its shape, and the letter of its NumPy type.

    ``read`` gives the whole array, ``open`` a source of its rows if they can stay where they are.
    """

    shape: tuple[int, ...]
    kind: str
    read: Callable[[], Any]
    open: Callable[[], Any] | None = None

    @classmethod
    def of(cls, array: Any, open: Callable[[], Any] | None = None) -> Entry:
        """The entry of an array that is read already."""
        return cls(tuple(array.shape), array.dtype.kind, lambda: array, open)

    @property
    def is_vector(self) -> bool:
        """Whether it holds one value a row: shape (n,), (n, 1) or (1, n)."""
        return len(self.shape) == 1 or (len(self.shape) == 2 and 1 in self.shape)


def read_vector(entry: Entry) -> npt.NDArray[Any]:
    """The values of an array with one value a row."""
    values = entry.read()
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values).ravel()


def pick_arrays(entries: Mapping[str, Entry], request: Request, *, kind: str) -> Contents:
    """The views, labels and ids among a file's arrays.

    With a key, that array is the view. Without, every two-dimensional array of numbers is one; they
    must have the same number of rows. Messages call the format ``kind``.
    """
    if not entries:
        raise ReadError(f"{request.path} is a {kind} file without any array.")
    labels_name = _labels_name(entries, request)
    if request.key is not None or ALONE in entries:
        names = [_check_key(entries, request)]
    else:
        names = _view_names(entries, {request.id_column, labels_name}, request, kind)
    n_rows = entries[names[0]].shape[0]
    ids = _vector(entries, request.id_column, n_rows, request)
    labels = _vector(entries, labels_name, n_rows, request)
    ids = None if ids is None else stored_ids(ids)
    is_named = len(names) > 1 or request.key is not None
    beside = {
        name: stored_ids(read_vector(entry))
        for name, entry in entries.items()
        if ids is None and name not in (*names, labels_name) and _may_name_rows(entry, n_rows)
    }
    parts = tuple(
        Part(
            name if is_named else request.stem, (entry.open or entry.read)(), ids=ids, beside=beside
        )
        for name in names
        for entry in [entries[name]]
    )
    shapes = ", ".join(f"{name or request.stem!r} {_shape(entries[name].shape)}" for name in names)
    note = f"{request.path}: {kind}, {count(n_rows, 'row')} along the first axis of {shapes}"
    if ids is not None:
        note += f"; ids from {request.id_column!r}"
    if labels is not None:
        note += f"; labels from {labels_name!r}"
    return Contents(parts, note + ".", None if labels is None else as_labels(labels))


def _may_name_rows(entry: Entry, n_rows: int) -> bool:
    return entry.kind in "OSTUiu" and len(entry.shape) == 1 and entry.shape[0] == n_rows


def _labels_name(entries: Mapping[str, Entry], request: Request) -> str | None:
    """Name of the labels: as asked for, or the first usual one if no key was given."""
    if request.label_column is not None:
        return request.label_column if request.label_column in entries else None
    if request.key is not None:
        return None
    by_name = {name.lower(): name for name, entry in entries.items() if entry.is_vector}
    return next((by_name[name] for name in LABEL_NAMES if name in by_name), None)


def _check_key(entries: Mapping[str, Entry], request: Request) -> str:
    if ALONE in entries and request.key is not None:
        raise ReadError(
            f"{request.path} holds one array without a name; leave out '::{request.key}'."
        )
    key = str(request.key or ALONE).strip("/")
    if key not in entries:
        raise ReadError(f"{request.path} has no array {request.key!r}; it has {_list(entries)}.")
    entry, where = entries[key], f"{request.path}::{key}" if key else f"{request.path}"
    if entry.kind not in "biuf":
        raise ReadError(f"{where} does not hold numbers (type {entry.kind!r}).")
    if len(entry.shape) != 2:
        raise ReadError(
            f"{where} has shape {_shape(entry.shape)}; a view has two dimensions, one row a sample."
        )
    return key


def _view_names(
    entries: Mapping[str, Entry], aside: set[str | None], request: Request, kind: str
) -> list[str]:
    names = [
        name
        for name, entry in entries.items()
        if name not in aside and len(entry.shape) == 2 and entry.kind in "biuf"
    ]
    if not names:
        raise ReadError(
            f"{request.path} is a {kind} file without a two-dimensional array of numbers; it has "
            f"{_list(entries)}."
        )
    if len({entries[name].shape[0] for name in names}) > 1:
        raise ReadError(
            f"{request.path} holds arrays with different numbers of rows: {_list(entries, names)}. "
            f"Choose with {request.path}::KEY, for example {request.path}::{names[0]}."
        )
    return names


def _vector(
    entries: Mapping[str, Entry], name: str | None, n_rows: int, request: Request
) -> npt.NDArray[Any] | None:
    if name is None or name not in entries:
        return None
    entry = entries[name]
    if int(np.prod(entry.shape)) != n_rows:
        raise ReadError(
            f"{request.path}::{name} has shape {_shape(entry.shape)}, but there are "
            f"{count(n_rows, 'row')}."
        )
    return read_vector(entry)


def _list(entries: Mapping[str, Entry], names: Sequence[str] | None = None) -> str:
    names = list(entries) if names is None else names
    shown = [f"{name} {_shape(entries[name].shape)}" for name in names[:6]]
    return ", ".join(shown) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _shape(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) if shape else "(one number)"
