"""New data and the views that a model was fitted to: names, order, and columns."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import InputError, warn_user
from manyview.sources import is_source
from manyview.views.columns import split_columns
from manyview.views.container import Views, as_views
from manyview.views.encoding import (
    Encoding,
    encode_part,
    likely_ids,
    names_of_rows,
    refuse_table,
    unknown_levels,
)
from manyview.views.kinds import IDENTIFIERS, Code, Treatment, are_numbers
from manyview.views.naming import refuse_other_orders
from manyview.views.parts import read_files
from manyview.views.selection import (
    empty_view,
    is_nowhere,
    refuse_samples_without_views,
    select_columns,
)
from manyview.wording import count, first_few, lacks_columns

Names = Sequence[str] | None

_LOOKED_AT = 4096  # rows at a time


def read_like(X: Any, encodings: Sequence[Encoding | None]) -> Any:
    """New rows with files read like those of the fit: what was text then is text."""
    levels = text_columns(encodings)
    return read_files(X, levels) if levels else X


def text_columns(encodings: Iterable[Encoding | None]) -> list[str]:
    """Columns whose levels would not be the same were they read as numbers."""
    codes = [code for encoding in encodings if encoding is not None for code in encoding.codes]
    return [code.name for code in codes if code.levels and not are_numbers(code.levels)]


def split_views(X: Any, columns: dict[str, list[int]] | None) -> Views:
    """X as views; one wide array by the places of each view's columns, if they are given."""
    return as_views(X if columns is None else split_columns(X, columns))


def _default_names(count: int) -> list[str]:
    return [f"view_{i}" for i in range(count)]


def drop_empty_views(views: Views, only: Collection[str] | None = None) -> Views:
    """The views that describe some sample; only those named are looked at, if any are.

    Of views in files, those whose first row is missing are read until there is one that is not.
    """
    present = views.present
    looked_at = views.names if only is None else only
    empty = [
        name
        for i, name in enumerate(views.names)
        if name in looked_at
        and ((present is not None and not present[:, i].any()) or _says_nothing(views.arrays[i]))
    ]
    if only is None:
        if present is not None:
            refuse_samples_without_views(present)
        if len(empty) == views.n_views:
            raise InputError(f"No sample has any of the views {empty}: all values are NaN.")
        if empty:
            warn_user(f"No sample has view(s) {empty}: left out.", UserWarning)
    return views if not empty else views.select([n for n in views.names if n not in empty])


def _says_nothing(rows: Any) -> bool:
    """Whether a view in a file has no row that is not missing."""
    if not is_source(rows) or rows.is_sparse or rows.dtype.kind != "f":
        return False
    n = rows.shape[0]
    ends = sorted({0, 1, n, *range(_LOOKED_AT, n, _LOOKED_AT)})
    return all(_is_missing(rows.read(start, end)) for start, end in pairwise(ends))


def _is_missing(block: Any) -> bool:
    return isinstance(block, np.ndarray) and bool(np.isnan(block).all())


def is_single(X: Any, views: Views) -> bool:
    """Whether X is one array or table in memory, as scikit-learn knows it."""
    is_one = views.n_views == 1 and not isinstance(
        X, list | tuple | dict | Views | str | os.PathLike
    )
    return is_one and views.is_in_memory


def match_views(
    views: Views, fitted: Sequence[str], widths: Sequence[int], *, by_name: bool
) -> Views:
    """The views of new data in the order that was fitted; those not given are missing.

    ``fitted`` and ``widths`` are the names and the numbers of columns that were fitted. Views may be
    left out if their names were given in the fit (``by_name``).
    """
    fitted = list(fitted)
    names = list(views.names)
    extra = set(names) - set(fitted)
    if extra and _is_by_place(names, fitted, by_name=by_name):
        return views
    if extra:
        views = drop_empty_views(views, only=extra)  # what says nothing does not matter
    names, n_views = list(views.names), views.n_views
    if n_views < len(fitted) and names == _default_names(n_views) and not by_name:
        raise InputError(
            f"Got {n_views} view(s), but this model was fitted with {len(fitted)}: {fitted}.",
            remedy="To predict from some of them, say which: a dict with their names.",
        )
    if n_views > len(fitted):
        raise ValueError(
            f"Got {n_views} view(s), but this model was fitted with {len(fitted)}: {fitted}."
        )
    if set(names) - set(fitted):
        raise InputError(
            f"Got views {names}, but this model was fitted with {fitted}.",
            remedy="Use the same names, or a list in the same order.",
        )
    if names == fitted:
        return views
    if set(names) == set(fitted):
        return views.select(fitted)
    columns = dict(zip(fitted, widths, strict=True))
    given = views.parts()
    parts = {
        name: given[name] if name in given else empty_view(views.n_rows, columns[name])
        for name in fitted
    }
    return Views(parts, target=views.target, ids=views.ids)


def _is_by_place(names: list[str], fitted: list[str], *, by_name: bool) -> bool:
    """Whether new views stand for those fitted by their places: those of a list have no other names."""
    default = _default_names(len(fitted))
    if len(names) != len(fitted) or default not in (names, fitted):
        return False
    # A name that was fitted means that view, and no other.
    is_list = names == default and not by_name
    return is_list or all(n == f for n, f in zip(names, fitted, strict=True) if n in fitted)


