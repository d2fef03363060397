"""Rows of several files, matched by their ids or by their place."""

from __future__ import annotations

from collections.abc import Sequence

from manyview.errors import ReadError
from manyview.readers.contents import Contents
from manyview.views.ids import Ids, Order, match_ids
from manyview.wording import count, first_few

JOINS = ("exact", "inner", "outer", "order")


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


def _check_counts(parts: Sequence[Contents], names: Sequence[str]) -> None:
    for part, name in zip(parts, names, strict=True):
        if part.n_rows != parts[0].n_rows:
            raise ReadError(
                f"{name} has {count(part.n_rows, 'row')} but {names[0]} has "
                f"{count(parts[0].n_rows, 'row')}. All views must describe the same samples; if the "
                "files have ids, name their column with --id-column."
            )
