"""Matrix Market: a matrix as text, dense or sparse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers.arrays import ALONE, Entry
from manyview.readers.text import open_bytes, packing_errors
from manyview.sources.csr import checked_csr


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """The matrix of a ``.mtx`` file."""
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
    yield {ALONE: Entry.of(checked_csr(array) if sparse.issparse(array) else np.asarray(array))}


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
