"""Matrix Market: a matrix as text, dense or sparse.

It is parsed here: SciPy's parser takes 1.5D3 for 1.5, fills in what is missing, and may end the process
where a file has no rows or ends in a blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers.arrays import ALONE, Entry
from manyview.readers.text import open_bytes, packing_errors
from manyview.sources.csr import checked_csr
from manyview.sources.room import refuse_large

_INTEGER = rb"[+-]?\d{1,18}"
_REAL = rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)"
_VALUES = {
    "real": _REAL, "double": _REAL, "integer": _INTEGER, "unsigned-integer": _INTEGER, "pattern": b"",
}  # fmt: skip
_BYTES_AT_ONCE = 1 << 20


class _Head(NamedTuple):
    n_rows: int
    n_columns: int
    n_entries: int
    n_lines: int  # up to that of the sizes
    is_sparse: bool
    symmetry: str
    dtype: type
    n_numbers: int  # of an entry
    line: bytes  # what a line looks like


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """The matrix of a ``.mtx`` file."""
    with packing_errors(path), open_bytes(path) as file:
        head = _read_head(file, path)
        numbers = _read_numbers(file, head, path)
    if head.is_sparse:
        yield {ALONE: Entry.of(checked_csr(_as_sparse(numbers, head, path)))}
    else:
        yield {ALONE: Entry.of(_as_dense(numbers[:, 0], head))}


def _read_head(file: IO[bytes], path: Path) -> _Head:
    """What the lines up to that of the sizes say."""
    words = file.readline()[:200].decode("latin1").lower().split()
    if (
        len(words) != 5
        or words[:2] != ["%%matrixmarket", "matrix"]
        or words[2] not in ("coordinate", "array")
        or words[3] not in _VALUES
        or words[4] not in ("general", "symmetric", "skew-symmetric", "hermitian")
        or words[2:4] == ["array", "pattern"]
    ):
        raise ReadError(
            f"{path} is not a Matrix Market file of real numbers: its first line must be "
            "'%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|...'."
        )
    is_sparse, value, symmetry = words[2] == "coordinate", _VALUES[words[3]], words[4]
    parts = [rb"\d{1,15}"] * 2 * is_sparse + [value] * bool(value)
    line = rb"[ \t]*+(?:" + rb"[ \t]++".join(parts) + rb"[ \t]*+)?\r?\n"

    dtype = np.float64 if value is _REAL else np.int64
    sizes, n_lines = _read_sizes(file, path, 2 + is_sparse)
    n, d, *stored = sizes
    halves = {"general": n * d, "skew-symmetric": n * (n - 1) // 2}
    n_entries = stored[0] if stored else halves.get(symmetry, n * (n + 1) // 2)
    if symmetry != "general" and n != d:
        raise ReadError(f"{path} is said to be {symmetry}, but its shape is {(n, d)}.")
    refuse_large(8 * ((n_entries if stored else n * d) + max(n, d)), path)
    return _Head(n, d, n_entries, n_lines, is_sparse, symmetry, dtype, len(parts), line)


def _read_sizes(file: IO[bytes], path: Path, n_sizes: int) -> tuple[list[int], int]:
    """The numbers in the first line that is no remark, and the number of that line."""
    lines = ((i, line.split()) for i, line in enumerate(file, start=2) if line[:1] != b"%")
    n_lines, sizes = next((found for found in lines if found[1]), (1, []))
    if len(sizes) != n_sizes or not all(s.isdigit() and len(s) < 19 for s in sizes):
        raise ReadError(f"{path} is not a whole Matrix Market file: it does not say its size.")
    if int(sizes[0]) == 0 or int(sizes[1]) == 0:
        raise ReadError(f"{path} is empty: it says that it has no rows or no columns.")
    return [int(size) for size in sizes], n_lines


def _read_numbers(file: IO[bytes], head: _Head, path: Path) -> npt.NDArray[Any]:
    """All entries as rows: where it is, if the file tells, and its value, if it has one."""
    lines = re.compile(b"(?:" + head.line + b")*+", re.IGNORECASE)
    blocks: list[npt.NDArray[Any]] = [np.zeros(0, head.dtype)]
    n_left, n_lines = head.n_entries * head.n_numbers, head.n_lines
    while n_left >= 0 and (block := file.read(_BYTES_AT_ONCE) + file.readline()):
        block = block if block.endswith(b"\n") else block + b"\n"
        end = lines.match(block).end()  # type: ignore[union-attr]
        if end < len(block):
            number = n_lines + 1 + block.count(b"\n", 0, end)
            text = block[end : end + 60].decode("latin1").split("\n")[0].rstrip()
            raise ReadError(
                f"{path} is not a whole Matrix Market file: line {number} is no entry, but {text!r}."
            )
        blocks.append(np.fromstring(block.decode("ascii"), head.dtype, sep=" "))
        n_left -= len(blocks[-1])
        n_lines += block.count(b"\n")
    if n_left != 0:
        raise ReadError(
            f"{path} is cut short, or its head is wrong: it has {'fewer' if n_left > 0 else 'more'} "
            f"than the {head.n_entries} entries that it promises."
        )
    return np.concatenate(blocks).reshape(head.n_entries, head.n_numbers)


def _as_sparse(numbers: npt.NDArray[Any], head: _Head, path: Path) -> Any:
    shape = (head.n_rows, head.n_columns)
    rows, cols = numbers[:, :2].T.astype(np.int64) - 1
    for places, size in zip((rows, cols), shape, strict=True):
        if len(places) and not 0 <= places.min() <= places.max() < size:
            raise ReadError(f"{path} is damaged: it has entries outside its shape {shape}.")
    values = numbers[:, 2] if head.n_numbers == 3 else np.ones(len(rows))
    if head.symmetry != "general":
        is_other = rows != cols
        sign = -1 if head.symmetry == "skew-symmetric" else 1
        values = np.concatenate([values, sign * values[is_other]])
        rows, cols = (
            np.concatenate([rows, cols[is_other]]),
            np.concatenate([cols, rows[is_other]]),
        )
    return sparse.coo_array((values, (rows, cols)), shape=shape)


def _as_dense(values: npt.NDArray[Any], head: _Head) -> npt.NDArray[Any]:
    if head.symmetry == "general":
        return values.reshape((head.n_rows, head.n_columns), order="F")
    is_skew = head.symmetry == "skew-symmetric"
    whole = np.zeros((head.n_rows, head.n_rows), values.dtype)
    cols, rows = np.triu_indices(head.n_rows, k=int(is_skew))  # the lower half, column by column
    whole[cols, rows] = -values if is_skew else values
    whole[rows, cols] = values
    return whole
