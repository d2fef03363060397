"""Columns of a table as they are: numbers, truth values, text, days; not yet a view's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Table:
    """Named columns of the same rows, some of which hold no numbers.

    It takes the place of an array until an :class:`~manyview.views.encoding.Encoding` makes numbers of
    it, in a fit or by :meth:`manyview.Views.encoded`.

    Attributes
    ----------
    columns : mapping of str to ndarray of shape (n,)
        In the table's order. Missing are NaN, NaT, None and empty text.
    orders : mapping of str to tuple of str
        The levels of columns that have an order, the lowest first.

    Examples
    --------
    >>> table = Table({"kind": np.array(["a", "b"]), "size": np.array([1.0, 2.0])})
    >>> table.shape, table[1:].columns["kind"].tolist()
    ((2, 2), ['b'])
    """

    columns: Mapping[str, Column]
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(next(iter(self.columns.values()))), len(self.columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Objects: what is in a row is of several types."""
        return np.dtype(object)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(int(column.nbytes) for column in self.columns.values())

    def __getitem__(self, key: Any) -> Table:
        """Some rows by a slice, a mask or numbers; of ``[rows, places]`` some columns."""
        rows, places = key if isinstance(key, tuple) else (key, slice(None))
        names = np.array(list(self.columns), dtype=object)[places]
        return Table({name: self.columns[name][rows] for name in names}, self.orders)

    def copy(self) -> Table:
        """The same in memory of its own."""
        return Table({name: c.copy() for name, c in self.columns.items()}, self.orders)
