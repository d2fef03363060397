"""Views in files and other stores, read block by block.

One kind is one file here with a class that follows :class:`manyview.sources.base.Source`, and one line
in ``_KINDS``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from manyview.errors import ReadError
from manyview.sources.base import Source

__all__ = ["Source", "as_source", "is_source", "open_source"]


def _open_npy(path: Path, key: str | None) -> Source:
    from manyview.sources.npy import open_npy

    return open_npy(path)


def _open_npz(path: Path, key: str | None) -> Source:
    from manyview.sources.csr import open_npz

    return open_npz(path)


def _open_hdf5(path: Path, key: str | None) -> Source:
    _require("h5py", path)
    from manyview.sources.hdf5 import open_hdf5

    return open_hdf5(path, key)


def _open_zarr(path: Path, key: str | None) -> Source:
    _require("zarr", path)
    from manyview.sources.zarr import open_zarr

    return open_zarr(path, key)


def _open_parquet(path: Path, key: str | None) -> Source:
    _require("pyarrow", path)
    from manyview.sources.parquet import open_parquet

    return open_parquet(path)


_KINDS: dict[str, Callable[[Path, str | None], Source]] = {
    ".npy": _open_npy,
    ".npz": _open_npz,
    ".h5": _open_hdf5,
    ".hdf5": _open_hdf5,
    ".zarr": _open_zarr,
    ".parquet": _open_parquet,
    ".pq": _open_parquet,
}
_WITH_KEYS = (".h5", ".hdf5", ".zarr")


def open_source(path: str | os.PathLike[str], key: str | None = None) -> Source:
    """Give the view that a file, or a folder, holds; rows are read when they are needed.

    Parameters
    ----------
    path : str or path
        A ``.npy`` file; a sparse ``.npz`` file of ``scipy.sparse.save_npz``; an HDF5 file (``.h5``,
        ``.hdf5``); a zarr array or group; a Parquet file, or a folder of them.
    key : str, optional
        The dataset or array inside an HDF5 file or a zarr group, if there are several.

    Returns
    -------
    Source
        It can be used as a view wherever an array can.

    Raises
    ------
    ReadError
        If it cannot be opened.
    ValueError
        If it is of a kind that cannot be read by rows, or ``key`` does not fit.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/view.npy", np.arange(6.0).reshape(3, 2))
    ...     source = open_source(f"{folder}/view.npy")
    ...     print(source.shape, source.read(1, 2))
    (3, 2) [[2. 3.]]
    """
    path = Path(path)
    if not path.exists():
        raise ReadError(f"There is no file or folder {str(path)!r}.")
    kind = _kind_of(path)
    if kind is None:
        raise ValueError(
            f"Cannot read {str(path)!r} row by row: its name ends in none of "
            f"{', '.join(_KINDS)}. Load it into an array, or convert it."
        )
    if key is not None and kind not in _WITH_KEYS:
        raise ValueError(f"{str(path)!r} holds one array; it has no key {key!r}.")
    return _KINDS[kind](path, key)


def as_source(item: Any) -> Source | None:
    """Give the source of what is not in memory; None for what is.

    A path, an array opened as a memory map, an ``h5py.Dataset``, a ``zarr.Array`` and a sparse matrix
    that an AnnData leaves in its file are not.

    Examples
    --------
    >>> as_source(np.zeros((2, 2))) is None
    True
    """
    if is_source(item):
        return item  # type: ignore[no-any-return]
    if isinstance(item, os.PathLike):
        return open_source(item)
    if isinstance(item, np.memmap):
        from manyview.sources.npy import from_memory_map

        return from_memory_map(item)
    library = type(item).__module__.split(".")[0]
    if library == "h5py" and type(item).__name__ == "Dataset":
        from manyview.sources.hdf5 import Hdf5Source

        return Hdf5Source(item)
    if library == "zarr" and type(item).__name__ == "Array":
        from manyview.sources.zarr import ZarrSource

        return ZarrSource(item)
    if library == "anndata" and getattr(item, "format", None) in ("csr", "csc"):
        return _from_backed(item)
    return None


def _from_backed(item: Any) -> Source:
    """Give the source of a sparse matrix that an AnnData leaves in its file."""
    from manyview.sources.csr_groups import CsrGroupSource

    if item.format != "csr":
        raise ValueError(
            f"{item.group} is stored by columns (CSC), so rows cannot be read from it. Write the file "
            "again with X.tocsr(), or read it into memory."
        )
    file: Any = getattr(item.group, "file", None)
    # A file that is open for writing cannot be opened again.
    path = Path(file.filename) if file is not None and file.mode == "r" else None
    return CsrGroupSource(item.group, path=path)


def is_source(item: Any) -> bool:
    """Whether this is a source, and not an array in memory."""
    return not isinstance(item, np.ndarray) and isinstance(item, Source)


def _kind_of(path: Path) -> str | None:
    if path.suffix.lower() in _KINDS:
        return path.suffix.lower()
    if path.is_dir():
        if any((path / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup")):
            return ".zarr"
        if any(path.rglob("*.parquet")) or any(path.rglob("*.pq")):
            return ".parquet"
    return None


def _require(library: str, path: Path) -> None:
    try:
        importlib.import_module(library)
    except ImportError as error:
        raise ImportError(
            f"Reading {str(path)!r} needs {library}: pip install 'manyview[io]'."
        ) from error
