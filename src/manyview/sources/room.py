"""How much a file may unfold to: small files that promise, or hold packed, far more are refused."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import IO, Any

from manyview.errors import ReadError
from manyview.machine import free_memory
from manyview.wording import bytes_in_words

_ALWAYS, _TIMES = 10**9, 200  # bytes that any file may unfold to, and times its own size
_ALWAYS_STREAMED, _TIMES_STREAMED = 64 * 10**6, 50  # parsed while unpacked, which takes time
_FEW = 16 << 20  # bytes that nobody misses
_AS_FREE = "as much as is free"
_BY_ROWS = "save it as a format that is read by rows (.npy, .h5, .h5ad, .parquet)"


def room_for(path: Path, *, is_streamed: bool = False) -> tuple[int, str]:
    """Bytes that what a file holds may take in memory, and what sets this limit."""
    size = path.stat().st_size if path.is_file() else 0
    free = free_memory()
    always = min(_ALWAYS, _ALWAYS_STREAMED) if is_streamed else _ALWAYS
    times = _TIMES_STREAMED if is_streamed else _TIMES
    most = max(always, times * size)
    if free is not None and free < most:
        return free, _AS_FREE
    return most, f"{times} times its own size" if most > always else "the limit for small files"


def refuse_large(n_bytes: float, path: Path, what: str = "") -> None:
    """Raise ReadError if so many bytes are more than a file may unfold to.

    Examples
    --------
    >>> refuse_large(1e15, Path("small.npz"), "array 'x'")
    Traceback (most recent call last):
        ...
    manyview.errors.ReadError: small.npz: array 'x' takes 1000 TB in memory, but at most ...
    """
    if n_bytes <= _FEW:  # as nearly always
        return
    most, why = room_for(path)
    if n_bytes > most:
        whose = f"{path}: {what}" if what else str(path)
        raise ReadError(
            f"{whose} takes {bytes_in_words(n_bytes)} in memory, but at most {bytes_in_words(most)} are "
            f"allowed, {why}. If it is what you expect, {_BY_ROWS}."
        )


def refuse_large_archive(path: Path) -> None:
    """Raise ReadError if the members of a zip file promise more than it may unfold to."""
    with zipfile.ZipFile(path) as archive:
        refuse_large(sum(member.file_size for member in archive.infolist()), path)


class LimitedStream(io.RawIOBase):
    """An unpacking stream that ends in ReadError once it has given more than its file may unfold to."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self._most, self._why = room_for(path, is_streamed=True)

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes, if the stream is."""
        return self._stream.seekable()

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; the number of bytes."""
        content = self._stream.read(len(buffer))
        if self._stream.tell() > self._most:
            is_full = self._why == _AS_FREE
            raise ReadError(
                f"{self._path} unfolds to more than {bytes_in_words(self._most)}, {self._why}. If it is "
                f"what you expect, {_BY_ROWS if is_full else 'unpack it first: then it is read'}."
            )
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """The place."""
        return self._stream.tell()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()
