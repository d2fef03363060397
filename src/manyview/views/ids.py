"""Names of rows: which are missing, which repeat, and where each is."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.sources import as_ids, as_whole
from manyview.views.selection import ABSENT
from manyview.wording import count, first_few

Ids = npt.NDArray[np.str_]


def refuse_missing(values: Any, name: str) -> None:
    """Raise ValueError if an identifier is missing: None, NaN, empty text or the like."""
    # A list is looked at as it is: as an array, None and NaN beside text would be text.
    array = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None).ravel()
    if array.dtype.kind == "O":
        missing = np.array([_is_missing(value) for value in array], dtype=bool)
    else:
        missing = array == "" if array.dtype.kind == "U" else array != array  # NaN and NaT
    if missing.any():
        places = np.flatnonzero(missing)
        where = ("row " if len(places) == 1 else "rows ") + ", ".join(map(str, places[:3]))
        where += f" and {len(places) - 3} more" if len(places) > 3 else ""
        raise ValueError(
            f"{name} has {count(len(places), 'row')} without an id: {where}. Leave such rows out, or "
            "give them ids."
        )


def _is_missing(value: Any) -> bool:
    is_none = value is None or type(value).__name__ == "NAType"
    return is_none or (isinstance(value, str) and value == "") or bool(value != value)


def refuse_repeated(ids: Ids, name: str) -> None:
    """Raise ReadError if an id is there more than once."""
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise ReadError(
            f"{name} has {count(int((counts > 1).sum()), 'id')} more than once: "
            f"{first_few(values[counts > 1], 3)}. An id must tell one row."
        )


def as_given(joined: Ids, given: Sequence[Any]) -> npt.NDArray[Any]:
    """Joined ids in the type that they have in all tables, else as text; whole numbers are integers."""
    arrays = [_numbers_if_all(np.asarray(ids).ravel()) for ids in given]
    if len({array.dtype.kind for array in arrays}) > 1:  # 7.0 is 7
        arrays = list(map(as_whole, arrays))
    kinds = set().union(*map(_kinds, arrays))
    if len(kinds) > 1 or kinds <= {"S", "U", str, bytes}:
        return joined
    everything = np.concatenate(arrays)
    return everything[find_places(np.concatenate([as_ids(ids) for ids in arrays]), joined)]


def _numbers_if_all(ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    is_numbers = ids.dtype.kind == "O" and all(isinstance(value, Real) for value in ids)
    return np.array(ids.tolist()) if is_numbers else ids


def _kinds(ids: npt.NDArray[Any]) -> set[Any]:
    return set(map(type, ids)) if ids.dtype.kind == "O" else {ids.dtype.kind.replace("u", "i")}


def find_places(ids: Ids, wanted: Ids) -> npt.NDArray[np.int64]:
    """Where each wanted id is, -1 if it is not there.

    Examples
    --------
    >>> find_places(as_ids(["b", "a"]), as_ids(["a", "c"]))
    array([ 1, -1])
    """
    order = np.argsort(ids, kind="stable")
    places = np.searchsorted(ids, wanted, sorter=order)
    found = order[np.minimum(places, len(ids) - 1)]
    return np.where(ids[found] == wanted, found, ABSENT).astype(np.int64)
