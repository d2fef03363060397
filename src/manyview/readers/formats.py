"""Which reader a file needs, by the ending of its name, or by its first bytes."""

from __future__ import annotations

import gzip
import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.arrays import pick_arrays, read_vector
from manyview.readers.contents import Contents, Request


@dataclass(frozen=True)
class Format:
    """One kind of file.

    Attributes
    ----------
    name : str
        What people call it.
    module : str
        Which reads it, imported when a file needs it. It has ``arrays(path)``, a context in which the
        file's named arrays can be read, or ``read(request)`` and ``vectors(path)``.
    endings : tuple of str
        How names of such files end.
    signature : bytes
        How its content begins; nothing where that does not tell.
    is_lazy : bool
        Whether dense rows stay on disk until they are needed.
    is_table : bool
        Whether its columns may be split into views.
    """

    name: str
    module: str
    endings: tuple[str, ...]
    signature: bytes = b""
    is_lazy: bool = False
    is_table: bool = False


_HDF5 = b"\x89HDF\r\n\x1a\n"

FORMATS = (
    Format("NumPy", "npy", (".npy",), b"\x93NUMPY", is_lazy=True),
    Format("npz", "npz", (".npz",), b"PK"),
    Format("CSV", "csv", (".csv", ".tsv", ".tab", ".txt", ".data"), is_table=True),
    Format("Parquet", "parquet", (".parquet", ".pq"), b"PAR1", is_lazy=True, is_table=True),
    Format("Arrow", "arrow", (".feather", ".arrow", ".ipc", ".arrows"), b"ARROW1", is_table=True),
    Format("AnnData", "anndata", (".h5ad", ".h5mu"), _HDF5, is_lazy=True),
    Format("HDF5", "hdf5", (".h5", ".hdf5", ".hdf"), _HDF5, is_lazy=True),
    Format("zarr", "zarr", (".zarr",), is_lazy=True),
    Format("MATLAB", "matlab", (".mat",), b"MATLAB"),
    Format("svmlight", "svmlight", (".svm", ".svmlight", ".libsvm")),
    Format("Matrix Market", "matrix_market", (".mtx", ".mm"), b"%%MatrixMarket"),
    Format("idx", "idx", ("-ubyte", ".idx", "-idx1", "-idx3")),
)
"""All formats that are read."""

_PACKED = (".gz", ".bz2")


def find_format(path: Path) -> Format:
    """The format of a file or folder.

    The ending of the name decides, and the content must not contradict it; without a known ending
    the first bytes decide.

    Raises
    ------
    ReadError
        If neither tells, or they disagree.
    """
    from manyview.readers.zarr import is_store

    if path.is_dir():
        if is_store(path):
            return _by_name("zarr")
        if any(path.rglob("*.parquet")):
            return _by_name("Parquet")
        raise ReadError(f"{path} is a folder, but neither a zarr store nor one of Parquet files.")
    head = _first_bytes(path)
    if not head:
        raise ReadError(f"{path} is empty.")
    by_content = _by_content(head)
    name = path.name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    named = next((f for f in FORMATS if name.endswith(f.endings)), None)
    if named is None:
        if by_content is None:
            raise ReadError(
                f"Do not know the format of {path}. Names of files that are read end in "
                f"{', '.join(e for f in FORMATS for e in f.endings)} (text and idx also packed as .gz "
                "or .bz2)."
            )
        return by_content
    _refuse_contradiction(path, named, by_content)
    return named


def read_file(request: Request) -> Contents:
    """Everything in one file, by the reader of its format."""
    found = find_format(request.path)
    if request.columns and not found.is_table:
        tables = ", ".join(f.name for f in FORMATS if f.is_table)
        raise ReadError(
            f"Columns split a table into views ({tables}), but {request.path} is a {found.name} file. "
            "Give each view as a file or an array of its own, or save this one as a table."
        )
    module = _module(found)
    if hasattr(module, "arrays"):
        with module.arrays(request.path) as entries:
            contents = pick_arrays(entries, request, kind=found.name)
    else:
        contents = module.read(request)
    return contents if request.name is None else contents.renamed(request.name)


def file_vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """What a file holds that has one value a row, by name."""
    module = _module(find_format(path))
    if not hasattr(module, "arrays"):
        found: dict[str, npt.NDArray[Any]] = module.vectors(path)
        return found
    with module.arrays(path) as entries:
        return {n: read_vector(entry) for n, entry in entries.items() if entry.is_vector}


def _module(found: Format) -> Any:
    return importlib.import_module(f"manyview.readers.{found.module}")


def _by_name(name: str) -> Format:
    return next(f for f in FORMATS if f.name == name)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(520)
    if head[:2] == b"\x1f\x8b":
        try:
            with gzip.open(path) as packed:
                return packed.read(520)
        except (EOFError, OSError) as error:
            raise ReadError(f"{path} is cut short or is not a .gz file ({error}).") from error
    return head


def _by_content(head: bytes) -> Format | None:
    if head[512:] == _HDF5:
        return _by_name("MATLAB")
    if (
        head[:2] == b"\0\0"
        and head[2:3] in b"\x08\x09\x0b\x0c\x0d\x0e"
        and head[3:4] in b"\1\2\3\4"
    ):
        return _by_name("idx")
    for found in (_by_name("HDF5"), *FORMATS):
        if found.signature and head.startswith(found.signature):
            return found
    return None


def _refuse_contradiction(path: Path, named: Format, found: Format | None) -> None:
    same = found is None or found.signature == named.signature
    # Plain HDF5 under MATLAB's ending is what other programs write for MATLAB.
    if same or (named.name == "MATLAB" and found is not None and found.signature == _HDF5):
        return
    if found is not None and found.name == "MATLAB" and named.signature == _HDF5:
        return
    name = found.name if found is not None else ""
    raise ReadError(
        f"{path} is called a {named.name} file, but its content is {name}. Rename it if that is right."
    )
