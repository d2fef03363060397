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

_ROWS = 4000  # that are looked at
_WHOLE = 1e-3  # how far values may be from whole numbers
_WIDE, _VERY_WIDE = 100, 10_000  # columns, of genes and of peaks
_COMMON, _MANY = 5, 3.0  # so many columns have this mean at least: what every cell is full of
_PEAKS = 500  # columns above zero in the middle row
_LOW, _NEARLY_BINARY = 2.0, 0.8  # share of the positive values that are so low, of peaks
_TALL = 255  # what pixels do not exceed


def recognise_counts(arrays: Sequence[Any]) -> tuple[tuple[str, str] | None, ...]:
    """For each view that counts molecules, the kind of scaling that suits it and why; else None.

    Genes: mostly zeros, 1 the most frequent count, and yet columns with a mean of several (of what every
    cell is full of; words that are so frequent are left out of texts, and pixels are not mostly 1).
    Peaks: thousands of columns above zero in a row, hardly any above 2 (so long a text repeats words).
    Beside one of these, narrow counts that run into hundreds are proteins; alone, they may be any table.

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
    found = [_kind_of_wide(each) for each in rows]
    if any(found):
        found = [kind or _kind_of_narrow(each) for kind, each in zip(found, rows, strict=True)]
    return tuple(found)


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
    rows = rows[spread_evenly(rows.shape[0], _ROWS)]
    values = rows.data if sparse.issparse(rows) else rows
    if values.size == 0 or not np.isfinite(values).all() or values.min() < 0 or values.max() == 0:
        return None
    return rows if np.abs(values - np.rint(values)).max() <= _WHOLE else None


def _kind_of_wide(rows: Block | None) -> tuple[str, str] | None:
    if rows is None or rows.shape[1] < _WIDE:
        return None
    values = rows.data if sparse.issparse(rows) else rows[rows > 0]
    values = np.rint(values[values > 0])
    if 2 * len(values) > rows.shape[0] * rows.shape[1]:
        return None
    means = np.asarray(rows.mean(axis=0), np.float64).ravel()
    ones, twos, threes = ((values == count).sum() for count in (1, 2, 3))
    if ones >= twos >= threes and 3 * ones > len(values) and np.sort(means)[-_COMMON] >= _MANY:
        return "lognorm", (
            "counts, as of genes: mostly zeros, then ones, and yet columns with a mean of several"
        )
    above = rows.indptr if sparse.issparse(rows) else np.cumsum([0, *(rows > 0).sum(axis=1)])
    is_dense_enough = np.median(np.diff(above)) >= _PEAKS
    if rows.shape[1] >= _VERY_WIDE and is_dense_enough and (values <= _LOW).mean() > _NEARLY_BINARY:
        return "tf-idf", "counts, as of peaks: very many columns in a row, hardly any above 2"
    return None


def _kind_of_narrow(rows: Block | None) -> tuple[str, str] | None:
    if rows is None or rows.shape[1] >= _PEAKS or rows.shape[1] < 2 or rows.max() <= _TALL:
        return None
    return "clr", "counts beside those of genes or peaks, few columns: as of proteins"
