"""Original files of data sets -> views and labels, by the readers that all of manyview shares.

A collection that spreads one data set over several files is one function here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manyview.datasets.registry import DatasetInfo
from manyview.readers import Contents, Request, find_format, read_file, svmlight
from manyview.readers.contents import LABEL_NAMES
from manyview.readers.idx import read_array
from manyview.wording import first_few

_MFEAT_PARTS = ("fac", "fou", "kar", "mor", "pix", "zer")
_LANGUAGE_CODES = ("EN", "FR", "GR", "IT", "SP")


class RawData(NamedTuple):
    """Views with samples as rows, and their labels, as files hold them."""

    arrays: list[Any]
    labels: npt.NDArray[Any]


def read_originals(path: Path, info: DatasetInfo) -> RawData:
    """Views and labels of a data set, from one of its files and those beside it.

    UCI's multiple features are six files ``mfeat-*``, MNIST is four files ``*-ubyte``, multilingual
    Reuters one ``Index_EN-*`` a language; all else is :func:`read_one`.
    """
    name = path.name.lower()
    if name.startswith("mfeat-"):
        return _read_mfeat(path, info.n_clusters)
    if name.startswith("index_"):
        return _read_reuters(path, info)
    if "idx3-ubyte" in name or "idx1-ubyte" in name:
        return _read_mnist(path)
    return read_one(path, n_features=info.n_features[0])


def read_one(path: Path, *, n_features: int | None = None) -> RawData:
    """Views and labels of one file of any format that manyview reads; of a table, labels come last.

    ``n_features`` is the number of columns, where the file need not tell it (svmlight).
    """
    raw = _raw(read_file(Request(path, n_features=n_features)))
    if find_format(path).is_table:
        (table,) = raw.arrays
        return RawData([shrink_integers(table[:, :-1])], table[:, -1])
    if raw.labels is None:
        raise ValueError(f"nothing in it is called labels, or {first_few(LABEL_NAMES[1:], 3)}")
    return raw


def _raw(contents: Contents) -> RawData:
    arrays = (part.rows for part in contents.parts)
    whole = [rows.read(0, rows.shape[0]) if hasattr(rows, "read") else rows for rows in arrays]
    return RawData(whole, contents.labels)  # type: ignore[arg-type]


def _read_mfeat(path: Path, n_clusters: int) -> RawData:
    """UCI's files have no labels: rows come in order of their class, the same number in each."""
    suffix = ".csv" if path.suffix == ".csv" else ""
    paths = [path.parent / f"mfeat-{part}{suffix}" for part in _MFEAT_PARTS]
    missing = [part.name for part in paths if not part.exists()]
    if missing:
        raise FileNotFoundError(f"{missing} missing beside {path.name}")
    if suffix:
        parts = [read_one(part) for part in paths]
        return RawData([part.arrays[0] for part in parts], parts[0].labels)
    arrays = [shrink_integers(np.loadtxt(part, ndmin=2)) for part in paths]
    n_rows = len(arrays[0])
    if n_rows % n_clusters:
        raise ValueError(f"{n_rows} rows are not {n_clusters} classes of the same size")
    return RawData(arrays, np.repeat(np.arange(n_clusters), n_rows // n_clusters))


def shrink_integers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers in the smallest integer type that holds them; others as they are."""
    if array.dtype.kind == "f" and not np.array_equal(array, np.floor(array)):
        return array
    low, high = array.min(initial=0), array.max(initial=0)
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return array.astype(dtype)
    return array


def _read_reuters(path: Path, info: DatasetInfo) -> RawData:
    """English documents and their translations: ``EN/Index_EN-EN`` and those in folders beside."""
    folder = path.parent.parent
    parts = [
        _raw(svmlight.read(Request(folder / code / f"Index_EN-{code}", n_features=width)))
        for code, width in zip(_LANGUAGE_CODES, info.n_features, strict=True)
    ]
    if any(not np.array_equal(part.labels, parts[0].labels) for part in parts):
        raise ValueError("the five languages have different labels, so they are not translations")
    return RawData([part.arrays[0] for part in parts], parts[0].labels)


def _read_mnist(path: Path) -> RawData:
    """Images and labels: training, then test."""
    images, labels = (
        np.concatenate([read_array(_beside(path, f"{part}-{kind}")) for part in ("train", "t10k")])
        for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")
    )
    return RawData([images.reshape(len(images), -1)], labels)


def _beside(path: Path, name: str) -> Path:
    for candidate in (path.parent / name, path.parent / f"{name}.gz"):
        if candidate.exists():
            return candidate
    raise FileNotFoundError(f"{name} (or {name}.gz) is missing beside {path.name}")
