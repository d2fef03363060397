"""Sparse rows, in the ``.npz`` files of ``scipy.sparse.save_npz``.

Such a file is compressed as a whole, so single rows cannot be read from it. It is turned once into a
folder beside it, ``NAME.npz.rows``, that holds the same rows as plain ``.npy`` files, and that is used
again as long as the file stays the same.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError, WriteError
from manyview.sources.bands import take_sparse
from manyview.sources.base import WatchedFile, reading
from manyview.sources.npy import NpySource, open_npy

logger = logging.getLogger("manyview")

_PARTS = ("indptr", "indices", "data")
_FORMAT = 1
_ROWS = 4096


class CsrSource:
    """Rows of a CSR array that lies in a folder as ``.npy`` files.

    Parameters
    ----------
    folder : Path
        With ``indptr.npy``, ``indices.npy``, ``data.npy``.
    shape : tuple of int
        Shape of the array.
    original : Path
        The file that it was made from.
    """

    is_sparse = True
    feature_names = None
    band_rows = 1

    def __init__(self, folder: Path, shape: tuple[int, int], original: Path) -> None:
        self.shape, self.where = shape, repr(str(original))
        self._original = WatchedFile(original)
        parts = [open_npy(folder / f"{name}.npy") for name in _PARTS]
        self._indptr, self._indices, self._data = map(_as_column, parts)
        self.dtype = self._data.dtype
        entry_bytes = self.dtype.itemsize + self._indices.dtype.itemsize
        self.row_bytes = 8.0 + self._data.shape[0] * entry_bytes / max(shape[0], 1)

    def read(self, start: int, stop: int) -> sparse.csr_array:
        """Rows from ``start`` up to ``stop``."""
        with reading(self.where, start, stop):
            self._original.check()
            return self._read(start, stop)

    def take(self, rows: npt.NDArray[np.int64]) -> sparse.csr_array:
        """Rows with these numbers, ascending."""
        return take_sparse(self.read, rows)

    def fingerprint(self) -> dict[str, Any]:
        """Of the file that it was made from."""
        return {
            "kind": "csr", "shape": list(self.shape), "dtype": self.dtype.str,
            **self._original.fingerprint(),
        }  # fmt: skip

    def _read(self, start: int, stop: int) -> sparse.csr_array:
        indptr = self._indptr.read_part(start, stop + 1)[:, 0]
        first, last = int(indptr[0]), int(indptr[-1])
        if np.any(np.diff(indptr) < 0) or not 0 <= first <= last <= self._data.shape[0]:
            raise ValueError("the rows' places are damaged; remove the folder beside the file")
        shape = (stop - start, self.shape[1])
        if first == last:
            return sparse.csr_array(shape, dtype=self.dtype)
        indices = self._indices.read_part(first, last)[:, 0]
        if indices.min() < 0 or indices.max() >= shape[1]:
            raise ValueError("a column number is damaged; remove the folder beside the file")
        # As SciPy has them: narrow unless they must be wide.
        kind = np.int32 if max(last - first, shape[1]) < 2**31 else np.int64
        places = (indices.astype(kind, copy=False), (indptr - first).astype(kind))
        rows = sparse.csr_array((self._data.read_part(first, last)[:, 0], *places), shape)
        rows.has_canonical_format = True  # seen to when the folder was written
        return rows


def open_npz(path: Path) -> CsrSource:
    """The source of a sparse ``.npz`` file; write its rows beside it if they are not there."""
    stamp = {"format": _FORMAT, **WatchedFile(path).fingerprint()}
    folder = path.with_name(f"{path.name}.rows")
    shape = _reusable(folder, stamp)
    if shape is None:
        logger.warning(
            "rows cannot be read from %s one by one: writing them to %s once, and using that from now "
            "on.", path, folder,
        )  # fmt: skip
        temporary = None
        try:
            temporary = Path(mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
            rows = temporary / "rows"  # others may read it, unlike what mkdtemp makes
            rows.mkdir()
            shape = _write_rows(path, rows)
            (rows / "rows.json").write_text(json.dumps({**stamp, "shape": shape}))
            if _reusable(folder, stamp) is None:  # or another process was faster
                shutil.rmtree(folder, ignore_errors=True)
                os.replace(rows, folder)
        except OSError as error:
            if isinstance(error, ReadError):
                raise
            raise WriteError(
                f"Could not write the rows of {str(path)!r} to {str(folder)!r}: {error}. Move the "
                "file to where there is room and leave to write."
            ) from error
        finally:
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)
    return CsrSource(folder, (shape[0], shape[1]), path)


def _reusable(folder: Path, stamp: dict[str, Any]) -> list[int] | None:
    """Shape of the rows in the folder, if they were made from this very file."""
    try:
        found = json.loads((folder / "rows.json").read_text())
        shape: list[int] = found.pop("shape")
    except (OSError, ValueError, KeyError):
        return None
    return shape if found == stamp else None


def _write_rows(path: Path, folder: Path) -> list[int]:
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
        kind, sizes = (_read_member(archive, name, where) for name in ("format", "shape"))
        kind = kind.item()
        if kind not in (b"csr", "csr"):
            raise ValueError(
                f"{where} holds a {kind.decode() if isinstance(kind, bytes) else kind} array. "
                "Save its rows: scipy.sparse.save_npz(path, array.tocsr())."
            )
        shape = [int(size) for size in sizes]
        if len(shape) != 2:
            raise ValueError(f"{where} holds an array of shape {tuple(shape)}, not 2-D rows.")
        _copy_entries(archive, shape, folder, where)
    return shape


def _read_member(archive: zipfile.ZipFile, name: str, where: str) -> npt.NDArray[Any]:
    with reading(where, 0, 1), archive.open(f"{name}.npy") as member:
        return np.lib.format.read_array(member)


def _copy_entries(archive: zipfile.ZipFile, shape: list[int], folder: Path, where: str) -> None:
    with ExitStack() as stack:
        with reading(where, 0, 1):
            members = {name: stack.enter_context(_Member(archive, name)) for name in _PARTS}
        sizes = {name: member.size for name, member in members.items()}
        kinds = {name: member.dtype for name, member in members.items()}
        kinds["indptr"] = np.dtype(np.int64)
        write = {
            name: stack.enter_context(
                _vector_file(folder / f"{name}.npy", sizes[name], kinds[name])
            )
            for name in _PARTS
        }
        with reading(where, 0, 1):
            first = members["indptr"].read(1).astype(np.int64)
        write["indptr"](np.zeros(1, np.int64))
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
            write["data"](rows.data)
            write["indices"](rows.indices)
            write["indptr"](rows.indptr[1:].astype(np.int64) + written)
            first, written = ends[-1:], written + rows.nnz


class _Member:
    """A one-dimensional array inside an archive, read from its beginning to its end."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._file = archive.open(f"{name}.npy")
        version = np.lib.format.read_magic(self._file)
        read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        (self.size,), _, self.dtype = read[min(version[0], 2)](self._file)

    def __enter__(self) -> _Member:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def read(self, count: int) -> npt.NDArray[Any]:
        content = self._file.read(count * self.dtype.itemsize)
        if len(content) < count * self.dtype.itemsize:
            raise EOFError("the file is cut short")
        return np.frombuffer(content, self.dtype).copy()


@contextmanager
def _vector_file(
    path: Path, size: int, dtype: np.dtype[Any]
) -> Iterator[Callable[[npt.NDArray[Any]], Any]]:
    """A function that puts values, at most ``size`` in all, into a ``.npy`` file one after the other.

    Entries that were stored in parts become fewer: what is left of the file is zeros, and not used.
    """
    head = {"descr": dtype.str, "fortran_order": False, "shape": (size,)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, head)
        end = file.tell() + size * dtype.itemsize
        yield lambda values: file.write(np.ascontiguousarray(values, dtype).data)
        file.truncate(end)
        file.flush()
        os.fsync(file.fileno())


def _as_column(source: NpySource) -> NpySource:
    """A one-dimensional array as one column."""
    size = source.dtype.itemsize
    return source.reshaped((source.shape[0], 1), (size, size))
