"""Rows and columns in another order than their file has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.sources import is_source
from manyview.sources.base import hash_of_order, take_in_any_order
from manyview.views.presence import arrange, is_partial


def select_rows(data: Any, rows: npt.NDArray[np.int64] | None) -> Any:
    """Give some rows of a view, in this order; of a source without reading them now.

    A row with number -1 is missing.
    """
    if rows is None:
        return data
    if (rows < 0).any():
        return arrange(data, rows)
    return ReorderedSource(data, rows) if is_source(data) else data[rows]


def select_columns(data: Any, columns: Sequence[int]) -> Any:
    """Give some columns of a view, in this order; of a source without reading them now."""
    if is_partial(data):
        held = data.source if is_source(data) else data.rows
        return arrange(select_columns(held, columns), data.places)
    return SelectedColumns(data, columns) if is_source(data) else data[:, list(columns)]


def turned(data: Any) -> Any:
    """Give a view with rows and columns exchanged."""
    if not is_source(data):
        return data.T.tocsr() if hasattr(data, "tocsr") else np.ascontiguousarray(data.T)
    return turned(data.read(0, data.shape[0]))


class ReorderedSource:
    """Rows of another source, in the order of their numbers.

    Parameters
    ----------
    source : Source
        Where they are.
    rows : ndarray of shape (n,)
        Numbers of the rows, in the order wanted.
    """

    def __init__(self, source: Any, rows: npt.NDArray[np.int64]) -> None:
        if len(rows) and (rows.min() < 0 or rows.max() >= source.shape[0]):
            raise ReadError(f"{source.where} has only {source.shape[0]} rows.")
        self._source, self._rows = source, rows
        self.shape = (len(rows), source.shape[1])
        self.dtype, self.is_sparse, self.where = source.dtype, source.is_sparse, source.where
        self.feature_names, self.row_bytes = source.feature_names, source.row_bytes
        self.band_rows = source.band_rows

    def read(self, start: int, stop: int) -> Any:
        """Rows from ``start`` up to ``stop``."""
        return take_in_any_order(self._source, self._rows[start:stop])

    def take(self, rows: npt.NDArray[np.int64]) -> Any:
        """Rows with these numbers."""
        return take_in_any_order(self._source, self._rows[rows])

    def fingerprint(self) -> dict[str, Any]:
        """Of the source, and of the order."""
        return {**self._source.fingerprint(), "order": hash_of_order(self._rows)}


class SelectedColumns:
    """Columns of another source, in the order of their numbers.

    Parameters
    ----------
    source : Source
        Where they are.
    columns : sequence of int
        Numbers of the columns, in the order wanted.
    """

    def __init__(self, source: Any, columns: Sequence[int]) -> None:
        self._source, self._columns = source, list(columns)
        self.shape = (source.shape[0], len(self._columns))
        self.dtype, self.is_sparse, self.where = source.dtype, source.is_sparse, source.where
        self.row_bytes, self.band_rows = source.row_bytes, source.band_rows
        names = source.feature_names
        self.feature_names = None if names is None else tuple(names[c] for c in self._columns)

    def read(self, start: int, stop: int) -> Any:
        """Rows from ``start`` up to ``stop``."""
        return self._source.read(start, stop)[:, self._columns]

    def take(self, rows: npt.NDArray[np.int64]) -> Any:
        """Rows with these numbers."""
        return self._source.take(rows)[:, self._columns]

    def fingerprint(self) -> dict[str, Any]:
        """Of the source, and of the columns."""
        return {**self._source.fingerprint(), "selected": self._columns}
