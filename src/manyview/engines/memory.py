"""Arrays in memory, a thread pool over blocks of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.checks import check_count, is_auto
from manyview.engines.base import TILE_ROWS, Run, Tile, TileFunction, n_tiles
from manyview.engines.tiles import Loaded, Log, TiledRows
from manyview.sources import is_source
from manyview.views.selection import PartialView

_KEEP_BYTES = 256 << 20  # what derived rows may always keep, however small the input


class Memory:
    """The engine for arrays that fit in memory. Views in files are loaded as a whole.

    Parameters
    ----------
    block_rows : int or "auto", default="auto"
        Rows handed to a thread at a time; rounded up to whole tiles of 4096. It changes no result.
    track_memory : bool, default=False
        Note in ``stage_memory_`` how much memory this process holds during a fit.

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
        """Give the rows of ndarrays or CSR arrays, side by side."""
        loaded = [a.read(0, a.shape[0]) if is_source(a) else a for a in arrays]
        refuse_foreign(loaded, self.name)
        n_block = None if is_auto(self.block_rows) else n_tiles(int(self.block_rows))
        return MemoryRows(loaded, run, n_block_tiles=n_block)

    def __repr__(self) -> str:
        return "Memory()" if is_auto(self.block_rows) else f"Memory(block_rows={self.block_rows})"


def refuse_foreign(arrays: Sequence[Any], engine: str) -> None:
    """Refuse what is no array of this process's memory, such as a Dask array."""
    for array in map(_held, arrays):
        if not isinstance(array, np.ndarray) and not sparse.issparse(array):
            raise TypeError(
                f"The {engine} engine does not load a {type(array).__module__.split('.')[0]} array "
                "silently. Leave engine on 'auto', or load the array yourself if it fits in "
                "memory."
            )


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

    def _load(self, tiles: range) -> Loaded:
        return None

    def _tile(self, number: int, loaded: Loaded) -> Tile:
        start = number * TILE_ROWS
        return [array[start : start + TILE_ROWS] for array in self.arrays]

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Give rows by number; all of them without a copy."""
        if len(rows) == self.n_rows:
            return self
        some = [array[rows] for array in self.arrays]
        return MemoryRows(
            some,
            self._run,
            log=self._log,
            keep_bytes=self._keep_bytes,
            n_block_tiles=self._n_block_tiles,
        )

    def derive(self, function: TileFunction[Tile]) -> DerivedRows:
        """Give rows made from these tile by tile, kept while the budget lasts."""
        keep_bytes = self._keep_bytes
        if keep_bytes is None:
            keep_bytes = max(_KEEP_BYTES, self._nbytes_as_float64() // 4)
        return DerivedRows(self, function, keep_bytes)

    def _nbytes_as_float64(self) -> int:
        return sum(
            array.nnz * 12 if sparse.issparse(array) else array.size * 8
            for array in map(_held, self.arrays)
        )


def _held(array: Any) -> Any:
    """The rows that a view holds."""
    return array.rows if isinstance(array, PartialView) else array


class DerivedRows(TiledRows):
    """Rows computed from others, tile by tile, and kept until some number of bytes is used."""

    def __init__(
        self, parent: MemoryRows | DerivedRows, function: TileFunction[Tile], keep_bytes: int
    ) -> None:
        self._parent, self._function, self._budget = parent, function, keep_bytes
        self._run, self._log, self.n_rows = parent._run, parent._log, parent.n_rows
        self._kept: dict[int, Tile] = {}

    def _block_tiles(self) -> int:
        return self._parent._block_tiles()

    def _load(self, tiles: range) -> Loaded:
        return None

    def _tile(self, number: int, loaded: Loaded) -> Tile:
        tile = self._kept.get(number)
        if tile is None:
            tile = self._function(self._parent._tile(number, loaded), number * TILE_ROWS)
            if self._budget > 0:
                self._kept[number] = tile
                self._budget -= tile.nbytes
        return tile

    def derive(self, function: TileFunction[Tile]) -> DerivedRows:
        """Give rows made from these."""
        return DerivedRows(self, function, _KEEP_BYTES)

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Refuse: sample the rows these were derived from."""
        raise TypeError("Sample the original rows, not derived ones.")
