"""Reads ``.rows`` files: four letters, the number of rows and of columns, and the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from manyview.errors import ReadError
from manyview.readers.arrays import ALONE, Entry
from manyview.readers.formats import Format
from manyview.sources.room import refuse_large

FORMAT = Format("rows", __name__, endings=(".rows",), signature=b"ROWS")


@contextmanager
def arrays(path: Path) -> Iterator[dict[str, Entry]]:
    """The arrays of a file by name, here one without a name."""
    with path.open("rb") as file:
        head = file.read(20)
        if len(head) < 20 or not head.startswith(FORMAT.signature):
            raise ReadError(f"{path} does not start like a .rows file.")
        n, d = map(int, np.frombuffer(head[4:], "<u8"))
        refuse_large(8 * n * d, path)  # before memory is taken for what a damaged head promises
        raw = file.read(8 * n * d + 1)
    if not raw or len(raw) != 8 * n * d:
        raise ReadError(f"{path} has not as many numbers as its head says, {n} x {d}.")
    yield {ALONE: Entry.of(np.frombuffer(raw, "<f8").reshape(n, d))}
