"""How far a fit has come, in a folder.

A fit asks its rows for sums and for mapped rows in an order that depends on nothing but its data and
settings. So calls are numbered, and the folder holds their results, or how far they came: for a sum, the
parts of its tree and the number of tiles in them; for mapped rows, the file that they are written to
and the number of tiles in it; for derived rows, the tiles themselves. Everything is written under
another name first and then renamed, so whatever is there is whole. Everything has a checksum: no fit
goes on from what is damaged.
"""

from __future__ import annotations

import hashlib
import json
import platform
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import TILE_ROWS, TreeSum, n_tiles
from manyview.engines.files import FileOutput, TileFile, sum_of_rows, writing
from manyview.engines.memory import Call, Log
from manyview.errors import CheckpointError, InUseError
from manyview.machine import Lock, whole_file
from manyview.sources import is_source
from manyview.sources.packing import digest, from_bytes, to_bytes
from manyview.wording import seconds_in_words

_FORMAT = 3
_SUM_BYTES = 16
_OWN = ("fit.json", "lock", "[0-9]*.done", "[0-9]*.part", "[0-9]*-*.npy*", "tiles-*", ".*.part")
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
        self._was_bare = not has_progress(folder)
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
            _write_description(path, description)
            return
        try:
            found = json.loads(path.read_text())
            differences, settings = _differences(found, json.loads(json.dumps(description)))
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise _damaged(path, error) from error
        if differences and self._was_bare:  # nothing is lost with it
            _write_description(path, description)
        elif differences:
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

    def close(self, *, is_complete: bool, is_refused: bool = False) -> None:
        """Save what is finished; remove what only an unfinished fit needs.

        What was refused has to be changed, and then no fit can go on from here: if all progress is of
        this fit, nothing is kept.
        """
        try:
            for stored in self._tile_files:
                stored.end(is_complete=is_complete)
            self._tile_files = []
            self._save()
        except OSError:
            if is_complete:
                raise  # else the error that ended the fit is the one to show
        finally:
            with suppress(OSError):
                if (is_refused and self._was_bare) or not has_progress(self.folder):
                    _remove_own(self.folder)
            self._lock.close()
            with suppress(OSError):
                if self._is_new:
                    self.folder.rmdir()  # fails if it holds anything


def has_progress(folder: Path) -> bool:
    """Whether a checkpoint holds more than the description of its fit."""
    return any(file.name not in ("fit.json", "lock") for file in folder.iterdir())


def remove_checkpoint(folder: Path) -> None:
    """Remove a checkpoint, unless another fit uses it; nothing that no fit has written."""
    if (folder / "fit.json").is_file():
        lock = _lock(folder)
        with suppress(OSError):
            _remove_own(folder)
        lock.close()
        with suppress(OSError):
            folder.rmdir()  # fails if it holds anything else


def _remove_own(folder: Path) -> None:
    for pattern in _OWN:
        for file in folder.glob(pattern):
            if file.name != "lock":  # which goes last: another fit may wait for it
                file.unlink()


class StoredCall(Call):
    """A call whose progress is in the folder."""

    def __init__(self, log: Checkpoint, number: int, stage: str) -> None:
        self._log, self._stage = log, stage
        self._done = log.folder / f"{number:04}.done"
        self._part = log.folder / f"{number:04}.part"
        self._rows = log.folder / f"{number:04}-{stage}.npy"
        if self._rows.exists() and self._done.exists():  # it gets this name when it is whole
            rows = _map_rows(self._rows, sums=self._read(self._done))
            self.is_done, self.result = True, rows if rows.nbytes > log.small else np.array(rows)
        elif self._rows.exists():  # cut short between one file and the other
            self._rows.unlink()
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
        n_done, parts, shape, kind, sums = progress
        if shape is not None:
            shape, dtype = tuple(shape), np.dtype(kind)
            _map_rows(self._rows.with_name(f"{self._rows.name}.part"), shape, dtype, sums=sums)
            self.output = self.new_output(shape, dtype, resume=True)
            self.output.sums.update(enumerate(sums.tolist()))
        else:
            self.total = TreeSum(in_place=True)
            for level, number, part in parts:
                self.total.add(number, part, level=level)
        self.n_done = n_done

    def _read(self, path: Path) -> Any:
        try:
            stage, value = _load(path)
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
        parts, shape, kind, sums = [], None, "", np.zeros(0, np.uint32)
        if isinstance(self.output, FileOutput):
            self.output.sync()
            shape, kind = list(self.output.shape), self.output.dtype.str
            sums = self.output.sums_of(self.n_done)
        elif self.total is not None:
            parts = [[level, number, part] for (level, number), part in self.total.parts().items()]
        _write(self._part, to_bytes([self._stage, [self.n_done, parts, shape, kind, sums]]))

    def finish(self, result: Any) -> None:
        """All tiles are done."""
        if isinstance(self.output, FileOutput):
            sums = self.output.sums_of(n_tiles(self.output.shape[0]))
            _write(self._done, to_bytes([self._stage, sums]))
        else:
            self._log.keep(self._done, [self._stage, result])
        self._part.unlink(missing_ok=True)


