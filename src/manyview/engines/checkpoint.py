"""How far a fit has come, in a folder.

A fit asks its rows for sums and for mapped rows in an order that depends on nothing but its data and
settings. So calls are numbered, and the folder holds their results, or how far they came: for a sum, the
parts of its tree and the number of tiles in them; for mapped rows, the file that they are written to
and the number of tiles in it; for derived rows, the tiles themselves. Everything is written under
another name first and then renamed, so whatever is there is whole.
"""

from __future__ import annotations

import json
import platform
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from manyview.engines.base import TreeSum
from manyview.engines.files import FileOutput, TileFile, writing
from manyview.engines.memory import Call, Log
from manyview.errors import CheckpointError
from manyview.machine import whole_file
from manyview.sources import is_source
from manyview.sources.packing import digest, from_bytes, to_bytes

_FORMAT = 2
_SAVE_SECONDS = 1.0  # so much work is lost at most,
_SAVE_SHARE = 0.05  # unless saving took more than this share of the time


def describe(columns: Sequence[Any], identity: Mapping[str, str | None]) -> dict[str, Any]:
    """What decides the result of a fit: versions, data and settings, as JSON."""
    if identity.get("random_state") is None:
        raise ValueError(
            "A checkpoint needs a random_state: without one, a fit that is called again is another "
            "fit. Set random_state to a number."
        )
    from manyview import __version__

    data = [
        column.fingerprint()
        if is_source(column)
        else {"shape": list(column.shape), "content": digest(column)}
        for column in columns
    ]
    return {
        "format": _FORMAT,
        "versions": {
            "manyview": __version__,
            "machine": platform.machine(),
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        },
        "data": {f"view {number}": item for number, item in enumerate(data)},
        "settings": dict(identity),
    }


