"""Several NumPy arrays in one file, dense or CSR."""

from __future__ import annotations

import math
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
from manyview.readers.arrays import ALONE, Entry
from manyview.readers.npy import objects_refused
from manyview.sources.csr import checked_csr, join_csr
from manyview.sources.npy import read_header
from manyview.sources.room import refuse_large
from manyview.wording import first_few

# Flipped bytes of a zip file look like a packing or an encryption that there is not.
_DAMAGE = (zipfile.BadZipFile, EOFError, ValueError, zlib.error, NotImplementedError, RuntimeError)
_PARTS = ("data", "indices", "indptr", "shape")


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """The arrays of a ``.npz`` file.

    It holds dense arrays, one CSR array as ``scipy.sparse.save_npz`` writes it, or several as the
    parts ``NAME_data``, ``NAME_indices``, ``NAME_indptr`` and ``NAME_shape``.
    """
    with _refusing(path):
        if not zipfile.is_zipfile(path):  # NumPy would ask for leave to unpickle it
            raise zipfile.BadZipFile("it has no list of its arrays")
        with np.load(path, allow_pickle=False) as file:
            _refuse_foreign(file.zip.namelist(), path)
            entries = _entries(file, path)
    yield entries


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise _refusal(path, error) from error


def _refuse_foreign(members: list[str], path: Path) -> None:
    """Raise ReadError if the file is another kind of zip file."""
    foreign = [name for name in members if not name.endswith(".npy")]
    if any(name.startswith("xl/") for name in foreign):
        raise ReadError(f"{path} is an Excel file: give it a name that ends in .xlsx.")
    if {"model.json", "digest.json"} <= {*foreign}:
        raise ReadError(
            f"{path} is a model that manyview saved, not data. It labels rows of files: "
            f"'manyview predict {path.name} VIEW...', or manyview.load(...).predict(rows) in Python."
        )
    if foreign:
        raise ReadError(
            f"{path} is a zip file, but no npz file: {first_few(foreign, 3)} in it is no array. Take "
            "out the files with the views, and name these."
        )


def _refusal(path: Path, error: Exception) -> ReadError:
    if "allow_pickle" in str(error):
        return objects_refused(path)
    return ReadError(
        f"{path} is cut short, damaged or no npz file ({error}). Copy it again, or save the arrays "
        "again with numpy.savez (a sparse one with scipy.sparse.save_npz)."
    )


def _header(file: Any, name: str, path: Path) -> Entry:
    """An array as the head of its member tells, which may not promise more than may be unfolded."""
    member = f"{name}.npy" if f"{name}.npy" in file.zip.namelist() else name
    with file.zip.open(member) as content:
        shape, _, dtype = read_header(content)
    if dtype.kind == "O":
        raise ValueError("allow_pickle")
    return Entry(
        shape, dtype.kind, partial(_read_member, path, name, math.prod(shape) * dtype.itemsize)
    )


def _read_member(path: Path, name: str, n_bytes: int) -> npt.NDArray[Any]:
    refuse_large(n_bytes, path, f"array {name!r}")
    with _refusing(path), np.load(path, allow_pickle=False) as file:
        member = next(m for m in file.zip.infolist() if m.filename.removesuffix(".npy") == name)
        if member.file_size < n_bytes:
            raise ValueError(f"array {name!r} has fewer bytes than its head says")
        array: npt.NDArray[Any] = file[name]
    return array


def _entries(file: Any, path: Path) -> dict[str, Entry]:
    if "format" in file.files and set(_PARTS) - {"shape"} <= set(file.files):
        parts = [_header(file, name, path) for name in (*_PARTS, "format")]
        refuse_large(sum(m.file_size for m in file.zip.infolist()), path)
        shape = tuple(int(size) for size in parts[3].read())
        return {ALONE: Entry(shape, "f", partial(_read_sparse, path))}
    names = _header(file, "view_names", path).read().tolist() if "view_names" in file.files else []
    entries: dict[str, Entry] = {}
    for name in file.files:
        stem = name.removesuffix("_data")
        if name == "view_names" or name in entries or _is_part(name, file.files):
            continue
        if name != stem and all(f"{stem}_{part}" in file.files for part in _PARTS):
            parts = [_header(file, f"{stem}_{part}", path) for part in _PARTS]
            shape = tuple(int(size) for size in parts[3].read())
            entry = Entry(shape, "f", partial(_join_parts, parts, stem, path))
        else:
            stem, entry = name, _header(file, name, path)
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


def _read_sparse(path: Path) -> Any:
    try:
        return checked_csr(sparse.load_npz(path))
    except Exception as error:  # whatever a damaged file makes it raise
        raise _refusal(path, error) from error


def _join_parts(parts: list[Entry], stem: str, path: Path) -> Any:
    data, indices, indptr, shape = (np.asarray(part.read()) for part in parts)
    try:
        n_rows, n_columns = (int(size) for size in shape)
        return join_csr((data, indices, indptr), (n_rows, n_columns))
    except ValueError as error:
        raise ReadError(f"{path}::{stem} is not a CSR array ({error}).") from error
