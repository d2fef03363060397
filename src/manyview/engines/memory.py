"""Arrays in memory, and the walk over tiles that engines on one machine share.

Blocks of whole tiles are loaded (by a thread that reads ahead, where loading is reading), worked on by
the threads, and their results taken in order. A :class:`Log` may remember how far a call came, so
that it can go on from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.checks import check_count, is_auto
from manyview.engines.base import (
    TILE_ROWS,
    Divisible,
    Run,
    Tile,
    TileFunction,
    TreeSum,
    n_block_tiles,
    n_tiles,
    run_side_by_side,
    show_settings,
)
from manyview.engines.files import ArrayOutput, Output
from manyview.sources import is_source
from manyview.views.selection import held

T = TypeVar("T")

Loaded = Any
"""What was loaded for a block of tiles."""

_KEEP_BYTES = 256 << 20  # what derived rows may always keep, however small the input


class Memory:
    """The engine for arrays that fit in memory. Views in files are loaded as a whole.

    Parameters
    ----------
    block_rows : int or "auto", default="auto"
        Rows handed to a thread at a time; rounded up to whole tiles of 4096. It changes no result.
    track_memory : bool, default=False
        Note in ``stage_memory_`` how much memory this process holds during a fit.

    See Also
    --------
    Disk : views that are larger than memory.
    Dask : views on a cluster.

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

    def __init__(self, block_rows: int | str = "auto", *, track_memory: bool = False) -> None:
        if not is_auto(block_rows):
            check_count("block_rows", block_rows)
        self.block_rows = block_rows
        self.track_memory = track_memory

    def open(self, arrays: Sequence[Any], run: Run) -> MemoryRows:
        """Rows of ndarrays or CSR arrays, side by side."""
        loaded = [a.read(0, a.shape[0]) if is_source(a) else a for a in arrays]
        refuse_foreign(loaded, self.name)
        n_block = None if is_auto(self.block_rows) else n_tiles(int(self.block_rows))
        return MemoryRows(loaded, run, n_block_tiles=n_block)

    def __repr__(self) -> str:
        return show_settings(self)


def refuse_foreign(arrays: Sequence[Any], engine: str) -> None:
    """Refuse what is no array of this process's memory, such as a Dask array."""
    for array in map(held, arrays):
        if not isinstance(array, np.ndarray) and not sparse.issparse(array):
            raise TypeError(
                f"The {engine} engine does not load a {type(array).__module__.split('.')[0]} array "
                "silently. Leave engine on 'auto', or load the array yourself if it fits in "
                "memory."
            )


class Call:
    """How far one call over all tiles has come. This one starts at the first tile, and forgets."""

    is_done = False
    result: Any = None
    n_done = 0
    total: TreeSum | None = None
    output: Output | None = None

    def advance(self, n_done: int) -> None:
        """All tiles before this one are done."""

    def finish(self, result: Any) -> None:
        """All tiles are done."""


class Log:
    """Remembers calls, which come in the same order whenever a fit is repeated. This one does not."""

    is_kept = False

    def open_call(self, stage: str) -> Call:
        """The next call, as far as it came in an earlier run."""
        return Call()

    def recall(self, stage: str, compute: Callable[[], Any]) -> Any:
        """What ``compute`` returned in an earlier run, or else returns now."""
        call = self.open_call(stage)
        if not call.is_done:
            call.result = compute()
            call.finish(call.result)
        return call.result


