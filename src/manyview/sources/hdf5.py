"""Datasets of HDF5 files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.sources.bands import Banded, even_edges
from manyview.sources.base import WatchedFile, hash_of_few, native, reading
from manyview.sources.room import refuse_large


class Hdf5Source(Banded):
    """Rows of an open ``h5py.Dataset``, or of one in a file by its path.

    With a path the file is opened for each read, rather than ``dataset`` used: then this can be sent to
    other processes, and the file is not kept open.
    """

    def __init__(self, dataset: Any, *, path: Path | None = None) -> None:
        self._dataset: Any = dataset if path is None else None
        self._path, self._key = path, dataset.name
        self.shape, self.dtype = tuple(dataset.shape), native(dataset.dtype)
        self.where = f"{str(dataset.file.filename)!r}, dataset {dataset.name!r}"
        name = Path(dataset.file.filename)
        self._on_disk = name if name.is_file() else None
        # A file open for writing, or one that is not on a disk, may well change.
        self._file = WatchedFile(name) if dataset.file.mode == "r" and name.is_file() else None
        # A dataset that is not in chunks can be read row by row.
        self.band_rows = int(dataset.chunks[0]) if dataset.chunks else 1
        if dataset.chunks and path is not None:
            size = math.prod(dataset.chunks) * self.dtype.itemsize
            refuse_large(size, path, f"a chunk of {dataset.name!r}")
        n_rows = self.shape[0]
        super().__init__(even_edges(n_rows, self.band_rows, self.where) if dataset.chunks else None)

    def fingerprint(self) -> dict[str, Any]:
        """Of the file, with the dataset's name and a few rows."""
        return {
            "kind": "hdf5", "key": self._key, "shape": list(self.shape), "dtype": self.dtype.str,
            "rows": hash_of_few(self), **self._file_fingerprint(),
        }  # fmt: skip

    def _file_fingerprint(self) -> dict[str, Any]:
        if self._file is not None:
            return self._file.fingerprint()
        if self._on_disk is None:
            return {}
        with reading(self.where, 0, self.shape[0]):
            self._dataset.file.flush()  # it is open for writing
        return WatchedFile(self._on_disk).fingerprint()

    def _check(self) -> None:
        if self._file is not None:
            self._file.check()

    def _decode(self, start: int, stop: int) -> npt.NDArray[Any]:
        if self._path is None:
            rows = self._dataset[start:stop]
        else:
            import h5py

            with h5py.File(self._path, "r") as file:
                rows = file[self._key][start:stop]
        return np.asarray(rows).astype(self.dtype, copy=False)
