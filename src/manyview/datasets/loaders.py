"""Files of a data set, in their original formats or as npz -> checked views.

A new format is one function and one line in ``_READERS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.datasets.entry import DatasetInfo
from manyview.datasets.matlab import RawData, read_mat
from manyview.datasets.text import read_csv, read_mfeat, read_reuters, read_svmlight
from manyview.machine import whole_file
from manyview.readers.hdf5 import is_hdf5
from manyview.readers.idx import read_array
from manyview.views.container import Views

__all__ = ["find_files", "read_idx", "read_npz", "read_views", "save_npz", "to_views"]


def find_files(folder: Path, info: DatasetInfo) -> Path | None:
    """Where a data set is in a folder: ``NAME.npz`` or an original file; None if nowhere."""
    for name in (f"{info.name}.npz", *info.files):
        if (folder / name).exists():
            return folder / name
    return None


def read_views(path: Path, info: DatasetInfo) -> Views:
    """Read a data set from a file or folder, and check that it is the one asked for.

    Parameters
    ----------
    path : Path
        An npz or original file, or a folder that holds one.
    info : DatasetInfo
        What is expected.

    Returns
    -------
    Views
        With ``target`` numbered from 0 in the order of the source's labels.
    """
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    if path.is_dir():
        return read_views(_find_inside(path, info), info)
    reader = _READERS[_tell_format(path)]
    try:
        raw = reader(path, info)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # a damaged file can make a parser raise anything
        raise ValueError(
            f"Cannot read {path} as data set {info.name!r} ({type(error).__name__}: {error}). The "
            "file may be damaged or of another kind; expected "
            f"{' or '.join(info.formats)} with {info.n_samples} samples."
        ) from error
    return to_views(raw, info, origin=str(path))


def _find_inside(folder: Path, info: DatasetInfo) -> Path:
    found = find_files(folder, info)
    if found is None:
        wanted = ", ".join((f"{info.name}.npz", *info.files))
        raise FileNotFoundError(
            f"Folder {folder} has none of the files of data set {info.name!r}: {wanted}."
        )
    return found


def _tell_format(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    if name.startswith("mfeat-"):
        return "mfeat"
    if name.startswith("index_"):
        return "reuters"
    if "idx3-ubyte" in name or "idx1-ubyte" in name:
        return "idx"
    by_suffix = {".npz": "npz", ".mat": "mat", ".csv": "csv", ".data": "csv", ".svm": "svmlight"}
    by_suffix |= {".svmlight": "svmlight", ".libsvm": "svmlight"}
    suffix = Path(name).suffix
    if suffix in by_suffix:
        return by_suffix[suffix]
    if is_hdf5(path):
        return "mat"
    raise ValueError(
        f"Do not know the format of {path}. Known are {', '.join(sorted(by_suffix))} (text also "
        "with .gz or .bz2), HDF5, and the original files of MNIST (*-idx3-ubyte), UCI multiple "
        "features (mfeat-*) and Reuters (Index_EN-*)."
    )


def to_views(raw: RawData, info: DatasetInfo, *, origin: str) -> Views:
    """Name, number and check what was read.

    Parameters
    ----------
    raw : RawData
        Views and labels as read.
    info : DatasetInfo
        What is expected.
    origin : str
        Where the data came from, for messages.

    Returns
    -------
    Views
    """
    arrays = _arrange(raw.arrays, info, origin)
    classes, target = np.unique(raw.labels, return_inverse=True)
    n_rows = [array.shape[0] for array in arrays]
    if any(n != info.n_samples for n in [*n_rows, len(target)]):
        raise ValueError(
            f"{origin} is not data set {info.name!r}: expected {info.n_samples} samples, found "
            f"views of {n_rows} and {len(target)} labels."
        )
    if len(classes) > info.n_clusters or (
        len(classes) < info.n_clusters and not info.is_multilabel
    ):
        raise ValueError(
            f"{origin} is not data set {info.name!r}: expected {info.n_clusters} classes, found "
            f"{len(classes)}."
        )
    _check_class_counts(np.bincount(target), info, origin)
    # MATLAB's files come column by column; everything after works on rows.
    arrays = [a if sparse.issparse(a) else np.ascontiguousarray(a) for a in arrays]
    return Views(arrays, names=info.view_names, target=target.astype(np.int32))


def _arrange(arrays: Sequence[Any], info: DatasetInfo, origin: str) -> list[Any]:
    """Put views into the registry's order, which their widths tell where all differ."""
    widths = [int(array.shape[1]) for array in arrays]
    for expected in (info.n_features, *info.other_widths):
        if tuple(widths) == expected:
            return list(arrays)
        if sorted(widths) == sorted(expected) and len(set(widths)) == len(widths):
            return [arrays[widths.index(width)] for width in expected]
    raise ValueError(
        f"{origin} is not data set {info.name!r}: expected {len(info.n_features)} view(s) of "
        f"{list(info.n_features)} columns, found {widths}."
    )


