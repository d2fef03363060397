"""MATLAB files of any version: a cell of views, and labels, under many names.

The views are a cell (1 x v or v x 1) or one matrix, or are numbered ``X1``, ``fea_2``, ...; each is
samples x features or the reverse, which the number of labels decides, or the size that all share.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers.contents import LABEL_NAMES, Contents, Request, as_labels
from manyview.readers.hdf5 import is_hdf5, opened, read_values
from manyview.readers.trials import try_elsewhere
from manyview.sources import Part, as_whole, stored_ids
from manyview.sources.csr import checked_csr, join_csc
from manyview.sources.room import refuse_large
from manyview.wording import count

_COMPRESSED = 15  # what the format calls a packed variable
_LOAD = "import sys, scipy.io; scipy.io.loadmat(sys.argv[1])"

VIEW_NAMES = ("x", "data", "fea", "views", "features", "feature", "view", "xs")

Variables = dict[str, Any]
"""Values by name: arrays as MATLAB shows them; a cell is a list."""


def _read_variables(path: Path) -> Variables:
    """All variables of a MATLAB file of any version, or the data sets of a plain HDF5 file."""
    from scipy.io import loadmat

    if is_hdf5(path):
        with opened(path) as file:
            return {n: _from_hdf5(v, file) for n, v in file.items() if not n.startswith("#")}
    _refuse_unfolding(path)
    if error := try_elsewhere(path.absolute(), _LOAD):  # which may be a crash the next time
        raise ReadError(f"{path} is cut short, or is no MATLAB file ({error}).")
    return {
        name: _from_scipy(value)
        for name, value in loadmat(path).items()
        if not name.startswith("__")
    }


def _refuse_unfolding(path: Path) -> None:
    """Raise ReadError if the packed variables of a file unfold to more than it may."""
    with path.open("rb") as file:
        order = "<" if file.read(128)[126:] == b"IM" else ">"
        total, tag = 0, file.read(8)
        while len(tag) == 8:
            kind, size = struct.unpack(f"{order}II", tag)
            unpacking, left = zlib.decompressobj(), size
            while left > 0 and (piece := file.read(min(left, 1 << 16))):
                left -= len(piece)
                if kind != _COMPRESSED:
                    total += len(piece)
                    continue
                while piece:
                    total += len(unpacking.decompress(piece, 1 << 20))
                    piece = unpacking.unconsumed_tail
                    refuse_large(total, path)
            tag = file.read(8)
    refuse_large(total, path)


def _from_scipy(value: Any) -> Any:
    if sparse.issparse(value):
        return checked_csr(value)
    if isinstance(value, np.ndarray) and value.dtype == object:  # a cell
        return [_from_scipy(part) for part in value.ravel(order="F")]
    return value


def _from_hdf5(item: Any, file: Any) -> Any:
    """A variable as MATLAB shows it: HDF5 holds arrays column by column, so transposed."""
    import h5py

    if isinstance(item, h5py.Group):
        return _sparse_from_hdf5(item)
    if h5py.check_dtype(ref=item.dtype) is not None:
        return [_from_hdf5(file[reference], file) for reference in item[()].ravel()]
    array = read_values(item).T
    if item.attrs.get("MATLAB_class") == b"char":
        return np.array(["".join(map(chr, line)) for line in np.atleast_2d(array)])
    return array


def _sparse_from_hdf5(group: Any) -> Any:
    if "MATLAB_sparse" not in group.attrs:
        return None  # a struct, which holds neither views nor labels
    n_rows, indptr = int(group.attrs["MATLAB_sparse"]), read_values(group["jc"])
    # A matrix of zeros only has neither values nor row numbers.
    data = read_values(group["data"]) if "data" in group else np.zeros(0)
    rows = read_values(group["ir"]) if "ir" in group else np.zeros(0, dtype=np.int64)
    return join_csc((data, rows, indptr), (n_rows, len(indptr) - 1))


def pick_views(variables: Variables) -> dict[str, Any]:
    """The views among the variables, by the name that MATLAB gives them: ``X{1}``."""
    by_name = {name.lower(): name for name in variables}
    for usual in VIEW_NAMES:
        name = by_name.get(usual)
        value = variables[name] if name is not None else None
        if name is not None and isinstance(value, list):
            return {f"{name}{{{i}}}": part for i, part in enumerate(value, start=1)}
        if name is not None and value is not None and value.ndim == 2:
            return {name: value}
    numbered = {
        int(match[1]): name
        for lower, name in by_name.items()
        if (match := re.fullmatch(r"(?:x|view|fea|feature|data)_?(\d+)", lower))
    }
    if numbered:
        return {numbered[i]: variables[numbered[i]] for i in sorted(numbered)}
    raise ReadError(
        f"no views: none of {list(VIEW_NAMES)} nor X1, X2, ... is among its variables "
        f"{sorted(variables)}"
    )


def pick_labels(variables: Variables) -> tuple[str, npt.NDArray[Any]] | None:
    """The name and the values of the labels among the variables, if there are any."""
    by_name = {name.lower(): name for name in variables}
    for usual in LABEL_NAMES:
        value = variables.get(by_name.get(usual, ""))
        if isinstance(value, list) and value:
            return by_name[usual], _same_labels([_as_vector(part, usual) for part in value])
        if value is not None:
            return by_name[usual], _as_vector(value, usual)
    return None


def _same_labels(copies: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if all(copy.size == 1 for copy in copies) and len(copies) > 1:
        return np.concatenate(copies)  # one cell a sample, as texts are kept
    if any(not np.array_equal(copy, copies[0]) for copy in copies):
        raise ReadError(
            "its views have different labels, so they are not the same samples in order"
        )
    return copies[0]


def _as_vector(value: Any, name: str) -> npt.NDArray[Any]:
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if array.size != max(array.shape, default=0):
        raise ReadError(f"labels {name!r} have shape {array.shape}; expected one label a sample")
    return array.ravel()


def orient(views: Sequence[Any], n_rows: int) -> list[Any]:
    """Views turned so that each has ``n_rows`` rows."""
    shapes: list[tuple[int, ...]] = [getattr(view, "shape", ()) for view in views]
    if any(len(shape) != 2 or n_rows not in shape for shape in shapes):
        raise ReadError(f"its views have shapes {shapes}, which do not fit {n_rows} labels")
    # A square view could be either way round; then the other views decide.
    is_transposed = any(shape[0] != n_rows for shape in shapes)
    return [
        view.T if shape[0] != n_rows or (is_transposed and shape[1] == n_rows) else view
        for view, shape in zip(views, shapes, strict=True)
    ]


def read(request: Request) -> Contents:
    """The views and labels of a MATLAB file."""
    variables = _read_checked(request.path)
    try:
        return _contents(variables, request)
    except ReadError as error:
        raise ReadError(f"Cannot use {request.path}: {error}.") from error


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every variable with one value a row."""
    found = {}
    for name, value in _read_checked(path).items():
        if isinstance(value, list):
            value = np.array([str(np.ravel(part)[0]) for part in value if np.size(part) == 1])
        if isinstance(value, np.ndarray) and value.size == max(value.shape, default=0) > 1:
            found[name] = np.ravel(value)
    return found


