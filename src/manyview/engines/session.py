"""What the disk engine keeps from the first to the last step of one call."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy.typing as npt

from manyview.engines.base import Run
from manyview.engines.checkpoint import Checkpoint, describe
from manyview.engines.files import FileOutput, TileFile, writing
from manyview.engines.tiles import ArrayOutput, Log, Output

logger = logging.getLogger("manyview")

_RESULT = 1 / 8  # share of the memory limit that a result may take in memory


class Session:
    """Limits, folders and the checkpoint of one call.

    Parameters
    ----------
    limit : int
        Bytes that rows may take in memory.
    columns : sequence of (Source, ndarray or csr_array)
        The views.
    run : Run
        How the call runs; only a call that says what decides its result has a checkpoint.
    checkpoint : Path, optional
        Its folder.
    folder : Path, optional
        For results, if there is no checkpoint.
    """

    def __init__(
        self,
        limit: int,
        columns: Sequence[Any],
        run: Run,
        *,
        checkpoint: Path | None,
        folder: Path | None,
    ) -> None:
        if checkpoint is not None and folder is not None:
            raise ValueError(
                "Give Disk a checkpoint or a folder, not both: with a checkpoint, results are "
                "written to its folder."
            )
        if folder is not None and not folder.is_dir():
            raise ValueError(f"Disk(folder={str(folder)!r}): there is no such folder.")
        self.limit, self._folder = limit, folder
        self._tiles_folder: tempfile.TemporaryDirectory[str] | None = None
        self._tile_files: list[TileFile] = []
        self._is_told = False
        self._checkpoint: Checkpoint | None = None
        if checkpoint is not None and run.identity is not None:
            self._checkpoint = Checkpoint(
                checkpoint, describe(columns, run.identity), small=int(limit * _RESULT)
            )
        self.log: Log = self._checkpoint or Log()

    def new_output(self, n_rows: int, like: npt.NDArray[Any], stage: str) -> Output:
        """Give what takes the rows of a result that are like these: a file, if they are many."""
        shape, dtype = (n_rows, *like.shape[1:]), like.dtype
        if self._checkpoint is not None:
            return self._checkpoint.output_of_call(shape, dtype, stage)
        if like[:1].nbytes * n_rows <= self.limit * _RESULT:
            return ArrayOutput(n_rows, like)
        if self._folder is not None:
            return FileOutput(_claim(self._folder / f"{stage}.npy"), shape, dtype, sync=True)
        folder = Path(tempfile.mkdtemp(prefix="manyview-"))
        return FileOutput(folder / f"{stage}.npy", shape, dtype, owns_folder=True)

    def new_tile_file(self, n_tiles: int) -> TileFile:
        """Give a file for tiles; it is made when the first of them is written."""
        if self._checkpoint is not None:
            return self._checkpoint.new_tile_file(n_tiles)
        file = TileFile(self._tiles_path, n_tiles)
        self._tile_files.append(file)
        return file

    def _tiles_path(self) -> Path:
        if self._tiles_folder is None:
            self._tiles_folder = tempfile.TemporaryDirectory(
                prefix=".manyview-", dir=self._folder, ignore_cleanup_errors=True
            )
        return Path(
            self._tiles_folder.name, f"{len(list(Path(self._tiles_folder.name).iterdir()))}"
        )

    def say_not_stored(self, error: Exception) -> None:
        """Log once that derived rows are computed again, because they could not be written."""
        if not self._is_told:
            self._is_told = True
            logger.warning("rows are computed again when needed, not stored: %s", error)

    def close(self, kind: Any, error: Any, traceback: Any) -> None:
        """End: nothing temporary is left but, after a failure, what a checkpoint goes on from."""
        for file in self._tile_files:
            file.close()
        if self._tiles_folder is not None:
            self._tiles_folder.cleanup()
        if self._checkpoint is not None:
            self._checkpoint.close(is_complete=kind is None)


def _claim(path: Path) -> Path:
    """Make a ``.part`` file whose name no result has, of this fit or another; give the name."""
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
