"""Rows of several views side by side where samples lack views: k-means by what is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manyview.stages.kmeans import Assignment
from manyview.stages.scaling import Array, ScaledRows, side_by_side
from manyview.views.selection import Mask


@dataclass(frozen=True)
class PatchyRows:
    """Scaled views, each times its factor, of samples that may lack some of them.

    Attributes
    ----------
    views : tuple of ScaledRows
        The rows that are there.
    factors : tuple of float
        What each view is multiplied by.
    """

    views: tuple[ScaledRows, ...]
    factors: tuple[float, ...]

    def __len__(self) -> int:
        return self.views[0].n_samples

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(rows.nbytes for rows in self.views)

    def single(self) -> PatchyRows:
        """Give the rows in single precision."""
        return PatchyRows(tuple(rows.single() for rows in self.views), self.factors)

    def dense(self, fill: Array | None = None) -> Array:
        """Give the rows (n, d) as a dense array, what is missing from ``fill`` (n, d) or zero."""
        out = np.zeros((len(self), self.n_columns)) if fill is None else fill.astype(np.float64)
        for rows, factor, columns, there in self._each():
            out[there, columns] = factor * rows.dense()
        return out

    @property
    def n_columns(self) -> int:
        """Columns of all views."""
        return sum(int(rows.matrix.shape[1]) for rows in self.views)

    def products(self, W: Array) -> Array:
        """Give rows @ W for W of shape (d, m); what is missing counts as zero."""
        P = np.zeros((len(self), W.shape[1]), W.dtype)
        for rows, factor, columns, there in self._each():
            P[there] += factor * rows.products(np.ascontiguousarray(W[columns]))
        return P

    def assign(self, centers: npt.NDArray[np.floating]) -> Assignment:
        """Give samples to the nearest of ``centers`` (k, d) by the columns they have, and sum.

        What a sample lacks is filled in from its centre, so it moves the centre nowhere.
        """
        from manyview.stages import kernels

        k = len(centers)
        centers = centers.astype(self.views[0].matrix.dtype)
        products = self.products(np.ascontiguousarray(centers.T))
        squares = np.zeros(len(self))
        for rows, factor, columns, there in self._each():
            part = centers[:, columns]
            products[there] -= 0.5 * np.einsum("ij,ij->i", part, part)
            squares[there] += factor * factor * rows.square_norms()
        labels, scores = np.empty(len(self), np.int32), np.empty(len(self), products.dtype)
        kernels.nearest(products, np.zeros(k, products.dtype), labels, scores)
        distances = np.maximum(squares - 2.0 * scores, 0.0)
        counts = np.bincount(labels, minlength=k)
        sums = np.empty(centers.shape)
        for rows, factor, columns, there in self._each():
            sums[:, columns] = factor * _sums_by_label(rows, labels[there], k)
            lacking = counts - np.bincount(labels[there], minlength=k)
            sums[:, columns] += lacking[:, None] * centers[:, columns]
        far = int(np.argmax(distances))
        row = self._one(far).dense(centers[labels[far]][None])[0]
        return Assignment(sums, counts, float(distances.sum()), float(distances[far]), row)

    def _each(self) -> Iterator[tuple[ScaledRows, float, slice, Mask | slice]]:
        """Give each view with its factor, its columns, and the samples that have it."""
        start = 0
        for rows, factor in zip(self.views, self.factors, strict=True):
            stop = start + int(rows.matrix.shape[1])
            there = slice(None) if rows.present is None else rows.present
            yield rows, factor, slice(start, stop), there
            start = stop

    def _one(self, sample: int) -> PatchyRows:
        """Give one sample."""
        parts = []
        for rows in self.views:
            if rows.present is None:
                parts.append(rows[sample : sample + 1])
                continue
            place, has = int(rows.present[:sample].sum()), rows.present[sample : sample + 1]
            some = rows[place : place + int(has[0])]
            parts.append(ScaledRows(some.matrix, some.offset, has))
        return PatchyRows(tuple(parts), self.factors)


def join_views(views: Sequence[ScaledRows], factors: Sequence[float]) -> ScaledRows | PatchyRows:
    """Rows of several views side by side; patchy if samples lack some of several views."""
    if len(views) > 1 and any(rows.present is not None for rows in views):
        return PatchyRows(tuple(views), tuple(factors))
    return side_by_side(views, factors)


def _sums_by_label(rows: ScaledRows, labels: npt.NDArray[np.int32], k: int) -> Array:
    """Sum of each label's rows, shape (k, d)."""
    from manyview.stages import kernels

    X = rows.matrix
    sums = np.zeros((k, X.shape[1]))
    if rows.offset is None:
        kernels.add_rows_by_label(X, labels, sums)
        return sums
    kernels.add_sparse_rows_by_label(X.indptr, X.indices, X.data, labels, sums)
    sums -= np.bincount(labels, minlength=k)[:, None] * rows.offset
    return sums
