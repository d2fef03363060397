"""Columns that name rows: the same names in two views, but in another order, are refused.

Rows of views are matched by their place. Where two of them hold the same names, whatever the columns are
called, these tell whether that is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.sources import Part, is_source
from manyview.sources.table import Table
from manyview.views import kinds
from manyview.views.selection import select_columns

Column = npt.NDArray[Any]
Skips = Callable[[str], bool]

_LIKE_IDS = re.compile(
    r"(.*[\W_])?(ids?|uid|uuid|guid|index|row|key|name|sample|subject|patient|cell|barcode|code|no|nr"
    r"|unnamed_0)|\w?id|.*[a-z]I[dD]",
)
_LEAST_ROWS = 10  # unless a column of text is called as ids are
_DISTINCT = {"text": 0.5, "numbers": 0.9, "first": 1.0}  # of the values
_SHARED = {"text": 0.5, "numbers": 0.9, "first": 1.0}  # of them that both views have
_MOST_NUMBERED = 100_000  # rows whose first column is looked at, however it is called
_COMPARED = 200  # values of a column, to see how many the other has
_LOOKED_AT = 64  # rows, before all of them
_BLOCK = 1 << 16  # rows of a file at a time


@dataclass(frozen=True)
class _Names:
    """What may name the rows of a view: a column, or their ids, for which there is none."""

    view: str
    column: str | None
    texts: npt.NDArray[np.str_]
    # "text", or "numbers", or "first": numbers in a first column that is not called as ids are.
    kind: str = "text"

    @property
    def looks_like_ids(self) -> bool:
        return self.column is None or is_like_ids(self.column)

    @cached_property
    def all_texts(self) -> frozenset[str]:
        return frozenset(self.texts.tolist())

    def share_in(self, other: _Names) -> float:
        """The share of some of these names that are among the other ones."""
        some = self.texts[:: max(len(self.texts) // _COMPARED, 1)].tolist()
        return float(np.mean([name in other.all_texts for name in some]))


def is_like_ids(name: str) -> bool:
    """Whether a column is called as columns of ids are.

    Examples
    --------
    >>> [is_like_ids(name) for name in ("id", "Patient_ID", "pid", "sampleId", "width", "humid")]
    [True, True, True, True, False, False]
    """
    return bool(_LIKE_IDS.fullmatch(name) or _LIKE_IDS.fullmatch(name.lower()))


def refuse_other_orders(
    parts: Iterable[Part], skips: Skips, known: Collection[str] | None = None
) -> None:
    """Raise ValueError if views hold the same names of rows, but in another order.

    ``skips`` says which columns not to look at. Numbers name rows only if their columns are called so,
    as ranks are the same numbers, too; or in first columns of tables that are not long, if they are
    whole and all there once, but not if they are just those from 0 or 1 on. Of new rows, columns of text
    are looked at only if they are ``known`` to name rows. Where rows have ids, names are compared with
    these.
    """
    parts = list(parts)
    if len(parts) < 2:
        return
    found = [list(_find_names(part, skips, known)) for part in parts]
    ids = next((part.ids for part in parts if part.ids is not None), None)
    pairs: Iterable[tuple[list[_Names], list[_Names]]] = combinations(found, 2)
    if ids is not None:
        pairs = ((each, [_Names("", None, kinds.level_texts(ids))]) for each in found)
    for first, second in pairs:
        if pair := _find_other_order(first, second):
            column = pair[0].column
            raise ValueError(
                f"{_in_words(*pair)} leave them out, categories={{{column!r}: 'drop'}}, or use them, "
                "'keep'."
            )


def refuse_other_orders_beside(parts: Iterable[Part]) -> None:
    """The same for what files hold beside their views."""
    beside = {part.name: part.beside for part in parts if part.beside}
    if len({id(vectors) for vectors in beside.values()}) < 2:  # all are of one file
        return
    found = [
        list(_find_names(Part(name, Table(vectors)), lambda name: False, None))
        for name, vectors in beside.items()
    ]
    for first, second in combinations(found, 2):
        if pair := _find_other_order(first, second):
            raise ValueError(f"{_in_words(*pair)} pass the arrays, or say --join order.")


def _find_other_order(
    first: Sequence[_Names], second: Sequence[_Names]
) -> tuple[_Names, _Names] | None:
    """What names the same rows in two views, if it does so in another order."""
    pairs = [(a, b) for a in first for b in second if _are_same(a, b)]
    if any(np.array_equal(a.texts, b.texts) for a, b in pairs):
        return None
    return max(pairs, key=_likeness, default=None)


def _likeness(pair: tuple[_Names, _Names]) -> tuple[bool, int]:
    return pair[0].column == pair[1].column, sum(names.looks_like_ids for names in pair)


def _are_same(a: _Names, b: _Names) -> bool:
    """Whether two views name the same rows by these, in whatever order."""
    needed = max(_SHARED[a.kind], _SHARED[b.kind])
    return min(a.share_in(b), b.share_in(a)) >= needed


def _in_words(a: _Names, b: _Names) -> str:
    """What is wrong, and how to match rows by these, up to what to do if they name no rows."""
    row = int(np.argmax(a.texts != b.texts))
    options = f"--id-column {a.column}"
    if b.column is None:
        what = f"Column {a.column!r} of view {a.view!r} names the rows as their ids do"
        ids = f"{{{a.view!r}: {a.column!r}}}"
    elif a.column == b.column:
        what = f"Column {a.column!r} names rows of views {a.view!r} and {b.view!r}"
        ids = repr(a.column)
    else:
        what = f"{a.column!r} of view {a.view!r} and {b.column!r} of {b.view!r} name the same rows"
        ids = f"{{{a.view!r}: {a.column!r}, {b.view!r}: {b.column!r}}}"
        options += f" --id-column {b.column}"
    return (
        f"{what}, but not in the same order: row {row} is {str(a.texts[row])!r} and "
        f"{str(b.texts[row])!r}. Match rows by them, Views.from_tables(..., ids={ids}) or {options} on "
        "the command line, or, if they name no rows,"
    )


def _find_names(part: Part, skips: Skips, known: Collection[str] | None) -> Iterator[_Names]:
    for column, values in _columns_that_may(part, skips):
        kind = "numbers" if is_like_ids(column) else "first"
        kind = "text" if values.dtype.kind in "OUSTM" else kind
        if kind == "first" and not _may_number_rows(values):
            continue
        if kind == "text" and known is not None:
            may_name = column in known
        else:
            may_name = len(values) >= _LEAST_ROWS or (kind == "text" and is_like_ids(column))
        if not may_name:
            continue
        texts = kinds.level_texts(values)
        if len(np.unique(texts)) >= _DISTINCT[kind] * len(texts):
            yield _Names(part.name, column, texts, kind)


def _columns_that_may(part: Part, skips: Skips) -> Iterator[tuple[str, Column]]:
    """Columns that begin with text, or are first or called as ids are and begin with whole numbers."""
    rows, names = part.rows, part.columns
    is_long = rows.shape[0] > _MOST_NUMBERED
    first = names[0] if names and not is_long else None
    if isinstance(rows, Table):
        heads: dict[str, Column] = dict(rows[:_LOOKED_AT].columns)
        wanted = [n for n, head in heads.items() if not skips(n) and _may_name(n, head, first)]
        yield from ((name, rows.columns[name]) for name in wanted)
        return
    is_file = is_source(rows) and not rows.is_sparse
    if names is None or part.encoding is not None or not (is_file or isinstance(rows, np.ndarray)):
        return
    head = rows.read(0, min(_LOOKED_AT, rows.shape[0])) if is_file else rows[:_LOOKED_AT]
    if not isinstance(head, np.ndarray):
        return
    each = zip(names, head.T, strict=True)
    places = [
        i for i, (n, values) in enumerate(each) if not skips(n) and _may_name(n, values, first)
    ]
    for place in places:
        yield names[place], _read_column(rows, place) if is_file else rows[:, place]


def _may_number_rows(values: Column) -> bool:
    """Whether numbers are whole and all there once, and not those from 0 or 1 on, as ranks are."""
    ordered = np.sort(values)  # NaN and infinity come last, or first
    if not np.isfinite(ordered[[0, -1]]).all() or (ordered != np.floor(ordered)).any():
        return False
    steps = np.diff(ordered)
    counts = ordered[0] in (0, 1) and (steps == 1).all()
    return bool((steps > 0).all() and not counts)


def _may_name(column: str, head: Column, first: str | None) -> bool:
    kind = head.dtype.kind
    if kind in "iuf":
        if column != first and not is_like_ids(column):
            return False
        known = head[head == head]
        if len(known) < _DISTINCT["numbers"] * len(head) or (known != np.floor(known)).any():
            return False
        return len(np.unique(known)) >= _DISTINCT["numbers"] * len(known)
    if kind not in "OUSTM":
        return False
    return len(np.unique(kinds.level_texts(head))) >= _DISTINCT["text"] * len(head)


def _read_column(source: Any, place: int) -> Column:
    column, n_rows = select_columns(source, [place]), source.shape[0]
    blocks = [column.read(start, min(start + _BLOCK, n_rows)) for start in range(0, n_rows, _BLOCK)]
    return np.concatenate([np.asarray(block).ravel() for block in blocks])
