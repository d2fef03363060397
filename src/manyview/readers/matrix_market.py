"""Matrix Market: a matrix as text, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers.container import Entry, pick_arrays
from manyview.readers.contents import Contents, Request
from manyview.readers.text import open_bytes, packing_errors


def read(request: Request) -> Contents:
    """Read a ``.mtx`` file: its rows are the rows."""
    if request.key is not None:
        raise ReadError(f"{request.path} holds one matrix; leave out '::{request.key}'.")
    array = _read(request.path)
    entry = Entry(array.shape, array.dtype.kind, lambda: array, lambda: array)
    return pick_arrays({request.stem: entry}, request, kind="Matrix Market")


def vectors(path: Path) -> dict[str, Callable[[], npt.NDArray[Any]]]:
    """Give the matrix, if it has one value a row."""
    array = _read(path)
    dense = array.toarray() if sparse.issparse(array) else array
    return {"": lambda: np.ravel(dense)} if 1 in array.shape else {}


def _read(path: Path) -> Any:
    from scipy.io import mmread

    with packing_errors(path), open_bytes(path) as file:
        _check_head(file, path)
        try:
            array = mmread(file, spmatrix=False)
        except (EOFError, OSError):
            raise
        except Exception as error:  # whatever a damaged file makes the parser raise
            raise ReadError(f"{path} is not a whole Matrix Market file ({error}).") from error
    if 0 in array.shape:
        raise ReadError(f"{path} is empty: its shape is {array.shape}.")
    return sparse.csr_array(array) if sparse.issparse(array) else np.asarray(array)


def _check_head(file: IO[bytes], path: Path) -> None:
    """Refuse what SciPy's parser may not survive."""
    words = file.readline(200).decode("latin1").lower().split()
    file.seek(0)
    if (
        len(words) < 4
        or words[0] != "%%matrixmarket"
        or words[1] != "matrix"
        or words[2] not in ("coordinate", "array")
        or words[3] not in ("real", "double", "integer", "pattern", "unsigned-integer")
    ):
        raise ReadError(
            f"{path} is not a Matrix Market file of real numbers: its first line must be "
            "'%%MatrixMarket matrix coordinate|array real|integer|pattern ...'."
        )
