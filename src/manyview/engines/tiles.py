"""The walk over tiles that engines on one machine share.

Blocks of whole tiles are loaded (by a thread that reads ahead, where loading is reading), worked on by
the threads, and their results taken in order. A :class:`Log` may remember how far a call came, so
that it can go on from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from manyview.engines.base import (
    TILE_ROWS,
    Run,
    Tile,
    TileFunction,
    TreeSum,
    n_block_tiles,
    n_tiles,
)

T = TypeVar("T")

Loaded = Any
"""What was loaded for a block of tiles."""


class Output(Protocol):
    """Where the rows of a result go."""

    def write(self, start: int, rows: npt.NDArray[Any]) -> None:
        """Put rows where they belong; called by several threads."""

    def close(self) -> npt.NDArray[Any]:
        """Give the whole array."""

    def abandon(self) -> None:
        """Leave nothing behind that looks like a result."""


class ArrayOutput:
    """A result in memory."""

    def __init__(self, n_rows: int, like: npt.NDArray[Any]) -> None:
        self._array = np.empty((n_rows, *like.shape[1:]), like.dtype)

    def write(self, start: int, rows: npt.NDArray[Any]) -> None:
        """Put rows where they belong."""
        self._array[start : start + len(rows)] = rows

    def close(self) -> npt.NDArray[Any]:
        """Give the whole array."""
        return self._array

    def abandon(self) -> None:
        """Do nothing: memory is freed by itself."""


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
        """Give the next call, as far as it came in an earlier run."""
        return Call()

    def recall(self, stage: str, compute: Callable[[], Any]) -> Any:
        """Give what ``compute`` gave in an earlier run, or gives now."""
        return compute()


class TiledRows:
    """Rows in tiles; what engines add is how a block of tiles is loaded and a tile made of it."""

    n_rows: int
    _run: Run
    _log: Log
    _reads = False
    """Whether loading waits for something else than memory, so that it is worth reading ahead."""

    def _load(self, tiles: range) -> Loaded:
        raise NotImplementedError

    def _tile(self, number: int, loaded: Loaded) -> Tile:
        raise NotImplementedError

    def _output(self, like: npt.NDArray[Any], stage: str) -> Output:
        return ArrayOutput(self.n_rows, like)

    def _block_tiles(self) -> int:
        return n_block_tiles(self.n_rows)

    def map_reduce(self, function: TileFunction[T], *, stage: str) -> T:
        """Sum what ``function`` gives over all tiles."""

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
        """Put what ``function`` gives for every tile together as one array."""
        call = self._log.open_call(stage)
        if call.is_done:
            return call.result
        rows = None
        if call.output is None:  # the first tile tells the shape and type
            rows = function(self._tile(0, self._load(range(1))), 0)
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

    def _each_block(
        self, function: Callable[[range, Loaded], T], stage: str, *, first: int
    ) -> Iterator[tuple[range, T]]:
        """Call ``function`` for blocks of tiles on the threads; give its results in order."""
        run = self._run
        last, step = n_tiles(self.n_rows), self._block_tiles()
        blocks = (range(i, min(i + step, last)) for i in range(first, last, step))
        run.progress.start(stage, last - first)
        try:
            if (run.n_jobs == 1 and not self._reads) or last - first <= step:
                for block in blocks:
                    yield block, function(block, self._load(block))
                    run.progress.advance(len(block))
            else:
                for block, result in self._on_threads(function, blocks):
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
