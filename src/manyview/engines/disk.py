"""Row blocks streamed from files, results written beside them."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import TILE_ROWS, Run, Tile, TileFunction, n_tiles
from manyview.engines.budget import memory_limit
from manyview.engines.files import TileFile
from manyview.engines.memory import MemoryRows, refuse_foreign
from manyview.engines.session import Session
from manyview.engines.tiles import Loaded, Output, TiledRows
from manyview.errors import MemoryLimitError
from manyview.sources import as_source, is_source
from manyview.wording import bytes_in_words

logger = logging.getLogger("manyview")

# Shares of the memory limit; a result in memory has the last eighth.
_BLOCKS = 1 / 2  # rows that were read
_SAMPLE = 1 / 4  # the sample
_DERIVED = 1 / 8  # derived rows that are kept


class Disk:
    """The engine for views that are larger than memory.

    Rows are read block by block while others are worked on. Views may lie in different kinds of files,
    and some of them in memory. What grows with the number of rows is written to files once it is
    large: the embedding, labels, and graph rows that would otherwise be worked out again.

    Parameters
    ----------
    memory_limit : int, float or str, optional
        Bytes that rows may take in memory, as a number or as text ("2 GB"). A quarter of what is free by
        default. It changes no result. On top come the program itself, about 300 MB, and the sums over
        graph rows: about 3 * n_jobs + log2(rows / 4096) times (graphs * anchors)**2 * 8 bytes for each
        anchor seed.
    checkpoint : path, optional
        Folder in which a fit writes down how far it has come. A fit that was interrupted, by whatever,
        goes on from there when it is called again with the same data and settings.
    folder : path, optional
        Folder for large results; it must exist. By default that of ``checkpoint``, or a temporary one
        that is removed with the result.
    track_memory : bool, default=False
        Note in ``stage_memory_`` how much memory this process holds during a fit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from manyview import LMVSC
    >>> from manyview.engines import Disk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "view.npy")
    ...     np.save(path, np.repeat(np.eye(3), 20, axis=0))
    ...     model = LMVSC(3, engine=Disk(memory_limit="1 GB"), random_state=0).fit(path)
    >>> model.labels_.shape
    (60,)
    """

    name = "disk"

    def __init__(
        self,
        memory_limit: float | str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        *,
        track_memory: bool = False,
    ) -> None:
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.folder = folder
        self.track_memory = track_memory

    def open(self, arrays: Sequence[Any], run: Run) -> DiskRows:
        """Give the rows of sources and arrays, side by side."""
        columns = [array if (source := as_source(array)) is None else source for array in arrays]
        refuse_foreign([column for column in columns if not is_source(column)], self.name)
        session = run.notes.get(self.name)
        is_result = session is not None  # the views were opened before
        if session is None:
            session = Session(
                memory_limit(self.memory_limit),
                columns,
                run,
                checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
                folder=None if self.folder is None else Path(self.folder),
            )
            run.notes[self.name] = session
            run.resources.push(session.close)
        return DiskRows(columns, run, session, is_result=is_result)

    def __repr__(self) -> str:
        settings = {
            "memory_limit": self.memory_limit, "checkpoint": self.checkpoint, "folder": self.folder,
        }  # fmt: skip
        given = ", ".join(f"{k}={v!r}" for k, v in settings.items() if v is not None)
        return f"Disk({given})"


class DiskRows(TiledRows):
    """Rows of sources and arrays, side by side; a tile is a list with one block per array.

    A limit that is too small for views is refused at once. Results of the same call come after much
    work, so they are not refused: fewer blocks of them are there at a time, and a sample is taken
    whatever its size.
    """

    def __init__(
        self, columns: Sequence[Any], run: Run, session: Session, *, is_result: bool = False
    ) -> None:
        self._columns, self._run, self._session = list(columns), run, session
        self._log, self._is_result = session.log, is_result
        self.n_rows = int(self._columns[0].shape[0])
        sources = [column for column in self._columns if is_source(column)]
        self._reads = bool(sources)
        self._row_bytes = sum(source.row_bytes for source in sources)
        self._tile_bytes = self._row_bytes * min(TILE_ROWS, self.n_rows)
        self._band_bytes = sum(
            source.row_bytes * min(source.band_rows, self.n_rows)
            for source in sources
            if source.band_rows > 1
        )
        self._step = self._fitting_tiles()

    def _fitting_tiles(self) -> int:
        """Tiles of a block, so that all blocks that are there at a time fit the limit."""
        share = self._session.limit * _BLOCKS
        tile_bytes = self._n_blocks() * self._tile_bytes
        needed = tile_bytes + self._band_bytes
        if needed > share and not self._is_result:
            where = ", ".join(column.where for column in self._columns if is_source(column))
            limit, least = bytes_in_words(self._session.limit), bytes_in_words(needed / _BLOCKS)
            raise MemoryLimitError(
                f"A memory limit of {limit} is too small to read {where}: with {self._run.n_jobs} "
                f"thread(s) it takes at least {least}.",
                remedy="Set Disk(memory_limit=...) to that, or n_jobs to fewer threads"
                + (", or store the views in smaller chunks." if self._band_bytes else "."),
                parameter="memory_limit",
            )
        return _fitting(super()._block_tiles(), tile_bytes, share - self._band_bytes)

    def _n_blocks(self) -> int:
        n_blocks = super()._n_blocks()
        if not self._is_result:
            return n_blocks
        return _fitting(n_blocks, self._tile_bytes, self._session.limit * _BLOCKS)

    def _block_tiles(self) -> int:
        return self._step

    def _load(self, tiles: range) -> Loaded:
        start, stop = tiles.start * TILE_ROWS, min(tiles.stop * TILE_ROWS, self.n_rows)
        blocks = [
            column.read(start, stop) if is_source(column) else column[start:stop]
            for column in self._columns
        ]
        return start, blocks

    def _tile(self, number: int, loaded: Loaded) -> Tile:
        first, blocks = loaded
        start = number * TILE_ROWS - first
        return [block[start : start + TILE_ROWS] for block in blocks]

    def _output(self, like: npt.NDArray[Any], stage: str) -> Output:
        return self._session.new_output(self.n_rows, like, stage)

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Give rows by number, in memory."""
        size, limit = len(rows) * self._row_bytes, self._session.limit
        if size > limit * _SAMPLE:
            excess = (
                f"A memory limit of {bytes_in_words(limit)} is too small: a sample of {len(rows)} rows "
                f"takes {bytes_in_words(size)}, and at most a quarter of the limit is for it."
            )
            if not self._is_result:
                raise MemoryLimitError(
                    f"{excess} It must be at least {bytes_in_words(size / _SAMPLE)}.",
                    remedy="Set Disk(memory_limit=...) to that.",
                    parameter="memory_limit",
                )
            logger.warning("%s It is taken all the same.", excess)
        arrays = self._log.recall(
            "sample",
            lambda: [c.take(rows) if is_source(c) else c[rows] for c in self._columns],
        )
        keep_bytes = int(self._session.limit * _DERIVED)
        return MemoryRows(arrays, self._run, log=self._log, keep_bytes=keep_bytes)

    def derive(self, function: TileFunction[Tile]) -> DerivedDiskRows:
        """Give rows made from these: kept in memory, then in a file, else made again."""
        return DerivedDiskRows(self, function)


