"""Rows and columns of a view, in any order; and which samples it describes, where not all.

A sample may lack a view. In an array it is then a row of NaN; in a :class:`PartialView` it has no row
at all. Everything that works on rows asks :func:`split_rows` for those that are there, and for which
samples they are. A view that lacks nobody is plain: an array, or a source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError
from manyview.sources import is_source
from manyview.sources.base import hash_of_order, take_in_any_order

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
"""For each sample the number of its row, or -1 where it has none."""

ABSENT = -1
"""The place of a sample that a view does not describe."""

REST = -1
"""Among numbers of columns, as the last: the sum of all columns that are not named."""

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
    >>> import numpy as np
    >>> from manyview.views.selection import PartialView
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
        held = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
        return sum(int(array.nbytes) for array in (*held, self.places))

    def __getitem__(self, key: Any) -> Any:
        """Some samples, with no more rows than they have; plain rows if all of them have one."""
        return _rows_of_samples(self.places[key], lambda numbers: _take(self.rows, numbers))

    def copy(self) -> PartialView:
        """The same in memory of its own."""
        return PartialView(self.rows.copy(), self.places.copy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if sparse.issparse(self.rows):
            raise TypeError("A sparse view is not made dense silently. Use its rows and places.")
        rows, present = split_rows(self)
        filled = np.full(self.shape, np.nan, np.result_type(self.dtype, np.float32))
        filled[slice(None) if present is None else present] = rows
        return filled.astype(dtype, copy=False)


class Selection:
    """Rows and columns of another source, in any order, read when they are asked for.

    The source of a selection of another selection is what that one selects from. All rows and all
    columns are selected by default; the last column may be :data:`REST`.
    """

    def __init__(
        self, source: Any, places: Places | None = None, columns: Sequence[int] | None = None
    ) -> None:
        if places is not None and len(places) and places.max() >= source.shape[0]:
            raise ReadError(f"{source.where} has only {source.shape[0]} rows.")
        if isinstance(source, Selection) and (columns is None or not _has_rest(source.columns)):
            if source.places is not None and places is not None:
                places = np.where(places >= 0, source.places[places], ABSENT)
            elif places is None:
                places = source.places
            if source.columns is not None:
                chosen = range(len(source.columns)) if columns is None else columns
                columns = [source.columns[c] for c in chosen]
            source = source.source
        self.source: Any = source
        self.places: Places | None = places
        self.columns: list[int] | None = None if columns is None else list(columns)
        n_rows, n_columns = source.shape
        self.shape = (
            n_rows if places is None else len(places),
            n_columns if self.columns is None else len(self.columns),
        )
        self.dtype = _summed_type(source.dtype) if _has_rest(self.columns) else source.dtype
        self.is_sparse, self.where = source.is_sparse, source.where
        self.row_bytes, self.band_rows = source.row_bytes, source.band_rows
        names = source.feature_names
        self.feature_names = (
            names if names is None or columns is None else _name_columns(names, columns)
        )

    @property
    def present(self) -> Mask:
        """Whether each sample has a row."""
        return np.ones(self.shape[0], bool) if self.places is None else self.places >= 0

    @property
    def memory_map(self) -> Any:
        """The memory map that the rows lie in, if they do."""
        return getattr(self.source, "memory_map", None)

    def read(self, start: int, stop: int) -> Any:
        """Samples from ``start`` up to ``stop``; a PartialView if some have no row."""
        if self.places is None:
            return self._narrowed(self.source.read(start, stop))
        return _rows_of_samples(self.places[start:stop], self._rows)

    def take(self, rows: npt.NDArray[np.int64]) -> Any:
        """Samples with these numbers; a PartialView if some have no row."""
        if self.places is None:
            return self._narrowed(self.source.take(rows))
        return _rows_of_samples(self.places[rows], self._rows)

    def apply(self, data: Any) -> Any:
        """The same selection of what the source holds, given in memory."""
        return select_rows(self._narrowed(data), self.places)

    def fingerprint(self) -> dict[str, Any]:
        """Of the source, of the order of the rows, and of the columns."""
        order = None if self.places is None else hash_of_order(self.places)
        return {**self.source.fingerprint(), "places": order, "selected": self.columns}

    def _narrowed(self, rows: Any) -> Any:
        return rows if self.columns is None else _columns_of(rows, self.columns)

    def _rows(self, numbers: Places) -> Any:
        if len(numbers) == 0:
            return self._narrowed(self.source.read(0, 1)[:0])
        low, high = int(numbers.min()), int(numbers.max()) + 1
        if high - low <= 2 * len(numbers):  # reading on is cheaper than seeking
            return self._narrowed(_take(self.source.read(low, high), numbers - low))
        return self._narrowed(take_in_any_order(self.source, numbers))


def _rows_of_samples(places: Places, take: Callable[[Places], Any]) -> Any:
    """Rows at these places in the order of the samples; partial if some samples have none."""
    there = places >= 0
    rows = take(places[there])
    return rows if there.all() else PartialView(rows, number_present(there))


def _take(rows: Any, numbers: Places) -> Any:
    """Rows by number; without a copy where they follow each other."""
    n = len(numbers)
    if n and numbers[-1] - numbers[0] == n - 1 and (np.diff(numbers) == 1).all():
        return rows[int(numbers[0]) : int(numbers[0]) + n]
    return rows[numbers]


def held(array: Any) -> Any:
    """The rows that a view holds, whichever samples they are of."""
    return array.rows if isinstance(array, PartialView) else array


def is_partial(array: Any) -> bool:
    """Whether this is a view that says itself which samples it describes, and not all."""
    if isinstance(array, Selection):
        return array.places is not None and bool((array.places < 0).any())
    return isinstance(array, PartialView)


def is_nowhere(array: Any) -> bool:
    """Whether this is a view that no sample has."""
    return isinstance(array, PartialView) and bool((array.places < 0).all())


def select_rows(data: Any, places: Places | None) -> Any:
    """The view whose samples have their rows at these places, or none (-1).

    Of a source nothing is read now; of an array nothing is copied if samples lack it.

    Examples
    --------
    >>> select_rows(np.array([[1.0], [2.0]]), np.array([1, 0])).ravel().tolist()
    [2.0, 1.0]
    >>> select_rows(np.array([[1.0], [2.0]]), np.array([1, -1])).present.tolist()
    [True, False]
    """
    if places is None:
        return data
    if is_source(data):
        return Selection(data, places)
    if isinstance(data, PartialView):
        places = np.where(places >= 0, data.places[places], ABSENT)
        data = data.rows
    return PartialView(data, places) if (places < 0).any() else _take(data, places)


def select_columns(data: Any, columns: Sequence[int]) -> Any:
    """Some columns of a view, in this order; of a source nothing is read now.

    Examples
    --------
    >>> select_columns(np.array([[1.0, 2.0, 4.0, 8.0]]), [2, 0, REST]).tolist()
    [[4.0, 1.0, 10.0]]
    """
    if is_source(data):
        return Selection(data, columns=columns)
    if isinstance(data, PartialView):
        return PartialView(select_columns(data.rows, columns), data.places)
    return _columns_of(data, list(columns))


def _columns_of(rows: Any, columns: list[int]) -> Any:
    if not _has_rest(columns):
        return rows[:, columns]
    if hasattr(rows, "map_blocks"):
        shape = rows.chunks[0], (len(columns),)
        type_ = _summed_type(rows.dtype)
        return rows.map_blocks(_columns_of, columns, dtype=type_, chunks=shape)
    kept = rows[:, columns[:-1]]
    totals = (np.asarray(part.sum(axis=1, dtype=np.float64)).ravel() for part in (rows, kept))
    rest = np.subtract(*totals)[:, None].astype(_summed_type(rows.dtype))
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.hstack([kept, sparse.csr_array(rest)], "csr"))
    return np.hstack([kept, rest])


def _has_rest(columns: Sequence[int] | None) -> bool:
    return columns is not None and len(columns) > 0 and columns[-1] == REST


def _summed_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type for sums of columns, which may be beyond that of counts in one byte."""
    return np.result_type(dtype, np.float32)


