"""One NumPy array, its rows left on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.arrays import ALONE, Entry
from manyview.sources.npy import open_npy


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """The array of a ``.npy`` file."""
    source = open_npy(path)
    if source.dtype.kind == "O":
        raise objects_refused(path)
    yield {ALONE: Entry(source.shape, source.dtype.kind, partial(_read, path), lambda: source)}


def objects_refused(path: Path) -> ReadError:
    """The error that says why a file is not read that holds more than numbers and text."""
    return ReadError(
        f"{path} holds Python objects. They are not read, because they could run code."
    )


def _read(path: Path) -> npt.NDArray[Any]:
    try:
        array: npt.NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ReadError(f"{path} is not a whole NumPy file of numbers ({error}).") from error
    return array
