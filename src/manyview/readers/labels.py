"""Files of labels: one value for each row, with or without ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.contents import LABEL_NAMES, as_labels
from manyview.readers.formats import file_vectors
from manyview.readers.specification import parse
from manyview.readers.text import damage
from manyview.sources import are_missing, as_ids
from manyview.wording import count, first_few

ID_NAMES = ("id", "row", "_index")
"""Columns of a file of labels that are taken as ids without being asked for."""

_CONFIDENCE = "confidence"


@dataclass(frozen=True)
class LabelFile:
    """Labels read from a file, with the ids of their rows and the column these are from, if any.

    ``note`` says in words what was taken as labels and as ids.
    """

    labels: npt.NDArray[Any]
    ids: npt.NDArray[np.str_] | None
    note: str
    ids_name: str | None = None

    @property
    def are_places(self) -> bool:
        """Whether ids, where there are any, just count the rows from 0."""
        return self.ids is None or self.ids.tolist() == [str(i) for i in range(len(self.labels))]


def read_labels(
    text: str, *, id_column: str | Sequence[str] | None = None, folder: Path | None = None
) -> LabelFile:
    r"""Labels from a file that holds one per row.

    Parameters
    ----------
    text : str
        ``PATH`` or ``PATH::KEY``, the key being a column or an array.
    id_column : str or sequence of str, optional
        Name of the ids, or several that they may have; ``id``, ``row`` and ``_index`` are taken as such
        without being named, and so is the only column beside the labels if it tells rows apart.
    folder : Path, optional
        Where a relative path starts.

    Returns
    -------
    LabelFile
        ``labels``, ``ids`` (None if the file has none), and ``note``: what was taken as which.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manyview.readers import read_labels
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("id,cluster\na,1\nb,0\n")
    >>> found = read_labels(str(path))
    >>> found.ids.tolist(), found.labels.tolist()
    (['a', 'b'], [1, 0])
    """
    found = parse(text, folder=folder)
    vectors = file_vectors(found.path)
    if not vectors:
        raise ReadError(f"{found.path} holds nothing with one value a row.")
    wanted = [id_column] if isinstance(id_column, str) else id_column or ()
    ids_name = _ids_name(vectors, wanted, found.key)
    given = None if ids_name is None else vectors[ids_name]
    others = [n for n in vectors if n == found.key or vectors[n] is not given]
    name = _labels_name(others, found.key, found.path)
    with damage(found.path, "label"):
        labels = as_labels(vectors[name])
        ids = None if given is None else as_ids(given)
    if len(labels) == 0:
        raise ReadError(f"{found.path} holds no labels.")
    if ids is not None and len(ids) != len(labels):
        raise ReadError(f"{found.path} has {len(labels)} labels but {len(ids)} ids.")
    note = f"{found.path}: {count(len(labels), 'label')}"
    note += f" from {name!r}" if name else ""
    note += f", ids from {ids_name!r}" if ids_name is not None else ", in the order of the rows"
    return LabelFile(labels, ids, note + ".", ids_name)


def _ids_name(vectors: Mapping[str, Any], wanted: Sequence[str], key: str | None) -> str | None:
    """The column of ids: the one that was asked for, a known one, or the only one that can be."""
    names = list(vectors)
    if asked := next((name for name in wanted if name in names), None):
        return asked
    known = next((name for name in ID_NAMES if name in names and name != key), None)
    if known is not None or len(names) < 2:
        return known
    if names[1] == "cluster" != names[0] and set(names[2:]) <= {_CONFIDENCE}:  # what we write
        return names[0] if names[0] != key else None
    labels = [key] if key is not None else _named_like_labels(names)
    others = [name for name in names if name not in (*labels, _CONFIDENCE)]
    is_clear = len(labels) == 1 and len(others) == 1 and _tell_rows(vectors[others[0]])
    return others[0] if is_clear else None


def _tell_rows(values: Any) -> bool:
    """Whether every row has a value, and no two the same."""
    return not are_missing(values).any() and len(np.unique(as_ids(values))) == len(values)


def _named_like_labels(names: Sequence[str]) -> list[str]:
    by_name = {name.lower(): name for name in names}
    return [by_name[name] for name in (*LABEL_NAMES, "cluster", "clusters") if name in by_name]


def _labels_name(names: Sequence[str], key: str | None, path: Path) -> str:
    if key is not None:
        if key not in names:
            raise ReadError(
                f"{path} has no {key!r} with one value a row; it has {first_few(names)}."
            )
        return key
    if len(names) == 1:
        return names[0]
    if not names:
        raise ReadError(f"{path} holds ids, but no labels.")
    usual = _named_like_labels(names)
    if len(usual) == 1:
        return usual[0]
    raise ReadError(f"{path} could have labels in {first_few(names)}; choose with {path}::NAME.")
