"""What is asked of a file, and what a reader gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.views.ids import as_ids

LABEL_NAMES = ("labels", "label", "y", "gt", "truth", "truelabel", "gnd", "target", "class")
"""Names under which the field's files keep true labels, whatever their case."""


@dataclass(frozen=True)
class Request:
    """What is wanted of one file.

    Attributes
    ----------
    path : Path
        The file, or the folder of a zarr store.
    key : str or None
        One array, variable, column or layer inside the file.
    id_column, label_column : str or None
        Name of the column or array that identifies rows, and of the one with true labels.
    columns : mapping of str to sequence of str
        Views to make of a table's columns, by name or pattern (``px_*``).
    drop : sequence of str
        Columns, by name or pattern, that are no features.
    n_features : int or None
        Number of columns, where a file need not tell it (svmlight).
    features : sequence of str or None
        Columns of a table that are its features, in this order; all others are left out.
    """

    path: Path
    key: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    drop: Sequence[str] = ()
    n_features: int | None = None
    features: Sequence[str] | None = None

    @property
    def stem(self) -> str:
        """Name of the file without its endings: the default name of its view."""
        name = self.path.name
        for packed in (".gz", ".bz2"):
            name = name.removesuffix(packed)
        return Path(name).stem or name


@dataclass(frozen=True)
class ReadView:
    """One view of a file.

    Attributes
    ----------
    name : str
        As the file, or the user, calls it.
    data : ndarray, csr_array or Source, of shape (n, d)
        The rows; a :class:`~manyview.sources.Source` reads them when they are needed.
    columns : tuple of str or None
        Names of the columns, where the file has them.
    """

    name: str
    data: Any
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Contents:
    """Everything that was read from one file.

    Attributes
    ----------
    views : tuple of ReadView
        All with the same number of rows.
    note : str
        What was taken as rows, in words.
    ids : ndarray of str, shape (n,), or None
        What identifies the rows.
    labels : ndarray of shape (n,), or None
        True labels.
    dropped : tuple of str
        What of ``Request.drop`` the file has.
    """

    views: tuple[ReadView, ...]
    note: str
    ids: npt.NDArray[np.str_] | None = None
    labels: npt.NDArray[Any] | None = None
    dropped: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.views[0].data.shape[0])

    def under(self, name: str) -> Contents:
        """Give the same contents under the user's name; several views get it as a prefix."""
        if len(self.views) == 1:
            return replace(self, views=(replace(self.views[0], name=name),))
        views = tuple(replace(view, name=f"{name}.{view.name}") for view in self.views)
        return replace(self, views=views)


def as_labels(values: Any) -> npt.NDArray[Any]:
    """Give labels as one array: text as text, whole numbers as integers.

    Examples
    --------
    >>> as_labels([[1.0], [2.0]]).tolist(), as_labels([b"cat", b"dog"]).tolist()
    ([1, 2], ['cat', 'dog'])
    """
    array = np.asarray(values).ravel()
    if array.dtype.kind in "SOU":
        text = as_ids(array)
        try:
            array = text.astype(np.float64)
        except ValueError:
            return text
    if array.dtype.kind == "f" and np.array_equal(array, np.floor(array)):
        return array.astype(np.int64)
    return array
