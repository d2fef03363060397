"""``.npy`` files, and arrays opened as memory maps: read by ordinary reads.

Pages of a memory map that were touched count as memory of the process until the system takes them
back; what an ordinary read gives is what is held, and no more.
"""

from __future__ import annotations

import math
import mmap
import os
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.sources.base import Dense, WatchedFile, native, reading

_GAP_BYTES = 1 << 16  # reading over a gap of this size is cheaper than another call


class NpySource(Dense):
    """Rows of an array that lies in a file as plain numbers, of the type stored.

    Its first value lies at ``offset``; ``strides`` are the bytes from a row to the next and from a
    column to the next, positive; ``owner`` is the memory map that the file was opened as, if it was.
    """

    band_rows = 1

    def __init__(
        self,
        path: Path,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        *,
        offset: int,
        strides: tuple[int, ...],
        owner: Any = None,
    ) -> None:
        self._file = WatchedFile(path)
        self.shape, self.where = shape, repr(str(path))
        self.dtype, self._stored = native(dtype), dtype
        self._offset, self._strides, self._owner = offset, strides, owner
        if len(shape) == 2 and min(shape) > 0 and dtype.kind != "O":
            last = (shape[0] - 1) * strides[0] + (shape[1] - 1) * strides[1] + dtype.itemsize
            size = self._file.stamp[0]
            if offset + last > size:
                raise ReadError(
                    f"{self.where} is cut short: {shape[0]} rows of {shape[1]} columns need "
                    f"{offset + last} bytes, but it has {size}."
                )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_owner": None}  # a copy elsewhere reads the file

    @property
    def memory_map(self) -> np.memmap[Any, Any] | None:
        """The memory map that this was made from, if it was."""
        return self._owner if isinstance(self._owner, np.memmap) else None

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Rows from ``start`` up to ``stop``."""
        with reading(self.where, start, stop), self._file.path.open("rb", buffering=0) as file:
            return self._read(file, start, stop)

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Rows with these numbers, ascending."""
        gap = max(_GAP_BYTES // max(self._strides[0], 1), 1)
        runs = np.split(rows, np.flatnonzero(np.diff(rows) > gap) + 1)
        pieces = [piece for run in runs for piece in np.array_split(run, -(-len(run) // 4096))]
        out = np.empty((len(rows), self.shape[1]), self.dtype)
        done = 0
        with reading(self.where, int(rows[0]), int(rows[-1]) + 1):
            file = self._file.path.open("rb", buffering=0)
        with file:
            if self._strides[0] >= self._strides[1]:
                for piece in pieces:  # so that the disk is not asked for one after the other
                    length = int(piece[-1] + 1 - piece[0]) * self._strides[0]
                    _announce(file, self._offset + int(piece[0]) * self._strides[0], length)
            for piece in pieces:
                start, stop = int(piece[0]), int(piece[-1]) + 1
                with reading(self.where, start, stop):
                    part = self._read(file, start, stop)
                out[done : done + len(piece)] = part[piece - start]
                done += len(piece)
        return out

    def fingerprint(self) -> dict[str, Any]:
        """Of the file, with the place of the array in it."""
        return {
            "kind": "npy", "shape": list(self.shape), "dtype": self._stored.str,
            "offset": self._offset, "strides": list(self._strides), **self._file.fingerprint(),
        }  # fmt: skip

    def _read(self, file: Any, start: int, stop: int) -> npt.NDArray[Any]:
        n, d = stop - start, self.shape[1]
        by_row, by_column = self._strides
        size = self._stored.itemsize
        self._file.check(os.fstat(file.fileno()))
        if by_row >= by_column:  # rows lie one behind the other
            span = bytearray((n - 1) * by_row + (d - 1) * by_column + size)
            if len(span) > _GAP_BYTES:  # the next block will be asked for soon, too
                _announce(file, self._offset + start * by_row, 2 * len(span))
            _fill(file, span, self._offset + start * by_row)
            rows = np.ndarray((n, d), self._stored, span, strides=self._strides)
            whole = by_row == d * size and by_column == size
            return rows.astype(self.dtype, copy=not whole)
        rows = np.empty((n, d), self.dtype)
        span = bytearray((n - 1) * by_row + size)
        for column in range(d):
            _fill(file, span, self._offset + start * by_row + column * by_column)
            rows[:, column] = np.ndarray((n,), self._stored, span, strides=(by_row,))
        return rows


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type of the array that an open file begins with."""
    version = np.lib.format.read_magic(file)
    read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    return read[min(version[0], 2)](file)


def open_npy(path: Path) -> NpySource:
    """The source of a ``.npy`` file."""
    with reading(repr(str(path)), 0, 1), path.open("rb") as file:
        try:
            shape, is_fortran, dtype = read_header(file)
        except (ValueError, KeyError) as error:  # in NumPy's words, about its own parameters
            raise ReadError(
                f"{str(path)!r} is cut short, damaged or no npy file: it does not begin as one does. "
                "Copy it again, or save the array again with numpy.save."
            ) from error
        offset = file.tell()
    sizes = shape if is_fortran else shape[::-1]
    steps = [dtype.itemsize * math.prod(sizes[:axis]) for axis in range(len(sizes))]
    strides = tuple(steps if is_fortran else steps[::-1])
    return NpySource(path, shape, dtype, offset=offset, strides=strides)


def from_memory_map(array: np.memmap[Any, Any]) -> NpySource | None:
    """The source of a memory map; None if its file does not hold what the array shows."""
    mapped = getattr(array, "_mmap", None)
    name = getattr(array, "filename", None)
    # Changes to a copy-on-write map are in memory only; a pickled map has no file any more.
    if mapped is None or name is None or array.mode == "c" or not os.path.exists(name):
        return None
    if array.ndim != 2 or min(array.strides) <= 0 or array.size == 0:
        return None
    if array.mode != "r":
        array.flush()
    first = np.frombuffer(mapped, np.uint8).__array_interface__["data"][0]
    inside = array.__array_interface__["data"][0] - first
    # A slice keeps the whole map's offset, so the place is worked out from addresses.
    begin = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    offset, strides = begin + inside, array.strides
    return NpySource(
        Path(name), array.shape, array.dtype, offset=offset, strides=strides, owner=array
    )


def _announce(file: Any, offset: int, length: int) -> None:
    """Tell the system what will be read, where it can be told."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), offset, length, os.POSIX_FADV_WILLNEED)


def _fill(file: Any, span: bytearray, offset: int) -> None:
    """Fill ``span`` from the file, from ``offset`` on."""
    file.seek(offset)
    view, done = memoryview(span), 0
    while done < len(view):
        count = file.readinto(view[done:])
        if not count:
            raise EOFError(f"the file is cut short, {len(view) - done} bytes are missing")
        done += count
