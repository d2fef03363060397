"""Values that can be computed with: finite, and neither too large nor too small to be squared."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import InputError
from manyview.views.container import Block

LARGEST, SMALLEST = 1e150, 1e-150
"""Magnitudes whose squares, and sums of them, are still numbers of double precision."""

_ROWS = 4096


def is_usable(values: npt.NDArray[Any]) -> bool:
    """Whether all values are finite and none is too large.

    Examples
    --------
    >>> is_usable(np.array([1.0, np.nan])), is_usable(np.array([1e155])), is_usable(np.ones(3))
    (False, False, True)
    """
    if values.dtype.kind != "f" or values.size == 0:
        return True
    with np.errstate(invalid="ignore"):
        # Written so that NaN, for which every comparison is false, is not usable.
        return float(values.max()) <= LARGEST and float(values.min()) >= -LARGEST


def refuse_unusable(block: Block, name: str, numbers: npt.NDArray[np.int64] | None) -> None:
    """Raise InputError if a sample of rows has a value, or a column, that cannot be computed with.

    ``numbers`` are the rows' own numbers; they count from 0 if it is None.
    """
    if block.dtype.kind != "f":
        return
    numbers = np.arange(block.shape[0]) if numbers is None else numbers
    largest = np.zeros(block.shape[1])
    for start in range(0, block.shape[0], _ROWS):
        part = block[start : start + _ROWS]
        if not is_usable(part.data if sparse.issparse(part) else part):
            refuse_values(part, name, numbers[start:])
        np.maximum(largest, _magnitudes(part), out=largest)
    tiny = np.flatnonzero((largest > 0) & (largest < SMALLEST))
    if len(tiny):
        raise _odd_column(name, int(tiny[0]), float(largest[tiny[0]]), "small")


def refuse_values(block: Block, name: str, numbers: npt.NDArray[np.int64]) -> None:
    """Raise InputError, naming the first value that is not finite, or else the first too large."""
    values = block.data if sparse.issparse(block) else block
    wrong = np.argwhere(~np.isfinite(values))
    is_large = len(wrong) == 0
    if is_large:
        wrong = np.argwhere(abs(values.astype(np.float64)) > LARGEST)
    if sparse.issparse(block):
        row = int(np.searchsorted(block.indptr, wrong[0][0], "right")) - 1
        column = int(block.indices[wrong[0][0]])
        value = values[wrong[0][0]]
    else:
        row, column = (int(i) for i in wrong[0])
        value = values[row, column]
    if is_large:
        raise _odd_column(name, column, float(abs(value)), "large")
    what = "NaN" if np.isnan(value) else "infinity"
    others = f" ({len(wrong)} such values in {block.shape[0]} rows)" if len(wrong) > 1 else ""
    raise InputError(
        f"View {name!r} contains {what} at row {numbers[row]}, column {column}{others}. Input must "
        "not contain NaN or infinity. A sample may lack a whole view: then all of its row is NaN.",
        remedy="Clean the data, or fill in missing values by a transformer, such as "
        "manyview.compose.per_view(SimpleImputer()). Only tables with columns that are no numbers have "
        "gaps filled in for them.",
        parameter="missing values",
    )


def _odd_column(name: str, column: int, magnitude: float, how: str) -> InputError:
    return InputError(
        f"View {name!r} has values of {magnitude:.3g} in column {column}, too {how} to be squared and "
        f"summed. Rescale this column: magnitudes from {SMALLEST:g} to {LARGEST:g} can be used."
    )


def _magnitudes(part: Block) -> npt.NDArray[np.float64]:
    """The largest magnitude in each column of some rows."""
    if part.dtype.itemsize < 8:  # none of these numbers is so small
        return np.ones(part.shape[1])
    if not sparse.issparse(part):
        return np.asarray(np.maximum(part.max(axis=0), -part.min(axis=0)), dtype=np.float64)
    found = np.zeros(part.shape[1])
    np.maximum.at(found, part.indices, abs(part.data))
    return found
