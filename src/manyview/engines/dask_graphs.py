"""Task graphs over Dask arrays: rows cut into tiles, rows taken, sums added. Nothing runs here.

The functions in the first half are what workers are asked to do with blocks of rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.engines.base import (
    TILE_ROWS,
    Tile,
    TileFunction,
    TreeSum,
    n_block_tiles,
    one_thread_per_product,
)
from manyview.sources.csr import checked_csr
from manyview.views.selection import Mask, PartialView, held, restrict, stack

_FAN_IN = 8  # partial sums that one task adds


def is_dask(array: Any) -> bool:
    """Whether this is a Dask array; needs no Dask to tell."""
    return type(array).__module__.startswith("dask.array") and hasattr(array, "chunks")


def append_rows(old: Any, new: Any) -> Any:
    """Rows after others; lazily if either are in a Dask array."""
    if not is_dask(old) and not is_dask(new):
        return np.concatenate([old, new])
    import dask.array

    return dask.array.concatenate([dask.array.asarray(old), dask.array.asarray(new)])


class Held:
    """Something that a task graph must not look into: a function, derived tiles, partial sums.

    Dask asks how large it is before it moves or spills it.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __sizeof__(self) -> int:
        return count_bytes(self.value)


unwrap = attrgetter("value")
first_column = itemgetter((slice(None), 0))


def count_bytes(item: Any) -> int:
    """Bytes of the arrays in an array, a collection or a dataclass of them, roughly.

    Examples
    --------
    >>> count_bytes([np.zeros(4), (np.zeros((2, 2)), "text")])
    64
    """
    if sparse.issparse(item):
        return int(item.data.nbytes + item.indices.nbytes + item.indptr.nbytes)
    if hasattr(item, "nbytes"):
        return int(item.nbytes)
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, list | tuple):
        return sum(map(count_bytes, item))
    if is_dataclass(item):
        return sum(count_bytes(getattr(item, field.name)) for field in fields(item))
    return 0


def as_rows(block: Any) -> Any:
    """A chunk as what views in memory are: an ndarray, or a CSR array in canonical form.

    Examples
    --------
    >>> as_rows(np.ma.masked_array([[1, 2]], [[False, True]]))
    array([[ 1., nan]])
    """
    if isinstance(block, PartialView):
        return block
    if sparse.issparse(block):
        return checked_csr(block)
    if isinstance(block, np.ma.MaskedArray):
        return np.ma.filled(block.astype(np.float64), np.nan)
    return np.asarray(block)


@dataclass(frozen=True)
class Promise:
    """What a Dask array says of all its chunks; it does not look whether that is true."""

    where: str  # which array it is, in words
    n_columns: int
    dtype: np.dtype[Any]


def as_promised(n_rows: int, promise: Promise, block: Any) -> Any:
    """A chunk as rows, if it has the shape and holds numbers as its Dask array says."""
    rows = as_rows(block)
    if isinstance(rows, PartialView):
        return rows
    promised = (n_rows, promise.n_columns)
    if rows.shape != promised:
        raise ValueError(
            f"{promise.where}: a block has shape {rows.shape}, but the Dask array says {promised}. Say "
            "the true sizes where it is made, with chunks=; x.compute_chunk_sizes() finds those of rows."
        )
    if rows.dtype.kind not in "biuf":
        raise TypeError(
            f"{promise.where}: a block holds values of type {rows.dtype}, but the Dask array says "
            f"{promise.dtype}. Make numbers of them where it is made: x.astype(float)."
        )
    return rows


def take_rows(numbers: npt.NDArray[np.int64], n_rows: int, promise: Promise, block: Any) -> Any:
    """Rows of a chunk by their place in it."""
    return as_promised(n_rows, promise, block)[numbers]


def cut_rows(block: Any, start: int, end: int, n_rows: int, promise: Promise) -> Any:
    """Consecutive rows of a chunk."""
    rows = as_promised(n_rows, promise, block)[start:end]
    # A slice of an ndarray would keep the whole chunk in memory.
    return rows if sparse.issparse(rows) else rows.copy()


