"""An engine that computes one tile after the other, and keeps nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import TILE_ROWS, Run, T, Tile, TileFunction, TreeSum


class OneByOneRows:
    """Rows of arrays in memory; ``steps`` are applied to every tile that is read."""

    def __init__(
        self, arrays: Sequence[Any], run: Run, steps: Sequence[TileFunction[Tile]] = ()
    ) -> None:
        self.arrays, self.n_rows = list(arrays), int(arrays[0].shape[0])
        self._run, self._steps = run, steps

    def _tiles(self, stage: str) -> Iterator[tuple[Tile, int]]:
        starts = range(0, self.n_rows, TILE_ROWS)
        self._run.progress.start(stage, len(starts))
        for start in starts:
            tile: Tile = [array[start : start + TILE_ROWS] for array in self.arrays]
            for step in self._steps:
                tile = step(tile, start)
            yield tile, start
            self._run.progress.advance()
        self._run.progress.finish()

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> OneByOneRows:
        return self.with_arrays([array[rows] for array in self.arrays])

    def with_arrays(self, arrays: list[Any], run: Run | None = None) -> OneByOneRows:
        return OneByOneRows(arrays, run or self._run)

    def derive(self, function: TileFunction[Tile]) -> OneByOneRows:
        return OneByOneRows(self.arrays, self._run, (*self._steps, function))

    def map_reduce(self, function: TileFunction[T], *, stage: str) -> T:
        total = TreeSum()
        for tile, start in self._tiles(stage):
            total.add(start // TILE_ROWS, function(tile, start))
        result: T = total.result()
        return result

    def map_rows(self, function: TileFunction[npt.NDArray[Any]], *, stage: str) -> Any:
        return np.concatenate([function(tile, start) for tile, start in self._tiles(stage)])


class OneByOne:
    """``LMVSC(engine=OneByOne())``."""

    name = "one-by-one"
    track_memory = False

    def open(self, arrays: Sequence[Any], run: Run) -> OneByOneRows:
        return OneByOneRows(arrays, run)
