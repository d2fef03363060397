"""What every kind of source gives, and what their files share.

A source is one view in a file or another store. It knows its shape without reading rows, and reads
them when asked, a block at a time; nothing of it stays in memory but, for stores that are made of
chunks, the last band of them.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError

Rows = Any
"""Rows that were read: an ndarray or a csr_array of shape (n, d)."""

_SAMPLED_BYTES, _SAMPLED_BLOCKS = 1 << 16, 64
_SAMPLED_ROWS = 8


@runtime_checkable
class Source(Protocol):
    """One view that is not in memory; its rows are read when they are asked for."""

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
        """The rows with these numbers, which must ascend."""

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
    """A file that must stay as it was when it was first seen."""

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
        """Size, and a hash of blocks at equal distances, or of all bytes if they are few.

        The time of the last change is no part of it: the same data written again is the same.
        """
        size = self.stamp[0]
        last = max(size - _SAMPLED_BYTES, 0)
        n_blocks = min(_SAMPLED_BLOCKS, -(-size // _SAMPLED_BYTES))
        with self.path.open("rb", buffering=0) as file:
            digest = hashlib.blake2b(digest_size=16)
            for block in range(n_blocks):
                file.seek(last * block // max(n_blocks - 1, 1))
                digest.update(file.read(_SAMPLED_BYTES))
        return {"bytes": size, "sampled": digest.hexdigest()}


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def take_in_any_order(source: Source, rows: npt.NDArray[np.int64]) -> Rows:
    """Rows with these numbers in their order; a source takes them ascending."""
    order = np.argsort(rows, kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return source.take(rows[order])[back]


def hash_of_order(rows: npt.NDArray[np.int64]) -> str:
    """A hash of the numbers of rows."""
    return hashlib.blake2b(rows.tobytes(), digest_size=16).hexdigest()


class Dense:
    """What sources of dense rows share."""

    is_sparse = False
    feature_names: tuple[str, ...] | None = None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def row_bytes(self) -> float:
        """Bytes of a row."""
        return float(math.prod(self.shape[1:]) * self.dtype.itemsize)


def hash_of_few(source: Source) -> str:
    """A hash of a few rows, from the first to the last."""
    few = np.unique(np.linspace(0, source.shape[0] - 1, _SAMPLED_ROWS).astype(np.int64))
    return hashlib.blake2b(source.take(few).tobytes(), digest_size=16).hexdigest()


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in this machine's byte order."""
    return dtype.newbyteorder("=")
