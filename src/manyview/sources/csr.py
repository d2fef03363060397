"""The one gate for sparse matrices: whatever comes in leaves as CSR with every place inside its shape.

Compiled products trust places: a wrong one reads, or writes, somewhere else in memory. So each matrix is
looked at before anything is done with it, its conversion included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Parts = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]
"""Values, places along the rows (or columns), and where each row (or column) begins."""


def checked_csr(item: Any) -> sparse.csr_array:
    """A sparse matrix of SciPy as CSR in canonical form; ValueError if a place is outside.

    The arrays are shared where they can be, and never changed.

    Examples
    --------
    >>> checked_csr(sparse.csc_array([[0, 2], [1, 0]])).toarray().tolist()
    [[0, 2], [1, 0]]
    """
    _check(item)
    rows = sparse.csr_array(item)
    if item.format in ("dia", "lil"):  # their places show only now
        _check(rows)
    return _canonical(rows)


def join_csr(parts: Parts, shape: tuple[int, ...]) -> sparse.csr_array:
    """The CSR array of its three parts; ValueError if they do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> join_csr((np.ones(1), np.array([7]), np.array([0, 1])), (1, 3))
    Traceback (most recent call last):
        ...
    ValueError: it has an entry in column 7, but 3 columns
    """
    _check_compressed(parts, shape, ("row", "column"))
    return _canonical(sparse.csr_array(parts, shape=shape))


def join_csc(parts: Parts, shape: tuple[int, ...]) -> sparse.csr_array:
    """The CSR array of the three parts of a matrix that is stored by columns; ValueError if wrong."""
    return _canonical(sparse.csr_array(checked_csc(parts, shape)))


def checked_csc(parts: Parts, shape: tuple[int, ...]) -> sparse.csc_array:
    """The CSC array of its three parts, as they are; ValueError if they do not fit together."""
    _check_compressed(parts, shape[::-1], ("column", "row"))
    values, places, starts = parts
    # SciPy would make all places as wide as the widest.
    kind = np.int32 if max(len(values), *shape) < 2**31 else np.int64
    narrow = places.astype(kind, copy=False), starts.astype(kind, copy=False)
    return sparse.csc_array((values, *narrow), shape=shape)


def check_starts(starts: npt.NDArray[Any], n_lines: int, n_entries: int, line: str = "row") -> None:
    """Raise ValueError unless these say where each of some lines begins among the entries."""
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) != n_lines + 1:
        raise ValueError(
            f"it says where {max(starts.size - 1, 0)} {line}s begin, but has {n_lines}"
        )
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"its {line}s begin at places that do not ascend from 0")
    if int(starts[-1]) > n_entries:
        raise ValueError(f"its {line}s have {int(starts[-1])} entries, but it holds {n_entries}")


def check_places(places: npt.NDArray[Any], n: int, line: str = "column") -> None:
    """Raise ValueError unless all places are numbers from 0 up to, not including, ``n``."""
    if places.ndim != 1 or places.dtype.kind not in "iu":
        raise ValueError(f"its {line}s are no whole numbers")
    if len(places) == 0:
        return
    for place in (int(places.min()), int(places.max())):
        if not 0 <= place < n:
            raise ValueError(f"it has an entry in {line} {place}, but {n} {line}s")


def _canonical(rows: sparse.csr_array) -> sparse.csr_array:
    if not rows.has_canonical_format:  # entries stored in parts would be scaled in parts
        rows = rows.copy()  # the arrays may still be the caller's
        rows.sum_duplicates()
    return rows


def _check(item: Any) -> None:
    """Raise ValueError if a matrix has places outside its shape, or parts that do not fit."""
    kind, shape = item.format, item.shape
    if kind == "bsr":
        heights, widths = item.blocksize
        shape = (shape[0] // heights, shape[1] // widths)
        _check_compressed((item.data[:, 0, 0], item.indices, item.indptr), shape, ("row", "column"))
    elif kind == "csr":
        _check_compressed((item.data, item.indices, item.indptr), shape, ("row", "column"))
    elif kind == "csc":
        parts = (item.data, item.indices, item.indptr)
        _check_compressed(parts, shape[::-1], ("column", "row"))
    elif kind in ("coo", "dok"):
        entries = item.tocoo(copy=False)
        _check_entries(entries.data, entries.row, entries.col, shape)


def _check_entries(values: Any, rows: Any, columns: Any, shape: tuple[int, ...]) -> None:
    if not len(values) == len(rows) == len(columns):
        raise ValueError(f"it has {len(values)} values, but {len(rows)} places of them")
    check_places(rows, shape[0], "row")
    check_places(columns, shape[1])


def _check_compressed(parts: Parts, shape: tuple[int, ...], lines: tuple[str, str]) -> None:
    values, places, starts = parts
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"it has shape {tuple(shape)}; a matrix has two sizes")
    if values.ndim != 1 or len(values) != len(places):
        raise ValueError(f"it has values of shape {values.shape} at {len(places)} places")
    check_starts(starts, shape[0], len(places), lines[0])
    check_places(places, shape[1], lines[1])
