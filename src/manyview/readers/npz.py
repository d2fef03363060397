"""Several NumPy arrays in one file, dense or CSR."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError
from manyview.machine import free_memory
from manyview.readers.arrays import ALONE, Entry
from manyview.sources.csr import checked_csr, join_csr
from manyview.wording import bytes_in_words, first_few

# Flipped bytes of a zip file look like a packing or an encryption that there is not.
_DAMAGE = (zipfile.BadZipFile, EOFError, ValueError, zlib.error, NotImplementedError, RuntimeError)
_PARTS = ("data", "indices", "indptr", "shape")


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """The arrays of a ``.npz`` file.

    It holds dense arrays, one CSR array as ``scipy.sparse.save_npz`` writes it, or several as the
    parts ``NAME_data``, ``NAME_indices``, ``NAME_indptr`` and ``NAME_shape``.
    """
    try:
        if not zipfile.is_zipfile(path):  # NumPy would ask for leave to unpickle it
            raise zipfile.BadZipFile("it has no list of its arrays")
        with np.load(path, allow_pickle=False) as file:
            _refuse_foreign(file.zip.namelist(), path)
            entries = _entries(file, path)
    except _DAMAGE as error:
        raise _refusal(path, error) from error
    yield entries


def _refuse_foreign(members: list[str], path: Path) -> None:
    """Raise ReadError if the file is another kind of zip file."""
    foreign = [name for name in members if not name.endswith(".npy")]
    if any(name.startswith("xl/") for name in foreign):
        raise ReadError(f"{path} is an Excel file. Save it as CSV.")
    if foreign:
        raise ReadError(
            f"{path} is a zip file, but no npz file: {first_few(foreign, 3)} in it is no array. Take "
            "out the files with the views, and name these."
        )


def _refusal(path: Path, error: Exception) -> ReadError:
    if "allow_pickle" in str(error):
        return ReadError(
            f"{path} holds Python objects. They are not read, because they could run code."
        )
    return ReadError(
        f"{path} is cut short, damaged or no npz file ({error}). Copy it again, or save the arrays "
        "again with numpy.savez (a sparse one with scipy.sparse.save_npz)."
    )


def _entries(file: Any, path: Path) -> dict[str, Entry]:
    if "format" in file.files and set(_PARTS) - {"shape"} <= set(file.files):
        _refuse_too_large(file, path)
        shape = tuple(int(size) for size in file["shape"])
        return {ALONE: Entry(shape, "f", partial(_read_sparse, path))}
    names = file["view_names"].tolist() if "view_names" in file.files else []
    entries: dict[str, Entry] = {}
    for name in file.files:
        stem = name.removesuffix("_data")
        if name == "view_names" or name in entries or _is_part(name, file.files):
            continue
        if name != stem and all(f"{stem}_{part}" in file.files for part in _PARTS):
            parts = [file[f"{stem}_{part}"] for part in _PARTS]
            shape = tuple(int(size) for size in parts[3])
            entry = Entry(shape, "f", partial(_join_parts, parts, stem, path))
        else:
            stem, entry = name, Entry.of(file[name])
        entries[_display_name(stem, names)] = entry
    return entries


def _is_part(name: str, names: list[str]) -> bool:
    """Whether an array is part of a CSR array other than its data."""
    stem, _, part = name.rpartition("_")
    return part in _PARTS[1:] and all(f"{stem}_{part}" in names for part in _PARTS)


def _display_name(stem: str, names: list[str]) -> str:
    """The view's own name, where the file tells it."""
    number = stem.removeprefix("view_")
    if number.isdigit() and stem != number and int(number) < len(names):
        return str(names[int(number)])
    return stem


def _refuse_too_large(file: Any, path: Path) -> None:
    needed, free = sum(part.file_size for part in file.zip.infolist()), free_memory()
    if free is not None and needed > free:
        raise ReadError(
            f"{path} takes {bytes_in_words(needed)} in memory, of which {bytes_in_words(free)} are "
            "free, and rows of an npz file cannot be read one by one. Save the array as an h5ad file, "
            f"which is read by rows: anndata.AnnData(array.tocsr()).write_h5ad('{path.stem}.h5ad')."
        )


def _read_sparse(path: Path) -> Any:
    try:
        return checked_csr(sparse.load_npz(path))
    except Exception as error:  # whatever a damaged file makes it raise
        raise _refusal(path, error) from error


def _join_parts(parts: list[npt.NDArray[Any]], stem: str, path: Path) -> Any:
    n_rows, n_columns = (int(size) for size in parts[3])
    try:
        return join_csr((parts[0], parts[1], parts[2]), (n_rows, n_columns))
    except ValueError as error:
        raise ReadError(f"{path}::{stem} is not a CSR array ({error}).") from error