class TiledRows:
    """Rows in tiles; what engines add is how a block of tiles is loaded and a tile made of it."""

    n_rows: int
    _run: Run
    _log: Log
    _reads = False
    """Whether loading waits for something else than memory, so that it is worth reading ahead."""

    def _load(self, tiles: range) -> Loaded:
        return None

    def _tile(self, number: int, loaded: Loaded) -> Tile:
        raise NotImplementedError

    def _output(self, like: npt.NDArray[Any], stage: str) -> Output:
        return ArrayOutput(self.n_rows, like)

    def _block_tiles(self) -> int:
        return n_block_tiles(self.n_rows)

    def map_reduce(self, function: TileFunction[T], *, stage: str) -> T:
        """Sum of what ``function`` returns for every tile."""

        def sum_block(tiles: range, loaded: Loaded) -> TreeSum:
            partial = TreeSum(in_place=True)
            for number in tiles:
                partial.add(number, function(self._tile(number, loaded), number * TILE_ROWS))
            return partial

        call = self._log.open_call(stage)
        if not call.is_done:
            call.total = total = call.total or TreeSum(in_place=True)
            for tiles, partial in self._each_block(sum_block, stage, first=call.n_done):
                total.take(partial)
                call.advance(tiles.stop)
            call.result = total.result()
            call.finish(call.result)
        result: T = call.result
        return result

    def map_rows(self, function: TileFunction[npt.NDArray[Any]], *, stage: str) -> Any:
        """What ``function`` returns for every tile, put together as one array."""
        call = self._log.open_call(stage)
        if call.is_done:
            return call.result
        rows = None
        if call.output is None:  # the first tile tells the shape and type
            rows = self._make_of(function, self._tile(0, self._load(range(1))), 0)
            call.output = self._output(rows, stage)
        output = call.output

        def fill(tiles: range, loaded: Loaded) -> None:
            for number in tiles:
                start = number * TILE_ROWS
                output.write(start, function(self._tile(number, loaded), start))

        try:
            if rows is not None:
                output.write(0, rows)
            first = call.n_done if rows is None else 1
            for tiles, _ in self._each_block(fill, stage, first=first):
                call.advance(tiles.stop)
            result = output.close()
        except BaseException:
            output.abandon()
            raise
        call.finish(result)
        return result

    def _make_of(self, function: Any, tile: Tile, first_row: int) -> Any:
        """What a function returns for a tile; in threads, if tiles are too few to keep them busy."""
        # The last tile may be short, so that a tile has some threads more than its share.
        n_jobs = 2 * self._run.n_jobs // max(n_tiles(self.n_rows), 2)
        if n_jobs < 2 or not isinstance(function, Divisible):
            return function(tile, first_row)
        return function.join(run_side_by_side(function.parts(tile, first_row), n_jobs))

    def _each_block(
        self, function: Callable[[range, Loaded], T], stage: str, *, first: int
    ) -> Iterator[tuple[range, T]]:
        """Blocks of tiles and what ``function`` returns for them on the threads, in order."""
        run = self._run
        last, step = n_tiles(self.n_rows), self._block_tiles()
        blocks = (range(i, min(i + step, last)) for i in range(first, last, step))
        run.progress.start(stage, last - first)
        results: Iterator[tuple[range, T]]
        try:
            if (run.n_jobs == 1 and not self._reads) or last - first <= step:
                results = ((block, function(block, self._load(block))) for block in blocks)
            else:
                results = self._on_threads(function, blocks)
            for block, result in results:
                yield block, result
                run.progress.advance(len(block))
        finally:
            run.progress.finish()

    def _on_threads(
        self, function: Callable[[range, Loaded], T], blocks: Iterator[range]
    ) -> Iterator[tuple[range, T]]:
        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(self._run.n_jobs))
            reader = stack.enter_context(ThreadPoolExecutor(1)) if self._reads else None

            def work(block: range, loading: Future[Loaded] | None) -> T:
                return function(block, self._load(block) if loading is None else loading.result())

            # Few blocks are there at a time, so memory does not grow with their number.
            waiting: deque[tuple[range, Future[T]]] = deque()
            try:
                for block in blocks:
                    loading = None if reader is None else reader.submit(self._load, block)
                    waiting.append((block, pool.submit(work, block, loading)))
                    del loading  # or it would keep what it loaded
                    if len(waiting) >= self._n_blocks():
                        done, future = waiting.popleft()
                        yield done, future.result()
                while waiting:
                    done, future = waiting.popleft()
                    yield done, future.result()
            finally:
                for _, future in waiting:
                    future.cancel()

    def _n_blocks(self) -> int:
        """Most blocks that are there at a time: one a thread, and those that wait."""
        return self._run.n_jobs + (2 if self._reads else 1)


class MemoryRows(TiledRows):
    """Rows of arrays in memory, side by side; a tile is a list with one block per array.

    Derived rows are kept until 256 MB, or a quarter of the arrays' size as float64 if that is more, are
    used; or ``keep_bytes``.
    """

    def __init__(
        self,
        arrays: Sequence[Any],
        run: Run,
        *,
        log: Log | None = None,
        keep_bytes: int | None = None,
        n_block_tiles: int | None = None,
    ) -> None:
        self.arrays = list(arrays)
        self._run, self._log, self._keep_bytes = run, log or Log(), keep_bytes
        self._n_block_tiles = n_block_tiles
        self.n_rows = int(self.arrays[0].shape[0])

    def _block_tiles(self) -> int:
        return self._n_block_tiles or super()._block_tiles()

    def _tile(self, number: int, loaded: Loaded) -> Tile:
        start = number * TILE_ROWS
        return [array[start : start + TILE_ROWS] for array in self.arrays]

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Rows by number; all of them without a copy."""
        if len(rows) == self.n_rows:
            return self
        return self.with_arrays([array[rows] for array in self.arrays])

    def with_arrays(self, arrays: Sequence[Any], run: Run | None = None) -> MemoryRows:
        """Other arrays, worked on in the same way; a run of their own has no log either."""
        return MemoryRows(
            arrays,
            run or self._run,
            log=self._log if run is None else None,
            keep_bytes=self._keep_bytes,
            n_block_tiles=self._n_block_tiles,
        )

    def derive(self, function: TileFunction[Tile]) -> DerivedRows:
        """Rows made from these tile by tile, kept while the budget lasts."""
        keep_bytes = self._keep_bytes
        if keep_bytes is None:
            as_floats = (
                array.nnz * 12 if sparse.issparse(array) else array.size * 8
                for array in map(held, self.arrays)
            )
            keep_bytes = max(_KEEP_BYTES, sum(as_floats) // 4)
        return DerivedRows(self, function, keep_bytes)


class DerivedRows(TiledRows):
    """Rows computed from others, tile by tile, and kept until some number of bytes is used."""

    def __init__(
        self, parent: TiledRows, function: TileFunction[Tile], keep_bytes: int = _KEEP_BYTES
    ) -> None:
        self._parent, self._function, self._budget = parent, function, keep_bytes
        self._run, self._log, self.n_rows = parent._run, parent._log, parent.n_rows
        self._kept: dict[int, Tile] = {}

    def _block_tiles(self) -> int:
        return self._parent._block_tiles()

    def _tile(self, number: int, loaded: Loaded) -> Tile:
        tile = self._kept.get(number)
        return self._make(number, loaded) if tile is None else tile

    def _make(self, number: int, loaded: Loaded) -> Tile:
        parent = self._parent._tile(number, loaded)
        tile = self._make_of(self._function, parent, number * TILE_ROWS)
        if self._budget > 0:
            self._kept[number] = tile
            self._budget -= tile.nbytes
        return tile

    def derive(self, function: TileFunction[Tile]) -> DerivedRows:
        """Rows made from these."""
        return type(self)(self, function)

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Refuse: sample the rows these were derived from."""
        raise TypeError("Sample the original rows, not derived ones.")
