"""What is asked of a file, in whose words, and what a reader gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.sources import Part, as_ids, as_whole

LABEL_NAMES = (
    "labels", "label", "y", "gt", "truth", "truelabel", "gnd", "target", "class", "groundtruth",
    "ground_truth", "truelabels", "true_label", "true_labels", "y_true",
)  # fmt: skip
"""Names under which the field's files keep true labels, whatever their case."""


@dataclass(frozen=True)
class Vocabulary:
    """What options are called where a file is asked for: advice in messages uses these words.

    The defaults are the parameters of :func:`manyview.views.files.read_views`; the command line
    passes its options instead, and :class:`~manyview.Views` its own parameters.
    """

    id_column: str = "id_column='NAME'"
    label_column: str = "label_column='NAME'"
    labels: str = "labels='FILE'"
    inner: str = "join='inner'"
    outer: str = "join='outer'"
    order: str = "join='order'"


@dataclass(frozen=True)
class Request:
    """What is wanted of one file.

    Attributes
    ----------
    path, key, name, text : Path, str or None, str or None, and str
        The file (or the folder of a store), one array, variable, column or layer inside it, what the
        user calls the view, and all of that as it was written.
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
    decimal : {".", ","} or None
        The mark before the fraction of numbers that are text; None finds it.
    usual : {".", ","} or None
        The mark to take where the text allows both, known from other rows of the same table.
    levels : sequence of str
        Columns that are text, even if all of it could be numbers.
    encoding : str or None
        Of text; None finds it.
    also_counts : bool
        Whether a pandas index that merely counts rows from 0 names them, too.
    vocabulary : Vocabulary
        Words for advice in messages.
    """

    path: Path
    key: str | None = None
    name: str | None = None
    text: str = ""
    id_column: str | None = None
    label_column: str | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    drop: Sequence[str] = ()
    n_features: int | None = None
    features: Sequence[str] | None = None
    decimal: str | None = None
    usual: str | None = None
    levels: Sequence[str] = ()
    encoding: str | None = None
    also_counts: bool = False
    vocabulary: Vocabulary = field(default_factory=Vocabulary)

    @property
    def stem(self) -> str:
        """Name of the file without its endings: the default name of its view."""
        name = self.path.name
        for packed in (".gz", ".bz2"):
            name = name.removesuffix(packed)
        return Path(name).stem or name


@dataclass(frozen=True)
class Contents:
    """Everything that was read from one file.

    Attributes
    ----------
    parts : tuple of Part
        Its views, all of the same rows and with the same ids.
    note : str
        What was taken as rows, in words.
    labels : ndarray of shape (n,), or None
        True labels.
    dropped : tuple of str
        What of ``Request.drop`` the file has.
    is_indexed : bool
        Whether ids are those of an index, not of a column that was asked for.
    decimal : {".", ","} or None
        The mark before fractions that its numbers show, where they are text.
    """

    parts: tuple[Part, ...]
    note: str
    labels: npt.NDArray[Any] | None = None
    dropped: tuple[str, ...] = ()
    is_indexed: bool = False
    decimal: str | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.parts[0].rows.shape[0])

    @property
    def ids(self) -> npt.NDArray[Any] | None:
        """What identifies the rows, if the file says so."""
        return self.parts[0].ids

    def renamed(self, name: str) -> Contents:
        """The same contents under the user's name; several views get it as a prefix."""
        is_one = len(self.parts) == 1
        parts = (
            replace(part, name=name if is_one else f"{name}.{part.name}") for part in self.parts
        )
        return replace(self, parts=tuple(parts))


def as_labels(values: Any) -> npt.NDArray[Any]:
    """Labels as one array: text as text, whole numbers as integers.

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
    return as_whole(array)
