"""Counts of molecules in cells: how they are told from other whole numbers, and what suits them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.sampling import spread_evenly
from manyview.views.container import Block
from manyview.views.selection import split_rows

Array = npt.NDArray[np.float64]

_ROWS, _FEW = 500, 50  # that are looked at; that are first
_WHOLE = 1e-3  # how far values may be from whole numbers
_WIDE, _VERY_WIDE = 100, 10_000  # columns, of genes and of peaks
_COMMON, _MANY = 5, 3.0  # so many columns have this mean at least: what every cell is full of
_NOTABLE = 0.01  # share of all counts that these have, or more; of peaks, no few have
_LONG = 500  # columns above zero in the middle row; hardly any text has so many words
_LOW, _NEARLY_BINARY = 2.0, 0.8  # share of the positive values that are so low, of peaks
_TALL, _PROTEINS = 255, 5  # what pixels do not exceed, and fewer columns than any panel has


def recognise_counts(
    arrays: Sequence[Any], *, are_cells: bool = False
) -> tuple[tuple[str, str] | None, ...]:
    """For each view that counts molecules, the kind of scaling that suits it and why; else None.

    Genes: mostly zeros, 1 the most frequent count, and yet columns with a mean of several, of what every
    cell is full of. Texts with all their small words look like that, too, so it takes proteins beside
    them, or more columns above zero in a row than a text has words, or that rows ``are_cells``. Pixels
    are not mostly 1. Of very many columns, such few have a notable share of all that was counted.
    Peaks: so many columns above zero in a row, hardly any above 2. Where all are 1, they may be
    words of long texts or any other marks, so it takes genes or proteins beside them, or that rows
    ``are_cells``.
    Proteins: beside one of these, or where rows ``are_cells``, narrow counts that run into hundreds;
    alone, they may be any table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> genes = rng.poisson(np.exp(rng.normal(-2, 2, 500)), (100, 500))
    >>> proteins = rng.poisson(900, (100, 8))
    >>> [found and found[0] for found in recognise_counts([genes, proteins])]
    ['lognorm', 'clr']
    >>> recognise_counts([proteins])
    (None,)
    """
    rows = [_look_at(array) for array in arrays]
    wide = [_kind_of_wide(each) for each in rows]
    narrow = [
        None if kind else _kind_of_narrow(each) for kind, each in zip(wide, rows, strict=True)
    ]
    is_sure = any(wide) and (any(narrow) or any(map(_stands_alone, wide, rows)))
    if not (is_sure or are_cells):
        return (None,) * len(rows)
    return tuple(first or second for first, second in zip(wide, narrow, strict=True))


def are_counts(array: Any) -> bool:
    """Whether some of the rows that are there show whole numbers from 0 on only.

    Examples
    --------
    >>> are_counts(np.array([[0.0, 3.0]])), are_counts(np.log1p([[0.0, 3.0]]))
    (True, False)
    """
    return _look_at(array) is not None


def row_totals(block: Block) -> Array:
    """The sum of each row, without signs; 1 where it is 0."""
    totals = np.asarray(abs(block).sum(axis=1), np.float64).ravel()
    return np.where(totals > 0, totals, 1.0)


def rarity(sample: Block) -> Array:
    """What columns of peaks count for: the logarithm of one plus the rows there are for each with it."""
    n, d = sample.shape
    if sparse.issparse(sample):
        stored = sample.indices[sample.data != 0]
        with_it = np.bincount(stored, minlength=d)
    else:
        with_it = np.count_nonzero(sample, axis=0)
    return np.asarray(np.log1p(n / np.maximum(with_it, 1)))


def _look_at(array: Any) -> Block | None:
    """Some of the rows that are there, if they are whole numbers from 0 on."""
    rows, _ = split_rows(array)
    if rows.shape[0] > _ROWS:
        rows = rows[spread_evenly(rows.shape[0], _ROWS)]
    values = rows.data if sparse.issparse(rows) else rows
    if values.size == 0:
        return None
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # what is not finite is not whole
            # Most tables are not, which a few values tell.
            parts = values[:_FEW], values
            if not all(np.abs(part - np.rint(part)).max() <= _WHOLE for part in parts):
                return None
    return None if values.min() < 0 or values.max() == 0 else rows


def _kind_of_wide(rows: Block | None) -> tuple[str, str] | None:
    if rows is None or rows.shape[1] < _WIDE:
        return None
    values = rows.data if sparse.issparse(rows) else rows[rows > 0]
    values = np.rint(values[values > 0])
    if 2 * len(values) > rows.shape[0] * rows.shape[1]:
        return None
    means = np.asarray(rows.mean(axis=0), np.float64).ravel()
    is_very_wide, least = rows.shape[1] >= _VERY_WIDE, float(np.sort(means)[-_COMMON])
    # Where much is counted of a cell, so many peaks have such means too.
    is_full = least >= max(_MANY, is_very_wide * _NOTABLE / _COMMON * means.sum())
    ones, twos, threes = ((values == count).sum() for count in (1, 2, 3))
    if ones >= twos >= threes and 3 * ones > len(values) and is_full:
        return "lognorm", (
            "counts, as of genes: mostly zeros, then ones, and yet columns with a mean of several"
        )
    is_low = (values <= _LOW).mean() > _NEARLY_BINARY
    if is_very_wide and is_low and _in_middle_row(rows) >= _LONG:
        return "tf-idf", "counts, as of peaks: very many columns in a row, hardly any above 2"
    return None


def _stands_alone(kind: tuple[str, str] | None, rows: Any) -> bool:
    """Whether a wide view counts molecules, whatever is beside it: no text has so many words."""
    is_long = kind is not None and _in_middle_row(rows) >= _LONG
    return is_long and bool(rows.max() > 1)


def _in_middle_row(rows: Any) -> float:
    """How many columns the middle row has above zero."""
    return float(np.median(np.asarray((rows > 0).sum(axis=1))))


def _kind_of_narrow(rows: Block | None) -> tuple[str, str] | None:
    if rows is None or not _PROTEINS <= rows.shape[1] < _LONG or rows.max() <= _TALL:
        return None
    return "clr", "counts of cells that run into hundreds, few columns: as of proteins"
