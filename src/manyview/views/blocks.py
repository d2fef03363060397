"""Whatever a user calls an array -> a checked block of numbers, copied only if it must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.sources import as_source
from manyview.sources.csr import checked_csr
from manyview.sources.table import Table
from manyview.views import frames
from manyview.views.selection import PartialView, held

Block = Any
"""One view: a 2-D ndarray, a CSR array, a partial view of such, or a source; or some rows of it."""

ONE_VIEW_HELP = (
    "One 2-D array is one view; pass several views as a list or a dict of 2-D arrays, "
    "one row per sample."
)

_CPU = (1, 3)  # DLPack's numbers of devices whose memory NumPy can read: CPU, and pinned by CUDA


def is_array_like(item: Any) -> bool:
    """Whether this can be had as an array."""
    return any(hasattr(item, name) for name in ("shape", "__array__", "__dlpack__"))


def is_sparse(array: Block) -> bool:
    """Whether a view's rows are CSR."""
    rows = held(array)
    return bool(getattr(rows, "is_sparse", False)) or bool(sparse.issparse(rows))


def with_short_indices(array: Block) -> Block:
    """Rows whose indices are 32-bit if they are sparse and that is enough: all scikit-learn takes."""
    if not sparse.issparse(array) or array.indices.dtype == array.indptr.dtype == np.int32:
        return array
    if max(array.nnz, *array.shape) > np.iinfo(np.int32).max:
        return array
    indices, indptr = array.indices.astype(np.int32), array.indptr.astype(np.int32)
    return sparse.csr_array((array.data, indices, indptr), shape=array.shape)


def read_block(item: Any, name: str) -> Block:
    """One view, called ``name`` in messages, as numbers, or as a table if some columns hold none.

    What is not in memory becomes a source, and no row of it is read.
    """
    block = frames.read_frame(item, name) if frames.is_frame(item) else _as_block(item, name)
    _check_shape(block, name)
    return block


def _as_block(item: Any, name: str) -> Block:
    if isinstance(item, Table):
        return item
    if isinstance(item, PartialView):
        return item if (item.places < 0).any() else item[:]
    source = as_source(item)
    if source is not None:
        return source
    if sparse.issparse(item):
        return _read_sparse(item, name)
    if type(item).__module__.startswith("dask."):
        _check_chunks(item, name)
        return item
    if frames.is_lazy_frame(item):
        raise TypeError(
            f"View {name!r} is a {type(item).__name__}, which is not computed yet. Call .collect()."
        )
    # Those of them that can be read by rows are sources already.
    if type(item).__module__.split(".")[0] in ("zarr", "h5py"):
        raise TypeError(
            f"View {name!r} is a {type(item).__module__.split('.')[0]} array, which is not loaded "
            "into memory silently. Pass numpy.asarray(view) if it fits in memory."
        )
    is_views = hasattr(item, "n_views")
    if is_views or not (is_array_like(item) or isinstance(item, Sequence)):
        raise TypeError(f"View {name!r} is {type(item).__name__}, not a 2-D array. {ONE_VIEW_HELP}")
    return as_array(item, name)


def _read_sparse(item: Any, name: str) -> sparse.csr_array:
    if item.ndim != 2:
        raise ValueError(f"View {name!r} has {item.ndim} dimension(s). {ONE_VIEW_HELP}")
    try:
        return checked_csr(item)
    except ValueError as error:
        raise ValueError(
            f"View {name!r} is a damaged sparse matrix: {error}. Build it again."
        ) from error


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


def as_array(item: Any, name: str) -> npt.NDArray[Any]:
    """Nested lists, tensors and what has ``__array__`` as an array of numbers."""
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
    """An array of another library that lies in this machine's memory, without a copy."""
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
    if not isinstance(held(block), Table):
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