def keep_rows(present: Mask, promise: Promise, block: Any) -> Any:
    """The rows of a chunk that samples have."""
    kept = restrict(as_promised(len(present), promise, block), present)
    return kept[:] if isinstance(kept, PartialView) else kept


def join_rows(parts: Sequence[Any]) -> Any:
    """Parts of a view, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if any(isinstance(part, PartialView) for part in parts):
        return stack(parts)
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.vstack(parts, "csr"))
    return np.concatenate(parts)


def cut_and_join(parts: Sequence[tuple[Any, int, int, int]], promise: Promise) -> Any:
    """Rows start to end of each chunk, of so many rows, one below the other."""
    return join_rows([as_promised(n, promise, block)[low:high] for block, low, high, n in parts])


def sum_tiles(function: TileFunction[Any], start: int, *blocks: Any) -> Held:
    """Sum of what ``function`` returns for the tiles of a block, as far as the tree allows."""
    partial = TreeSum(in_place=True)
    for first_row, value in _each_tile(function, start, blocks):
        partial.add(first_row // TILE_ROWS, value)
    return Held(partial.parts())


def make_tiles(function: TileFunction[Tile], start: int, *blocks: Any) -> Held:
    """What ``function`` makes of each tile of a block."""
    return Held([tile for _, tile in _each_tile(function, start, blocks)])


def make_rows(
    function: TileFunction[npt.NDArray[Any]], start: int, *blocks: Any
) -> npt.NDArray[Any]:
    """What ``function`` returns for the tiles of a block, as one array with two dimensions."""
    rows = np.concatenate([part for _, part in _each_tile(function, start, blocks)])
    return rows[:, None] if rows.ndim == 1 else rows


def add_parts(blocks: Sequence[Held]) -> Held:
    """Partial sums of several blocks, added as far as the tree of sums allows."""
    return Held(_tree(blocks).parts())


def total_of(blocks: Sequence[Held]) -> Any:
    """The sum of all that is left."""
    return _tree(blocks).result()


def _tree(blocks: Sequence[Held]) -> TreeSum:
    tree = TreeSum()  # not in place: Dask keeps what it hands out
    for block in blocks:
        for (level, number), part in block.value.items():
            tree.add(number, part, level=level)
    return tree


def _each_tile(
    function: Callable[[Tile, int], Any], start: int, blocks: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """What ``function`` returns for each tile of a block that begins at row ``start``."""
    with one_thread_per_product():
        tiles: Iterator[Tile]
        if isinstance(blocks[0], Held):  # derived tiles
            tiles = iter(blocks[0].value)
        else:
            arrays = [as_rows(block) for block in blocks]
            edges = range(0, arrays[0].shape[0], TILE_ROWS)
            tiles = ([array[low : low + TILE_ROWS] for array in arrays] for low in edges)
        for number, tile in enumerate(tiles):
            first_row = start + number * TILE_ROWS
            yield first_row, function(tile, first_row)


Prints = dict[int, tuple[npt.NDArray[np.int64], list[npt.NDArray[np.float64]]]]
"""By first row of a tile: places of some of its rows, and for each view a print of these (2, p)."""

_SAME = 1e-4  # relative: other machines round otherwise, random numbers differ by far more


def print_rows(arrays: Sequence[Any], numbers: npt.NDArray[np.int64]) -> Prints:
    """What is kept of rows with these numbers (ascending), to compare them when they are read again."""
    tiles = numbers // TILE_ROWS
    edges = [0, *(np.flatnonzero(np.diff(tiles)) + 1).tolist(), len(numbers)]
    return {
        int(tiles[low]) * TILE_ROWS: (
            numbers[low:high] % TILE_ROWS, [_print(array[low:high]) for array in arrays]
        )
        for low, high in pairwise(edges)
        if low < high
    }  # fmt: skip


def _print(rows: Any) -> npt.NDArray[np.float64]:
    """A weighted sum of each row's values and of their magnitudes, of shape (2, n)."""
    present = held(rows)
    if present.dtype.kind not in "biuf":  # refused elsewhere, as are values that are not finite
        return np.empty((2, 0))
    numbers = present.astype(np.float64)
    weights = 1.0 + np.cos(np.arange(numbers.shape[1]))
    with np.errstate(all="ignore"):
        return np.array([numbers @ weights, abs(numbers) @ weights])


