"""What Dask workers are asked to do with blocks of rows. Nothing here needs Dask itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.engines.base import TILE_ROWS, Tile, TileFunction, TreeSum, one_thread_per_product
from manyview.views.selection import Mask, PartialView, restrict, stack


class Carried:
    """Holds something for a task graph, which would look into lists and call callables."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def unwrap(carried: Carried) -> Any:
    """Give what is held."""
    return carried.value


class Tiles:
    """Derived tiles of one block. Dask asks how large they are before it moves or spills them."""

    def __init__(self, tiles: list[Tile]) -> None:
        self.tiles = tiles

    def __sizeof__(self) -> int:
        return count_bytes(self.tiles)


class Parts:
    """Partial sums of one block, by level and number in the tree of sums."""

    def __init__(self, parts: dict[tuple[int, int], Any]) -> None:
        self.parts = parts

    def __sizeof__(self) -> int:
        return count_bytes(list(self.parts.values()))


def count_bytes(item: Any) -> int:
    """Bytes of the arrays in an array, a list, a tuple or a dataclass of them, roughly.

    Examples
    --------
    >>> count_bytes([np.zeros(4), (np.zeros((2, 2)), "text")])
    64
    """
    if sparse.issparse(item):
        return int(item.data.nbytes + item.indices.nbytes + item.indptr.nbytes)
    if hasattr(item, "nbytes"):
        return int(item.nbytes)
    if isinstance(item, list | tuple):
        return sum(map(count_bytes, item))
    if is_dataclass(item):
        return sum(count_bytes(getattr(item, field.name)) for field in fields(item))
    return 0


def as_rows(block: Any) -> Any:
    """Give a chunk as what views in memory are: an ndarray, or a CSR array in canonical form.

    Examples
    --------
    >>> as_rows(np.ma.masked_array([[1, 2]], [[False, True]]))
    array([[ 1., nan]])
    """
    if isinstance(block, PartialView):
        return block
    if sparse.issparse(block):
        rows = sparse.csr_array(block)
        if not rows.has_canonical_format:
            rows = rows.copy()  # the chunk may be someone else's
            rows.sum_duplicates()
        return rows
    if isinstance(block, np.ma.MaskedArray):
        return np.ma.filled(block.astype(np.float64), np.nan)
    return np.asarray(block)


def take_rows(numbers: npt.NDArray[np.int64], block: Any) -> Any:
    """Give rows of a chunk by their place in it."""
    return as_rows(block)[numbers]


def cut_rows(block: Any, start: int, end: int) -> Any:
    """Give consecutive rows of a chunk."""
    rows = as_rows(block)[start:end]
    # A slice of an ndarray would keep the whole chunk in memory.
    return rows if sparse.issparse(rows) else rows.copy()


def keep_rows(present: Mask, block: Any) -> Any:
    """Give the rows of a chunk that samples have."""
    kept = restrict(as_rows(block), present)
    return kept[:] if isinstance(kept, PartialView) else kept


def join_rows(parts: Sequence[Any]) -> Any:
    """Give parts of a view, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if any(isinstance(part, PartialView) for part in parts):
        return stack(parts)
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.vstack(parts, "csr"))
    return np.concatenate(parts)


def cut_and_join(parts: Sequence[tuple[Any, int, int]]) -> Any:
    """Give rows start to end of each chunk, one below the other."""
    return join_rows([as_rows(block)[start:end] for block, start, end in parts])


def sum_tiles(function: TileFunction[Any], start: int, *blocks: Any) -> Parts:
    """Sum what ``function`` gives for the tiles of a block, as far as the tree of sums allows."""
    partial = TreeSum(in_place=True)
    for first_row, value in _each_tile(function, start, blocks):
        partial.add(first_row // TILE_ROWS, value)
    return Parts(partial.parts())


def make_tiles(function: TileFunction[Tile], start: int, *blocks: Any) -> Tiles:
    """Give what ``function`` makes of each tile of a block."""
    return Tiles([tile for _, tile in _each_tile(function, start, blocks)])


def make_rows(
    function: TileFunction[npt.NDArray[Any]], start: int, *blocks: Any
) -> npt.NDArray[Any]:
    """Give what ``function`` gives for the tiles of a block as one array with two dimensions."""
    rows = np.concatenate([part for _, part in _each_tile(function, start, blocks)])
    return rows[:, None] if rows.ndim == 1 else rows


def first_column(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give the first column of a block."""
    return rows[:, 0]


def add_parts(blocks: Sequence[Parts]) -> Parts:
    """Add the partial sums of several blocks, as far as the tree of sums allows."""
    return Parts(_tree(blocks).parts())


def total_of(blocks: Sequence[Parts]) -> Any:
    """Give the sum of all that is left."""
    return _tree(blocks).result()


def _tree(blocks: Sequence[Parts]) -> TreeSum:
    tree = TreeSum()  # not in place: Dask keeps what it hands out
    for block in blocks:
        for (level, number), part in block.parts.items():
            tree.add(number, part, level=level)
    return tree


def _each_tile(
    function: Callable[[Tile, int], Any], start: int, blocks: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """Call ``function`` for each tile of a block that begins at row ``start``."""
    with one_thread_per_product():
        if isinstance(blocks[0], Tiles):
            for number, tile in enumerate(blocks[0].tiles):
                first_row = start + number * TILE_ROWS
                yield first_row, function(tile, first_row)
            return
        arrays = [as_rows(block) for block in blocks]
        for low in range(0, arrays[0].shape[0], TILE_ROWS):
            tile = [array[low : low + TILE_ROWS] for array in arrays]
            yield start + low, function(tile, start + low)
