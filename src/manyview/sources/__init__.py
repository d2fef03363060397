"""Where rows lie: files and other stores, read block by block when rows are asked for.

One kind of store is one file here, with a class that follows :class:`manyview.sources.base.Source`.
Which file needs which is known to the registry of :mod:`manyview.readers`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from manyview.sources.base import Source
from manyview.sources.part import Part, are_missing, as_ids, as_whole, join_levels, stored_ids

__all__ = [
    "Part",
    "Source",
    "are_missing",
    "as_ids",
    "as_source",
    "as_whole",
    "is_source",
    "join_levels",
    "stored_ids",
]


def as_source(item: Any) -> Source | None:
    """The source of an open array that is not in memory; None for what is in memory.

    An array opened as a memory map, an ``h5py.Dataset``, a ``zarr.Array`` and a sparse matrix that an
    AnnData leaves in its file are not in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.sources import as_source
    >>> as_source(np.zeros((2, 2))) is None
    True
    """
    if is_source(item):
        return item  # type: ignore[no-any-return]
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
    if library == "anndata" and hasattr(item, "group") and hasattr(item, "format"):
        return _from_backed(item)  # others of its sparse classes are in memory: SciPy's
    return None


def _from_backed(item: Any) -> Source:
    """The source of a sparse matrix that an AnnData leaves in its file."""
    from manyview.sources.csc_groups import CscGroupSource
    from manyview.sources.csr_groups import CsrGroupSource

    kind = CsrGroupSource if item.format == "csr" else CscGroupSource
    file: Any = getattr(item.group, "file", None)
    # A file that is open for writing cannot be opened again.
    path = Path(file.filename) if file is not None and file.mode == "r" else None
    return kind(item.group, path=path)


def is_source(item: Any) -> bool:
    """Whether this is a source, and not an array in memory."""
    return not isinstance(item, np.ndarray) and isinstance(item, Source)
