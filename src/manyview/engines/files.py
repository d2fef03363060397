"""Where results go: an array, or a ``.npy`` file; and files of tiles that may be needed again."""

from __future__ import annotations

import errno
import io
import os
import shutil
import threading
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.engines.base import TILE_ROWS
from manyview.errors import ReadError, WriteError
from manyview.machine import sync, write_error
from manyview.sources.packing import from_bytes, to_bytes
from manyview.wording import bytes_in_words


@contextmanager
def writing(path: Path, what: str, *, for_checkpoint: bool = False) -> Iterator[None]:
    """Turn a failure to write into one error that names the file, and says what would help."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        remedy = "Make room there, or give another folder: Disk(folder=...)."
        if for_checkpoint:
            remedy = (
                "Make room there and call it again to go on, or give another folder: "
                "Disk(checkpoint=...)."
            )
        kind = "checkpoint" if for_checkpoint else "folder"
        where = f"{what} to {str(path)!r}"
        raise write_error(error, path, where, remedy=remedy, parameter=kind) from error


class ArrayOutput:
    """A result in memory."""

    def __init__(self, n_rows: int, like: npt.NDArray[Any]) -> None:
        self._array = np.empty((n_rows, *like.shape[1:]), like.dtype)

    def write(self, start: int, rows: npt.NDArray[Any]) -> None:
        """Put rows where they belong; called by several threads."""
        self._array[start : start + len(rows)] = rows

    def close(self) -> npt.NDArray[Any]:
        """The whole array."""
        return self._array

    def abandon(self) -> None:
        """Do nothing: memory is freed by itself."""


class FileOutput:
    """A result as a ``.npy`` file, written to ``PATH.part`` and renamed when it is whole.

    A checkpoint goes on from the ``.part`` file of work that failed (``for_checkpoint``, ``resume``);
    others leave none. The whole array is a memory map, unless it is small enough to ``load``. A
    temporary folder (``owns_folder``) is removed when its array is not used any more.
    """

    def __init__(
        self,
        path: Path,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        *,
        for_checkpoint: bool = False,
        resume: bool = False,
        load: bool = False,
        owns_folder: bool = False,
    ) -> None:
        self.path, self.shape, self.dtype = path, shape, dtype
        self._part, self._for_checkpoint = path.with_name(f"{path.name}.part"), for_checkpoint
        self._load, self._owns_folder = load, owns_folder
        self._row_bytes = int(np.prod(shape[1:], dtype=np.int64)) * dtype.itemsize
        self.sums: dict[int, int] = {}
        """The checksum of each tile that was written, by its number."""
        self._lock = threading.Lock()
        header = io.BytesIO()
        kind = {"fortran_order": False, "descr": np.lib.format.dtype_to_descr(dtype)}
        np.lib.format.write_array_header_1_0(header, {**kind, "shape": shape})
        self._offset = header.tell()
        with self._writing(f"{shape[0]} rows"):
            self._file = self._part.open("r+b" if resume else "w+b", buffering=0)
            try:
                if not resume:
                    self._start(header.getvalue())
            except BaseException:
                self.abandon()
                raise

    def _writing(self, what: str) -> AbstractContextManager[None]:
        return writing(self.path, what, for_checkpoint=self._for_checkpoint)

    def _start(self, header: bytes) -> None:
        size = len(header) + self.shape[0] * self._row_bytes
        if shutil.disk_usage(self._part.parent).free < size:
            raise OSError(errno.ENOSPC, f"{bytes_in_words(size)} are needed")
        _write_all(self._file, memoryview(header))
        self._file.truncate(size)

    def write(self, start: int, rows: npt.NDArray[Any]) -> None:
        """Put rows where they belong."""
        content = np.ascontiguousarray(rows, self.dtype).reshape(-1).view(np.uint8).data
        place = self._offset + start * self._row_bytes
        with self._writing(f"rows {start} to {start + len(rows) - 1}"), self._lock:
            self._file.seek(place)
            _write_all(self._file, content)
            self.sums[start // TILE_ROWS] = zlib.crc32(content)

    def sums_of(self, n_tiles: int) -> npt.NDArray[np.uint32]:
        """Checksums of the first tiles."""
        return np.array([self.sums[number] for number in range(n_tiles)], np.uint32)

    def sync(self) -> None:
        """Wait until the rows written so far are on the disk."""
        with self._writing("rows"):
            os.fsync(self._file.fileno())

    def close(self) -> npt.NDArray[Any]:
        """The whole array, once the file has its name; a read-only memory map unless loaded."""
        with self._writing(f"{self.shape[0]} rows"):
            self._file.close()
            if not self._owns_folder:  # else nobody looks for it after a crash
                sync(self._part)
            os.replace(self._part, self.path)
            if not self._owns_folder:
                sync(self.path.parent)
        array: Any = np.load(self.path, mmap_mode=None if self._load else "r")
        if self._owns_folder:
            # Every part of the array keeps the map itself alive, whatever becomes of the array.
            weakref.finalize(array._mmap, shutil.rmtree, self.path.parent, ignore_errors=True)
        return array  # type: ignore[no-any-return]

    def abandon(self) -> None:
        """Close the file, and remove it unless the work can go on from it."""
        self._file.close()
        if not self._for_checkpoint:
            self._part.unlink(missing_ok=True)
        if self._owns_folder:
            shutil.rmtree(self.path.parent, ignore_errors=True)


Output = ArrayOutput | FileOutput


def sum_of_rows(rows: npt.NDArray[Any]) -> int:
    """The checksum of a tile of rows."""
    return zlib.crc32(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)


def _write_all(file: Any, content: memoryview) -> None:
    done = 0
    while done < len(content):
        count = file.write(content[done:])
        if not count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done += count


class TileFile:
    """Tiles in one file: written once each, in any order, and read by number.

    The path is asked for when the first tile is written. ``places`` has the offsets, sizes and checksums
    of the tiles that the file holds already, -1 for those it does not.
    """

    def __init__(
        self,
        find_path: Callable[[], Path],
        n_tiles: int,
        *,
        places: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self._find_path, self._lock = find_path, threading.Lock()
        self._file: Any = None
        self._path: Path | None = None
        self._places = np.full((n_tiles, 3), -1, np.int64)
        if places is not None:
            self._places[:] = places
            self._path = find_path()
            self._file = self._path.open("r+b", buffering=0)
        held = self._places[self._places[:, 0] >= 0]
        self._end = int(held[:, :2].sum(axis=1).max(initial=0))

    def __contains__(self, number: int) -> bool:
        return bool(self._places[number, 0] >= 0)

    @property
    def n_stored(self) -> int:
        """Number of tiles in the file."""
        return int((self._places[:, 0] >= 0).sum())

    @property
    def mean_bytes(self) -> float:
        """Mean size of the tiles in the file; 0 if there is none."""
        return self._end / max(self.n_stored, 1)

    def write(self, number: int, tile: Any) -> None:
        """Put a tile behind those that are there."""
        pieces = to_bytes(tile)
        size = sum(len(piece) for piece in pieces)
        with self._lock:
            if self._file is None:
                self._path = self._find_path()
                self._file = self._path.open("w+b", buffering=0)
            self._file.seek(self._end)
            total = 0
            for piece in pieces:
                _write_all(self._file, memoryview(piece))
                total = zlib.crc32(piece, total)
            self._places[number] = self._end, size, total
            self._end += size

    def read(self, number: int) -> Any:
        """One tile."""
        offset, size, total = self._places[number].tolist()
        content = np.empty(size, np.uint8)
        try:
            with self._lock:
                self._file.seek(offset)
                if self._file.readinto(content.data) != size:
                    raise EOFError("the file is cut short")
            if zlib.crc32(content.data) != total:
                raise ValueError("it is not what was written")
            return from_bytes(content)
        except (OSError, EOFError, ValueError, KeyError) as error:
            raise ReadError(
                f"Could not read tile {number} of {str(self._path)!r}, which a fit wrote: {error}. "
                "Did something remove or change it?"
            ) from error

    def sync(self) -> npt.NDArray[np.int64]:
        """Places of the tiles, once they are on the disk."""
        with self._lock:
            places = self._places.copy()
        os.fsync(self._file.fileno())
        return places

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
