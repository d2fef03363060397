"""Which reader a file needs, by the ending of its name, or by its first bytes."""

from __future__ import annotations

import gzip
import importlib
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from manyview.errors import ParameterError, ReadError
from manyview.machine import find_plugins, load_plugin
from manyview.readers.arrays import pick_arrays, read_vector
from manyview.readers.contents import Contents, Request
from manyview.readers.hdf5 import SIGNATURE as _HDF5
from manyview.readers.text import damage
from manyview.sources.parquet import parquet_files
from manyview.sources.room import refuse_large


@dataclass(frozen=True)
class Format:
    """One kind of file: what people call it, and the module that reads it.

    The module, one of these or by its whole name, is imported when a file needs it. It has
    ``arrays(path)``, a context in which the file's named arrays can be read, or ``read(request)`` and
    ``vectors(path)``. Names of such files have one of the ``endings``, and their content begins with the
    ``signature``, where that tells. The columns of a table may be split into views.
    """

    name: str
    module: str
    endings: tuple[str, ...]
    signature: bytes = b""
    is_table: bool = False


FORMATS = (
    Format("NumPy", "npy", (".npy",), b"\x93NUMPY"),
    Format("npz", "npz", (".npz",), b"PK"),
    Format("CSV", "csv", (".csv", ".tsv", ".tab", ".txt", ".data"), is_table=True),
    Format("Parquet", "parquet", (".parquet", ".pq"), b"PAR1", is_table=True),
    Format("Excel", "excel", (".xlsx", ".xlsm", ".ods"), b"PK", is_table=True),
    Format("Arrow", "arrow", (".feather", ".arrow", ".ipc", ".arrows"), b"ARROW1", is_table=True),
    Format("AnnData", "anndata", (".h5ad", ".h5mu"), _HDF5),
    Format("HDF5", "hdf5", (".h5", ".hdf5", ".hdf"), _HDF5),
    Format("zarr", "zarr", (".zarr",)),
    Format("MATLAB", "matlab", (".mat",), b"MATLAB"),
    Format("svmlight", "svmlight", (".svm", ".svmlight", ".libsvm")),
    Format("Matrix Market", "matrix_market", (".mtx", ".mm"), b"%%MatrixMarket"),
    Format("idx", "idx", ("-ubyte", ".idx", "-idx1", "-idx3")),
)
"""All formats that are read, but for those that other packages add."""

_PACKED = (".gz", ".bz2")


class _Added(NamedTuple):
    formats: tuple[Format, ...]
    broken: tuple[str, ...]  # what is wrong, in words


@cache
def _added() -> _Added:
    """Formats of other packages, by their entry points; looked at where no other fits."""
    formats, broken = [], []
    for each in find_plugins("manyview.readers").values():
        try:
            found = load_plugin(each)
        except ImportError as error:
            broken.append(str(error))
            continue
        if isinstance(found, Format):
            formats.append(found)
        else:
            broken.append(f"{each.value}, which is added to {each.group}, is no Format.")
    return _Added(tuple(formats), tuple(broken))


def find_format(path: Path) -> Format:
    """The format of a file or folder, or ReadError.

    The ending of the name decides, and the content must not contradict it; without a known ending
    the first bytes decide.
    """
    from manyview.readers.zarr import is_store

    if path.is_dir():
        if is_store(path):
            return _by_name("zarr")
        if parquet_files(path):
            return _by_name("Parquet")
        raise ReadError(
            f"{path} is a folder, but neither a zarr store nor one of Parquet files. Name the files in "
            "it, one a view."
        )
    head = _first_bytes(path)
    if not head:
        raise ReadError(f"{path} is empty.")
    by_content = _by_content(head)
    name = path.name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    named = _by_ending(name, FORMATS) or _by_ending(name, _added().formats)
    if named is None:
        if by_content is None:
            known = (*FORMATS, *_added().formats)
            endings = ", ".join(ending for f in known for ending in f.endings)
            words = (
                f"Do not know the format of {path}. Names of files that are read end in {endings} (text "
                "and idx also packed as .gz or .bz2)."
            )
            raise ReadError(" ".join((words, *_added().broken)))
        return by_content
    _refuse_contradiction(path, named, by_content)
    return named


def read_file(request: Request) -> Contents:
    """Everything in one file, by the reader of its format."""
    found = find_format(request.path)
    if request.columns and not found.is_table:
        tables = ", ".join(f.name for f in FORMATS if f.is_table)
        raise ParameterError(
            "columns",
            f"can split a table only ({tables}), but {request.path} is a {found.name} file. Give each "
            "view as a file or an array of its own, or save this one as a table.",
        )
    module = _module(found)
    with damage(request.path, found.name):
        if hasattr(module, "arrays"):
            with module.arrays(request.path) as entries:
                contents = pick_arrays(entries, request, kind=found.name)
        else:
            contents = module.read(request)
    for part in contents.parts:  # each column takes a few numbers, whether it holds any or not
        refuse_large(8 * part.rows.shape[1], request.path, f"{part.rows.shape[1]} columns")
    return contents if request.name is None else contents.renamed(request.name)


def file_vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """What a file holds that has one value a row, by name."""
    kind = find_format(path)
    module = _module(kind)
    with damage(path, kind.name):
        if not hasattr(module, "arrays"):
            found: dict[str, npt.NDArray[Any]] = module.vectors(path)
            return found
        with module.arrays(path) as entries:
            return {n: read_vector(entry) for n, entry in entries.items() if entry.is_vector}


def _module(found: Format) -> Any:
    if "." not in found.module:
        return importlib.import_module(f"manyview.readers.{found.module}")
    try:
        return importlib.import_module(found.module)
    except Exception as error:
        raise ImportError(
            f"{found.name} files are read by {found.module}, which cannot be loaded "
            f"({type(error).__name__}: {error}). Upgrade the package that has it (pip install "
            "--upgrade), or uninstall it."
        ) from error


def _by_ending(name: str, formats: Sequence[Format]) -> Format | None:
    return next((f for f in formats if name.endswith(f.endings)), None)


def _by_name(name: str) -> Format:
    return next(f for f in FORMATS if f.name == name)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(520)
    if head[:2] == b"\x1f\x8b":
        try:
            with gzip.open(path) as packed:
                return packed.read(520)
        except (EOFError, OSError, zlib.error) as error:
            raise ReadError(f"{path} is cut short or is not a .gz file ({error}).") from error
    return head


def _by_content(head: bytes) -> Format | None:
    if head[512:] == _HDF5:
        return _by_name("MATLAB")
    if re.match(rb"\0\0[\x08\x09\x0b-\x0e][\1-\4]", head):
        return _by_name("idx")
    for found in (_by_name("HDF5"), *FORMATS):
        if found.signature and head.startswith(found.signature):
            return found
    return None


def _refuse_contradiction(path: Path, named: Format, found: Format | None) -> None:
    if found is None or found.signature == named.signature:
        return
    # Plain HDF5 under MATLAB's ending is what other programs write for MATLAB.
    if {"MATLAB"} < {named.name, found.name} and _HDF5 in (named.signature, found.signature):
        return
    content = "npz, Excel or another zip file" if found.signature == b"PK" else found.name
    raise ReadError(
        f"{path} is called a {named.name} file, but its content is {content}. Rename it if that is "
        "right."
    )
