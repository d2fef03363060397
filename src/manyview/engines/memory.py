"""Arrays in memory, a thread pool over blocks of tiles."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.engines.base import TILE_ROWS, Run, Tile, TileFunction, TreeSum, n_tiles

T = TypeVar("T")

_KEEP_BYTES = 256 << 20  # what derived rows may always keep, however small the input


class Memory:
    """The engine for arrays that fit in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import LMVSC
    >>> from manyview.engines import Memory
    >>> X = np.repeat(np.eye(3), 20, axis=0)
    >>> LMVSC(3, engine=Memory(), random_state=0).fit(X).labels_.shape
    (60,)
    """

    name = "memory"

    def open(self, arrays: Sequence[Any], run: Run) -> MemoryRows:
        """Give the rows of ndarrays or CSR arrays, side by side."""
        for array in arrays:
            if not isinstance(array, np.ndarray) and not sparse.issparse(array):
                raise TypeError(
                    f"The memory engine does not load a {type(array).__module__.split('.')[0]} array "
                    "silently. Leave engine on 'auto', or load the array yourself if it fits in "
                    "memory."
                )
        return MemoryRows(arrays, run)

    def __repr__(self) -> str:
        return "Memory()"


class _TiledRows:
    """What rows in memory and rows derived from them share: the walk over tiles."""

    n_rows: int
    _run: Run

    def _tile(self, number: int) -> Tile:
        raise NotImplementedError

    def derive(self, function: TileFunction[Tile]) -> DerivedRows:
        """Give rows made from these tile by tile, kept while the budget lasts."""
        return DerivedRows(self, function)

    def map_reduce(self, function: TileFunction[T], *, stage: str) -> T:
        """Sum what ``function`` gives over all tiles."""

        def sum_block(tiles: range) -> list[tuple[int, int, Any]]:
            partial = TreeSum()
            for number in tiles:
                partial.add(number, function(self._tile(number), number * TILE_ROWS))
            return [(level, number, part) for (level, number), part in partial.parts().items()]

        total = TreeSum()
        for parts in self._each_block(sum_block, stage):
            for level, number, part in parts:
                total.add(number, part, level=level)
        result: T = total.result()
        return result

    def map_rows(self, function: TileFunction[npt.NDArray[Any]], *, stage: str) -> Any:
        """Put what ``function`` gives for every tile together as one array."""
        out: list[npt.NDArray[Any]] = []

        def first_or_fill(tiles: range) -> None:
            for number in tiles:
                start = number * TILE_ROWS
                rows = function(self._tile(number), start)
                if not out:
                    out.append(np.empty((self.n_rows, *rows.shape[1:]), rows.dtype))
                out[0][start : start + len(rows)] = rows

        first_or_fill(range(1))  # the first tile tells the shape and type
        for _ in self._each_block(first_or_fill, stage, first=1):
            pass
        return out[0]

    def _each_block(
        self, function: Callable[[range], T], stage: str, *, first: int = 0
    ) -> Iterator[T]:
        """Call ``function`` for blocks of tiles on the threads; give its results in order."""
        run = self._run
        last = n_tiles(self.n_rows)
        step = max(run.block_rows // TILE_ROWS, 1)
        blocks = (range(i, min(i + step, last)) for i in range(first, last, step))
        run.progress.start(stage, last - first)
        try:
            if run.n_jobs == 1 or last - first <= step:
                for block in blocks:
                    yield function(block)
                    run.progress.advance(len(block))
                return
            with ThreadPoolExecutor(run.n_jobs) as pool:
                # Few results wait at a time, so memory does not grow with the number of blocks.
                waiting: deque[tuple[range, Future[T]]] = deque()
                try:
                    for block in blocks:
                        waiting.append((block, pool.submit(function, block)))
                        if len(waiting) > run.n_jobs:
                            done, future = waiting.popleft()
                            yield future.result()
                            run.progress.advance(len(done))
                    while waiting:
                        done, future = waiting.popleft()
                        yield future.result()
                        run.progress.advance(len(done))
                finally:
                    for _, future in waiting:
                        future.cancel()
        finally:
            run.progress.finish()


class MemoryRows(_TiledRows):
    """Rows of arrays in memory, side by side; a tile is a list with one block per array."""

    def __init__(self, arrays: Sequence[Any], run: Run) -> None:
        self.arrays = list(arrays)
        self._run = run
        self.n_rows = int(self.arrays[0].shape[0])

    def _tile(self, number: int) -> Tile:
        start = number * TILE_ROWS
        return [array[start : start + TILE_ROWS] for array in self.arrays]

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Give rows by number; all of them without a copy."""
        if len(rows) == self.n_rows:
            return self
        return MemoryRows([array[rows] for array in self.arrays], self._run)

    def nbytes_as_float64(self) -> int:
        """Size of the arrays if they were (or are) float64."""
        return sum(
            array.nnz * 12 if sparse.issparse(array) else array.size * 8 for array in self.arrays
        )


class DerivedRows(_TiledRows):
    """Rows computed from others, tile by tile.

    They are kept until 256 MB, or a quarter of the input's size as float64 if that is more, are used.
    """

    def __init__(self, parent: _TiledRows, function: TileFunction[Tile]) -> None:
        self._parent, self._function = parent, function
        self._run = parent._run
        self.n_rows = parent.n_rows
        self._kept: dict[int, Tile] = {}
        size = parent.nbytes_as_float64() if isinstance(parent, MemoryRows) else 0
        self._budget = max(_KEEP_BYTES, size // 4)

    def _tile(self, number: int) -> Tile:
        tile = self._kept.get(number)
        if tile is None:
            tile = self._function(self._parent._tile(number), number * TILE_ROWS)
            if self._budget > 0:
                self._kept[number] = tile
                self._budget -= tile.nbytes
        return tile

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Refuse: sample the rows these were derived from."""
        raise TypeError("Sample the original rows, not derived ones.")
