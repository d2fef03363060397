"""Sampled quantiles of columns -> normal scores of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from manyview.views.container import Block

Array = npt.NDArray[np.float64]

_N_QUANTILES = 1000


@dataclass(frozen=True)
class Quantiles:
    """A table of each column's sampled values and their normal scores."""

    values: Array  # (d, q), of each column, ascending
    scores: Array  # (d, q), the normal quantile of each one's rank; ties share their middle rank

    def scores_of(self, values: Array, columns: npt.NDArray[Any] | None = None) -> Array:
        """The normal score of every value, linear between those in the table.

        ``values`` has shape (n, d), or (n,) with ``columns`` the column of each.
        """
        from manyview.stages import kernels

        out = np.empty_like(values)
        if columns is None:
            scratch = kernels.room_for_interpolating()
            kernels.interpolate_columns(values, self.values, self.scores, scratch, out)
        else:
            kernels.interpolate_entries(values, columns, self.values, self.scores, out)
        return out


def sample_quantiles(sample: Block, *, keep_flags: bool = False) -> Quantiles:
    """The table of a sample of rows (n, d), with at most a thousand values a column.

    With ``keep_flags``, a one among zeros is the square root of a half, however rare: two levels of a
    category, each of them such a column, are then one apart, which is Hellinger's distance.

    Examples
    --------
    >>> table = sample_quantiles(np.array([[3.0], [1.0], [1.0], [2.0]]))
    >>> table.scores_of(np.array([[1.0], [2.5], [9.0]])).ravel().round(2).tolist()
    [-0.59, 0.62, 0.97]
    """
    n, d = sample.shape
    q = min(n, _N_QUANTILES)
    positions = np.rint(np.linspace(0, n - 1, q)).astype(np.int64)
    untied = special.ndtri((positions + 0.75) / (n + 0.5))  # where no value comes twice
    values, scores = np.empty((d, q)), np.empty((d, q))
    columns = sparse.csc_array(sample) if sparse.issparse(sample) else sample
    for j in range(d):
        if sparse.issparse(sample):
            stored = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
            column = np.concatenate([np.zeros(n - len(stored)), stored])
        else:
            column = np.asarray(columns[:, j], dtype=np.float64)
        ordered = np.sort(column)
        # The nearest sampled value, not one between two: a column of few values keeps its few.
        values[j], scores[j] = ordered[positions], untied
        if (ordered[1:] == ordered[:-1]).any():
            rank = (np.searchsorted(ordered, values[j], "left")
                    + np.searchsorted(ordered, values[j], "right")) / 2  # fmt: skip
            scores[j] = special.ndtri((rank + 0.25) / (n + 0.5))
        if keep_flags and ((values[j] == 0) | (values[j] == 1)).all():
            scores[j] = np.sqrt(0.5) * values[j]
    return Quantiles(values, scores)
