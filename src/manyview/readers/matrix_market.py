"""Matrix Market: a matrix as text, dense or sparse."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers.arrays import ALONE, Entry
from manyview.readers.text import open_bytes, packing_errors
from manyview.sources.csr import checked_csr
from manyview.sources.room import refuse_large

_INTEGER = rb"[+-]?\d+"
_REAL = rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)"


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """The matrix of a ``.mtx`` file."""
    from scipy.io import mmread

    with packing_errors(path), open_bytes(path) as file:
        _check(file, path)
        try:
            # By its name: an error in a stream of Python's would end the process.
            with _as_plain_file(file, path) as name:
                array = mmread(name, spmatrix=False)
        except (EOFError, OSError):
            raise
        except Exception as error:  # whatever a damaged file makes the parser raise
            raise ReadError(f"{path} is not a whole Matrix Market file ({error}).") from error
    yield {ALONE: Entry.of(checked_csr(array) if sparse.issparse(array) else np.asarray(array))}


@contextmanager
def _as_plain_file(file: IO[bytes], path: Path) -> Iterator[str]:
    """The name of a file that is not packed, with the same content."""
    if path.suffix not in (".gz", ".bz2"):
        yield str(path)
        return
    with tempfile.TemporaryDirectory(prefix="manyview-") as folder:
        plain = Path(folder) / "plain.mtx"
        with plain.open("wb") as copy:
            shutil.copyfileobj(file, copy)
        yield str(plain)


def _check(file: IO[bytes], path: Path) -> None:
    """Refuse a file with lines that are no entries, or not as many entries as its head promises.

    SciPy's parser takes what a number begins with for all of it: 1.5 for 1.5D3, or 0 for 0x5. A file
    that ends in the midst of a number, or has no rows, may end the process.
    """
    head, sizes, n_found = _read_head(file, path), b"", 0
    for number, line in enumerate(file, start=2):
        found = head.entry.fullmatch(line)
        if found is None if sizes else b"\0" in line:
            raise ReadError(
                f"{path} is not a whole Matrix Market file: line {number} is no entry, but "
                f"{line[:60].decode('latin1').rstrip()!r}."
            )
        if sizes:
            n_found += found is not None and found[1] is not None
        elif line.strip() and not line.startswith(b"%"):
            sizes = line
    file.seek(0)
    n_entries = _count_entries(sizes, head, path)
    if n_found != n_entries:
        raise ReadError(
            f"{path} is cut short, or its head is wrong: it promises {n_entries} entries, but has "
            f"{n_found}."
        )


class _Head(NamedTuple):
    is_sparse: bool
    symmetry: str
    entry: re.Pattern[bytes]  # a line, with what is in it as group 1


def _read_head(file: IO[bytes], path: Path) -> _Head:
    """What the first line says; refuse what SciPy's parser may not survive."""
    words = file.readline(200).decode("latin1").lower().split()
    if (
        len(words) != 5
        or words[:2] != ["%%matrixmarket", "matrix"]
        or words[2] not in ("coordinate", "array")
        or words[3] not in ("real", "double", "integer", "pattern", "unsigned-integer")
        or words[4] not in ("general", "symmetric", "skew-symmetric", "hermitian")
    ):
        raise ReadError(
            f"{path} is not a Matrix Market file of real numbers: its first line must be "
            "'%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|...'."
        )
    is_sparse = words[2] == "coordinate"
    values = {"pattern": b"", "integer": _INTEGER, "unsigned-integer": _INTEGER}
    value = values.get(words[3], _REAL)
    places = rb"\d+[ \t]+\d+" + (rb"[ \t]+" if value else b"") if is_sparse else b""
    entry = re.compile(rb"[ \t]*(" + places + value + rb")?[ \t]*\r?\n?", re.IGNORECASE)
    return _Head(is_sparse, words[4], entry)


def _count_entries(sizes: bytes, head: _Head, path: Path) -> int:
    """How many entries a file must have by the line of its sizes; refuse what does not fit."""
    counts = sizes.split()
    if len(counts) != 2 + head.is_sparse or not all(c.isdigit() and len(c) < 19 for c in counts):
        raise ReadError(f"{path} is not a whole Matrix Market file: it does not say its size.")
    n, d, *stored = map(int, counts)
    if n == 0 or d == 0:
        raise ReadError(f"{path} is empty: its shape is {(n, d)}.")
    if head.symmetry != "general" and n != d:
        raise ReadError(f"{path} is said to be {head.symmetry}, but its shape is {(n, d)}.")
    halves = {"general": n * d, "skew-symmetric": n * (n - 1) // 2}
    n_entries = stored[0] if stored else halves.get(head.symmetry, n * (n + 1) // 2)
    refuse_large(8 * (max(n_entries, 0 if stored else n * d) + max(n, d)), path)
    return n_entries
