"""Stores that decode rows in bands, such as chunks and row groups."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError
from manyview.sources.base import Dense, reading
from manyview.wording import count

_FEW_ROWS = 64
_SPARSE_ROWS = 4096
_MOST_BANDS = 50_000_000


class Banded(Dense):
    """A source that decodes whole bands of rows; the last one is kept.

    Blocks that follow each other and cut a band decode it once that way. ``edges``, shape (b + 1,), are
    the first row of every band, and the number of rows; None if any row can be read by itself.
    """

    where: str

    def __init__(self, edges: npt.NDArray[np.int64] | None) -> None:
        self._edges: Any = edges
        self._lock = threading.Lock()
        self._kept: tuple[int, npt.NDArray[Any]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def _check(self) -> None:
        """Raise OSError if the store is not what it was."""

    def _decode(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Rows from ``start`` up to ``stop``, both among the edges."""
        raise NotImplementedError

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Rows from ``start`` up to ``stop``."""
        with reading(self.where, start, stop):
            self._check()
            return self._read(start, stop)

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Rows with these numbers, ascending."""
        edges = self._edges
        with reading(self.where, int(rows[0]), int(rows[-1]) + 1):
            self._check()
            runs = rows // _FEW_ROWS  # a call for every few rows would be slow
            if edges is not None and edges[1] - edges[0] >= _FEW_ROWS:
                runs = np.searchsorted(edges, rows, "right") - 1
            parts = []
            for run in np.split(rows, np.flatnonzero(np.diff(runs)) + 1):
                start, stop = int(run[0]), int(run[-1]) + 1
                parts.append(self._read(start, stop)[run - start])
            return np.concatenate(parts)

    def _read(self, start: int, stop: int) -> npt.NDArray[Any]:
        edges = self._edges
        if edges is None:
            return self._decode(start, stop)
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

    def _part(self, band: int, start: int, stop: int) -> npt.NDArray[Any]:
        edge, end = map(int, self._edges[band : band + 2])
        if self._kept is None or self._kept[0] != band:
            self._kept = None  # free it before the next is decoded
            self._kept = band, self._decode(edge, end)
        return self._kept[1][start - edge : stop - edge]


def take_sparse(
    read: Callable[[int, int], sparse.csr_array], rows: npt.NDArray[np.int64]
) -> sparse.csr_array:
    """Sparse rows by number, ascending; those near each other are read in one go."""
    parts = []
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > _FEW_ROWS) + 1):
        for piece in np.array_split(run, -(-len(run) // _SPARSE_ROWS)):
            start = int(piece[0])
            parts.append(read(start, int(piece[-1]) + 1)[piece - start])
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, "csr"))


def even_edges(n_rows: int, band_rows: int, where: str) -> npt.NDArray[np.int64]:
    """First row of bands of equal size, and the number of rows; raises if no store has so many."""
    if n_rows / max(band_rows, 1) > _MOST_BANDS:
        raise ReadError(
            f"{where} promises {count(n_rows, 'row')} in chunks of {band_rows}, too many to be listed. "
            "If it is what you expect, write it again in larger chunks."
        )
    return np.append(np.arange(0, n_rows, max(band_rows, 1), dtype=np.int64), n_rows)
