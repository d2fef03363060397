"""One NumPy array."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.container import Entry, pick_arrays
from manyview.readers.contents import Contents, Request


def read(request: Request) -> Contents:
    """Read a ``.npy`` file: one array, its rows left on disk."""
    path = request.path
    if request.key is not None:
        raise ReadError(f"{path} holds one array without a name; leave out '::{request.key}'.")
    array = _open(path)
    if array.dtype.kind not in "biuf":
        raise ReadError(f"{path} does not hold numbers (type {array.dtype}).")
    if array.ndim != 2:
        raise ReadError(
            f"{path} has shape {' x '.join(map(str, array.shape)) or '(one number)'}; a view has two "
            "dimensions, one row a sample."
        )
    entry = Entry(array.shape, array.dtype.kind, lambda: _source(path), lambda: array)
    return pick_arrays({request.stem: entry}, request, kind="NumPy")


def vectors(path: Path) -> dict[str, Callable[[], npt.NDArray[Any]]]:
    """Give the array, if it has one value a row."""
    array = _open(path)
    return (
        {"": lambda: np.asarray(array).ravel()} if array.size == max(array.shape, default=0) else {}
    )


def _open(path: Path) -> npt.NDArray[Any]:
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ReadError(
            f"{path} is not a whole NumPy file of numbers ({error}). Arrays of Python objects are not "
            "read, because they could run code."
        ) from error
    return array


def _source(path: Path) -> Any:
    from manyview.sources.npy import open_npy

    return open_npy(path)