def _name_columns(names: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    return tuple("the rest" if c == REST else names[c] for c in columns)


def restrict(array: Any, present: Mask) -> Any:
    """A view (n, d) without the rows of samples that are not present (n,)."""
    if present.all():
        return array
    return select_rows(array, np.where(present, np.arange(len(present)), ABSENT))


def read_rows(array: Any, key: Any) -> Any:
    """Rows of a view, in memory: by a slice, a mask or numbers."""
    if not is_source(array):
        return array[key]
    if isinstance(key, slice):
        start, stop, step = key.indices(array.shape[0])
        if step == 1 and start < stop:
            return array.read(start, stop)
    numbers = np.arange(array.shape[0])[key]
    if len(numbers) == 0:
        return array.read(0, 1)[:0]
    distinct, places = np.unique(numbers, return_inverse=True)
    rows = array.take(distinct)
    return rows if len(distinct) == len(numbers) and np.all(np.diff(places) > 0) else rows[places]


def transpose(data: Any) -> Any:
    """A view with rows and columns exchanged; one in a file is read."""
    if is_source(data):
        data = data.read(0, data.shape[0])
    return data.T.tocsr() if sparse.issparse(data) else np.ascontiguousarray(data.T)


def number_present(present: Mask, first: int = 0) -> Places:
    """Places for the samples that are present, one after the other; the others have none (-1)."""
    return np.where(present, first + np.cumsum(present) - 1, ABSENT)


def empty_view(n_samples: int, n_columns: int) -> PartialView:
    """A view that no sample has."""
    return PartialView(np.empty((0, n_columns)), np.full(n_samples, ABSENT))


def stack(parts: Sequence[Any]) -> PartialView:
    """Partial views, or arrays, of one sample after the other as one partial view."""
    blocks, places, start = [], [], 0
    for part in parts:
        rows, present = split_rows(part)
        there = np.ones(part.shape[0], bool) if present is None else present
        places.append(number_present(there, start))
        blocks.append(rows)
        start += rows.shape[0]
    is_sparse = any(map(sparse.issparse, blocks))
    joined = sparse.csr_array(sparse.vstack(blocks, "csr")) if is_sparse else np.concatenate(blocks)
    return PartialView(joined, np.concatenate(places))


def split_rows(block: Any) -> tuple[Any, Mask | None]:
    """The rows of a block that are there, and which samples they are; None if all.

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
    """Whether each sample has a row, of what is in memory or says so itself; None if all have.

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
    """Which rows, of these numbers or of all, are NaN throughout; None if none of them.

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
    """Which samples have which views, shape (n, v); None if all have all."""
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