def _read_checked(path: Path) -> Variables:
    try:
        variables = _read_variables(path)
    except (ImportError, MemoryError, ReadError):
        raise
    except Exception as error:  # a damaged file can make a parser raise anything
        raise ReadError(
            f"{path} is cut short, or is no MATLAB file ({type(error).__name__}: {error})."
        ) from error
    if not variables:
        raise ReadError(f"{path} is a MATLAB file without variables.")
    return variables


def _contents(variables: Variables, request: Request) -> Contents:
    labels = _wanted_labels(variables, request)
    picked = pick_views(variables) if request.key is None else _by_key(variables, request.key)
    n_rows, why = _count_rows(picked, labels)
    found = variables.get(request.id_column or "")
    # All its numbers are floats unless told otherwise.
    ids = None if found is None else as_whole(stored_ids(_texts(found)))
    beside = {} if ids is not None else _beside(variables, n_rows)
    parts = tuple(
        Part(
            name.replace("{", "").replace("}", ""),
            sparse.csr_array(rows) if sparse.issparse(rows) else np.asarray(rows, order="C"),
            ids=ids,
            beside=beside,
        )
        for name, rows in zip(picked, orient(list(picked.values()), n_rows), strict=True)
    )
    shapes = ", ".join(
        f"{name} {' x '.join(map(str, value.shape))}" for name, value in picked.items()
    )
    note = f"{request.path}: MATLAB, {count(n_rows, 'row')}, {why}: {shapes}"
    if labels is not None:
        note += f"; labels from {labels[0]!r}"
    return Contents(parts, note + ".", None if labels is None else as_labels(labels[1]))


