"""What every kind of source gives, and what their files share.

A source is one view in a file or another store. It knows its shape without reading rows, and reads
them when asked, a block at a time; nothing of it stays in memory but, for stores that are made of
chunks, the last band of them.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError

Rows = Any
"""Rows that were read: an ndarray or a csr_array of shape (n, d)."""

_SAMPLED_BYTES = 4096
_SAMPLED_ROWS = 8
_FEW_ROWS = 64
_SPARSE_ROWS = 4096


@runtime_checkable
class Source(Protocol):
    """One view somewhere else than in memory; rows are read when they are asked for."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and of columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values that are read, in this machine's byte order."""

    @property
    def is_sparse(self) -> bool:
        """Whether rows are read as a csr_array, not as an ndarray."""

    @property
    def where(self) -> str:
        """The path, and the key inside it, for messages."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if the store has them."""

    @property
    def row_bytes(self) -> float:
        """Bytes that a row takes in memory once it is read; the mean, if rows differ."""

    @property
    def band_rows(self) -> int:
        """Rows that are decoded at a time, however few are asked for."""

    def read(self, start: int, stop: int) -> Rows:
        """Rows from ``start`` up to, not including, ``stop``."""

    def take(self, rows: npt.NDArray[np.int64]) -> Rows:
        """Rows with these numbers, ascending."""

    def fingerprint(self) -> dict[str, Any]:
        """What tells this data from other data without reading all of it, as JSON."""


@contextmanager
def reading(where: str, start: int, stop: int) -> Iterator[None]:
    """Turn whatever a parser raises into one error that names the file and the rows."""
    try:
        yield
    except (ReadError, MemoryError):
        raise
    except Exception as error:  # every library has its own
        reason = (str(error) or type(error).__name__).rstrip(".")
        raise ReadError(
            f"Could not read rows {start} to {stop - 1} of {where}: {reason}. "
            "Check that the file is whole and that it can be read."
        ) from error


class WatchedFile:
    """A file that must stay as it was when it was first seen.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.stamp = _stamp(os.stat(path))
        except OSError as error:
            raise ReadError(f"Could not open {str(path)!r}: {error.strerror or error}.") from error

    def check(self, status: os.stat_result | None = None) -> None:
        """Raise OSError if the file is not what it was."""
        if _stamp(os.stat(self.path) if status is None else status) != self.stamp:
            raise OSError("the file was changed, or replaced, after it was opened")

    def fingerprint(self) -> dict[str, Any]:
        """Size, time of the last change, and a hash of a few bytes."""
        size, changed = self.stamp
        with self.path.open("rb") as file:
            digest = hashlib.blake2b(digest_size=16)
            for place in (0, size // 3, 2 * size // 3, max(size - _SAMPLED_BYTES, 0)):
                file.seek(place)
                digest.update(file.read(_SAMPLED_BYTES))
        return {"bytes": size, "changed": changed, "sampled": digest.hexdigest()}


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def hash_of_few(source: Source) -> str:
    """Give a hash of a few rows, from the first to the last."""
    few = np.unique(np.linspace(0, source.shape[0] - 1, _SAMPLED_ROWS).astype(np.int64))
    return hashlib.blake2b(source.take(few).tobytes(), digest_size=16).hexdigest()


class Bands:
    """Rows of a store that decodes whole bands of rows; the last one is kept.

    Blocks that follow each other and cut a band decode it once that way.

    Parameters
    ----------
    decode : callable
        Gives the rows from a start up to a stop that are both edges of bands.
    edges : ndarray of shape (b + 1,)
        First row of every band, and the number of rows.
    """

    def __init__(
        self, decode: Callable[[int, int], npt.NDArray[Any]], edges: npt.NDArray[np.int64]
    ) -> None:
        self._decode, self._edges = decode, edges
        self._lock = threading.Lock()
        self._kept: tuple[int, npt.NDArray[Any]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_decode": self._decode, "_edges": self._edges, "_kept": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Rows from ``start`` up to ``stop``."""
        edges = self._edges
        with self._lock:
            first = int(np.searchsorted(edges, start, "left"))  # the first whole band
            last = int(np.searchsorted(edges, stop, "right")) - 1  # bands before it are whole
            if first > last:  # inside one band
                return self._part(last, start, stop).copy()
            parts = []
            if start < edges[first]:
                parts.append(self._part(first - 1, start, int(edges[first])))
            if first < last:
                parts.append(self._decode(int(edges[first]), int(edges[last])))
            if edges[last] < stop:
                parts.append(self._part(last, int(edges[last]), stop))
            return parts[0].copy() if len(parts) == 1 else np.concatenate(parts)

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Rows with these numbers, ascending."""
        bands = np.searchsorted(self._edges, rows, "right") - 1
        if len(self._edges) > 1 and (self._edges[1] - self._edges[0]) < _FEW_ROWS:
            bands = rows // _FEW_ROWS  # a call for every few rows is slow
        return _take_runs(self.read, rows, bands)

    def _part(self, band: int, start: int, stop: int) -> npt.NDArray[Any]:
        edge = int(self._edges[band])
        if self._kept is None or self._kept[0] != band:
            self._kept = None  # free it before the next is decoded
            self._kept = band, self._decode(edge, int(self._edges[band + 1]))
        return self._kept[1][start - edge : stop - edge]


class SingleRows:
    """Rows of a store that can read any of them by itself.

    Parameters
    ----------
    decode : callable
        Gives the rows from a start up to a stop.
    """

    def __init__(self, decode: Callable[[int, int], npt.NDArray[Any]]) -> None:
        self.read = decode

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Rows with these numbers, ascending."""
        return _take_runs(self.read, rows, rows // _FEW_ROWS)  # a call a row would be slow


def _take_runs(
    read: Callable[[int, int], npt.NDArray[Any]],
    rows: npt.NDArray[np.int64],
    runs: npt.NDArray[np.int64],
) -> npt.NDArray[Any]:
    """Give rows by number, read in one go where they have the same run."""
    parts = []
    for group in np.split(rows, np.flatnonzero(np.diff(runs)) + 1):
        start, stop = int(group[0]), int(group[-1]) + 1
        parts.append(read(start, stop)[group - start])
    return np.concatenate(parts)


def take_sparse(
    read: Callable[[int, int], sparse.csr_array], rows: npt.NDArray[np.int64]
) -> sparse.csr_array:
    """Give sparse rows by number, ascending; those near each other are read in one go."""
    parts = []
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > _FEW_ROWS) + 1):
        for piece in np.array_split(run, -(-len(run) // _SPARSE_ROWS)):
            start = int(piece[0])
            parts.append(read(start, int(piece[-1]) + 1)[piece - start])
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, "csr"))


def even_edges(n_rows: int, band_rows: int) -> npt.NDArray[np.int64]:
    """First row of bands of equal size, and the number of rows."""
    return np.append(np.arange(0, n_rows, max(band_rows, 1), dtype=np.int64), n_rows)


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in this machine's byte order."""
    return dtype.newbyteorder("=")
