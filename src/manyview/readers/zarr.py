"""Zarr: arrays in a folder, their rows left on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.container import Entry, pick_arrays
from manyview.readers.contents import Contents, Request


def is_store(path: Path) -> bool:
    """Whether a folder is a zarr array or group, of version 2 or 3."""
    return any((path / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup"))


def read(request: Request) -> Contents:
    """Read a zarr array, or the arrays of a group."""
    return pick_arrays(_entries(request.path, request.stem), request, kind="zarr")


def vectors(path: Path) -> dict[str, Callable[[], npt.NDArray[Any]]]:
    """Give every array with one value a row."""
    return {
        name: partial(np.ravel, entry.read())
        for name, entry in _entries(path, "").items()
        if entry.is_vector
    }


def _entries(path: Path, stem: str) -> dict[str, Entry]:
    try:
        import zarr
    except ImportError as error:
        raise ImportError(
            f"{path.name} is a zarr store; reading it needs zarr: pip install 'manyview[io]'"
        ) from error
    try:
        store = zarr.open(path, mode="r")
    except Exception as error:  # whatever a damaged store makes it raise
        raise ReadError(f"{path} is not a whole zarr store ({error}).") from error
    if isinstance(store, zarr.Array):
        return {stem: _entry(store, path, None)}
    return {name: _entry(item, path, name) for name, item in sorted(_walk(store))}


def _walk(group: Any, prefix: str = "") -> list[tuple[str, Any]]:
    found = [(prefix + name, item) for name, item in group.arrays()]
    for name, inner in group.groups():
        found += _walk(inner, f"{prefix}{name}/")
    return found


def _entry(array: Any, path: Path, key: str | None) -> Entry:
    kind = np.dtype(array.dtype).kind
    return Entry(tuple(array.shape), kind, partial(_open, path, key), partial(_all, array))


def _all(array: Any) -> npt.NDArray[Any]:
    return np.asarray(array[...])


def _open(path: Path, key: str | None) -> Any:
    from manyview.sources.zarr import open_zarr

    return open_zarr(path, key)
