"""One view on its way in, whatever it came from, and what names its rows.

This stands below readers and views, because both make such records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Part:
    """One view: what a file, a data frame, an AnnData or an array turned out to hold.

    Attributes
    ----------
    name : str
        As the user, or the file, calls it.
    rows : ndarray, csr_array, Source, Dask array, Table or PartialView of shape (n, d)
        Its numbers, or columns that are to become numbers. Where some samples have no row, a
        :class:`~manyview.views.selection.PartialView` or a selection of a source says which.
    columns : tuple of str, or None
        Names of its columns.
    ids : ndarray of shape (n,), or None
        Names of its samples.
    encoding : Encoding or None
        What made numbers of a table's columns.
    beside : mapping of str to ndarray of shape (n,)
        What else its file holds that may name its rows, but was not asked for.
    """

    name: str
    rows: Any
    columns: tuple[str, ...] | None = None
    ids: npt.NDArray[Any] | None = None
    encoding: Any = None
    beside: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)


def as_ids(values: Any) -> npt.NDArray[np.str_]:
    """Identifiers as text, by which they are compared: 7, 7.0 and "7" are the same row.

    So is a day, whether it is a date, a time in whatever unit, or text as ISO writes it. Times of a zone
    are those of UTC. One that is missing is empty text.

    Examples
    --------
    >>> as_ids([7.0, 8.5]).tolist(), as_ids([b"a", b"b"]).tolist()
    (['7', '8.5'], ['a', 'b'])
    """
    array = np.asarray(values).ravel()
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    if array.dtype.kind == "M":
        return np.where(np.isnat(array), "", np.datetime_as_string(array, unit="auto"))
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:  # 0.1 is 0.1 whatever its precision
        array = array.astype(np.str_).astype(np.float64)
    if array.dtype.kind in "OfT":
        array = np.array([_as_text(value) for value in array.tolist()], dtype=np.str_)
    return array.astype(np.str_)


def _as_text(value: Any) -> str:
    if _is_missing(value):
        return ""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        # pandas has nanoseconds.
        value = value.to_datetime64() if hasattr(value, "to_datetime64") else np.datetime64(value)
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="auto"))
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def join_levels(levels: Sequence[Any]) -> npt.NDArray[np.str_]:
    """Identifiers that consist of several parts, joined by " / "; empty where a part is missing.

    Examples
    --------
    >>> join_levels([["a", "b", "c"], [1.0, 2.0, float("nan")]]).tolist()
    ['a / 1', 'b / 2', '']
    """
    texts = [as_ids(np.array(v, dtype=object) if isinstance(v, list) else v) for v in levels]
    labels = zip(*texts, strict=True)
    return np.array([" / ".join(label) if all(label) else "" for label in labels], dtype=np.str_)


def are_missing(values: Any) -> npt.NDArray[np.bool_]:
    """Which identifiers are missing: None, NaN, empty text or the like."""
    # A list is looked at as it is: as an array, None and NaN beside text would be text.
    array = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None).ravel()
    if array.dtype.kind in "OSTU":
        return np.array([_is_missing(value) for value in array.tolist()], dtype=np.bool_)
    return np.asarray(array != array)  # NaN and NaT


def _is_missing(value: Any) -> bool:
    is_none = value is None or type(value).__name__ == "NAType"
    return is_none or (isinstance(value, str | bytes) and not value) or bool(value != value)


def stored_ids(values: Any) -> npt.NDArray[Any]:
    """Identifiers in the type that a file has them in; bytes and text as text.

    Examples
    --------
    >>> stored_ids([7, 8]).tolist(), stored_ids([b"a", b"b"]).tolist()
    ([7, 8], ['a', 'b'])
    """
    array = np.asarray(values).ravel()
    is_text = array.dtype.kind == "S" or (
        array.dtype.kind == "O" and all(isinstance(value, str | bytes) for value in array)
    )
    return as_ids(array) if is_text else array


def as_whole(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Floats of which all are whole as integers; anything else as it is."""
    is_whole = array.dtype.kind == "f" and np.array_equal(array, np.floor(array))
    return array.astype(np.int64) if is_whole and (abs(array) < 2**63).all() else array
