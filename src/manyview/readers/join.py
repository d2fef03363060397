"""Rows of several files, matched by their ids or by their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.contents import Contents, count, first_few

JOINS = ("exact", "inner", "order")

Ids = npt.NDArray[np.str_]
Order = npt.NDArray[np.int64] | None
"""Numbers of rows in the order wanted; None for all as they are."""


def match_rows(
    parts: Sequence[Contents], names: Sequence[str], join: str
) -> tuple[Ids | None, list[Order], list[str]]:
    """Give the common ids, the rows of each file in their order (None: as they are), and words."""
    with_ids = [part.ids for part in parts if part.ids is not None]
    if join == "order" or not with_ids:
        _check_counts(parts, names)
        ids = with_ids[0] if with_ids else None
        words = ["Rows are matched by their place in the files."] if len(parts) > 1 else []
        return ids, [None] * len(parts), words
    if len(with_ids) < len(parts):
        without = [name for part, name in zip(parts, names, strict=True) if part.ids is None]
        raise ReadError(
            f"{first_few(without)} {'has' if len(without) == 1 else 'have'} no ids, but the other "
            "file(s) have. Name the column with --id-column, or, if all rows are in the same order, "
            "say --join order."
        )
    return match_ids(with_ids, names, join)


def match_ids(
    ids: Sequence[Ids], names: Sequence[str], join: str
) -> tuple[Ids, list[Order], list[str]]:
    """Give the common ids in the order of the first, where each file has them, and words.

    Parameters
    ----------
    ids : sequence of ndarray of str
        Of each file.
    names : sequence of str
        What messages call the files.
    join : {"exact", "inner"}
        Whether all files must have the same ids.
    """
    for part, name in zip(ids, names, strict=True):
        refuse_repeated(part, name)
    first = ids[0]
    if all(np.array_equal(other, first) for other in ids[1:]):
        said = ["Rows are matched by id; all files have them in the same order."]
        return first, [None] * len(ids), said if len(ids) > 1 else []
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


def places(ids: Ids, wanted: Ids) -> npt.NDArray[np.int64]:
    """Give where each wanted id is."""
    order = np.argsort(ids, kind="stable")
    return order[np.searchsorted(ids[order], wanted)].astype(np.int64)


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
        f"The files do not have the same rows: {'; '.join(lacking)}. Keep the common ones with "
        "--join inner."
    )


def refuse_repeated(ids: Ids, name: str) -> None:
    """Raise ReadError if an id is there more than once."""
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise ReadError(
            f"{name} has {count(int((counts > 1).sum()), 'id')} more than once: "
            f"{first_few(values[counts > 1], 3)}. An id must tell one row."
        )


def _check_counts(parts: Sequence[Contents], names: Sequence[str]) -> None:
    for part, name in zip(parts, names, strict=True):
        if part.n_rows != parts[0].n_rows:
            raise ReadError(
                f"{name} has {count(part.n_rows, 'row')} but {names[0]} has "
                f"{count(parts[0].n_rows, 'row')}. All views must describe the same samples; if the "
                "files have ids, name their column with --id-column."
            )
