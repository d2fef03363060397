"""Rows of several tables, matched by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.views.presence import ABSENT
from manyview.wording import count, first_few

Ids = npt.NDArray[np.str_]
Order = npt.NDArray[np.int64] | None
"""Numbers of rows in the order wanted, -1 where there is none; None for all as they are."""


def as_ids(values: Any) -> npt.NDArray[np.str_]:
    """Give identifiers as text, so that 7, 7.0 and "7" are the same row.

    Examples
    --------
    >>> as_ids([7.0, 8.0]).tolist(), as_ids([b"a", b"b"]).tolist()
    (['7', '8'], ['a', 'b'])
    """
    array = np.asarray(values).ravel()
    if array.dtype.kind == "f" and np.array_equal(array, np.floor(array)):
        array = array.astype(np.int64)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    if array.dtype.kind == "O":
        array = np.array([v.decode() if isinstance(v, bytes) else str(v) for v in array])
    return array.astype(np.str_)


def refuse_missing(values: Any, name: str) -> None:
    """Raise ValueError if an identifier is missing: None, NaN or the like."""
    array = np.asarray(values).ravel()
    if array.dtype.kind in "fcmM":
        missing = np.isnat(array) if array.dtype.kind in "mM" else np.isnan(array)
    elif array.dtype.kind == "O":
        missing = np.array([_is_missing(value) for value in array], dtype=bool)
    else:
        return
    if missing.any():
        raise ValueError(
            f"{name} has {count(int(missing.sum()), 'row')} without an id, the first of them row "
            f"{int(missing.argmax())}. Leave such rows out, or give them ids."
        )


def _is_missing(value: Any) -> bool:
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def as_given(joined: Ids, given: Sequence[Any]) -> npt.NDArray[Any]:
    """Give joined ids as the tables have them, if all have the same type; else as text.

    Examples
    --------
    >>> as_given(as_ids([7, 8]), [np.array([8, 7]), np.array([7, 8])]).tolist()
    [7, 8]
    >>> as_given(as_ids([7, 8]), [np.array([8, 7]), np.array(["7", "8"])]).tolist()
    ['7', '8']
    """
    arrays = [np.asarray(ids).ravel() for ids in given]
    kinds = set().union(*map(_kinds, arrays))
    if len(kinds) > 1 or kinds <= {"S", "U", str, bytes}:
        return joined
    everything = np.concatenate(arrays)
    return everything[places(np.concatenate([as_ids(ids) for ids in arrays]), joined)]


def _kinds(ids: npt.NDArray[Any]) -> set[Any]:
    return set(map(type, ids)) if ids.dtype.kind == "O" else {ids.dtype.kind.replace("u", "i")}


def match_ids(
    ids: Sequence[Ids], names: Sequence[str], join: str
) -> tuple[Ids, list[Order], list[str]]:
    """Give the ids in the order of the first table, where each has them, and words.

    The first words say how rows were matched, any others what is doubtful about it.

    Parameters
    ----------
    ids : sequence of ndarray of str
        Of each table.
    names : sequence of str
        What messages call the tables.
    join : {"exact", "inner", "outer"}
        Whether all tables must have the same ids, those that all have are kept, or those that any
        has: then those of the first table, followed by what the next ones add.

    Examples
    --------
    >>> match_ids([as_ids(["a", "b"]), as_ids(["c", "a"])], ["first", "second"], "outer")[:2]
    (array(['a', 'b', 'c'], dtype='<U1'), [array([ 0,  1, -1]), array([ 1, -1,  0])])
    """
    for part, name in zip(ids, names, strict=True):
        refuse_repeated(part, name)
    first = ids[0]
    if all(np.array_equal(other, first) for other in ids[1:]):
        said = ["Rows are matched by id; all files have them in the same order."]
        return first, [None] * len(ids), said if len(ids) > 1 else []
    if join == "outer":
        return _match_any(ids, names)
    common = np.ones(len(first), dtype=bool)
    for other, name in zip(ids[1:], names[1:], strict=True):
        matched = np.isin(first, other)
        if join == "exact" and (not matched.all() or len(other) != len(first)):
            raise ReadError(_mismatch(first, other, names[0], name))
        common &= matched
    kept = first[common]
    if len(kept) == 0:
        raise ReadError(
            f"No id is in all files: {names[0]} has {first_few(first, 3)}, {names[1]} has "
            f"{first_few(ids[1], 3)}."
        )
    words = "Rows are matched by id, in the order of the first file"
    if len(kept) < max(map(len, ids)):
        left = ", ".join(
            f"{len(other) - len(kept)} of {name}" for other, name in zip(ids, names, strict=True)
        )
        words += f"; {count(len(kept), 'row')} in all files kept, left out: {left}"
    return kept, [places(other, kept) for other in ids], [words + "."]


def _match_any(ids: Sequence[Ids], names: Sequence[str]) -> tuple[Ids, list[Order], list[str]]:
    """Match ids of which each is in one table at least."""
    everything = np.concatenate(ids)
    firsts = np.unique(everything, return_index=True)[1]
    joined = everything[np.sort(firsts)]
    orders: list[Order] = [find_places(part, joined) for part in ids]
    lacking = ", ".join(
        f"{count(len(joined) - len(part), 'row')} without {name}"
        for part, name in zip(ids, names, strict=True)
        if len(part) < len(joined)
    )
    words = f"Rows are matched by id; {count(len(joined), 'row')}, {lacking}."
    return joined, orders, [words, *find_strangers(ids, names)]


def find_strangers(ids: Sequence[Ids], names: Sequence[str]) -> list[str]:
    """Say which tables share no id with any other, with examples.

    Examples
    --------
    >>> find_strangers([as_ids(["a-1"]), as_ids(["a"])], ["first", "second"])[0]
    "first shares no id with another table: it has 'a-1', second has 'a'."
    """
    said = []
    for place, (own, name) in enumerate(zip(ids, names, strict=True)):
        others = [other for i, other in enumerate(ids) if i != place]
        if others and not any(np.isin(own, other).any() for other in others):
            another = 1 if place == 0 else 0
            said.append(
                f"{name} shares no id with another table: it has {first_few(own, 3)}, "
                f"{names[another]} has {first_few(ids[another], 3)}."
            )
    return said


def places(ids: Ids, wanted: Ids) -> npt.NDArray[np.int64]:
    """Give where each wanted id is."""
    order = np.argsort(ids, kind="stable")
    return order[np.searchsorted(ids[order], wanted)].astype(np.int64)


def find_places(ids: Ids, wanted: Ids) -> npt.NDArray[np.int64]:
    """Give where each wanted id is, -1 if it is not there."""
    there = np.isin(wanted, ids)
    found = np.full(len(wanted), ABSENT)
    found[there] = places(ids, wanted[there])
    return found


def _mismatch(first: Any, other: Any, first_name: str, other_name: str) -> str:
    lacking = [
        f"{count(len(missing), 'id')} of {there} {'is' if len(missing) == 1 else 'are'} not in "
        f"{where} ({first_few(missing, 3)})"
        for missing, there, where in (
            (first[~np.isin(first, other)], first_name, other_name),
            (other[~np.isin(other, first)], other_name, first_name),
        )
        if len(missing)
    ]
    return (
        f"They do not have the same rows: {'; '.join(lacking)}. Keep the common ones with "
        "--join inner (in Python how='inner'), or all, some without a view, with --join outer."
    )


def refuse_repeated(ids: Ids, name: str) -> None:
    """Raise ReadError if an id is there more than once."""
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise ReadError(
            f"{name} has {count(int((counts > 1).sum()), 'id')} more than once: "
            f"{first_few(values[counts > 1], 3)}. An id must tell one row."
        )
