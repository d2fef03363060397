"""One view on its way in, whatever it came from, and what names its rows.

This stands below readers and views, because both make such records.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    rows : ndarray, csr_array, Source, Dask array or PartialView of shape (n, d)
        Its numbers. Where some samples have no row, a
        :class:`~manyview.views.selection.PartialView` or a selection of a source says which.
    columns : tuple of str, or None
        Names of its columns.
    ids : ndarray of shape (n,), or None
        Names of its samples.
    """

    name: str
    rows: Any
    columns: tuple[str, ...] | None = None
    ids: npt.NDArray[Any] | None = None


def as_ids(values: Any) -> npt.NDArray[np.str_]:
    """Identifiers as text, by which they are compared: 7, 7.0 and "7" are the same row.

    So is a day, whether it is a date, a time in whatever unit, or text as ISO writes it.

    Examples
    --------
    >>> as_ids([7.0, 8.5]).tolist(), as_ids([b"a", b"b"]).tolist()
    (['7', '8.5'], ['a', 'b'])
    """
    array = np.asarray(values).ravel()
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    if array.dtype.kind == "M":
        return np.datetime_as_string(array, unit="auto")
    if array.dtype.kind in "Of":
        array = np.array([_as_text(value) for value in array.tolist()], dtype=np.str_)
    return array.astype(np.str_)


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


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
