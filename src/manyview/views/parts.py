"""Whatever a user calls views -> one record a view; one rule about what is one view and what several.

This is the road in: a file, a data frame, an AnnData, a tensor and a Dask array all become a
:class:`~manyview.sources.Part` here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.readers import Vocabulary, parse, read_file
from manyview.sources import Part, as_ids, is_source
from manyview.views import annotated, frames
from manyview.views.blocks import ONE_VIEW_HELP, as_array, is_array_like, read_block
from manyview.views.ids import as_given, refuse_missing
from manyview.wording import first_few

IdsColumn = str | Mapping[str, str] | None
"""The column that names rows, in all views or by the name of the view."""

_WORDS = Vocabulary(
    id_column="ids='NAME'",
    label_column="read_views(..., label_column='NAME')",
    labels="target=...",
    inner="Views.from_tables(..., how='inner')",
    outer="Views.from_tables(..., how='outer')",
)


def split_parts(data: Any, ids_column: str | None = None) -> dict[str, Any]:
    """Whatever a user calls views, one by one, by name.

    Only a file that is given alone is opened, and its rows are named by ``ids_column``.
    """
    if annotated.has_modalities(data):
        if ids_column is not None:
            refuse_column_of_ids(ids_column)
        return dict(annotated.read_modalities(data))
    if annotated.is_annotated(data):
        return {"view_0": data}
    if frames.is_frame(data):
        return frames.split_levels(data) or {"view_0": data}
    if _is_file(data):
        parts = _read_file(data, ids_column)
        if ids_column is not None and parts[0].ids is None:
            refuse_column_of_ids(ids_column)
        return _by_name(parts)
    # SciPy's dok_array is a Mapping: test for one array first.
    if sparse.issparse(data) or is_array_like(data):
        return {"view_0": data}
    if isinstance(data, Mapping):
        if not data:
            raise ValueError(f"Got no views: the mapping is empty. {ONE_VIEW_HELP}")
        check_unique([str(name) for name in data])
        return {str(name): part for name, part in data.items()}
    if isinstance(data, bytes) or not isinstance(data, Sequence):
        raise TypeError(f"Cannot use {type(data).__name__} as views. {ONE_VIEW_HELP}")
    if len(data) == 0:
        raise ValueError(f"Got no views: the list is empty. {ONE_VIEW_HELP}")
    if _is_two_dimensional(data[0]):
        return {f"view_{i}": part for i, part in enumerate(data)}
    return {"view_0": data}


def check_unique(names: Sequence[str]) -> None:
    """Raise ValueError if two views have the same name."""
    if len(set(names)) != len(names):
        raise ValueError(f"View names must be unique; got {list(names)}.")


def _is_two_dimensional(item: Any) -> bool:
    if _is_file(item):
        return True
    if hasattr(item, "shape"):
        return len(item.shape) >= 2
    if is_array_like(item):
        return as_array(item, "view_0").ndim >= 2
    if isinstance(item, Sequence) and not isinstance(item, bytes) and len(item):
        first = item[0]
        return hasattr(first, "__len__") and not isinstance(first, str | bytes)
    return False


def read_files(data: Any, levels: Sequence[str]) -> Any:
    """Views with what is in files read, the columns called ``levels`` as text; all else as it is."""
    if _is_file(data):
        return _by_name(_read_file(data, levels=levels))
    if isinstance(data, list | tuple) and any(map(_is_file, data)):
        data = {f"view_{i}": item for i, item in enumerate(data)}
    if isinstance(data, dict):
        return {
            name: read_part(item, str(name), levels=levels) if _is_file(item) else item
            for name, item in data.items()
        }
    return data


def _is_file(item: Any) -> bool:
    return isinstance(item, str | os.PathLike)


def _by_name(parts: Sequence[Part]) -> dict[str, Any]:
    return {"view_0": parts[0]} if len(parts) == 1 else {part.name: part for part in parts}


def _read_file(
    path: Any,
    ids_column: str | None = None,
    *,
    also_counts: bool = False,
    levels: Sequence[str] = (),
) -> tuple[Part, ...]:
    request = replace(
        parse(os.fspath(path)),
        id_column=ids_column,
        also_counts=also_counts,
        levels=levels,
        vocabulary=_WORDS,
    )
    if request.name is not None:
        given = request.text.partition("=")[2]
        raise ValueError(
            f"{request.text!r} holds the name of a view. Names are the keys of a dict here: "
            f"{ {request.name: given} }."
        )
    return read_file(request).parts


def refuse_column_of_ids(column: str, view: str | None = None) -> NoReturn:
    """Raise ValueError: the column that should hold the names of the rows is nowhere."""
    ids, which = repr(column), "no view is"
    if view is not None:
        ids, which = f"{ {view: column} }", f"view {view!r} is not"
    raise ValueError(f"ids={ids}, but {which} a data frame or a file with a column {column!r}.")


def read_part(
    item: Any,
    name: str,
    ids_column: str | None = None,
    *,
    also_counts: bool = False,
    levels: Sequence[str] = (),
) -> Part:
    """One view, checked, with the names of its columns and rows.

    A path may say what inside the file, ``PATH::KEY``. Rows of a data frame or a file are named by
    their ``ids_column``; those of a file else by its index, also if it merely ``also_counts`` them. What
    is not in memory becomes a source, and no row of it is read. Columns of a file that are called
    ``levels`` are text, whatever they look like.
    """
    if isinstance(item, Part):
        return replace(item, name=name, rows=read_block(item.rows, name))
    if _is_file(item):
        parts = _read_file(item, ids_column, also_counts=also_counts, levels=levels)
        if len(parts) > 1:
            found = [part.name for part in parts]
            raise ValueError(
                f"View {name!r} is the file {os.fspath(item)!r}, which holds {len(parts)}: "
                f"{first_few(found)}. Say which, '{os.fspath(item)}::KEY', or pass the file alone, "
                "for all of them."
            )
        return read_part(parts[0], name)
    if annotated.is_annotated(item):
        return replace(annotated.read_matrix(item), name=name)
    if not frames.is_frame(item):
        block = read_block(item, name)
        return Part(name, block, block.feature_names if is_source(block) else None)
    ids = None
    if ids_column is not None:
        item, ids = frames.take_column(item, ids_column)
    return Part(name, read_block(item, name), frames.column_names(item), ids)


def column_of(ids: IdsColumn, name: str) -> str | None:
    """The column that names the rows of the view called ``name``."""
    return ids.get(name) if isinstance(ids, Mapping) else ids


def check_views_known(ids: IdsColumn, names: Sequence[str]) -> None:
    """Raise ValueError if columns of ids are given for views that there are not."""
    if isinstance(ids, Mapping) and (unknown := [name for name in ids if name not in names]):
        raise ValueError(
            f"ids names {first_few(unknown)}, but the views are {first_few([*names])}."
        )


def read_parts(
    items: Mapping[str, Any], names: Sequence[str], ids_column: IdsColumn = None
) -> list[Part]:
    """What :func:`split_parts` gave, checked, under these names, with the names of rows it brings.

    One of the data frames and files must have the ``ids_column``, if it is given, and each its own, if
    they are given by the names of views.
    """
    check_views_known(ids_column, names)
    parts = [
        read_part(item, name, column_of(ids_column, name))
        for item, name in zip(items.values(), names, strict=True)
    ]
    if isinstance(ids_column, Mapping):
        for part in parts:
            if part.name in ids_column and part.ids is None:
                refuse_column_of_ids(ids_column[part.name], part.name)
        ids_column = None
    tables = [
        part.ids
        for part, item in zip(parts, items.values(), strict=True)
        if _is_file(item) or frames.is_frame(item)
    ]
    is_file = all(isinstance(item, Part) for item in items.values())  # which was asked already
    if ids_column is not None and not is_file and all(ids is None for ids in tables):
        refuse_column_of_ids(ids_column)
    indexes = read_indexes([*items.values()])
    return [
        part if part.ids is not None else replace(part, ids=index)
        for part, index in zip(parts, indexes, strict=True)
    ]


def read_table(table: Any, name: str, ids_column: str | None = None) -> Part:
    """One view whose rows have ids: a pair of (ids, view), a data frame, an AnnData or a path.

    The ids of a data frame or a file are its ``ids_column``, or its index.
    """
    ids, also_counts = None, ids_column is None
    if isinstance(table, tuple) and len(table) == 2:
        ids, table = table
    elif frames.is_frame(table) and ids_column not in frames.column_names(table):
        ids = frames.row_ids(table, also_counts=also_counts)
    part = read_part(table, name, ids_column, also_counts=also_counts)
    if ids is not None:
        refuse_missing(ids, repr(name))  # before a list becomes an array, in which all may be text
    ids = part.ids if ids is None else np.asarray(ids)
    if ids is None:
        column = "" if ids_column is None else f", nor a column {ids_column!r}"
        is_file = _is_file(table)
        what = f"the file {os.fspath(table)!r}" if is_file else type(table).__name__
        raise TypeError(
            f"Table {name!r} is {what}, which has no ids{column}. Say which column holds them, "
            "ids='NAME'; or pass a pair (ids, array), a pandas data frame or AnnData."
        )
    if len(ids) != part.rows.shape[0]:
        raise ValueError(f"Table {name!r} has {part.rows.shape[0]} rows but {len(ids)} ids.")
    return replace(part, ids=ids)


def read_indexes(items: Sequence[Any]) -> list[npt.NDArray[Any] | None]:
    """The index of each pandas frame; of those that merely count rows only beside another."""
    is_table = [not isinstance(item, Part) and frames.is_frame(item) for item in items]
    tables = [item for item, is_one in zip(items, is_table, strict=True) if is_one]
    if all(frames.row_ids(table) is None for table in tables):
        return [None] * len(items)
    return [
        frames.row_ids(item, also_counts=True) if is_one else None
        for item, is_one in zip(items, is_table, strict=True)
    ]


def settle_ids(parts: Sequence[Part], given: Any, n_rows: int) -> npt.NDArray[Any] | None:
    """The names of the rows: those that were given, or that the views bring and agree on."""
    if given is not None:
        refuse_missing(given, "ids")
        ids = np.asarray(given)
        if ids.shape != (n_rows,):
            raise ValueError(f"ids has shape {ids.shape} but the views have {n_rows} rows.")
        return ids
    known = [(part.name, part.ids) for part in parts if part.ids is not None]
    if not known:
        return None
    first, own = known[0]
    refuse_missing(own, f"View {first!r}")
    others = [(name, ids) for name, ids in known if ids is not own]
    for name, ids in others:
        refuse_missing(ids, f"View {name!r}")
        here, there = as_ids(ids), as_ids(own)
        if not np.array_equal(here, there):
            row = int(np.argmax(here != there))
            raise ValueError(
                f"Row {row} is {str(own[row])!r} in view {first!r} and {str(ids[row])!r} in {name!r}: "
                "all views must describe the same samples in the same order. Views.from_tables matches "
                "rows by their names; ids=[...], a name for each row, takes them by their place."
            )
    return as_given(as_ids(own), [own, *(ids for _, ids in others)]) if others else own


def read_masks(present: Any, names: Sequence[str], n_rows: int) -> npt.NDArray[np.bool_]:
    """Which samples have which views, from an array or from one mask a name."""
    n_views = len(names)
    if isinstance(present, Mapping):
        if unknown := sorted(set(map(str, present)) - set(names)):
            raise ValueError(f"present names {unknown}, but the views are {list(names)}.")
        masks = {str(name): np.asarray(mask) for name, mask in present.items()}
        for name, mask in masks.items():
            if mask.shape != (n_rows,):
                raise ValueError(
                    f"present[{name!r}] must hold True or False for {n_rows} samples; its shape is "
                    f"{mask.shape}."
                )
        every = np.ones(n_rows, bool)
        present = np.stack([masks.get(name, every) for name in names], axis=1)
    table = np.asarray(present)
    if table.shape != (n_rows, n_views) or table.dtype != bool:
        raise ValueError(
            f"present must hold True or False for {n_rows} samples and {n_views} views, shape "
            f"({n_rows}, {n_views}); got {table.dtype} of shape {table.shape}."
        )
    return table