def _check_class_counts(counts: npt.NDArray[Any], info: DatasetInfo, origin: str) -> None:
    # Sorted, because sources number the classes differently.
    if info.class_counts is not None and sorted(counts) != sorted(info.class_counts):
        raise ValueError(
            f"{origin} is not data set {info.name!r}: expected classes of "
            f"{sorted(info.class_counts)} samples, found {sorted(map(int, counts))}."
        )


def read_npz(path: Path) -> RawData:
    """Views ``view_0``, ... (or their CSR parts) and ``labels`` of an npz file."""
    with np.load(path, allow_pickle=False) as file:
        if "labels" not in file:
            raise ValueError(f"no array 'labels' among {file.files}")
        arrays: list[Any] = []
        while (name := f"view_{len(arrays)}") in file or f"{name}_data" in file:
            arrays.append(file[name] if name in file else _csr_parts(file, name))
        if not arrays:
            raise ValueError(f"no array 'view_0' or 'view_0_data' among {file.files}")
        return RawData(arrays, file["labels"])


def _csr_parts(file: Any, name: str) -> Any:
    parts = (file[f"{name}_data"], file[f"{name}_indices"], file[f"{name}_indptr"])
    n_rows, n_columns = map(int, file[f"{name}_shape"])
    array = sparse.csr_array(parts, shape=(n_rows, n_columns))
    array.check_format()  # wrong indices would be read out of bounds later
    return array


def save_npz(path: Path, views: Views) -> None:
    """Write views and target in the format of :func:`read_npz`, all at once or not at all."""
    if views.target is None:
        raise ValueError("These views have no target, which the file must hold as 'labels'.")
    parts: dict[str, Any] = {"labels": views.target, "view_names": np.array(views.names)}
    for i, array in enumerate(views.arrays):
        if sparse.issparse(array):
            parts |= {
                f"view_{i}_{part}": getattr(array, part)
                for part in ("data", "indices", "indptr", "shape")
            }
        else:
            parts[f"view_{i}"] = array
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, **parts)


def read_idx(path: Path) -> RawData:
    """Images and labels of the MNIST files in the folder of ``path``: training, then test."""
    parts = {
        (part, kind): read_array(_beside(path, f"{part}-{kind}"))
        for part in ("train", "t10k")
        for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")
    }
    images = [parts[part, "images-idx3-ubyte"] for part in ("train", "t10k")]
    labels = [parts[part, "labels-idx1-ubyte"] for part in ("train", "t10k")]
    flat = [image.reshape(len(image), -1) for image in images]
    return RawData([np.concatenate(flat)], np.concatenate(labels))


def _beside(path: Path, name: str) -> Path:
    for candidate in (path.parent / name, path.parent / f"{name}.gz"):
        if candidate.exists():
            return candidate
    raise FileNotFoundError(f"{name} (or {name}.gz) is missing beside {path.name}")


_READERS: dict[str, Callable[[Path, DatasetInfo], RawData]] = {
    "npz": lambda path, info: read_npz(path),
    "mat": lambda path, info: read_mat(path),
    "idx": lambda path, info: read_idx(path),
    "csv": lambda path, info: read_csv(path),
    "mfeat": lambda path, info: read_mfeat(path, n_clusters=info.n_clusters),
    "reuters": lambda path, info: read_reuters(path, n_features=info.n_features),
    "svmlight": lambda path, info: read_svmlight(path, n_features=info.n_features[0]),
}
