"""Task graphs over Dask arrays: cut rows into tiles, take rows, add sums. Nothing runs here."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.engines.base import TILE_ROWS, TileFunction, n_block_tiles
from manyview.engines.dask_tasks import (
    Carried,
    add_parts,
    cut_and_join,
    cut_rows,
    first_column,
    keep_rows,
    take_rows,
    total_of,
    unwrap,
)
from manyview.views.selection import PartialView

_FAN_IN = 8  # partial sums that one task adds


def is_dask(array: Any) -> bool:
    """Whether this is a Dask array; needs no Dask to tell."""
    return type(array).__module__.startswith("dask.array") and hasattr(array, "chunks")


def keys_of(array: Any) -> list[Any]:
    """Keys of an array's blocks, from the first rows to the last."""
    from dask.core import flatten

    return list(flatten(array.__dask_keys__()))


def one_row_like(array: Any) -> Any:
    """Give one row of zeros, dense or sparse as the array is."""
    shape = (1, int(array.shape[1]))
    if sparse.issparse(getattr(array, "_meta", array)):
        return sparse.csr_array(shape, dtype=array.dtype)
    return np.zeros(shape, array.dtype)


def tile_edges(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Where blocks of whole tiles begin and end: as near as can be to where chunks do.

    The widest Dask array decides, so that the fewest bytes move.
    """
    n_rows = int(arrays[0].shape[0])
    chunked = [array for array in arrays if is_dask(array)]
    if chunked:
        widest = max(chunked, key=lambda array: array.shape[1] * array.dtype.itemsize)
        ends = np.cumsum(widest.chunks[0])
        ends = ends[ends < n_rows]
    else:
        block_rows = TILE_ROWS * n_block_tiles(n_rows)
        ends = np.arange(block_rows, n_rows, block_rows)
    inner = np.unique(np.rint(ends / TILE_ROWS).astype(np.int64)) * TILE_ROWS
    return (0, *inner[(inner > 0) & (inner < n_rows)].tolist(), n_rows)


def over_blocks(
    task: Any,
    function: TileFunction[Any],
    sources: Sequence[Any],
    starts: Sequence[int],
    *,
    name: str,
    like: npt.NDArray[Any] | None = None,
) -> Any:
    """Give a Dask array of what ``task(function, first row, block of each source)`` gives.

    Parameters
    ----------
    task : callable
        Runs once a block.
    function : callable
        Handed to it; sent to the cluster once, as a task of its own.
    sources : sequence of dask.array.Array
        Alike in their row chunks, whole in their columns.
    starts : sequence of int
        Number of each block's first row.
    name : str
        What the tasks are called on the dashboard.
    like : ndarray, optional
        Has the type and the columns of the result, if the result is rows.
    """
    import dask.array as da
    from dask.layers import ArrayValuesDep

    token = uuid.uuid4().hex
    firsts = {(i,): start for i, start in enumerate(starts)}
    # All on one column index: only then does Dask fuse loading a block with working on it.
    pairs = [part for source in sources for part in (source, (0, 1))]
    is_flat = like is not None and like.ndim == 1
    width = 1 if like is None or is_flat else like.shape[1]
    dtype = object if like is None else like.dtype
    layer = da.blockwise(
        task,
        (0, 1),
        _node(function, f"manyview-{name}-function-{token}"),
        None,
        ArrayValuesDep((sources[0].chunks[0],), firsts),
        (0,),
        *pairs,
        name=f"manyview-{name}-{token}",
        dtype=dtype,
        meta=np.empty((0, 0), dtype),
        align_arrays=False,
        adjust_chunks={1: (width,)},
    )
    return _without_columns(layer, f"manyview-{name}-{uuid.uuid4().hex}") if is_flat else layer


def _without_columns(array: Any, name: str) -> Any:
    """Give an array of one column as one dimension, by tasks that keep a name to read."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    layer = {(name, i): (first_column, key) for i, key in enumerate(keys_of(array))}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[array])
    return da.Array(graph, name, array.chunks[:1], meta=np.empty(0, array.dtype))


def _node(value: Any, key: str) -> Any:
    """Give a value as a task without input."""
    from dask.delayed import Delayed

    return Delayed(key, {key: (unwrap, Carried(value))})


def add_up(sums: Any, *, name: str) -> Any:
    """Give a Dask array whose one block is the sum of all partial sums, by a tree of tasks."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    name = f"manyview-{name}-add-{uuid.uuid4().hex}"
    layer: dict[Any, Any] = {}
    keys, level = keys_of(sums), 0
    while len(keys) > _FAN_IN:
        groups = [keys[i : i + _FAN_IN] for i in range(0, len(keys), _FAN_IN)]
        keys = [(name, level, number, 0) for number in range(len(groups))]
        layer.update({key: (add_parts, group) for key, group in zip(keys, groups, strict=True)})
        level += 1
    layer[name, 0] = (total_of, keys)
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[sums])
    return da.Array(graph, name, ((1,),), meta=np.empty(0, object))


def take(array: Any, numbers: npt.NDArray[np.int64]) -> Any:
    """Give a Dask array with the rows of these numbers (ascending), chunk by chunk."""
    edges = np.cumsum([0, *array.chunks[0]])
    places = np.searchsorted(numbers, edges)
    wanted = {
        (i,): numbers[low:high] - start
        for i, ((low, high), start) in enumerate(zip(pairwise(places), edges[:-1], strict=True))
    }
    return _by_chunk(
        take_rows,
        array,
        wanted,
        name="manyview-sample",
        meta=np.empty((0, 0), array.dtype),
        adjust_chunks={0: tuple(np.diff(places).tolist())},
    )


def leave_out(view: PartialView) -> Any:
    """Give a partial view of a Dask array as a Dask array whose chunks are partial views."""
    array, present = view.rows, view.present
    if len(array) != len(present) or (view.places != np.arange(len(present)))[present].any():
        raise TypeError(
            "Rows of a Dask array stay where they are: give it one row for each sample, in their order, "
            "and say in Views(..., present=...) which of them count."
        )
    edges = np.cumsum([0, *array.chunks[0]])
    masks = {(i,): present[low:high] for i, (low, high) in enumerate(pairwise(edges))}
    return _by_chunk(keep_rows, array, masks, name="manyview-present", meta=array._meta)


def _by_chunk(
    function: Any, array: Any, values: dict[tuple[int], Any], *, name: str, **options: Any
) -> Any:
    """Give a Dask array of ``function(value of the chunk, chunk)`` for every chunk of rows."""
    import dask.array as da
    from dask.layers import ArrayValuesDep

    return da.blockwise(
        function,
        (0, 1),
        ArrayValuesDep((array.chunks[0],), values),
        (0,),
        array,
        (0, 1),
        name=f"{name}-{uuid.uuid4().hex}",
        dtype=array.dtype,
        align_arrays=False,
        **options,
    )


def cut_to(array: Any, edges: Sequence[int]) -> Any:
    """Give an array as a Dask array whose row chunks end at ``edges``; only edge rows move."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    chunks = (tuple(np.diff(edges).tolist()), (int(array.shape[1]),))
    token = uuid.uuid4().hex
    name = f"manyview-tiles-{token}"
    layer: dict[Any, Any] = {}
    if is_dask(array):
        if array.chunks == chunks:
            return array
        old = np.cumsum([0, *array.chunks[0]]).tolist()
        for i, (start, end) in enumerate(pairwise(edges)):
            parts, cuts = _parts(array.name, old, start, end, (f"manyview-edges-{token}", i))
            layer.update(cuts)
            layer[name, i, 0] = (cut_and_join, parts)
    else:
        for i, (start, end) in enumerate(pairwise(edges)):
            layer[name, i, 0] = (unwrap, Carried(array[start:end]))
    dependencies = [array] if is_dask(array) else []
    graph = HighLevelGraph.from_collections(name, layer, dependencies=dependencies)
    return da.Array(graph, name, chunks, meta=np.empty((0, 0), array.dtype))


def _parts(
    name: str, old: list[int], start: int, end: int, edge: tuple[str, int]
) -> tuple[list[list[Any]], dict[Any, Any]]:
    """Which rows of which old chunks make the rows from start to end, and tasks that cut edges."""
    first = int(np.searchsorted(old, start, "right")) - 1
    last = int(np.searchsorted(old, end, "left"))
    spans = [
        (c, max(start - old[c], 0), min(end, old[c + 1]) - old[c])
        for c in range(first, last)
        if old[c + 1] > old[c]
    ]
    longest = max(spans, key=lambda span: span[2] - span[1])
    parts: list[list[Any]] = []
    cuts: dict[Any, Any] = {}
    for c, low, high in spans:
        key = (name, c, 0)
        # The longest part is cut where it is used: its chunk need not move. Of the others, only
        # what is needed is sent.
        if (c, low, high) == longest or high - low == old[c + 1] - old[c]:
            parts.append([key, low, high])
        else:
            cuts[*edge, c] = (cut_rows, key, low, high)
            parts.append([(*edge, c), 0, high - low])
    return parts, cuts
