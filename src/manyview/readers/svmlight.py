"""Lines ``label index:value ...``: one sparse view and its labels (svmlight, libsvm)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers.contents import Contents, Request, as_labels
from manyview.readers.text import open_bytes, packing_errors
from manyview.sources import Part
from manyview.wording import count


class Lines(NamedTuple):
    """What a file says: rows as CSR, one label each, and the number of its first column."""

    array: Any
    labels: npt.NDArray[Any]
    first_column: int


def read_lines(path: Path, *, n_features: int | None = None) -> Lines:
    """One sparse view and its labels, of a file that may end in .gz or .bz2.

    A label is any text without spaces. Columns are counted from 0 if any has the number 0, else from
    1, and go up to the last that is used unless ``n_features`` says how many there are.
    """
    from sklearn.datasets import load_svmlight_file

    labels, features, first = [], io.BytesIO(), 1
    for line in _data_lines(path):
        label, _, rest = line.partition(b" ")
        labels.append(label.decode())
        rest = rest.strip()
        first = 0 if rest.startswith(b"0:") else first
        # scikit-learn's reader takes only numbers as labels.
        features.write(b"0 " + rest + b"\n")
    if any("," in label for label in labels):
        raise ReadError("samples have several labels; expected one each")
    if any(":" in label for label in labels):
        raise ReadError(f"{path} has lines without a label before the first 'index:value'.")
    features.seek(0)
    matrix, _ = load_svmlight_file(features, n_features=n_features, zero_based=first == 0)
    return Lines(sparse.csr_array(matrix), as_labels(labels), first)


def _data_lines(path: Path) -> Iterator[bytes]:
    with packing_errors(path), open_bytes(path) as file:
        for line in file:
            if line.strip() and not line.startswith(b"#"):
                yield line.strip().replace(b"\t", b" ")


def read(request: Request) -> Contents:
    """One sparse view and its labels; every line is a row."""
    path = request.path
    if request.key is not None:
        raise ReadError(f"{path} holds one view; leave out '::{request.key}'.")
    lines = _read_checked(path, request.n_features)
    n_rows, n_columns = lines.array.shape
    note = (
        f"{path}: svmlight, {count(n_rows, 'row')}, one line each, {count(n_columns, 'column')} "
        f"counted from {lines.first_column}; labels from the start of the lines."
    )
    return Contents((Part(request.stem, lines.array),), note, lines.labels)


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The labels."""
    return {"labels": _read_checked(path, None).labels}


def _read_checked(path: Path, n_features: int | None) -> Lines:
    try:
        lines = read_lines(path, n_features=n_features)
    except ReadError:
        raise
    except (ValueError, IndexError, OverflowError) as error:
        raise ReadError(
            f"{path} is not in the svmlight format, lines 'label index:value ...' ({error})."
        ) from error
    if lines.array.shape[0] == 0 or lines.array.shape[1] == 0:
        raise ReadError(f"{path} is empty.")
    return lines
