"""Rows of several tables or files, matched by their ids or by their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers import Vocabulary
from manyview.sources import Part, are_missing, as_ids
from manyview.views.ids import Ids, as_given, find_places, refuse_missing, refuse_repeated
from manyview.views.selection import Places, select_rows
from manyview.wording import count, first_few

JOINS = ("exact", "inner", "outer", "order")


class Match(NamedTuple):
    """Rows of several tables that belong together, and how, and what looks wrong, in words.

    ``ids`` are those of the matched rows, in the order of the first table; None if they are matched by
    place. ``places`` say for each table where those rows are; None for all as they are.
    """

    ids: Ids | None
    places: list[Places | None]
    note: str = ""
    doubts: Sequence[str] = ()


def join_parts(
    tables: Sequence[Sequence[Part]], names: Sequence[str], how: str, words: Vocabulary
) -> tuple[list[Part], Match]:
    """The views of several tables, their rows in the same order, and how they were matched.

    The views of a table share its ids. ``how`` is as in :func:`match_ids`, or "order": by their place,
    whatever their ids.
    """
    given = [parts[0].ids for parts in tables]
    known = [ids for ids in given if ids is not None]
    if how == "order" or not known:
        _check_counts(tables, names, words)
        whole = (ids for ids in known if not are_missing(ids).any())
        ids: npt.NDArray[np.generic] | None = next(whole, None)
        note = "Rows are matched by their place in the files." if len(tables) > 1 else ""
        match = Match(None if ids is None else as_ids(ids), [None] * len(tables), note)
    else:
        if len(known) < len(tables):
            without = [name for own, name in zip(given, names, strict=True) if own is None]
            raise ReadError(
                f"{first_few(without)} {'has' if len(without) == 1 else 'have'} no ids, but the other "
                f"file(s) have. Name the column with {words.id_column}, or, if all rows are in the "
                f"same order, say {words.order}."
            )
        match = match_ids([as_ids(own) for own in known], names, how, words)
        ids = as_given(match.ids, known) if match.ids is not None else None
    is_settled = how == "order" or match.ids is not None  # how rows are matched
    joined = [
        replace(
            part,
            rows=select_rows(part.rows, places),
            ids=ids,
            beside={} if is_settled else part.beside,
        )
        for parts, places in zip(tables, match.places, strict=True)
        for part in parts
    ]
    return joined, match


def _check_counts(
    tables: Sequence[Sequence[Part]], names: Sequence[str], words: Vocabulary
) -> None:
    counts = [parts[0].rows.shape[0] for parts in tables]
    for n_rows, name in zip(counts, names, strict=True):
        if n_rows != counts[0]:
            raise ReadError(
                f"{name} has {count(n_rows, 'row')} but {names[0]} has {count(counts[0], 'row')}. All "
                "views must describe the same samples; if the files have ids, name their column with "
                f"{words.id_column}."
            )


def match_ids(ids: Sequence[Ids], names: Sequence[str], how: str, words: Vocabulary) -> Match:
    """Where each table, called by its name in messages, has the rows that belong together.

    ``how`` says whether all tables must have the same ids ("exact"), those that all have are kept
    ("inner"), or those that any has ("outer"): then those of the first table, followed by what the next
    ones add. Advice in messages uses ``words``.
    """
    for own, name in zip(ids, names, strict=True):
        refuse_missing(own, name)
        refuse_repeated(own, name)
    first = ids[0]
    if all(np.array_equal(other, first) for other in ids[1:]):
        note = "Rows are matched by id; all files have them in the same order."
        return Match(first, [None] * len(ids), note if len(ids) > 1 else "")
    if how == "outer":
        return _match_any(ids, names)
    common = np.ones(len(first), dtype=bool)
    for other, name in zip(ids[1:], names[1:], strict=True):
        matched = np.isin(first, other)
        if how == "exact" and (not matched.all() or len(other) != len(first)):
            raise ReadError(_mismatch(first, other, names[0], name, words))
        common &= matched
    kept = first[common]
    if len(kept) == 0:
        raise ReadError(
            f"No id is in all of them: {names[0]} has {first_few(first, 3)}, {names[1]} has "
            f"{first_few(ids[1], 3)}. Name another column with {words.id_column}{_or_all(words)}."
        )
    note = "Rows are matched by id, in the order of the first file"
    if len(kept) < max(map(len, ids)):
        left = ", ".join(
            f"{len(other) - len(kept)} of {name}" for other, name in zip(ids, names, strict=True)
        )
        note += f"; {count(len(kept), 'row')} in all files kept, left out: {left}"
    return Match(kept, [find_places(other, kept) for other in ids], note + ".")


def _match_any(ids: Sequence[Ids], names: Sequence[str]) -> Match:
    """Rows of which each is in one table at least."""
    everything = np.concatenate(ids)
    joined = everything[np.sort(np.unique(everything, return_index=True)[1])]
    lacking = [
        f"{count(len(joined) - len(own), 'row')} without {name}"
        for own, name in zip(ids, names, strict=True)
        if len(own) < len(joined)
    ]
    note = f"Rows are matched by id; {', '.join([count(len(joined), 'row'), *lacking])}."
    places: list[Places | None] = [find_places(own, joined) for own in ids]
    return Match(joined, places, note, tables_sharing_no_id(ids, names))


def tables_sharing_no_id(ids: Sequence[Ids], names: Sequence[str]) -> list[str]:
    """Which tables share no id with any other, in words, with examples."""
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


def _mismatch(first: Ids, other: Ids, first_name: str, other_name: str, words: Vocabulary) -> str:
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
        f"{words.inner}{_or_all(words)}."
    )


def _or_all(words: Vocabulary) -> str:
    return f", or keep all, some without a view, with {words.outer}" if words.outer else ""
