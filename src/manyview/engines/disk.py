"""Row blocks streamed from files, results written beside them."""

from __future__ import annotations

import logging
import os
import re
import tempfile
import threading
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import TILE_ROWS, Run, Tile, TileFunction, n_tiles, show_settings
from manyview.engines.checkpoint import Checkpoint, describe
from manyview.engines.files import ArrayOutput, FileOutput, Output, TileFile, writing
from manyview.engines.memory import DerivedRows, Loaded, Log, MemoryRows, TiledRows, refuse_foreign
from manyview.errors import InputError, MemoryLimitError, ParameterError
from manyview.machine import free_memory
from manyview.sources import as_source, is_source
from manyview.wording import bytes_in_words

logger = logging.getLogger("manyview")

# Shares of the memory limit
_BLOCKS = 1 / 2  # rows that were read
_SAMPLE = 1 / 4  # the sample
_DERIVED = 1 / 8  # derived rows that are kept
_RESULT = 1 / 8  # a result in memory

_PASSING = ("groups",)  # stages whose rows are no result, but what others start from
_FALLBACK = 4 << 30  # where the system does not tell what is free
_LEAST = 64 << 20  # what counts as free in any case


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
        graph rows: about ``(3 * n_jobs + log2(rows / 4096)) * 8 * (graphs * anchors)**2`` bytes for each
        anchor seed.
    checkpoint : path, optional
        Folder in which a fit writes down how far it has come. A fit that was interrupted for any reason
        goes on from there when it is called again with the same data and settings.
    folder : path, optional
        Folder for large results; it must exist. By default that of ``checkpoint``, or a temporary one
        that is removed with the result.
    track_memory : bool, default=False
        Note in ``stage_memory_`` how much memory this process holds during a fit.

    See Also
    --------
    Memory : views in memory.
    Dask : views on a cluster.

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
        """Rows of sources and arrays, side by side."""
        columns = [array if (source := as_source(array)) is None else source for array in arrays]
        refuse_foreign([column for column in columns if not is_source(column)], self.name)
        session = run.notes.get(self.name)
        is_result = session is not None  # the views were opened before
        if session is None:
            session = run.notes[self.name] = Session(self, columns, run)
            run.resources.push(session.close)
        return DiskRows(columns, run, session, is_result=is_result)

    def __repr__(self) -> str:
        return show_settings(self)


def memory_limit(value: float | str | None) -> int:
    """Number of bytes: as it is, from text such as "1.5 GB", or a quarter of what is free.

    Examples
    --------
    >>> memory_limit("1.5 GB"), memory_limit("64MiB"), memory_limit(1e6)
    (1500000000, 67108864, 1000000)
    """
    if value is None:
        free = free_memory()
        return max(_FALLBACK if free is None else free, _LEAST) // 4
    number: Any = value
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*)\s*(?:([kmgt])(i?))?b?\s*", value.lower())
        if found is not None:
            power = "kmgt".index(found[2]) + 1 if found[2] else 0
            number = float(found[1]) * (1024 if found[3] else 1000) ** power
    is_number = isinstance(number, int | float | np.number) and not isinstance(number, bool)
    if not is_number or not 0 < number < float("inf"):
        raise ValueError(
            "memory_limit must be a positive number of bytes, or text such as '2 GB' or '512 MiB'; "
            f"got {value!r}."
        )
    return int(number)