def _beside(variables: Variables, n_rows: int) -> dict[str, npt.NDArray[Any]]:
    """Variables with one text for each row."""
    texts = {name: value for name, value in variables.items() if _are_texts(value, n_rows)}
    return {name: np.ravel(_texts(value)) for name, value in texts.items()}


def _are_texts(value: Any, n_rows: int) -> bool:
    if isinstance(value, list):
        return len(value) == n_rows and all(np.asarray(each).dtype.kind in "SU" for each in value)
    return getattr(value, "dtype", np.dtype(float)).kind in "SU" and np.size(value) == n_rows


def _wanted_labels(variables: Variables, request: Request) -> tuple[str, npt.NDArray[Any]] | None:
    if request.label_column is None:
        return pick_labels(variables)
    value = variables.get(request.label_column)
    return None if value is None else (request.label_column, np.ravel(_texts(value)))


def _texts(value: Any) -> Any:
    return (
        np.array([str(np.ravel(part)[0]) for part in value]) if isinstance(value, list) else value
    )


def _by_key(variables: Variables, key: str) -> dict[str, Any]:
    if key not in variables and (numbered := re.fullmatch(r"(.*\D)(\d+)", key)):
        key = f"{numbered[1]}{{{numbered[2]}}}"  # X1 is what the view X{1} is called
    name, brace, _ = key.rstrip("}").partition("{")
    if name not in variables:
        raise ReadError(f"it has no variable {name!r}; it has {sorted(variables)}")
    value = variables[name]
    if isinstance(value, list):
        parts = {f"{name}{{{i}}}": part for i, part in enumerate(value, start=1)}
        if not brace:
            return parts
        if key not in parts:
            raise ReadError(f"its cell {name!r} has {len(value)} parts; there is no {key}")
        return {key: parts[key]}
    if brace or not hasattr(value, "ndim") or value.ndim != 2:
        raise ReadError(f"its variable {name!r} is no cell and no matrix, so {key!r} is no view")
    return {name: value}


def _count_rows(views: dict[str, Any], labels: Any) -> tuple[int, str]:
    """The number of samples, and why, for views that may be either way round."""
    shapes = [tuple(getattr(view, "shape", ())) for view in views.values()]
    if any(len(shape) != 2 or 0 in shape for shape in shapes):
        raise ReadError(f"its views have shapes {shapes}; each must be a matrix")
    if labels is not None:
        n_labels = len(labels[1])
        along = {shape.index(n_labels) for shape in shapes if n_labels in shape}
        axis = "columns" if along == {1} else "rows"
        return n_labels, f"as many as {labels[0]!r} has labels, along the {axis} of"
    firsts, seconds = {shape[0] for shape in shapes}, {shape[1] for shape in shapes}
    if len(firsts) == 1:
        return firsts.pop(), "no labels to tell, so the first size was taken, along the rows of"
    if len(seconds) == 1:
        return seconds.pop(), "the size that all views share, along the columns of"
    raise ReadError(
        f"its views have shapes {shapes}: no size is common to all, so they are not the same samples"
    )
