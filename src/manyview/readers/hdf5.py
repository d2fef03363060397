"""HDF5: data sets by name, their rows left on disk."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.arrays import Entry
from manyview.readers.text import need
from manyview.readers.trials import try_elsewhere
from manyview.sources.hdf5 import Hdf5Source
from manyview.sources.room import refuse_large

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_HEAP = b"GCOL\1\0\0\0"  # where texts are, and what else has no fixed length
_LOOKED_THROUGH = 256 << 20  # bytes of a file at most; a larger one is tried at once
_READ_TEXTS = """
import sys, h5py
def read(name, item):
    dict(item.attrs)
    if getattr(item, "dtype", None) != object: return
    if not item.shape: item[()]
    else:
        for start in range(0, len(item), 10000): item[start : start + 10000]
with h5py.File(sys.argv[1], "r") as file: read("", file), file.visititems(read)
"""


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """The data sets of a plain HDF5 file; those inside groups are named ``group/name``."""
    with opened(path) as file:
        if "encoding-type" in file.attrs:
            kind = str(file.attrs["encoding-type"])
            raise ReadError(
                f"{path} is a {kind} file; rename it to .h5ad or .h5mu, and it is read as one."
            )
        found: dict[str, Entry] = {}

        def visit(name: str, item: Any) -> None:
            if hasattr(item, "shape") and item.shape is not None:
                read, open_rows = partial(read_values, item), partial(Hdf5Source, item, path=path)
                found[name] = Entry(item.shape, item.dtype.kind, read, open_rows)

        file.visititems(visit)
        yield found


def _has_sound_heaps(path: Path) -> bool:
    """Whether HDF5 comes to an end with the heaps of a file; False if that takes long to tell.

    It walks from one object to the next, and for ever if the size of one is damaged.
    """
    size = path.stat().st_size if path.is_file() else 0
    if not 0 < size <= _LOOKED_THROUGH:
        return size == 0
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        place = content.find(_HEAP)
        while place >= 0:
            if not _is_sound(content, place):
                return False
            place = content.find(_HEAP, place + 1)
    return True


def _is_sound(content: mmap, start: int) -> bool:
    place = start + 16
    if place > len(content):
        return False
    end = start + struct.unpack_from("<Q", content, start + 8)[0]
    if end > len(content):
        return False
    while place + 16 <= end:
        number, size = struct.unpack_from("<H6xQ", content, place)
        step = size if number == 0 else 16 + -(-size // 8) * 8  # number 0 is free room
        if step < 16 or place + step > end:
            return False
        place += step
    return True


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file; say what to install or what is wrong with it."""
    h5py = need("h5py", path, "an HDF5 file")
    if not _has_sound_heaps(path):
        try_elsewhere(path.absolute(), _READ_TEXTS)
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        if error.errno is not None and not path.is_file():
            raise
        raise ReadError(f"{path} is cut short, or is no HDF5 file ({error}).") from error
    with file:
        try:
            refuse_outside(file, path)
            yield file
        except ReadError:  # an OSError too, but it says itself what is wrong
            raise
        except (OSError, RuntimeError) as error:
            raise ReadError(f"{path} is damaged: {error}.") from error


def refuse_outside(file: Any, path: Path) -> None:
    """Raise ReadError if anything in a file lies in another file: whoever wrote it chose which."""

    def look(name: str, item: Any) -> str | None:
        if type(item).__name__ != "Dataset":
            return None
        is_outside = bool(item.external) or (
            item.is_virtual and any(s.file_name != "." for s in item.virtual_sources())
        )
        return name if is_outside else None

    def follow(name: str, link: Any) -> str | None:
        return name if type(link).__name__ == "ExternalLink" else None

    name = file.visititems_links(follow) or file.visititems(look)
    if name is not None:
        raise ReadError(
            f"{path}: {name!r} lies in other files, which are not read because of what is in this one. "
            "Open it yourself with h5py and pass the data set, or copy the values into one file."
        )


def is_hdf5(path: Path) -> bool:
    """Whether a file is HDF5, told by its signature.

    MATLAB 7.3 puts 512 bytes before it. Their text is no evidence: it may well say 5.0.
    """
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(SIGNATURE) or head[512:] == SIGNATURE


def read_values(item: Any) -> npt.NDArray[Any]:
    """The values of a data set; text as text."""
    refuse_large(item.size * item.dtype.itemsize, Path(item.file.filename), repr(item.name))
    return np.asarray(item.asstr()[()] if item.dtype.kind == "O" else item[()])
