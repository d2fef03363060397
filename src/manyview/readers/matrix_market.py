"""Matrix Market: a matrix as text, dense or sparse."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

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
        _check_sizes(file, path, _check_head(file, path))
        try:
            # By its name: an error in a stream of Python's would end the process.
            with _as_plain_file(file, path) as name:
                array = mmread(name, spmatrix=False)
        except (EOFError, OSError):
            raise
        except Exception as error:  # whatever a damaged file makes the parser raise
            raise ReadError(f"{path} is not a whole Matrix Market file ({error}).") from error
    if 0 in array.shape:
        raise ReadError(f"{path} is empty: its shape is {array.shape}.")
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


def _check_sizes(file: IO[bytes], path: Path, entry: re.Pattern[bytes]) -> None:
    """Refuse a file with lines that are no entries, or fewer bytes than the entries that it promises.

    SciPy's parser takes what a number begins with for all of it: 1.5 for 1.5D3, or 0 for 0x5. A file
    that ends in the midst of a number may end the process.
    """
    sizes, n_bytes = b"", 0
    for number, line in enumerate(file, start=1):
        n_bytes += len(line)
        if not entry.fullmatch(line) if sizes else b"\0" in line:
            raise ReadError(
                f"{path} is not a whole Matrix Market file: line {number} is no entry, but "
                f"{line[:60].decode('latin1').rstrip()!r}."
            )
        if not sizes and line.strip() and not line.startswith(b"%"):
            sizes = line
    file.seek(0)
    counts = sizes.split()
    if not 2 <= len(counts) <= 3 or not all(c.isdigit() and len(c) < 19 for c in counts):
        raise ReadError(f"{path} is not a whole Matrix Market file: it does not say its size.")
    numbers = [int(c) for c in counts]
    n_entries = numbers[2] if len(numbers) == 3 else numbers[0] * numbers[1]
    if len(numbers) == 2 and file.readline().lower().rstrip().endswith(b"symmetric"):
        n_entries //= 2
    file.seek(0)
    if 2 * n_entries > n_bytes:
        raise ReadError(
            f"{path} is cut short, or its head is wrong: it promises {n_entries} entries, but has "
            f"{n_bytes} bytes."
        )
    refuse_large(8 * (n_entries + max(numbers[:2])), path)


def _check_head(file: IO[bytes], path: Path) -> re.Pattern[bytes]:
    """What a line looks like, by the first one; refuse what SciPy's parser may not survive."""
    words = file.readline(200).decode("latin1").lower().split()
    file.seek(0)
    if (
        len(words) < 4
        or words[0] != "%%matrixmarket"
        or words[1] != "matrix"
        or words[2] not in ("coordinate", "array")
        or words[3] not in ("real", "double", "integer", "pattern", "unsigned-integer")
    ):
        raise ReadError(
            f"{path} is not a Matrix Market file of real numbers: its first line must be "
            "'%%MatrixMarket matrix coordinate|array real|integer|pattern ...'."
        )
    values = {"pattern": b"", "integer": _INTEGER, "unsigned-integer": _INTEGER}
    value = values.get(words[3], _REAL)
    places = rb"\d+[ \t]+\d+" + (rb"[ \t]+" if value else b"") if words[2] == "coordinate" else b""
    return re.compile(rb"\s*(" + places + value + rb")?\s*", re.IGNORECASE)