class DerivedDiskRows(TiledRows):
    """Rows computed from others, tile by tile.

    They are kept in memory up to a share of the limit; then written to a file, as long as writing takes
    less time than computing; else computed whenever they are needed.
    """

    def __init__(self, parent: DiskRows | DerivedDiskRows, function: TileFunction[Tile]) -> None:
        self._parent, self._function = parent, function
        self._session: Session = parent._session
        self._run, self._log = parent._run, parent._log
        self.n_rows, self._reads = parent.n_rows, True
        self._kept: dict[int, Tile] = {}
        self._budget = int(self._session.limit * _DERIVED)
        self._file: TileFile = self._session.new_tile_file(n_tiles(self.n_rows))
        self._is_writing = True
        self._seconds_computing = self._seconds_writing = 0.0

    def _block_tiles(self) -> int:
        stored_bytes = self._n_blocks() * self._file.mean_bytes
        return _fitting(self._parent._block_tiles(), stored_bytes, self._session.limit * _BLOCKS)

    def _output(self, like: npt.NDArray[Any], stage: str) -> Output:
        return self._parent._output(like, stage)

    def _load(self, tiles: range) -> Loaded:
        missing = [number for number in tiles if number not in self._kept]
        stored = {number: self._file.read(number) for number in missing if number in self._file}
        missing = [number for number in missing if number not in stored]
        raw = self._parent._load(range(missing[0], missing[-1] + 1)) if missing else None
        return raw, stored

    def _tile(self, number: int, loaded: Loaded) -> Tile:
        raw, stored = loaded
        tile = self._kept.get(number, stored.get(number))
        if tile is None:
            started = time.perf_counter()
            tile = self._function(self._parent._tile(number, raw), number * TILE_ROWS)
            self._seconds_computing += time.perf_counter() - started
            self._keep(number, tile)
        return tile

    def _keep(self, number: int, tile: Tile) -> None:
        has_room = self._budget > 0
        if has_room:
            self._kept[number] = tile
            self._budget -= tile.nbytes
        # A checkpoint needs what memory holds, too.
        is_wanted = self._is_writing and (self._log.is_kept or not has_room)
        if not is_wanted or self._seconds_writing > self._seconds_computing:
            return
        started = time.perf_counter()
        try:
            self._file.write(number, tile)
        except (OSError, TypeError) as error:  # no room, or nothing that can be written
            self._session.say_not_stored(error)
            self._is_writing = False
        self._seconds_writing += time.perf_counter() - started

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Refuse: sample the rows these were derived from."""
        raise TypeError("Sample the original rows, not derived ones.")

    def derive(self, function: TileFunction[Tile]) -> DerivedDiskRows:
        """Give rows made from these."""
        return DerivedDiskRows(self, function)


def _fitting(wanted: int, size: float, room: float) -> int:
    """How many things of some size there is room for: no more than are wanted, and one at least."""
    return wanted if size == 0 else max(min(wanted, int(room // size)), 1)
