"""MATLAB and HDF5 files of this field: a cell of views, and labels, under many names.

The views are a cell (1 x v or v x 1) or one matrix, or are numbered ``X1``, ``X2``, ...; each is
samples x features or the reverse, which the number of labels decides.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

VIEW_NAMES = ("x", "data", "fea", "views")
LABEL_NAMES = ("labels", "label", "y", "gt", "truth", "truelabel", "gnd")

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


class RawData(NamedTuple):
    """Views with samples as rows, and their labels, as a file holds them."""

    arrays: list[Any]
    labels: npt.NDArray[Any]


def read_mat(path: Path) -> RawData:
    """Views and labels of a MATLAB file of any version, or of a plain HDF5 file.

    Parameters
    ----------
    path : Path
        The file. Version 7.3 is HDF5, and read with h5py.

    Returns
    -------
    RawData
    """
    variables = _read_hdf5(path) if is_hdf5(path) else _read_old(path)
    labels = _pick_labels(variables)
    return RawData(_orient(_pick_views(variables), len(labels)), labels)


def is_hdf5(path: Path) -> bool:
    """Whether a file is HDF5, told by its signature.

    MATLAB 7.3 puts 512 bytes before it. Their text is no evidence: it may well say 5.0.
    """
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(_HDF5_SIGNATURE) or head[512:] == _HDF5_SIGNATURE


def _read_old(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    found: dict[str, Any] = loadmat(path)
    return {
        name: _cells(value) if _is_cell(value) else value
        for name, value in found.items()
        if not name.startswith("__")
    }


def _is_cell(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object


def _cells(value: npt.NDArray[Any]) -> list[Any]:
    return list(value.ravel(order="F"))


def _read_hdf5(path: Path) -> dict[str, Any]:
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            f"{path.name} is a MATLAB 7.3 (HDF5) file; reading it needs h5py: "
            "pip install 'manyview[io]'"
        ) from error
    with h5py.File(path, "r") as file:
        return {
            name: _from_hdf5(item, file, h5py)
            for name, item in file.items()
            if not name.startswith("#")
        }


def _from_hdf5(item: Any, file: Any, h5py: Any) -> Any:
    """Give a variable as MATLAB shows it: HDF5 holds arrays column by column, so transposed."""
    if isinstance(item, h5py.Group):
        return _sparse_from_hdf5(item)
    if h5py.check_dtype(ref=item.dtype) is not None:
        return [_from_hdf5(file[reference], file, h5py) for reference in item[()].ravel()]
    return np.asarray(item[()]).T


def _sparse_from_hdf5(group: Any) -> Any:
    if "MATLAB_sparse" not in group.attrs:
        return None  # a struct, which holds neither views nor labels
    n_rows, indptr = int(group.attrs["MATLAB_sparse"]), np.asarray(group["jc"])
    # A matrix of zeros only has neither values nor row numbers.
    data = np.asarray(group["data"]) if "data" in group else np.zeros(0)
    rows = np.asarray(group["ir"]) if "ir" in group else np.zeros(0, dtype=np.int64)
    return sparse.csc_array((data, rows, indptr), shape=(n_rows, len(indptr) - 1))


def _pick_views(variables: dict[str, Any]) -> list[Any]:
    by_name = {name.lower(): value for name, value in variables.items()}
    for name in VIEW_NAMES:
        value = by_name.get(name)
        if isinstance(value, list):
            return value
        if value is not None and value.ndim == 2:
            return [value]
    numbered = {
        int(match[1]): value
        for name, value in by_name.items()
        if (match := re.fullmatch(r"(?:x|view)_?(\d+)", name))
    }
    if numbered:
        return [numbered[number] for number in sorted(numbered)]
    raise ValueError(
        f"no views: none of {list(VIEW_NAMES)} nor X1, X2, ... is among its variables "
        f"{sorted(variables)}"
    )


def _pick_labels(variables: dict[str, Any]) -> npt.NDArray[Any]:
    by_name = {name.lower(): value for name, value in variables.items()}
    for name in LABEL_NAMES:
        value = by_name.get(name)
        if isinstance(value, list) and value:
            return _same_labels([_as_vector(part, name) for part in value])
        if value is not None:
            return _as_vector(value, name)
    raise ValueError(
        f"no labels: none of {list(LABEL_NAMES)} is among its variables {sorted(variables)}"
    )


def _same_labels(copies: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if any(not np.array_equal(copy, copies[0]) for copy in copies):
        raise ValueError(
            "its views have different labels, so they are not the same samples in order"
        )
    return copies[0]


def _as_vector(value: Any, name: str) -> npt.NDArray[Any]:
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if array.size != max(array.shape, default=0):
        raise ValueError(f"labels {name!r} have shape {array.shape}; expected one label a sample")
    return array.ravel()


def _orient(views: list[Any], n_rows: int) -> list[Any]:
    shapes: list[tuple[int, ...]] = [getattr(view, "shape", ()) for view in views]
    if any(len(shape) != 2 or n_rows not in shape for shape in shapes):
        raise ValueError(f"its views have shapes {shapes}, which do not fit {n_rows} labels")
    # A square view could be either way round; then the other views decide.
    is_transposed = any(shape[0] != n_rows for shape in shapes)
    return [
        view.T if shape[0] != n_rows or (is_transposed and shape[1] == n_rows) else view
        for view, shape in zip(views, shapes, strict=True)
    ]
