"""An engine that computes one tile after the other, and keeps nothing."""

from __future__ import annotations

import numpy as np

from manyview.engines.base import TILE_ROWS, TreeSum


class OneByOneRows:
    """Rows of arrays in memory; ``steps`` are applied to every tile that is read."""

    def __init__(self, arrays, run, steps=()):
        self.arrays, self.n_rows = list(arrays), arrays[0].shape[0]
        self._run, self._steps = run, steps

    def _tiles(self, stage):
        starts = range(0, self.n_rows, TILE_ROWS)
        self._run.progress.start(stage, len(starts))
        for start in starts:
            tile = [array[start : start + TILE_ROWS] for array in self.arrays]
            for step in self._steps:
                tile = step(tile, start)
            yield tile, start
            self._run.progress.advance()
        self._run.progress.finish()

    def sample_rows(self, rows):
        return self.with_arrays([array[rows] for array in self.arrays])

    def with_arrays(self, arrays):
        return OneByOneRows(arrays, self._run)

    def derive(self, function):
        return OneByOneRows(self.arrays, self._run, (*self._steps, function))

    def map_reduce(self, function, *, stage):
        total = TreeSum()
        for tile, start in self._tiles(stage):
            total.add(start // TILE_ROWS, function(tile, start))
        return total.result()

    def map_rows(self, function, *, stage):
        return np.concatenate([function(tile, start) for tile, start in self._tiles(stage)])


class OneByOne:
    """``LMVSC(engine=OneByOne())``."""

    name = "one-by-one"
    track_memory = False

    def open(self, arrays, run):
        return OneByOneRows(arrays, run)
