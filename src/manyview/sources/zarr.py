"""Arrays in zarr stores."""

from __future__ import annotations

import hashlib
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import SlowSourceWarning, warn_user
from manyview.sources.bands import Banded, even_edges
from manyview.sources.base import WatchedFile, hash_of_few, native
from manyview.sources.room import refuse_large
from manyview.wording import seconds_in_words

_SAMPLED_FILES = 64
_SMALL_CHUNK, _MANY_CHUNKS = 4096, 20_000
_CHUNK_SECONDS = 3e-4  # to find, open and decode one, on a quick disk


class ZarrSource(Banded):
    """Rows of a ``zarr.Array``, which may lie in a folder."""

    def __init__(self, array: Any, *, path: Path | None = None) -> None:
        self._array = array
        self.shape, self.dtype = tuple(array.shape), native(np.dtype(array.dtype))
        self.where = (
            repr(str(path)) if path is not None else f"zarr array {str(array.store_path)!r}"
        )
        self.band_rows = int(array.chunks[0]) if self.shape else 1
        chunk_bytes = math.prod(array.chunks) * self.dtype.itemsize
        if path is not None:
            refuse_large(chunk_bytes, path, "a chunk")
        if chunk_bytes < _SMALL_CHUNK and array.nchunks > _MANY_CHUNKS:
            warn_user(_slow(self.where, array), SlowSourceWarning)
        self._folder = path or _folder_of(array)
        self._meta = [WatchedFile(file) for file in _metadata(self._folder)]
        n_rows = self.shape[0] if self.shape else 0
        super().__init__(even_edges(n_rows, self.band_rows, self.where))

    def fingerprint(self) -> dict[str, Any]:
        """Of its metadata, the size of every file of chunks, and some of them."""
        return {
            "kind": "zarr", "shape": list(self.shape), "dtype": self.dtype.str,
            "rows": hash_of_few(self), "chunks": int(self._array.nchunks_initialized),
            "files": [file.fingerprint() for file in self._meta],
            "content": None if self._folder is None else _hash_of_files(self._folder),
        }  # fmt: skip

    def _check(self) -> None:
        for file in self._meta:
            file.check()

    def _decode(self, start: int, stop: int) -> npt.NDArray[Any]:
        return np.asarray(self._array[start:stop]).astype(self.dtype, copy=False)


def _slow(where: str, array: Any) -> str:
    once = seconds_in_words(array.nchunks * _CHUNK_SECONDS)
    sizes = " x ".join(map(str, array.chunks))
    return (
        f"{where} is stored in {array.nchunks} chunks of {sizes}: to read it once takes about {once}, "
        "and a fit reads it several times. Store it again in chunks of some hundred whole rows, for "
        "example zarr.save(NEW, array[...], chunks=(1000, array.shape[1]))."
    )


def _folder_of(array: Any) -> Path | None:
    root = getattr(array.store, "root", None)
    return None if root is None else Path(root) / array.path


def _hash_of_files(folder: Path) -> str:
    """A hash of names and sizes of all files, and of what some of them hold."""
    digest = hashlib.blake2b(digest_size=16)
    files = sorted(Path(place, name) for place, _, names in os.walk(folder) for name in names)
    for file in files:
        digest.update(f"{file.relative_to(folder).as_posix()} {file.stat().st_size}\n".encode())
    for file in files[:: max(len(files) // _SAMPLED_FILES, 1)]:
        digest.update(WatchedFile(file).fingerprint()["sampled"].encode())
    return digest.hexdigest()


def _metadata(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    return [folder / name for name in ("zarr.json", ".zarray") if (folder / name).is_file()]
