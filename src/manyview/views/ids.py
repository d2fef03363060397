"""Names of rows: which are missing, which repeat, and where each is."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError, warn_user
from manyview.sources import are_missing, as_ids
from manyview.views.selection import ABSENT
from manyview.wording import count, first_few

Ids = npt.NDArray[np.str_]


def refuse_missing(values: Any, name: str) -> None:
    """Raise ValueError if an identifier is missing: None, NaN, empty text or the like."""
    missing = are_missing(values)
    if missing.any():
        places = np.flatnonzero(missing)
        where = ("row " if len(places) == 1 else "rows ") + ", ".join(map(str, places[:3]))
        where += f" and {len(places) - 3} more" if len(places) > 3 else ""
        raise ValueError(
            f"{name} has {count(len(places), 'row')} without an id: {where}. Leave such rows out, or "
            "give them ids."
        )


def refuse_repeated(ids: Ids, name: str) -> None:
    """Raise ReadError if an id is there more than once."""
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise ReadError(
            f"{name} has {count(int((counts > 1).sum()), 'id')} more than once: "
            f"{first_few(values[counts > 1], 3)}. An id must tell one row."
        )


def append_ids(known: Any, new: Any) -> npt.NDArray[Any] | None:
    """Ids of known rows and of new ones; None, with a warning, if only some have ids.

    Warns of ids that are there already, too: they do not tell one row any more.
    """
    if known is None or new is None:
        if known is not None or new is not None:
            lacking = "the rows that were fitted" if known is None else "the new rows"
            warn_user(f"{lacking.capitalize()} have no ids: ids_ is None now.", UserWarning)
        return None
    twice = np.intersect1d(as_ids(known), as_ids(new))
    if len(twice):
        warn_user(
            f"{count(len(twice), 'id')} of the new rows were there already: {first_few(twice, 3)}. Such "
            "rows are counted twice.",
            UserWarning,
        )
    return np.concatenate([known, new])


def as_given(joined: Ids, given: Sequence[Any]) -> npt.NDArray[Any]:
    """Joined ids in the types that they have in all tables, or as integers; else as text."""
    arrays = [np.asarray(ids).ravel() for ids in given]
    kinds = list(map(_kinds, arrays))
    if any(own != kinds[0] for own in kinds):
        return _integers(joined) if all(map(_are_numbers, arrays)) else joined
    if kinds[0] <= {"S", "U", str, bytes}:
        return joined
    return np.concatenate(arrays)[find_places(np.concatenate(list(map(as_ids, arrays))), joined)]


def _kinds(ids: npt.NDArray[Any]) -> set[Any]:
    return set(map(type, ids)) if ids.dtype.kind == "O" else {ids.dtype.kind}


def _are_numbers(ids: npt.NDArray[Any]) -> bool:
    return ids.dtype.kind in "iuf" or all(isinstance(value, Real) for value in ids)


def _integers(ids: Ids) -> npt.NDArray[Any]:
    """The numbers that the ids tell, or the ids, if some are not whole."""
    try:
        numbers = [int(text) for text in ids]
    except ValueError:
        return ids
    array = np.array(numbers)
    return array if array.dtype.kind in "iu" else np.array(numbers, dtype=object)  # no floats


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
