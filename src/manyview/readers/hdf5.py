"""HDF5: data sets by name, their rows left on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.container import Entry, pick_arrays
from manyview.readers.contents import Contents, Request

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read(request: Request) -> Contents:
    """Read a plain HDF5 file; data sets inside groups are named ``group/name``."""
    with opened(request.path) as file:
        if "encoding-type" in file.attrs:
            kind = str(file.attrs["encoding-type"])
            raise ReadError(
                f"{request.path} is a {kind} file; rename it to .h5ad or .h5mu, and it is read as one."
            )
        return pick_arrays(_entries(file, request.path), request, kind="HDF5")


def vectors(path: Path) -> dict[str, Callable[[], npt.NDArray[Any]]]:
    """Give every data set with one value a row."""
    with opened(path) as file:
        return {
            name: partial(np.ravel, entry.read())
            for name, entry in _entries(file, path).items()
            if entry.is_vector
        }


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file; say what to install or what is wrong with it."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            f"{path.name} is an HDF5 file; reading it needs h5py: pip install 'manyview[io]'"
        ) from error
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        if error.errno is not None and not path.is_file():
            raise
        raise ReadError(f"{path} is cut short, or is no HDF5 file ({error}).") from error
    with file:
        try:
            yield file
        except ReadError:  # an OSError too, but it says itself what is wrong
            raise
        except (OSError, RuntimeError) as error:
            raise ReadError(f"{path} is damaged: {error}.") from error


def is_hdf5(path: Path) -> bool:
    """Whether a file is HDF5, told by its signature.

    MATLAB 7.3 puts 512 bytes before it. Their text is no evidence: it may well say 5.0.
    """
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(SIGNATURE) or head[512:] == SIGNATURE


def _entries(file: Any, path: Path) -> dict[str, Entry]:
    found: dict[str, Entry] = {}

    def visit(name: str, item: Any) -> None:
        if hasattr(item, "shape") and item.shape is not None:
            kind = "O" if item.dtype.kind == "O" else item.dtype.kind
            found[name] = Entry(
                item.shape, kind, partial(open_rows, path, name), partial(_all, item)
            )

    file.visititems(visit)
    return found


def _all(item: Any) -> npt.NDArray[Any]:
    return np.asarray(item.asstr()[()] if item.dtype.kind == "O" else item[()])


def open_rows(path: Path, key: str | None = None) -> Any:
    """Give a source of the rows of one array of a file."""
    from manyview.sources.hdf5 import open_hdf5

    return open_hdf5(path, key)