@dataclass(frozen=True)
class Comparing:
    """A function of tiles that looks first whether some of their rows are what they were."""

    function: TileFunction[Any]
    prints: Prints

    def __call__(self, tile: Tile, first_row: int) -> Any:
        """What the function returns; raises if rows have changed."""
        places, prints = self.prints.get(first_row, (None, ()))
        for number, (rows, known) in enumerate(zip(tile, prints, strict=False)):
            found = _print(rows[places])
            with np.errstate(all="ignore"):
                is_same = found.shape == known.shape and np.isclose(
                    found, known, rtol=0.0, atol=_SAME * known[1], equal_nan=True
                )
            if not np.all(is_same):
                raise ValueError(
                    f"View number {number + 1} of {len(tile)} gave other values when its rows from "
                    f"{first_row} on were read again, so no fit to it would mean anything. Blocks that "
                    "are made at random need a seed of their own; what changes meanwhile must be kept "
                    "first: view = client.persist(view)."
                )
        return self.function(tile, first_row)


def keys_of(array: Any) -> list[Any]:
    """Keys of an array's blocks, from the first rows to the last."""
    from dask.core import flatten

    return list(flatten(array.__dask_keys__()))


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
    """Dask array of what ``task(function, first row, block of each source)`` returns.

    The function is sent to the cluster once, as a task of its own. Sources are alike in their row chunks
    and whole in their columns; ``starts`` are the numbers of their blocks' first rows. Tasks go by
    ``name`` on the dashboard. If the result is rows, ``like`` has their type and columns.
    """
    from dask.delayed import Delayed

    key = f"manyview-{name}-function-{uuid.uuid4().hex}"
    is_flat = like is not None and like.ndim == 1
    blocks = _blockwise(
        task,
        Delayed(key, {key: (unwrap, Held(function))}),
        None,
        *_one_a_chunk(sources[0], starts),
        # All on one column index: only then does Dask fuse loading a block with working on it.
        *(part for source in sources for part in (source, (0, 1))),
        name=name,
        dtype=object if like is None else like.dtype,
        adjust_chunks={1: (1 if like is None or is_flat else like.shape[1],)},
    )
    if not is_flat:
        return blocks
    name = f"manyview-{name}-{uuid.uuid4().hex}"
    layer = {(name, i): (first_column, key) for i, key in enumerate(keys_of(blocks))}
    return _from_tasks(name, layer, [blocks], blocks.chunks[:1], blocks.dtype)


def add_up(sums: Any, *, name: str) -> Any:
    """Dask array whose one block is the sum of all partial sums, by a tree of tasks."""
    name = f"manyview-{name}-add-{uuid.uuid4().hex}"
    layer: dict[Any, Any] = {}
    keys, level = keys_of(sums), 0
    while len(keys) > _FAN_IN:
        groups = [keys[i : i + _FAN_IN] for i in range(0, len(keys), _FAN_IN)]
        keys = [(name, level, number, 0) for number in range(len(groups))]
        layer.update({key: (add_parts, group) for key, group in zip(keys, groups, strict=True)})
        level += 1
    layer[name, 0] = (total_of, keys)
    return _from_tasks(name, layer, [sums], ((1,),), object)


def _promise(array: Any, where: str) -> Promise:
    return Promise(where, int(array.shape[1]), array.dtype)


def take(array: Any, numbers: npt.NDArray[np.int64], where: str) -> Any:
    """Dask array with the rows of these numbers (ascending), chunk by chunk."""
    edges = np.cumsum([0, *array.chunks[0]])
    places = np.searchsorted(numbers, edges)
    wanted = [
        numbers[low:high] - start
        for (low, high), start in zip(pairwise(places), edges[:-1], strict=True)
    ]
    return _blockwise(
        take_rows,
        *_one_a_chunk(array, wanted),
        *_one_a_chunk(array, array.chunks[0]),
        *(_promise(array, where), None),
        *(array, (0, 1)),
        name="sample",
        dtype=array.dtype,
        adjust_chunks={0: tuple(np.diff(places).tolist())},
    )


