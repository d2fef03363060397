"""Sparse rows in groups of HDF5 and zarr, laid out as anndata writes them: data, indices, indptr."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.sources.bands import take_sparse
from manyview.sources.base import WatchedFile, hash_of_order, native, reading
from manyview.sources.csr import check_starts, join_csr
from manyview.sources.room import refuse_large

Entries = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int64]]
"""Values, their places in lines, and where each line begins."""


class SparseGroup:
    """A sparse matrix in an open group of HDF5 or zarr, or in an HDF5 file by its path.

    Its lines are its rows or its columns. With a path the file is opened for each read, rather than
    ``group`` used: then this can be sent to other processes, and the file is not kept open.
    """

    def __init__(self, group: Any, line: Literal["row", "column"], *, path: Path | None) -> None:
        self._group: Any = group if path is None else None
        self._path, self._key, self._line = path, group.name, line
        rows, columns = (int(size) for size in group.attrs["shape"])
        self.shape, self.dtype = (rows, columns), native(group["data"].dtype)
        name = getattr(getattr(group, "file", None), "filename", None)
        self.where = f"{str(name or group)!r}, group {group.name!r}"
        self.starts = self._read_starts(group)  # where each line begins among the entries
        self._file = WatchedFile(Path(name)) if name and Path(name).is_file() else None
        entry_bytes = self.dtype.itemsize + np.dtype(group["indices"].dtype).itemsize
        self.row_bytes = 8.0 + int(self.starts[-1]) * entry_bytes / max(rows, 1)

    def check(self) -> None:
        """Refuse a file that is not what it was."""
        if self._file is not None:
            self._file.check()

    def read(self, first: int, last: int) -> Entries:
        """The values, places and starts of lines from ``first`` up to ``last``."""
        if self._path is None:
            return self._read(self._group, first, last)
        import h5py

        with h5py.File(self._path, "r") as file:
            return self._read(file[self._key], first, last)

    def fingerprint(self) -> dict[str, Any]:
        """Of the file, with the group's name and the lines' places."""
        file = {} if self._file is None else self._file.fingerprint()
        return {
            "kind": f"cs{self._line[0]} group", "key": self._key, "shape": list(self.shape),
            "dtype": self.dtype.str, f"{self._line}s": hash_of_order(self.starts), **file,
        }  # fmt: skip

    def _read_starts(self, group: Any) -> npt.NDArray[np.int64]:
        n_lines = self.shape[0 if self._line == "row" else 1]
        with reading(self.where, 0, self.shape[0]):
            n_entries = min(len(group["data"]), len(group["indices"]))
            if self._path is not None:
                refuse_large(group["indptr"].size * 8, self._path, f"its index of {self._line}s")
            starts = np.asarray(group["indptr"][:])
            check_starts(starts, n_lines, n_entries, self._line)
            return starts.astype(np.int64)

    def _read(self, group: Any, first: int, last: int) -> Entries:
        starts = self.starts[first : last + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        data = np.asarray(group["data"][entries]).astype(self.dtype, copy=False)
        return data, np.asarray(group["indices"][entries]), starts - starts[0]


class CsrGroupSource:
    """Rows of a CSR matrix in a group of HDF5 or zarr; see :class:`SparseGroup`."""

    is_sparse = True
    feature_names = None
    band_rows = 1

    def __init__(self, group: Any, *, path: Path | None = None) -> None:
        self._rows = SparseGroup(group, "row", path=path)
        self._is_reopened = path is not None
        self.shape, self.dtype, self.where = self._rows.shape, self._rows.dtype, self._rows.where
        self.row_bytes = self._rows.row_bytes

    def read(self, start: int, stop: int) -> sparse.csr_array:
        """Rows from ``start`` up to ``stop``."""
        with reading(self.where, start, stop):
            if self._is_reopened:
                self._rows.check()
            data, indices, starts = self._rows.read(start, stop)
            # As SciPy has them: narrow unless they must be wide.
            kind = np.int32 if max(len(data), self.shape[1]) < 2**31 else np.int64
            places = indices.astype(kind, copy=False), starts.astype(kind)
            return join_csr((data, *places), (stop - start, self.shape[1]))

    def take(self, rows: npt.NDArray[np.int64]) -> sparse.csr_array:
        """Rows with these numbers, ascending."""
        return take_sparse(self.read, rows)

    def fingerprint(self) -> dict[str, Any]:
        """Of the file, with the group's name and the rows' places."""
        return self._rows.fingerprint()
