"""Which samples a view describes, where it does not describe all of them.

A sample may lack a view. In an array it is then a row of NaN; in a :class:`PartialView` it has no row
at all. Everything that works on rows asks :func:`split_rows` for those that are there, and for which
samples they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.sources import is_source
from manyview.sources.base import hash_of_order, take_in_any_order

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]

ABSENT = -1
"""The place of a sample that a view does not describe."""

_NAMED = 5


@dataclass(frozen=True)
class PartialView:
    """Rows of a view for some of the samples; the others take no room.

    Attributes
    ----------
    rows : ndarray, csr_array or dask.array.Array of shape (p, d)
        The rows there are.
    places : ndarray of shape (n,), int64
        For each sample the number of its row, or -1.

    Examples
    --------
    >>> view = PartialView(np.array([[1.0], [2.0]]), np.array([1, -1, 0]))
    >>> view.shape, view.present.tolist()
    ((3, 1), [True, False, True])
    >>> np.asarray(view).ravel()
    array([ 2., nan,  1.])
    """

    rows: Any
    places: Places

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, those without a row too, and of columns."""
        return len(self.places), int(self.rows.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.rows.dtype  # type: ignore[no-any-return]

    @property
    def present(self) -> Mask:
        """Whether each sample has a row."""
        return self.places >= 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        X = self.rows
        held = (
            X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
        )
        return int(held + self.places.nbytes)

    def __getitem__(self, key: Any) -> PartialView:
        """Give some samples, with no more rows than they have."""
        return _among(self.places[key], lambda numbers: _take(self.rows, numbers))

    def copy(self) -> PartialView:
        """Give the same in memory of its own."""
        return PartialView(self.rows.copy(), self.places.copy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if sparse.issparse(self.rows):
            raise TypeError("A sparse view is not made dense silently. Use its rows and places.")
        rows, present = split_rows(self)
        filled = np.full(self.shape, np.nan, np.result_type(self.dtype, np.float32))
        filled[slice(None) if present is None else present] = rows
        return filled.astype(dtype, copy=False)


class PartialSource:
    """Rows of a source for some of the samples, in any order, read when they are asked for.

    Parameters
    ----------
    source : Source
        Where the rows are.
    places : ndarray of shape (n,), int64
        For each sample the number of its row, or -1.
    """

    def __init__(self, source: Any, places: Places) -> None:
        self.source, self.places = source, places
        self.shape = (len(places), source.shape[1])
        self.dtype, self.is_sparse, self.where = source.dtype, source.is_sparse, source.where
        self.feature_names, self.band_rows = source.feature_names, source.band_rows
        self.row_bytes = source.row_bytes

    @property
    def present(self) -> Mask:
        """Whether each sample has a row."""
        return self.places >= 0

    def read(self, start: int, stop: int) -> PartialView:
        """Samples from ``start`` up to ``stop``."""
        return _among(self.places[start:stop], self._rows)

    def take(self, rows: npt.NDArray[np.int64]) -> PartialView:
        """Samples with these numbers."""
        return _among(self.places[rows], self._rows)

    def fingerprint(self) -> dict[str, Any]:
        """Of the source, and of the places."""
        return {**self.source.fingerprint(), "places": hash_of_order(self.places)}

    def _rows(self, numbers: Places) -> Any:
        if len(numbers) == 0:
            return self.source.read(0, 1)[:0]
        low, high = int(numbers.min()), int(numbers.max()) + 1
        if high - low <= 2 * len(numbers):  # reading on is cheaper than seeking
            return _take(self.source.read(low, high), numbers - low)
        return take_in_any_order(self.source, numbers)


def _among(places: Places, take: Any) -> PartialView:
    """Give a partial view of the rows at these places, in the order of the samples."""
    there = places >= 0
    numbered = in_turn(there)
    return PartialView(take(places[there]), numbered)


def _take(rows: Any, numbers: Places) -> Any:
    """Rows by number; without a copy where they follow each other."""
    n = len(numbers)
    if n and numbers[-1] - numbers[0] == n - 1 and (np.diff(numbers) == 1).all():
        return rows[int(numbers[0]) : int(numbers[0]) + n]
    return rows[numbers]


def is_partial(array: Any) -> bool:
    """Whether this is a view that says itself which samples it describes."""
    return isinstance(array, PartialView | PartialSource)


def restrict(array: Any, present: Mask) -> Any:
    """Give a view (n, d) without the rows of samples that are not present (n,)."""
    if present.all():
        return array
    if is_partial(array):
        rows = array.rows if isinstance(array, PartialView) else array.source
        return arrange(rows, np.where(present, array.places, ABSENT))
    return arrange(array, np.where(present, np.arange(len(present)), ABSENT))


def in_turn(present: Mask, first: int = 0) -> Places:
    """Give places to the samples that are present, one after the other; the others have none (-1).

    Examples
    --------
    >>> in_turn(np.array([True, False, True]))
    array([ 0, -1,  1])
    """
    return np.where(present, first + np.cumsum(present) - 1, ABSENT)


def arrange(rows: Any, places: Places) -> Any:
    """Give the view whose samples have their rows at these places of ``rows``, or none (-1)."""
    if is_source(rows):
        return PartialSource(rows, places)
    return PartialView(rows, places)


def nothing(n_samples: int, n_columns: int) -> PartialView:
    """Give a view that no sample has."""
    return PartialView(np.empty((0, n_columns)), np.full(n_samples, ABSENT))


def stack(parts: Sequence[Any]) -> PartialView:
    """Give partial views, or arrays, of one sample after the other as one partial view."""
    blocks, places, start = [], [], 0
    for part in parts:
        rows, present = split_rows(part)
        there = np.ones(part.shape[0], bool) if present is None else present
        places.append(in_turn(there, start))
        blocks.append(rows)
        start += rows.shape[0]
    is_sparse = any(map(sparse.issparse, blocks))
    joined = sparse.csr_array(sparse.vstack(blocks, "csr")) if is_sparse else np.concatenate(blocks)
    return PartialView(joined, np.concatenate(places))


def split_rows(block: Any) -> tuple[Any, Mask | None]:
    """Give the rows of a block that are there, and which samples they are; None if all.

    Examples
    --------
    >>> split_rows(np.array([[1.0, 2.0], [np.nan, np.nan]]))
    (array([[1., 2.]]), array([ True, False]))
    """
    present = find_present(block)
    if isinstance(block, PartialView):
        places = block.places if present is None else block.places[present]
        return _take(block.rows, places), present
    return (block, None) if present is None else (block[present], present)


def find_present(array: Any) -> Mask | None:
    """Give whether each sample has a row, of what is in memory or says so itself; None if all have.

    A row of a dense array is missing if all of it is NaN. Files are not read.
    """
    if not is_partial(array):
        missing = _find_nan(array)
        return None if missing is None else ~missing
    present: Mask = array.present
    if isinstance(array, PartialView):
        missing = _find_nan(array.rows, array.places[present])
        if missing is not None:
            present = present.copy()
            present[present] = ~missing
    return None if present.all() else present


def _find_nan(rows: Any, numbers: Places | None = None) -> Mask | None:
    """Give which rows, of these numbers or of all, are NaN throughout; None if none of them.

    Only dense rows in memory are looked at.
    """
    if not isinstance(rows, np.ndarray) or rows.dtype.kind != "f" or not rows.shape[1]:
        return None
    # A row of NaN begins with one.
    missing: Mask = np.isnan(rows[:, 0] if numbers is None else rows[numbers, 0])
    if not missing.any():
        return None
    doubtful = np.flatnonzero(missing) if numbers is None else numbers[missing]
    missing[missing] = np.isnan(rows[doubtful]).all(axis=1)
    return missing if missing.any() else None


def side_by_side(arrays: Sequence[Any]) -> Mask | None:
    """Give which samples have which views, shape (n, v); None if all have all."""
    each = [find_present(array) for array in arrays]
    if all(present is None for present in each):
        return None
    n_rows = int(arrays[0].shape[0])
    return np.stack([np.ones(n_rows, bool) if p is None else p for p in each], axis=1)


def refuse_samples_without_views(present: Mask, numbers: Places | int = 0) -> None:
    """Raise ValueError if a sample, a row of ``present`` (n, v), has no view at all.

    ``numbers`` are the samples' own, or that of the first if they follow each other.
    """
    without = np.flatnonzero(~present.any(axis=1))
    if without.size:
        own = numbers[without] if isinstance(numbers, np.ndarray) else numbers + without
        few = ", ".join(map(str, own[:_NAMED]))
        raise ValueError(
            f"{without.size} sample(s) have no view at all, only NaN or nothing: row(s) {few}"
            f"{' ...' if without.size > _NAMED else ''}. Leave them out; every sample needs at "
            "least one view."
        )
