"""Sparse rows, in the ``.npz`` files of ``scipy.sparse.save_npz``.

Such a file is compressed as a whole, so single rows cannot be read from it. Its rows are written once
to a file beside it, ``NAME.npz.rows.h5``, that is used again as long as the first one stays the same.
"""

from __future__ import annotations

import json
import logging
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError, WriteError
from manyview.machine import whole_file
from manyview.sources.base import WatchedFile, reading
from manyview.sources.csr_groups import CsrGroupSource

logger = logging.getLogger("manyview")

_PARTS = ("indptr", "indices", "data")
_ROWS = 4096
_CHUNK = 1 << 16


def open_npz(path: Path) -> CsrGroupSource:
    """The source of a sparse ``.npz`` file; its rows are written beside it if they are not there."""
    import h5py

    stamp = json.dumps(WatchedFile(path).fingerprint())
    rows = path.with_name(f"{path.name}.rows.h5")
    if not _is_made_from(rows, stamp):
        logger.warning(
            "rows cannot be read from %s one by one: writing them to %s once, and using that from now "
            "on.", path, rows,
        )  # fmt: skip
        try:
            with whole_file(rows) as temporary, h5py.File(temporary, "w") as file:
                group = file.create_group("rows")
                group.attrs["stamp"] = stamp
                _write_rows(path, group)
        except (OSError, RuntimeError) as error:
            if isinstance(error, ReadError):
                raise
            raise WriteError(
                f"Could not write the rows of {str(path)!r} to {str(rows)!r}: {error}. Move the file "
                "to where there is room and leave to write."
            ) from error
    with reading(repr(str(rows)), 0, 1), h5py.File(rows, "r") as file:
        return CsrGroupSource(file["rows"], path=rows)


def _is_made_from(rows: Path, stamp: str) -> bool:
    """Whether a file holds the rows of the file with this stamp."""
    import h5py

    try:
        with h5py.File(rows, "r") as file:
            return bool(file["rows"].attrs["stamp"] == stamp)
    except (OSError, KeyError):
        return False


def _write_rows(path: Path, group: Any) -> None:
    """Copy the rows, few at a time; entries in the order of their columns, each once."""
    where = repr(str(path))
    with reading(where, 0, 1):
        archive = zipfile.ZipFile(path)
    with archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
        if not {"format", "shape", *_PARTS} <= names:
            raise ValueError(
                f"{where} does not hold a CSR array of scipy.sparse.save_npz, but "
                f"{sorted(names)[:5]}. Save dense arrays as one .npy file each."
            )
        with reading(where, 0, 1):
            kind, sizes = (_Member(archive, name).read() for name in ("format", "shape"))
            members = {name: _Member(archive, name) for name in _PARTS}
        if kind.item() not in (b"csr", "csr"):
            raise ValueError(
                f"{where} holds a {np.asarray(kind, np.str_)} array. Save its rows: "
                "scipy.sparse.save_npz(path, array.tocsr())."
            )
        if sizes.shape != (2,):
            raise ValueError(f"{where} holds an array of shape {tuple(sizes)}, not 2-D rows.")
        _copy_entries(members, [int(size) for size in sizes], group, where)


def _copy_entries(members: dict[str, _Member], shape: list[int], group: Any, where: str) -> None:
    group.attrs["shape"] = shape
    for name in _PARTS:
        kind = np.dtype(np.int64) if name == "indptr" else members[name].dtype
        # Checksums tell if it is damaged later.
        group.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(_CHUNK,), fletcher32=True)
    with reading(where, 0, 1):
        first = members["indptr"].read(1).astype(np.int64)
    _append(group["indptr"], np.zeros(1, np.int64))
    written = 0
    for start in range(0, shape[0], _ROWS):
        stop = min(start + _ROWS, shape[0])
        with reading(where, start, stop):
            ends = members["indptr"].read(stop - start).astype(np.int64)
            count = int(ends[-1] - first[0])
            entries = members["data"].read(count), members["indices"].read(count)
            indptr = np.concatenate([first, ends]) - first
            rows = sparse.csr_array((*entries, indptr), (stop - start, shape[1]))
            rows.check_format(full_check=True)
            rows.sum_duplicates()
        _append(group["data"], rows.data)
        _append(group["indices"], rows.indices)
        _append(group["indptr"], rows.indptr[1:].astype(np.int64) + written)
        first, written = ends[-1:], written + rows.nnz


def _append(dataset: Any, values: npt.NDArray[Any]) -> None:
    n = len(dataset)
    dataset.resize(n + len(values), axis=0)
    dataset[n:] = values


class _Member:
    """An array inside an archive, read from its beginning to its end."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._file = archive.open(f"{name}.npy")
        version = np.lib.format.read_magic(self._file)
        read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        self._shape, _, self.dtype = read[min(version[0], 2)](self._file)

    def read(self, count: int | None = None) -> npt.NDArray[Any]:
        """The next values; all if their number is not given."""
        size = int(np.prod(self._shape)) if count is None else count
        content = self._file.read(size * self.dtype.itemsize)
        if len(content) < size * self.dtype.itemsize:
            raise EOFError("the file is cut short")
        values = np.frombuffer(content, self.dtype).copy()
        return values.reshape(self._shape) if count is None else values
