"""Files that hold several named arrays: which are views, which are labels and ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.contents import LABEL_NAMES, Contents, ReadView, Request, as_labels
from manyview.views.ids import as_ids
from manyview.wording import count


@dataclass(frozen=True)
class Entry:
    """One array of a file, not read yet.

    Attributes
    ----------
    shape : tuple of int
        Its shape.
    kind : str
        The letter of its type: ``f`` floats, ``i`` and ``u`` integers, ``b`` truth values, ``O``
        and ``S`` and ``U`` text.
    open : callable
        Gives the array, or a source that reads its rows.
    read : callable
        Gives the whole array.
    """

    shape: tuple[int, ...]
    kind: str
    open: Callable[[], Any]
    read: Callable[[], Any]

    @property
    def is_vector(self) -> bool:
        """Whether it holds one value a row: shape (n,), (n, 1) or (1, n)."""
        return len(self.shape) == 1 or (len(self.shape) == 2 and 1 in self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape))


def pick_arrays(entries: Mapping[str, Entry], request: Request, *, kind: str) -> Contents:
    """Give the views, labels and ids among a file's arrays.

    With a key, that array is the view. Without, every two-dimensional array of numbers is one; they
    must have the same number of rows.

    Parameters
    ----------
    entries : mapping of str to Entry
        All arrays of the file.
    request : Request
        What is wanted of it.
    kind : str
        Name of the format, for messages.
    """
    if not entries:
        raise ReadError(f"{request.path} is a {kind} file without any array.")
    labels_name = _labels_name(entries, request)
    aside = {request.id_column, labels_name}
    if request.key is not None:
        names = [_check_key(entries, request)]
    else:
        names = _view_names(entries, aside, request, kind)
    n_rows = entries[names[0]].shape[0]
    views = tuple(
        ReadView(request.stem if len(names) == 1 and request.key is None else name, opened)
        for name in names
        for opened in [entries[name].open()]
    )
    ids = _vector(entries, request.id_column, n_rows, request)
    labels = _vector(entries, labels_name, n_rows, request)
    shapes = ", ".join(f"{name!r} {_shape(entries[name].shape)}" for name in names)
    note = f"{request.path}: {kind}, {count(n_rows, 'row')} along the first axis of {shapes}"
    if ids is not None:
        note += f"; ids from {request.id_column!r}"
    if labels is not None:
        note += f"; labels from {labels_name!r}"
    return Contents(
        views,
        note + ".",
        None if ids is None else as_ids(ids),
        None if labels is None else as_labels(labels),
    )


def _labels_name(entries: Mapping[str, Entry], request: Request) -> str | None:
    """Name of the labels: as asked for, or the first usual one if no key was given."""
    if request.label_column is not None:
        return request.label_column if request.label_column in entries else None
    if request.key is not None:
        return None
    by_name = {name.lower(): name for name, entry in entries.items() if entry.is_vector}
    return next((by_name[name] for name in LABEL_NAMES if name in by_name), None)


def _check_key(entries: Mapping[str, Entry], request: Request) -> str:
    key = str(request.key).strip("/")
    if key not in entries:
        raise ReadError(f"{request.path} has no array {request.key!r}; it has {_list(entries)}.")
    entry = entries[key]
    if len(entry.shape) != 2:
        raise ReadError(
            f"{request.path}::{key} has shape {_shape(entry.shape)}; a view has two dimensions, one "
            "row a sample."
        )
    if entry.kind not in "biuf":
        raise ReadError(f"{request.path}::{key} does not hold numbers (type {entry.kind!r}).")
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
            f"Choose with {request.path.name}::KEY, for example {request.path.name}::{names[0]}."
        )
    return names


def _vector(
    entries: Mapping[str, Entry], name: str | None, n_rows: int, request: Request
) -> npt.NDArray[Any] | None:
    if name is None or name not in entries:
        return None
    entry = entries[name]
    if entry.size != n_rows:
        raise ReadError(
            f"{request.path}::{name} has shape {_shape(entry.shape)}, but there are "
            f"{count(n_rows, 'row')}."
        )
    return np.asarray(entry.read()).ravel()


def _list(entries: Mapping[str, Entry], names: Sequence[str] | None = None) -> str:
    names = list(entries) if names is None else names
    shown = [f"{name} {_shape(entries[name].shape)}" for name in names[:6]]
    return ", ".join(shown) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _shape(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) if shape else "(one number)"