def leave_out(view: PartialView, where: str) -> Any:
    """Dask array whose chunks are partial views, from a partial view of a Dask array."""
    array, present = view.rows, view.present
    if len(array) != len(present) or (view.places != np.arange(len(present)))[present].any():
        raise TypeError(
            "Rows of a Dask array stay where they are: give it one row for each sample, in their order, "
            "and say in Views(..., present=...) which of them count."
        )
    edges = np.cumsum([0, *array.chunks[0]])
    masks = [present[low:high] for low, high in pairwise(edges)]
    pairs = (*_one_a_chunk(array, masks), _promise(array, where), None, array, (0, 1))
    return _blockwise(keep_rows, *pairs, name="present", dtype=array.dtype, meta=array._meta)


def cut_to(array: Any, edges: Sequence[int], where: str) -> Any:
    """Dask array of an array's rows, whose chunks end at ``edges``; only edge rows move."""
    chunks = (tuple(np.diff(edges).tolist()), (int(array.shape[1]),))
    promise = _promise(array, where)
    if is_dask(array) and array.chunks == chunks:
        pairs = (*_one_a_chunk(array, chunks[0]), promise, None, array, (0, 1))
        return _blockwise(as_promised, *pairs, name="block", dtype=array.dtype, meta=array._meta)
    token = uuid.uuid4().hex
    name = f"manyview-tiles-{token}"
    layer: dict[Any, Any] = {}
    if is_dask(array):
        old = np.cumsum([0, *array.chunks[0]]).tolist()
        for i, (start, end) in enumerate(pairwise(edges)):
            edge = (f"manyview-edges-{token}", i)
            parts, cuts = _parts(array.name, old, start, end, edge, promise)
            layer |= {**cuts, (name, i, 0): (cut_and_join, parts, promise)}
    else:
        for i, (start, end) in enumerate(pairwise(edges)):
            layer[name, i, 0] = (unwrap, Held(array[start:end]))
    return _from_tasks(name, layer, [array] if is_dask(array) else [], chunks, array.dtype)


def _parts(
    name: str, old: list[int], start: int, end: int, edge: tuple[str, int], promise: Promise
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
        key, n_rows = (name, c, 0), old[c + 1] - old[c]
        # The longest part is cut where it is used: its chunk need not move. Of the others, only
        # what is needed is sent.
        if (c, low, high) == longest or high - low == n_rows:
            parts.append([key, low, high, n_rows])
        else:
            cuts[*edge, c] = (cut_rows, key, low, high, n_rows, promise)
            parts.append([(*edge, c), 0, high - low, high - low])
    return parts, cuts


def _one_a_chunk(array: Any, values: Sequence[Any]) -> tuple[Any, tuple[int]]:
    """A value for each chunk of rows, as an argument of ``_blockwise``."""
    from dask.layers import ArrayValuesDep

    return ArrayValuesDep((array.chunks[0],), {(i,): v for i, v in enumerate(values)}), (0,)


def _blockwise(
    function: Any, *pairs: Any, name: str, dtype: Any, meta: Any = None, **options: Any
) -> Any:
    """Dask array of what ``function`` returns for blocks; arguments each with their indices."""
    import dask.array as da

    return da.blockwise(
        function,
        (0, 1),
        *pairs,
        name=f"manyview-{name}-{uuid.uuid4().hex}",
        dtype=dtype,
        meta=np.empty((0, 0), dtype) if meta is None else meta,
        align_arrays=False,
        **options,
    )


def _from_tasks(
    name: str, layer: dict[Any, Any], depends_on: list[Any], chunks: Any, dtype: Any
) -> Any:
    """Dask array of the tasks of a layer, which use others' blocks."""
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    graph = HighLevelGraph.from_collections(name, layer, dependencies=depends_on)
    return da.Array(graph, name, chunks, meta=np.empty((0,) * len(chunks), dtype))
