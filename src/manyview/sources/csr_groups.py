"""Sparse rows in groups of HDF5 and zarr, laid out as anndata writes them: data, indices, indptr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.sources.bands import take_sparse
from manyview.sources.base import WatchedFile, hash_of_order, native, reading
from manyview.sources.csr import check_starts, join_csr
from manyview.sources.room import refuse_large


class CsrGroupSource:
    """Rows of a CSR matrix in an open group of HDF5 or zarr, or in an HDF5 file by its path.

    With a path the file is opened for each read, rather than ``group`` used: then this can be sent to
    other processes, and the file is not kept open.
    """

    is_sparse = True
    feature_names = None
    band_rows = 1

    def __init__(self, group: Any, *, path: Path | None = None) -> None:
        self._group: Any = group if path is None else None
        self._path, self._key = path, group.name
        rows, columns = (int(size) for size in group.attrs["shape"])
        self.shape, self.dtype = (rows, columns), native(group["data"].dtype)
        name = getattr(getattr(group, "file", None), "filename", None)
        self.where = f"{str(name or group)!r}, group {group.name!r}"
        self._indptr = self._read_starts(group)
        self._file = WatchedFile(Path(name)) if name and Path(name).is_file() else None
        entry_bytes = self.dtype.itemsize + np.dtype(group["indices"].dtype).itemsize
        self.row_bytes = 8.0 + int(self._indptr[-1]) * entry_bytes / max(rows, 1)

    def read(self, start: int, stop: int) -> sparse.csr_array:
        """Rows from ``start`` up to ``stop``."""
        with reading(self.where, start, stop):
            if self._path is None:
                return self._read(self._group, start, stop)
            import h5py

            if self._file is not None:
                self._file.check()
            with h5py.File(self._path, "r") as file:
                return self._read(file[self._key], start, stop)

    def take(self, rows: npt.NDArray[np.int64]) -> sparse.csr_array:
        """Rows with these numbers, ascending."""
        return take_sparse(self.read, rows)

    def fingerprint(self) -> dict[str, Any]:
        """Of the file, with the group's name and the rows' places."""
        places = hash_of_order(self._indptr)
        file = {} if self._file is None else self._file.fingerprint()
        return {
            "kind": "csr group", "key": self._key, "shape": list(self.shape),
            "dtype": self.dtype.str, "rows": places, **file,
        }  # fmt: skip

    def _read_starts(self, group: Any) -> npt.NDArray[np.int64]:
        with reading(self.where, 0, self.shape[0]):
            n_entries = min(len(group["data"]), len(group["indices"]))
            if self._path is not None:
                refuse_large(group["indptr"].size * 8, self._path, "its index of rows")
            starts = np.asarray(group["indptr"][:])
            check_starts(starts, self.shape[0], n_entries)
            return starts.astype(np.int64)

    def _read(self, group: Any, start: int, stop: int) -> sparse.csr_array:
        indptr = self._indptr[start : stop + 1]
        first, last = int(indptr[0]), int(indptr[-1])
        data = np.asarray(group["data"][first:last]).astype(self.dtype, copy=False)
        indices = np.asarray(group["indices"][first:last])
        # As SciPy has them: narrow unless they must be wide.
        kind = np.int32 if max(last - first, self.shape[1]) < 2**31 else np.int64
        places = indices.astype(kind, copy=False), (indptr - first).astype(kind)
        return join_csr((data, *places), (stop - start, self.shape[1]))