class StoredTiles(TileFile):
    """Tiles of derived rows and, in a file beside, where each of them lies."""

    def __init__(self, path: Path, n_tiles: int) -> None:
        self._index = path.with_name(f"{path.name}.index")
        places: npt.NDArray[np.int64] | None = None
        if self._index.exists() and path.exists():
            try:
                places = _load(self._index)
            except Exception as error:  # damage may show in any way
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


def _write_description(path: Path, description: dict[str, Any]) -> None:
    with writing(path, "a checkpoint", for_checkpoint=True), whole_file(path, durable=True) as new:
        new.write_text(json.dumps(description, indent=1), encoding="utf-8")


def _write(path: Path, content: list[bytes | memoryview]) -> None:
    """Write a record that is there as a whole, or not at all, whatever happens meanwhile."""
    total = hashlib.blake2b(digest_size=_SUM_BYTES)
    with (
        writing(path, "a checkpoint", for_checkpoint=True),
        whole_file(path, durable=True) as unfinished,
        unfinished.open("wb") as file,
    ):
        for piece in content:
            total.update(piece)
            file.write(piece)
        file.write(total.digest())


def _load(path: Path) -> Any:
    """The value of a record, if it is what was written."""
    content = np.fromfile(path, np.uint8)
    record, written = content[:-_SUM_BYTES], content[-_SUM_BYTES:].tobytes()
    if hashlib.blake2b(record.data, digest_size=_SUM_BYTES).digest() != written:
        raise ValueError("it is not what was written")
    return from_bytes(record)


def _map_rows(
    path: Path,
    shape: tuple[int, ...] | None = None,
    dtype: np.dtype[Any] | None = None,
    *,
    sums: npt.NDArray[np.uint32],
) -> npt.NDArray[Any]:
    """Rows of a file, which must hold all the rows that it should, or says it does.

    ``sums`` are the checksums of the first tiles.
    """
    try:
        rows = np.load(path, mmap_mode="r")
        if (rows.shape, rows.dtype) != (shape or rows.shape, dtype or rows.dtype):
            raise ValueError(f"it holds {rows.dtype} of shape {rows.shape}, not {dtype} of {shape}")
        if path.stat().st_size != rows.offset + rows.nbytes:
            raise ValueError(f"it has more than {rows.nbytes} bytes of rows")
        for number, written in enumerate(sums.tolist()):
            if sum_of_rows(rows[number * TILE_ROWS : (number + 1) * TILE_ROWS]) != written:
                raise ValueError(f"tile {number} is not what was written")
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


def _lock(folder: Path) -> Lock:
    """Keep other processes out until this is closed, or this process ends."""
    try:
        return Lock(folder / "lock")
    except InUseError as error:
        since = "" if error.seconds is None else f" since {seconds_in_words(error.seconds)}"
        raise CheckpointError(
            f"Another fit is using the checkpoint in {str(folder)!r} (process {error.process}{since}).",
            remedy="Wait for it, or give another folder.",
            parameter="in use",
        ) from error
    except FileExistsError as error:
        raise CheckpointError(
            f"{str(folder)!r} is no checkpoint: it has a file 'lock' that manyview did not write.",
            remedy="Give another folder.",
            parameter="other fit",
        ) from error
