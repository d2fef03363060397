"""Whatever a user calls views -> checked parts: a block of numbers, column names, ids.

One rule about what is one view and what is several, and one set of error messages.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.sources import as_source, is_source, open_source
from manyview.views import annotated, frames, presence
from manyview.views.annotated import Matrix
from manyview.views.ids import as_ids, refuse_missing

Block = Any
"""One view: a 2-D ndarray, a CSR array, a partial view of such, or a source; or some rows of it."""

ONE_VIEW_HELP = (
    "One 2-D array is one view; pass several views as a list or a dict of 2-D arrays, "
    "one row per sample."
)

_CPU = (1, 3)  # DLPack's numbers of devices whose memory NumPy can read: CPU, and pinned by CUDA


@dataclass(frozen=True)
class Part:
    """One view, read.

    Attributes
    ----------
    block : ndarray, csr_array, source or Dask array of shape (n, d)
        Its numbers.
    columns : tuple of str, or None
        Names of its columns.
    ids : ndarray of shape (n,), or None
        Names of its rows.
    """

    block: Block
    columns: tuple[str, ...] | None = None
    ids: npt.NDArray[Any] | None = None


def split_parts(data: Any) -> dict[str, Any]:
    """Give the parts of whatever a user calls views, by name; none of them is read.

    Examples
    --------
    >>> list(split_parts([np.zeros((2, 3)), np.zeros((2, 1))]))
    ['view_0', 'view_1']
    """
    if annotated.has_modalities(data):
        return dict(annotated.read_modalities(data))
    if annotated.is_annotated(data):
        return {"view_0": data}
    if frames.is_frame(data):
        return frames.split_levels(data) or {"view_0": data}
    # SciPy's dok_array is a Mapping: test for one array first.
    if sparse.issparse(data) or _is_array_like(data) or isinstance(data, os.PathLike):
        return {"view_0": data}
    if isinstance(data, Mapping):
        if not data:
            raise ValueError(f"Got no views: the mapping is empty. {ONE_VIEW_HELP}")
        _check_unique([str(name) for name in data])
        return {str(name): part for name, part in data.items()}
    if isinstance(data, str | bytes) or not isinstance(data, Sequence):
        raise TypeError(f"Cannot use {type(data).__name__} as views. {ONE_VIEW_HELP}")
    if len(data) == 0:
        raise ValueError(f"Got no views: the list is empty. {ONE_VIEW_HELP}")
    if _is_two_dimensional(data[0]):
        return {f"view_{i}": part for i, part in enumerate(data)}
    return {"view_0": data}


def _check_unique(names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise ValueError(f"View names must be unique; got {list(names)}.")


def _is_array_like(item: Any) -> bool:
    return any(hasattr(item, name) for name in ("shape", "__array__", "__dlpack__"))


def _is_two_dimensional(item: Any) -> bool:
    if isinstance(item, str | os.PathLike):  # a file
        return True
    if hasattr(item, "shape"):
        return len(item.shape) >= 2
    if _is_array_like(item):
        return _to_array(item, "view_0").ndim >= 2
    if isinstance(item, Sequence) and not isinstance(item, str | bytes) and len(item):
        first = item[0]
        return hasattr(first, "__len__") and not isinstance(first, str | bytes)
    return False


def read_part(item: Any, name: str) -> Part:
    """Check one view and give it as numbers with names, copied only if it must be.

    What is not in memory becomes a source, and no row of it is read.

    Parameters
    ----------
    item : array, data frame, sparse array, AnnData, path or source
        The view.
    name : str
        Its name, for messages.
    """
    if annotated.is_annotated(item):
        item = annotated.read_matrix(item)
    if isinstance(item, Matrix):
        part = read_part(item.values, name)
        block = arrange_rows(part.block, item.places)
        return Part(block, item.columns or part.columns, item.ids)
    columns = ids = None
    if frames.is_frame(item):
        block = frames.read_numbers(item, name)
        columns, ids = frames.column_names(item), frames.row_ids(item)
    else:
        block = _read_block(item, name)
        columns = block.feature_names if is_source(block) else None
    _check_shape(block, name)
    return Part(block, columns, ids)


def read_table(table: Any, name: str, ids_column: str | None = None) -> Part:
    """Check one view whose rows have ids.

    Parameters
    ----------
    table : pair of (ids, view), data frame or AnnData
        The view.
    name : str
        Its name, for messages.
    ids_column : str, optional
        The column of a data frame that holds the ids; its index otherwise.
    """
    ids = None
    if isinstance(table, tuple) and len(table) == 2:
        ids, table = table
    elif frames.is_frame(table):
        if ids_column is not None:
            table, ids = frames.take_column(table, ids_column)
        else:
            ids = frames.row_ids(table, also_counts=True)
    elif annotated.is_annotated(table):
        ids = table.obs_names
    if ids is None:
        raise TypeError(
            f"Table {name!r} is {type(table).__name__}, which has no ids. Pass a pair (ids, array), a "
            "pandas data frame or AnnData; or say which column holds them."
        )
    part = read_part(table, name)
    if len(ids) != part.block.shape[0]:
        raise ValueError(f"Table {name!r} has {part.block.shape[0]} rows but {len(ids)} ids.")
    refuse_missing(ids, f"Table {name!r}")
    return Part(part.block, part.columns, np.asarray(ids))


def take_ids(
    items: Mapping[str, Any], column: str
) -> tuple[dict[str, Any], list[npt.NDArray[Any] | None]]:
    """Take the column of ids out of the data frames that have it."""
    rest, found = {}, []
    for name, item in items.items():
        rest[name], ids = (
            frames.take_column(item, column) if frames.is_frame(item) else (item, None)
        )
        found.append(ids)
    if all(ids is None for ids in found):
        raise ValueError(f"ids={column!r}, but no view is a data frame with a column {column!r}.")
    return rest, found


def read_indexes(items: Sequence[Any]) -> list[npt.NDArray[Any] | None]:
    """Give the index of each pandas frame; of those that merely count rows only beside another."""
    is_table = [not isinstance(item, Part) and frames.is_frame(item) for item in items]
    tables = [item for item, is_one in zip(items, is_table, strict=True) if is_one]
    if all(frames.row_ids(table) is None for table in tables):
        return [None] * len(items)
    return [
        frames.row_ids(item, also_counts=True) if is_one else None
        for item, is_one in zip(items, is_table, strict=True)
    ]


def settle_ids(
    names: Sequence[str], found: Sequence[npt.NDArray[Any] | None], given: Any, n_rows: int
) -> npt.NDArray[Any] | None:
    """Give the names of the rows: those that were given, or that the views bring and agree on."""
    if given is not None:
        ids = np.asarray(given)
        if ids.shape != (n_rows,):
            raise ValueError(f"ids has shape {ids.shape} but the views have {n_rows} rows.")
        return ids
    known = [(name, ids) for name, ids in zip(names, found, strict=True) if ids is not None]
    for name, ids in known[1:]:
        first, own = known[0]
        here, there = as_ids(ids), as_ids(own)
        if not np.array_equal(here, there):
            row = int(np.argmax(here != there))
            raise ValueError(
                f"Row {row} is {str(own[row])!r} in view {first!r} and {str(ids[row])!r} in {name!r}: "
                "all views must describe the same samples in the same order. Views.from_tables matches "
                "rows by their names; reset_index(drop=True) drops the names."
            )
    return known[0][1] if known else None


def arrange_rows(block: Block, places: npt.NDArray[np.int64] | None) -> Block:
    """Give the rows at these places, some maybe missing (-1); those of a source are not read."""
    if places is None:
        return block
    if (places < 0).any() or is_source(block):
        return presence.arrange(block, places)
    return block[places]


def _read_block(item: Any, name: str) -> Block:
    source = open_source(item) if isinstance(item, str) else as_source(item)
    if source is not None:
        return source
    if presence.is_partial(item):
        return item
    if sparse.issparse(item):
        return _read_sparse(item, name)
    if type(item).__module__.startswith("dask."):
        _check_chunks(item, name)
        return item
    if frames.is_lazy_frame(item):
        raise TypeError(
            f"View {name!r} is a {type(item).__name__}, which is not computed yet. Call .collect()."
        )
    if _is_lazy(item):
        raise TypeError(
            f"View {name!r} is a {type(item).__module__.split('.')[0]} array, which is not loaded "
            "into memory silently. Pass numpy.asarray(view) if it fits in memory."
        )
    is_views = hasattr(item, "n_views")
    if is_views or not (_is_array_like(item) or isinstance(item, Sequence)):
        raise TypeError(f"View {name!r} is {type(item).__name__}, not a 2-D array. {ONE_VIEW_HELP}")
    return _to_array(item, name)


def _read_sparse(item: Any, name: str) -> sparse.csr_array:
    if item.ndim != 2:
        raise ValueError(f"View {name!r} has {item.ndim} dimension(s). {ONE_VIEW_HELP}")
    block = sparse.csr_array(item)
    if not block.has_canonical_format:  # entries stored in parts would be scaled in parts
        block = block.copy()  # the arrays may still be the caller's
        block.sum_duplicates()
    return block


def _is_lazy(item: Any) -> bool:
    # Those of them that can be read by rows are sources already.
    return type(item).__module__.split(".")[0] in ("zarr", "h5py")


def _check_chunks(item: Any, name: str) -> None:
    """Refuse Dask collections whose rows are not whole or not countable; compute nothing."""
    if not hasattr(item, "chunks"):
        raise TypeError(
            f"View {name!r} is a Dask {type(item).__name__}, not a Dask array. Pass "
            "view.to_dask_array(lengths=True) for a data frame."
        )
    if any(map(np.isnan, item.shape)):
        raise ValueError(
            f"View {name!r} has chunks of unknown size (shape {item.shape}), as selecting rows by "
            "value leaves behind. Call view.compute_chunk_sizes() first, which counts them."
        )
    if item.ndim == 2 and item.numblocks[1] > 1:
        raise ValueError(
            f"View {name!r} is split along its columns, into chunks of {item.chunks[1]}; rows must "
            'be whole. Pass view.rechunk({0: "auto", 1: -1}).'
        )


def _to_array(item: Any, name: str) -> npt.NDArray[Any]:
    if isinstance(item, np.ma.MaskedArray):
        return np.ma.filled(item.astype(np.float64), np.nan)
    is_tensor = hasattr(item, "__dlpack__") and not isinstance(item, np.ndarray)
    if is_tensor:
        array = _from_tensor(item, name)
    else:
        try:
            array = np.asarray(item)
        except ValueError as error:
            raise ValueError(
                f"View {name!r} is ragged: its rows have different lengths. {ONE_VIEW_HELP}"
            ) from error
    if array.dtype.kind in "OUS":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"View {name!r} has values that are not numbers ({error}). "
                "Encode or leave out non-numeric columns."
            ) from error
    return array


def _from_tensor(item: Any, name: str) -> npt.NDArray[Any]:
    """Give an array of another library that lies in this machine's memory, without a copy."""
    device = getattr(item, "__dlpack_device__", lambda: (1, 0))()
    if int(device[0]) not in _CPU:
        raise TypeError(
            f"View {name!r} is a {type(item).__name__} on another device than the CPU. Move it "
            "there first, for example with view.cpu()."
        )
    try:
        return np.asarray(item) if hasattr(item, "__array__") else np.from_dlpack(item)
    except Exception as error:  # every library has its own
        raise TypeError(
            f"View {name!r} is a {type(item).__name__} that NumPy cannot take: {error} Pass a plain "
            "one, for example view.detach().float()."
        ) from error


def _check_shape(block: Block, name: str) -> None:
    if len(block.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(block.shape)}D array instead for view {name!r} (shape "
            f"{block.shape}). Reshape your data: one row per sample. {ONE_VIEW_HELP}"
        )
    _check_numeric(block, name)
    n_rows, n_columns = block.shape
    if n_rows == 0:
        raise ValueError(
            f"View {name!r} is empty: found array with 0 sample(s) (shape={block.shape}) while a "
            "minimum of 1 is required."
        )
    if n_columns == 0:
        raise ValueError(
            f"View {name!r} has 0 feature(s) (shape={block.shape}) while a minimum of 1 is "
            "required. Leave the view out, or check how its columns were selected."
        )


def _check_numeric(block: Block, name: str) -> None:
    kind = block.dtype.kind
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: view {name!r} is {block.dtype}. "
            "Pass real and imaginary parts as columns."
        )
    if kind not in "biuf":
        raise ValueError(
            f"View {name!r} has type {block.dtype}, not numbers. "
            "Encode or leave out non-numeric columns."
        )
