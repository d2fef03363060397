"""Text files of data sets: CSV, UCI multiple features, svmlight, multilingual Reuters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.datasets.matlab import RawData
from manyview.readers.svmlight import read_lines
from manyview.readers.text import is_number, open_bytes

_MFEAT_PARTS = ("fac", "fou", "kar", "mor", "pix", "zer")
_LANGUAGE_CODES = ("EN", "FR", "GR", "IT", "SP")


def read_csv(path: Path) -> RawData:
    """One view and, in the last column, labels; with or without a line of names; .gz or not.

    Parameters
    ----------
    path : Path
        A file of numbers with commas, such as ``covtype.data.gz``.

    Returns
    -------
    RawData
        Whole numbers come in the smallest integer type that holds them all.
    """
    with open_bytes(path) as file:
        first = file.readline().decode("utf-8", errors="replace")
    n_names = 0 if is_number(first.partition(",")[0]) else 1
    table = _read_numbers(path, delimiter=",", n_names=n_names)
    return RawData([shrink_integers(table[:, :-1])], table[:, -1])


def read_mfeat(path: Path, *, n_clusters: int) -> RawData:
    """Views of the UCI multiple features: six files ``mfeat-*`` in the folder of ``path``.

    Parameters
    ----------
    path : Path
        One of them. UCI's have no labels: rows come in order of their class, the same number in
        each. Files ``mfeat-*.csv`` have a line of names, and labels in the last column.
    n_clusters : int
        Number of classes.

    Returns
    -------
    RawData
    """
    suffix = ".csv" if path.suffix == ".csv" else ""
    paths = [path.parent / f"mfeat-{part}{suffix}" for part in _MFEAT_PARTS]
    missing = [part.name for part in paths if not part.exists()]
    if missing:
        raise FileNotFoundError(f"{missing} missing beside {path.name}")
    if not suffix:
        arrays = [_read_numbers(part) for part in paths]
        labels = _classes_in_order(len(arrays[0]), n_clusters)
    else:
        # The names of columns are numbers there, so they do not tell themselves from data.
        tables = [_read_numbers(part, delimiter=",", n_names=1) for part in paths]
        arrays, labels = [table[:, :-1] for table in tables], tables[0][:, -1]
    return RawData([shrink_integers(array) for array in arrays], labels)


def _classes_in_order(n_rows: int, n_clusters: int) -> npt.NDArray[np.int64]:
    if n_rows % n_clusters:
        raise ValueError(f"{n_rows} rows are not {n_clusters} classes of the same size")
    return np.repeat(np.arange(n_clusters), n_rows // n_clusters)


def _read_numbers(
    path: Path, *, delimiter: str | None = None, n_names: int = 0
) -> npt.NDArray[Any]:
    try:
        return np.loadtxt(path, delimiter=delimiter, skiprows=n_names, dtype=np.int32, ndmin=2)
    except ValueError:
        return np.loadtxt(path, delimiter=delimiter, skiprows=n_names, ndmin=2)


def shrink_integers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give whole numbers in the smallest integer type that holds them; others as they are."""
    if array.dtype.kind == "f" and not np.array_equal(array, np.floor(array)):
        return array
    low, high = array.min(initial=0), array.max(initial=0)
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return array.astype(dtype)
    return array


def read_svmlight(path: Path, *, n_features: int) -> RawData:
    """One sparse view and its labels, a line ``label index:value ...`` for each sample.

    Parameters
    ----------
    path : Path
        The file; it may end in .gz or .bz2. A label is any text without spaces; indices start at
        0 if any is 0, else at 1.
    n_features : int
        Number of columns.

    Returns
    -------
    RawData
    """
    lines = read_lines(path, n_features=n_features)
    return RawData([lines.array], lines.labels)


def read_reuters(path: Path, *, n_features: Sequence[int]) -> RawData:
    """English documents and their translations from the multilingual Reuters collection.

    Parameters
    ----------
    path : Path
        ``EN/Index_EN-EN``, or any other file of the collection unpacked.
    n_features : sequence of int
        Number of columns of each of the five views.

    Returns
    -------
    RawData
    """
    folder = path.parent.parent
    parts = [
        read_svmlight(folder / code / f"Index_EN-{code}", n_features=width)
        for code, width in zip(_LANGUAGE_CODES, n_features, strict=True)
    ]
    if any(not np.array_equal(part.labels, parts[0].labels) for part in parts):
        raise ValueError("the five languages have different labels, so they are not translations")
    return RawData([part.arrays[0] for part in parts], parts[0].labels)
