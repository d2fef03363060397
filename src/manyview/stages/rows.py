"""Rows of scaled views, sparse or dense, also side by side and of samples that lack views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.views.container import Block
from manyview.views.selection import Mask

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ScaledRows:
    """Scaled rows: ``matrix`` less ``offset`` (which is None for dense rows: already taken off).

    Sparse rows may have a ``lean`` as well, (n, q) and (q, d), whose product is taken off: what a
    scaling takes off all columns of a row, those with zeros too. Where samples lack the view, the
    matrix holds the rows of the others, and ``present`` says whose they are; it is None where every
    sample has a row.
    """

    matrix: Block
    offset: npt.NDArray[np.floating] | None = None
    present: Mask | None = None
    lean: tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]] | None = None

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of samples, those without a row too."""
        return len(self) if self.present is None else len(self.present)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the values."""
        return self.matrix.dtype  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        X = self.matrix
        parts = [X] if self.offset is None else [X.data, X.indices, X.indptr]
        return sum(part.nbytes for part in parts)

    def products(self, W: Array) -> Array:
        """Rows @ W for W of shape (d, m)."""
        P: Array = self.matrix @ W
        if self.offset is not None:
            P -= self.offset @ W
        if self.lean is not None:
            P -= self.lean[0] @ (self.lean[1] @ W)
        return P

    def transposed_products(self, Y: Array) -> Array:
        """Rows' @ Y for Y of shape (n, c)."""
        P: Array = self.matrix.T @ Y
        if self.offset is not None:
            P -= np.outer(self.offset, Y.sum(axis=0))
        if self.lean is not None:
            P -= self.lean[1].T @ (self.lean[0].T @ Y)
        return P

    @cached_property
    def square_norms(self) -> Array:
        """Squared length of each row: worked out once, however many sweeps ask for it."""
        if self.offset is None:
            norms: Array = np.einsum("ij,ij->i", self.matrix, self.matrix)
            return norms
        X, c = self.matrix, self.offset
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        norms = squares - 2 * (X @ c) + c @ c
        if self.lean is not None:
            T, S = self.lean
            norms += np.einsum("ij,ij->i", T @ (S @ S.T), T) + 2 * (T @ (S @ c))
            norms -= 2 * np.einsum("ij,ij->i", X @ S.T, T)
        return np.maximum(norms, 0.0)

    def dense(self) -> Array:
        """The rows as a dense array (for a few rows only)."""
        if self.offset is None:
            return self.matrix  # type: ignore[no-any-return]
        rows: Array = self.matrix.toarray()
        rows -= self.offset
        return rows if self.lean is None else rows - self.lean[0] @ self.lean[1]

    def single(self, factor: float = 1.0) -> ScaledRows:
        """The rows in single precision, times a factor."""
        if self.offset is None:
            matrix = np.empty(self.matrix.shape, np.float32)
            np.multiply(self.matrix, factor, out=matrix, casting="same_kind")  # no copy in between
            return ScaledRows(matrix, None, self.present)
        offset = (self.offset * factor).astype(np.float32)
        lean = self.lean and (
            (self.lean[0] * factor).astype(np.float32), self.lean[1].astype(np.float32)
        )  # fmt: skip
        return ScaledRows((self.matrix * factor).astype(np.float32), offset, self.present, lean)

    def __getitem__(self, rows: slice | npt.NDArray[np.int64]) -> ScaledRows:
        lean = self.lean and (self.lean[0][rows], self.lean[1])
        return ScaledRows(self.matrix[rows], self.offset, lean=lean)


def side_by_side(views: Sequence[ScaledRows], factors: Sequence[float]) -> ScaledRows:
    """Rows of several views side by side, each view times its factor; sparse if one of them is."""
    if len(views) == 1 and factors[0] == 1.0:
        return views[0]
    parts = [rows.matrix * factor for rows, factor in zip(views, factors, strict=True)]
    if all(rows.offset is None for rows in views):
        return ScaledRows(np.concatenate(parts, axis=1))
    offsets = [
        np.zeros(rows.matrix.shape[1]) if rows.offset is None else rows.offset * factor
        for rows, factor in zip(views, factors, strict=True)
    ]
    joined = sparse.csr_array(sparse.hstack(parts, "csr"))
    return ScaledRows(joined, np.concatenate(offsets), lean=_join_leans(views, factors))


def _join_leans(
    views: Sequence[ScaledRows], factors: Sequence[float]
) -> tuple[Array, Array] | None:
    """What leans of views side by side take off all columns together."""
    if all(rows.lean is None for rows in views):
        return None
    ends = np.cumsum([0, *(rows.matrix.shape[1] for rows in views)])
    tilts, slopes = [], []
    for number, (rows, factor) in enumerate(zip(views, factors, strict=True)):
        if rows.lean is not None:
            slope = np.zeros((len(rows.lean[1]), ends[-1]), rows.dtype)
            slope[:, ends[number] : ends[number + 1]] = factor * rows.lean[1]
            tilts.append(rows.lean[0])
            slopes.append(slope)
    return np.concatenate(tilts, axis=1), np.concatenate(slopes)


@dataclass(frozen=True)
class IncompleteRows:
    """Scaled views, each times its factor, of samples that may lack some of them."""

    views: tuple[ScaledRows, ...]
    factors: tuple[float, ...]

    def __len__(self) -> int:
        return self.views[0].n_samples

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(rows.nbytes for rows in self.views)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the values."""
        return self.views[0].dtype

    def single(self) -> IncompleteRows:
        """The rows in single precision."""
        return IncompleteRows(tuple(rows.single() for rows in self.views), self.factors)

    def dense(self, fill: Array | None = None) -> Array:
        """The rows (n, d) as a dense array, what is missing from ``fill`` (n, d) or zero."""
        n_columns = sum(int(rows.matrix.shape[1]) for rows in self.views)
        out = np.zeros((len(self), n_columns)) if fill is None else fill.astype(np.float64)
        for rows, factor, columns, there in self.parts():
            out[there, columns] = factor * rows.dense()
        return out

    def products(self, W: Array) -> Array:
        """Rows @ W for W of shape (d, m); what is missing counts as zero."""
        P = np.zeros((len(self), W.shape[1]), W.dtype)
        for rows, factor, columns, there in self.parts():
            P[there] += factor * rows.products(np.ascontiguousarray(W[columns]))
        return P

    def parts(self) -> Iterator[tuple[ScaledRows, float, slice, Mask | slice]]:
        """Each view with its factor, its columns, and the samples that have it."""
        start = 0
        for rows, factor in zip(self.views, self.factors, strict=True):
            stop = start + int(rows.matrix.shape[1])
            there = slice(None) if rows.present is None else rows.present
            yield rows, factor, slice(start, stop), there
            start = stop

    def one(self, sample: int) -> IncompleteRows:
        """One sample."""
        parts = []
        for rows in self.views:
            if rows.present is None:
                parts.append(rows[sample : sample + 1])
                continue
            place, has = int(rows.present[:sample].sum()), rows.present[sample : sample + 1]
            some = rows[place : place + int(has[0])]
            parts.append(replace(some, present=has))
        return IncompleteRows(tuple(parts), self.factors)


def join_views(
    views: Sequence[ScaledRows], factors: Sequence[float]
) -> ScaledRows | IncompleteRows:
    """Rows of several views side by side; incomplete if samples lack some of several views."""
    if len(views) > 1 and any(rows.present is not None for rows in views):
        return IncompleteRows(tuple(views), tuple(factors))
    return side_by_side(views, factors)