def align_columns(views: Views, fitted: Sequence[str], columns: Sequence[Names]) -> Views:
    """Views, in the order that was fitted, with columns that have names in that order too.

    ``fitted`` names the views in messages, ``columns`` the columns of each; other columns are refused.
    """
    orders = [
        _find_order(name, found, wanted)
        for name, found, wanted in zip(fitted, views.feature_names, columns, strict=True)
    ]
    if all(order is None for order in orders):
        return views
    parts = {
        name: part
        if order is None or wanted is None
        else replace(part, rows=select_columns(part.rows, order), columns=tuple(wanted))
        for (name, part), order, wanted in zip(views.parts().items(), orders, columns, strict=True)
    }
    return Views(parts, target=views.target, ids=views.ids)


def _find_order(name: str, found: Names, wanted: Names) -> list[int] | None:
    """Where the wanted columns are; None if they are in their places or have no names."""
    if found is None or wanted is None or list(found) == list(wanted):
        return None
    places = {column: place for place, column in enumerate(found)}
    is_same_set = places.keys() == set(wanted)
    if not is_same_set and (_merely_counts(found) or _merely_counts(wanted)):
        return None
    if missing := [column for column in wanted if column not in places]:
        raise ValueError(lacks_columns(f"View {name!r}", missing))
    if len(places) < len(found):
        raise ValueError(
            f"View {name!r} has columns of the same name, in another order than they were fitted. "
            "Bring them into that order, or give each a name of its own."
        )
    return [places[column] for column in wanted] if is_same_set else None


def _merely_counts(names: Sequence[str]) -> bool:
    return list(names) == [str(place) for place in range(len(names))]


def encode_like(
    views: Views, fitted: Sequence[str], encodings: Sequence[Encoding | None], categories: Any
) -> Views:
    """Views, in the order that was fitted, with tables encoded as then.

    What has the encoded columns already, and what no sample has, stays as it is. ``categories`` is the
    parameter of :class:`~manyview.LMVSC`.
    """
    parts, is_asked = views.parts(), Treatment.of(categories).is_asked
    refuse_other_orders(parts.values(), is_asked, known=names_of_rows(encodings))
    changed = {}
    for (name, part), view, encoding in zip(parts.items(), fitted, encodings, strict=True):
        if encoding is None:
            refuse_table(part.rows, view)
        elif part.columns != encoding.feature_names and not is_nowhere(part.rows):
            changed[name] = encode_part(part, encoding, view)
            _warn_of_unknown(unknown_levels(part, encoding, view), view)
    return Views({**parts, **changed}, target=views.target, ids=views.ids) if changed else views


def _warn_of_unknown(found: dict[str, list[str]], view: str) -> None:
    for column, levels in found.items():
        warn_user(
            f"Column {column!r} of view {view!r} has {count(len(levels), 'level')} that the fit did not "
            f"have: {first_few(levels, 3)}. Such rows have none of the known ones.",
            UserWarning,
        )


def warn_of_silent_views(views: Views, weights: npt.NDArray[np.float64]) -> None:
    """Warn if samples have only views of weight zero: nothing is known of them."""
    present = views.present
    if present is None or (weights > 0).all():
        return
    unknown = np.flatnonzero(~present[:, weights > 0].any(axis=1))
    if unknown.size:
        silent = [name for name, weight in zip(views.names, weights, strict=True) if weight <= 0]
        warn_user(
            f"{unknown.size} sample(s) have no view but {silent}, which have no weight: their labels "
            "mean nothing. Leave these samples out, or give the views weight.",
            UserWarning,
        )


def warn_of_encodings(given: Views, encoded: Views, categories: Any) -> None:
    """Warn of columns that encoding left out unasked, and of numbers that are likely ids."""
    before = given.parts()
    for name, part in encoded.parts().items():
        if before[name].encoding is not None:  # whoever encoded it was told
            continue
        if part.encoding is not None:
            unused = [code for code in part.encoding.codes if not code.is_used]
            codes = [code for code in unused if code.why != "as asked"]
            words = [f"{code.name!r} ({code.why})" for code in codes]
            if words:
                warn_user(
                    f"View {name!r}: left out {'; '.join(words)}. Say so yourself with "
                    f"categories={{{codes[0].name!r}: 'drop'}}, or 'keep' to use it{_if_ids(codes)}.",
                    UserWarning,
                )
        for column in likely_ids(part, Treatment.of(categories)):
            warn_user(
                f"Column {column!r} of view {name!r} holds whole numbers in order, none twice: likely "
                f"an id, no feature. Name it, Views(..., ids={column!r}), leave it out, or say "
                f"categories={{{column!r}: 'keep'}}.",
                UserWarning,
            )


def _if_ids(codes: Sequence[Code]) -> str:
    """What to do if a column that was left out names the rows, in words; nothing if none may."""
    names = [code.name for code in codes if code.why.startswith(IDENTIFIERS)]
    return f"; if {names[0]!r} names the rows, pass Views(..., ids={names[0]!r})" if names else ""


def refuse_other_columns(
    views: Views, fitted: Sequence[str], widths: Sequence[int], *, method: str = "LMVSC"
) -> None:
    """Raise ValueError if a view has another number of columns than ``method`` was fitted with."""
    for name, found, width in zip(fitted, views.n_features, widths, strict=True):
        if found != width:
            raise ValueError(
                f"X has {found} features, but {method} is expecting {width} features as input "
                f"(view {name!r})."
            )