class Session:
    """What the engine keeps from the first to the last step of one call: limit, folders, checkpoint.

    Only a call that says what decides its result has a checkpoint.
    """

    def __init__(self, engine: Disk, columns: Sequence[Any], run: Run) -> None:
        checkpoint, folder = (
            None if path is None else Path(path) for path in (engine.checkpoint, engine.folder)
        )
        if checkpoint is not None and folder is not None:
            raise ValueError(
                "Give Disk a checkpoint or a folder, not both: with a checkpoint, results are "
                "written to its folder."
            )
        if folder is not None and not folder.is_dir():
            raise ValueError(f"Disk(folder={str(folder)!r}): there is no such folder.")
        self.limit, self._folder = memory_limit(engine.memory_limit), folder
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._tile_files: list[TileFile] = []
        self._lock, self._has_warned = threading.Lock(), False
        self._checkpoint: Checkpoint | None = None
        if checkpoint is not None and run.identity is not None:
            description = describe(columns, run.identity)
            self._checkpoint = Checkpoint(checkpoint, description, small=int(self.limit * _RESULT))
        self.log: Log = self._checkpoint or Log()

    def new_output(self, n_rows: int, like: npt.NDArray[Any], stage: str) -> Output:
        """What takes the rows of a result that are like these: a file, if they are many."""
        shape, dtype = (n_rows, *like.shape[1:]), like.dtype
        if self._checkpoint is not None:
            return self._checkpoint.new_output(shape, dtype)
        if like[:1].nbytes * n_rows <= self.limit * _RESULT:
            return ArrayOutput(n_rows, like)
        if self._folder is not None and stage not in _PASSING:
            return FileOutput(_claim(self._folder / f"{stage}.npy"), shape, dtype)
        folder = Path(tempfile.mkdtemp(prefix="manyview-", dir=self._folder))
        return FileOutput(folder / f"{stage}.npy", shape, dtype, owns_folder=True)

    def new_tile_file(self, n_tiles: int) -> TileFile:
        """A file for tiles, which is made when the first of them is written."""
        if self._checkpoint is not None:
            return self._checkpoint.new_tile_file(n_tiles)
        number = len(self._tile_files)
        self._tile_files.append(TileFile(lambda: self._make_temporary() / f"{number}", n_tiles))
        return self._tile_files[-1]

    def _make_temporary(self) -> Path:
        with self._lock:  # several threads may write the first tiles of several files
            if self._temporary is None:
                self._temporary = tempfile.TemporaryDirectory(
                    prefix=".manyview-", dir=self._folder, ignore_cleanup_errors=True
                )
            return Path(self._temporary.name)

    def warn_of_no_store(self, error: Exception) -> None:
        """Say that rows cannot be stored, and why; once, whichever thread finds out first."""
        with self._lock:
            has_warned, self._has_warned = self._has_warned, True
        if not has_warned:
            logger.warning("rows are computed again when needed, not stored: %s", error)

    def close(self, kind: Any, error: Any, traceback: Any) -> None:
        """End: nothing temporary is left but, after a failure, what a checkpoint goes on from."""
        for file in self._tile_files:
            file.close()
        if self._temporary is not None:
            self._temporary.cleanup()
        if self._checkpoint is not None:
            refusals = (InputError, MemoryLimitError, ParameterError)
            is_refused = kind is not None and issubclass(kind, refusals)
            self._checkpoint.close(is_complete=kind is None, is_refused=is_refused)


def _claim(path: Path) -> Path:
    """A name that no result has, of this fit or another: its ``.part`` file is made."""
    for number in count(1):
        free = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        part = free.with_name(f"{free.name}.part")
        with writing(free, "a result"):
            try:
                part.open("xb").close()
            except FileExistsError:
                continue
            if not free.exists():
                return free
            part.unlink()
    raise AssertionError  # numbers do not end


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
        """Rows by number, in memory."""
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
        """Rows made from these: kept in memory, then in a file, else made again."""
        return DerivedDiskRows(self, function)


class DerivedDiskRows(DerivedRows):
    """Rows computed from others, tile by tile.

    They are kept in memory up to a share of the limit; then written to a file, as long as writing takes
    less time than computing; else computed whenever they are needed.
    """

    _reads = True

    def __init__(self, parent: DiskRows | DerivedDiskRows, function: TileFunction[Tile]) -> None:
        self._session: Session = parent._session
        super().__init__(parent, function, int(self._session.limit * _DERIVED))
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
        return stored[number] if number in stored else super()._tile(number, raw)

    def _make(self, number: int, loaded: Loaded) -> Tile:
        started = time.perf_counter()
        tile = super()._make(number, loaded)
        made = time.perf_counter()
        self._seconds_computing += made - started
        # A checkpoint needs what memory holds, too.
        is_wanted = self._is_writing and (self._log.is_kept or number not in self._kept)
        if is_wanted and self._seconds_writing <= self._seconds_computing:
            try:
                self._file.write(number, tile)
            except (OSError, TypeError) as error:  # no room, or nothing that can be written
                self._session.warn_of_no_store(error)
                self._is_writing = False
            self._seconds_writing += time.perf_counter() - made
        return tile


def _fitting(wanted: int, size: float, room: float) -> int:
    """How many things of some size there is room for: no more than are wanted, and one at least."""
    return wanted if size == 0 else max(min(wanted, int(room // size)), 1)
