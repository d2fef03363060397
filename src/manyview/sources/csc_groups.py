"""Sparse matrices stored by columns, in groups of HDF5 and zarr: turned once, then read by rows.

All columns would have to be read for any row. So the entries are sorted by rows first, a bounded number
at a time, and written to a temporary file, which takes as much room as they do.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.sources.base import reading
from manyview.sources.csr import checked_csc, join_csc
from manyview.sources.csr_groups import CsrGroupSource, SparseGroup

_ENTRIES = 8 << 20  # that are sorted at a time


class CscGroupSource:
    """Rows of a CSC matrix in a group of HDF5 or zarr; see :class:`SparseGroup`.

    It is turned when rows are first asked for; the temporary file goes with the source.
    """

    is_sparse = True
    feature_names = None
    band_rows = 1

    def __init__(self, group: Any, *, path: Path | None = None) -> None:
        self._columns = SparseGroup(group, "column", path=path)
        self.shape, self.dtype = self._columns.shape, self._columns.dtype
        self.where, self.row_bytes = self._columns.where, self._columns.row_bytes
        self._turned: CsrGroupSource | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_turned": None, "_lock": None}  # a copy turns for itself

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def read(self, start: int, stop: int) -> sparse.csr_array:
        """Rows from ``start`` up to ``stop``."""
        return self._by_rows().read(start, stop)

    def take(self, rows: npt.NDArray[np.int64]) -> sparse.csr_array:
        """Rows with these numbers, ascending."""
        return self._by_rows().take(rows)

    def fingerprint(self) -> dict[str, Any]:
        """Of the file, with the group's name and the columns' places."""
        return self._columns.fingerprint()

    def _by_rows(self) -> CsrGroupSource:
        with reading(self.where, 0, self.shape[0]), self._lock:
            self._columns.check()
            if self._turned is None:
                folder = Path(tempfile.mkdtemp(prefix="manyview-"))
                weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
                self._turned = self._turn(folder)
            return self._turned

    def _turn(self, folder: Path) -> CsrGroupSource:
        import h5py

        begins = self._columns.starts
        n_entries = int(begins[-1])
        n_parts = max(-(-n_entries // _ENTRIES), 1)
        inner = np.searchsorted(begins, np.arange(1, n_parts) * _ENTRIES)
        chunks = [*pairwise(np.unique([0, *inner, self.shape[1]]).tolist())] or [(0, 0)]
        limits = np.linspace(0, self.shape[0], n_parts + 1).astype(np.int64)
        for number, chunk in enumerate(chunks):
            part = checked_csc(self._columns.read(*chunk), (self.shape[0], chunk[1] - chunk[0]))
            part.sort_indices()
            # Within a column entries ascend, so those of a band of rows lie side by side.
            edges = limits.astype(part.indices.dtype)  # or each column would be copied
            cuts = np.empty((part.shape[1], n_parts + 1), np.int64)
            for column, (first, last) in enumerate(pairwise(part.indptr.tolist())):
                cuts[column] = first + np.searchsorted(part.indices[first:last], edges)
            for band, start in enumerate(limits[:-1].tolist()):
                _store(folder / f"{band}-{number}", part, cuts[:, band : band + 2], start)
        turned = folder / "rows.h5"
        with h5py.File(turned, "w") as file:
            group = file.create_group("x")
            group.attrs["shape"] = self.shape
            # Entries that are stored in parts are added up, so there may be fewer in the end.
            for name, dtype in (("data", self.dtype), ("indices", np.dtype(np.int32))):
                group.create_dataset(name, (n_entries,), dtype)
            starts = [np.zeros(1, np.int64)]
            for band, n_rows in enumerate(np.diff(limits).tolist()):
                paths = [folder / f"{band}-{number}" for number in range(len(chunks))]
                rows = _restore(paths, (n_rows, self.shape[1]))
                done = int(starts[-1][-1])
                starts.append(done + rows.indptr[1:].astype(np.int64))
                for name in ("data", "indices"):
                    group[name][done : done + rows.nnz] = getattr(rows, name)
                for path in paths:
                    path.unlink()
            group.create_dataset("indptr", data=np.concatenate(starts))
        with h5py.File(turned, "r") as file:
            return CsrGroupSource(file["x"], path=turned)


def _store(path: Path, part: sparse.csc_array, spans: npt.NDArray[Any], first_row: int) -> None:
    """Write these spans of columns as they lie in memory, which is faster than any format."""
    slices = [slice(*span) for span in spans.tolist()]
    with path.open("wb") as file:
        np.save(file, np.concatenate([part.data[:0], *(part.data[each] for each in slices)]))
        places = np.concatenate([part.indices[:0], *(part.indices[each] for each in slices)])
        np.save(file, places - first_row)
        np.save(file, spans[:, 1] - spans[:, 0])


def _restore(paths: Sequence[Path], shape: tuple[int, int]) -> sparse.csr_array:
    """The rows of a band, of all parts of their columns."""
    found = []
    for path in paths:
        with path.open("rb") as file:
            found.append([np.load(file) for _ in range(3)])
    values, places, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    return join_csc((values, places, np.concatenate([[0], np.cumsum(counts)])), shape)