class Checkpoint(Log):
    """A folder with the results of finished calls and the progress of the one under way.

    A folder that was made with another description of what decides the result is refused. Mapped rows
    that take at most ``small`` bytes are loaded into memory.
    """

    is_kept = True
    _call: StoredCall

    def __init__(self, folder: Path, description: dict[str, Any], *, small: int) -> None:
        self.folder, self.small, self._is_new = folder, small, not folder.exists()
        with writing(folder / "fit.json", "a checkpoint", for_checkpoint=True):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(folder)
        try:
            self._check(description)
        except BaseException:
            self._lock.close()
            raise
        self._n_calls, self._thread = 0, threading.get_ident()
        self._tile_files: list[StoredTiles] = []
        self._pending: list[tuple[Path, Any]] = []
        self._saved, self._interval = time.monotonic(), _SAVE_SECONDS

    def _remove_halves(self, pattern: str) -> None:
        """Remove what a killed process was writing; the lock says that no other writes now."""
        for half in self.folder.glob(pattern):
            half.unlink()

    def _check(self, description: dict[str, Any]) -> None:
        path = self.folder / "fit.json"
        if not path.exists():
            # A start that was cut short leaves half of a description.
            self._remove_halves(f".{path.name}*.part")
            others = [file for file in self.folder.iterdir() if file.name != "lock"]
            if others:
                raise CheckpointError(
                    f"{str(self.folder)!r} is not a checkpoint, but holds {others[0].name!r}. Give an "
                    "empty or new folder."
                )
            _write(path, [json.dumps(description, indent=1).encode()])
            return
        try:
            found = json.loads(path.read_text())
            differences, settings = _differences(found, json.loads(json.dumps(description)))
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise _damaged(path, error) from error
        if differences:
            raise CheckpointError(
                f"The checkpoint in {str(self.folder)!r} was made with other "
                f"{'; '.join(differences)}.",
                remedy="Use the same, give another folder, or remove this one to start again.",
                parameter="other fit",
                named=settings,
            )
        self._remove_halves(".*.part")

    def open_call(self, stage: str) -> Call:
        """The next call, as far as it came in an earlier run."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("Calls are numbered, so one thread must make them, in its order.")
        self._call = StoredCall(self, self._n_calls, stage)
        self._n_calls += 1
        return self._call

    def new_output(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> FileOutput:
        """The file that the rows of the call that was opened last go to."""
        return self._call.new_output(shape, dtype)

    def new_tile_file(self, n_tiles: int) -> TileFile:
        """The file of the next derived rows, with the tiles that it holds already."""
        path = self.folder / f"tiles-{len(self._tile_files)}"
        self._tile_files.append(StoredTiles(path, n_tiles))
        return self._tile_files[-1]

    def keep(self, path: Path, value: Any) -> None:
        """Write a value with the next save."""
        self._pending.append((path, value))
        self.save_if_due()

    def save_if_due(self, call: StoredCall | None = None) -> None:
        """Save if there is enough that would be lost."""
        if time.monotonic() - self._saved >= self._interval:
            self._save(call)

    def _save(self, call: StoredCall | None = None) -> None:
        started = time.monotonic()
        while self._pending:
            path, value = self._pending[0]
            _write(path, to_bytes(value))
            del self._pending[0]
        for stored in self._tile_files:
            stored.save()
        if call is not None:
            call.save()
        self._saved = time.monotonic()
        self._interval = max(_SAVE_SECONDS, (self._saved - started) / _SAVE_SHARE)

    def close(self, *, is_complete: bool) -> None:
        """Save what is finished; remove what only an unfinished fit needs."""
        try:
            for stored in self._tile_files:
                stored.end(is_complete=is_complete)
            self._tile_files = []
            self._save()
        except OSError:
            if is_complete:
                raise  # else the error that ended the fit is the one to show
        finally:
            self._remove_if_bare()
            self._lock.close()

    def _remove_if_bare(self) -> None:
        """Remove a description of a fit that was refused before anything was worked out."""
        with suppress(OSError):
            names = {file.name for file in self.folder.iterdir()}
            for name in names if names <= {"fit.json", "lock"} else ():
                (self.folder / name).unlink()
            if self._is_new:
                self.folder.rmdir()  # fails if it holds anything


class StoredCall(Call):
    """A call whose progress is in the folder."""

    def __init__(self, log: Checkpoint, number: int, stage: str) -> None:
        self._log, self._stage = log, stage
        self._done = log.folder / f"{number:04}.done"
        self._part = log.folder / f"{number:04}.part"
        self._rows = log.folder / f"{number:04}-{stage}.npy"
        if self._rows.exists():  # it gets this name when it is whole
            rows = _map_rows(self._rows)
            self.is_done, self.result = True, rows if rows.nbytes > log.small else np.array(rows)
        elif self._done.exists():
            self.result, self.is_done = self._read(self._done), True
        elif self._part.exists():
            self._resume(self._read(self._part))

    def new_output(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], *, resume: bool = False
    ) -> FileOutput:
        """The file that mapped rows go to, or go on to."""
        load = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize <= self._log.small
        return FileOutput(self._rows, shape, dtype, for_checkpoint=True, resume=resume, load=load)

    def _resume(self, progress: Any) -> None:
        n_done, parts, shape, kind = progress
        if shape is not None:
            shape, dtype = tuple(shape), np.dtype(kind)
            _map_rows(self._rows.with_name(f"{self._rows.name}.part"), shape, dtype)
            self.output = self.new_output(shape, dtype, resume=True)
        else:
            self.total = TreeSum(in_place=True)
            for level, number, part in parts:
                self.total.add(number, part, level=level)
        self.n_done = n_done

    def _read(self, path: Path) -> Any:
        try:
            stage, value = from_bytes(np.fromfile(path, np.uint8))
            if stage != self._stage:
                raise ValueError(f"it belongs to stage {stage!r}, not {self._stage!r}")
            return value
        except Exception as error:  # damage may show in any way
            raise _damaged(path, error) from error

    def advance(self, n_done: int) -> None:
        """All tiles before this one are done."""
        self.n_done = n_done
        self._log.save_if_due(self)

    def save(self) -> None:
        """Write the progress."""
        parts, shape, kind = [], None, ""
        if isinstance(self.output, FileOutput):
            self.output.sync()
            shape, kind = list(self.output.shape), self.output.dtype.str
        elif self.total is not None:
            parts = [[level, number, part] for (level, number), part in self.total.parts().items()]
        _write(self._part, to_bytes([self._stage, [self.n_done, parts, shape, kind]]))

    def finish(self, result: Any) -> None:
        """All tiles are done."""
        if self.output is None:
            self._log.keep(self._done, [self._stage, result])
        else:
            self._part.unlink(missing_ok=True)


class StoredTiles(TileFile):
    """Tiles of derived rows and, in a file beside, where each of them lies."""

    def __init__(self, path: Path, n_tiles: int) -> None:
        self._index = path.with_name(f"{path.name}.index")
        places: npt.NDArray[np.int64] | None = None
        if self._index.exists() and path.exists():
            try:
                places = from_bytes(np.fromfile(self._index, np.uint8))
            except (ValueError, KeyError) as error:
                raise _damaged(self._index, error) from error
        super().__init__(lambda: path, n_tiles, places=places)
        self._n_saved = self.n_stored

    def save(self) -> None:
        """Write where the tiles lie, if there are more than at the last time."""
        if self.n_stored > self._n_saved:
            places = self.sync()
            _write(self._index, to_bytes(places))
            self._n_saved = int((places[:, 0] >= 0).sum())

    def end(self, *, is_complete: bool) -> None:
        """Close the file: saved for a fit that goes on, or removed."""
        try:
            if not is_complete:
                self.save()
        finally:
            self.close()
        if is_complete:
            self._index.unlink(missing_ok=True)
            if self._path is not None:
                self._path.unlink(missing_ok=True)


def _write(path: Path, content: list[bytes | memoryview]) -> None:
    """Write a file that is there as a whole, or not at all, whatever happens meanwhile."""
    with (
        writing(path, "a checkpoint", for_checkpoint=True),
        whole_file(path, durable=True) as unfinished,
        unfinished.open("wb") as file,
    ):
        for piece in content:
            file.write(piece)


def _map_rows(
    path: Path, shape: tuple[int, ...] | None = None, dtype: np.dtype[Any] | None = None
) -> npt.NDArray[Any]:
    """Rows of a file, which must hold all the rows that it should, or says it does."""
    try:
        rows = np.load(path, mmap_mode="r")
        if (rows.shape, rows.dtype) != (shape or rows.shape, dtype or rows.dtype):
            raise ValueError(f"it holds {rows.dtype} of shape {rows.shape}, not {dtype} of {shape}")
        if path.stat().st_size != rows.offset + rows.nbytes:
            raise ValueError(f"it has more than {rows.nbytes} bytes of rows")
        return rows  # type: ignore[no-any-return]
    except (OSError, ValueError, EOFError, AttributeError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> CheckpointError:
    """The error that names a file from which a fit cannot go on."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return CheckpointError(
        f"{str(path)!r} is damaged ({reason}). Remove the folder to start again."
    )


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What two descriptions differ in, in words, and the names of settings that are other ones."""
    if found.get("format") != wanted["format"]:
        return ["version of the checkpoint's format"], []
    words, other = [], []
    for part in ("versions", "data", "settings"):
        names = sorted({*found[part], *wanted[part]})
        other = [name for name in names if found[part].get(name) != wanted[part].get(name)]
        if other:
            words.append(part if part == "settings" else f"{part} ({', '.join(other)})")
    return words, other


def _lock(folder: Path) -> BinaryIO:
    """Keep other processes out until the file is closed, or this process ends."""
    file = (folder / "lock").open("ab")
    try:
        import fcntl
    except ImportError:  # not on every system
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise CheckpointError(
            f"Another fit is using the checkpoint in {str(folder)!r}. Wait for it, or give another "
            "folder."
        ) from error
    return file
