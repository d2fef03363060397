"""Zarr: arrays in a folder, their rows left on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from manyview.errors import ReadError
from manyview.readers.arrays import ALONE, Entry
from manyview.readers.text import need
from manyview.sources.zarr import ZarrSource


def is_store(path: Path) -> bool:
    """Whether a folder is a zarr array or group, of version 2 or 3."""
    return any((path / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup"))


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """A zarr array, or the arrays of a group; those of inner groups are named ``group/name``."""
    zarr = need("zarr", path, "a zarr store")
    try:
        store = zarr.open(path, mode="r")
    except Exception as error:  # whatever a damaged store makes it raise
        raise ReadError(f"{path} is not a whole zarr store ({error}).") from error
    if isinstance(store, zarr.Array):
        yield {ALONE: _entry(store, path)}
    else:
        yield {name: _entry(item, path / name) for name, item in sorted(_walk(store))}


def _walk(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    yield from ((prefix + name, item) for name, item in group.arrays())
    for name, inner in group.groups():
        yield from _walk(inner, f"{prefix}{name}/")


def _entry(array: Any, path: Path) -> Entry:
    kind, open_rows = np.dtype(array.dtype).kind, partial(ZarrSource, array, path=path)
    return Entry(tuple(array.shape), kind, lambda: np.asarray(array[...]), open_rows)
