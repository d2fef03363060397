"""Scaled rows of a sample -> the view's principal axes, and how they are evened out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from manyview.stages.eigen import largest_eigenpairs
from manyview.stages.rows import Array, ScaledRows

EXACT_WIDTH = 400  # columns up to which all axes are found at once
_SPARE, _BLOCKS = 10, 4  # vectors beyond those wanted in a block, and blocks of the Krylov space
_ROUNDING = 1e-5  # what is left of directions that are known, in single precision, at most
_SURELY = 3.0  # deviations
_USELESS = 1e-10  # axes with less than this share of the first one's variance are rounding


@dataclass(frozen=True)
class Axes:
    """Orthonormal directions in which scaled rows vary most."""

    directions: Array  # (d, p)
    variances: Array  # (p,), descending

    def weights(self, whitening: float) -> Array:
        """What coordinates (p,) are multiplied by: variance^(-whitening/2), then unit energy.

        Examples
        --------
        >>> axes = Axes(np.eye(2), np.array([4.0, 1.0]))
        >>> axes.weights(1.0).round(3)  # both axes vary alike
        array([0.354, 0.707])
        """
        weights = (self.variances / self.variances[0]) ** (-0.5 * whitening)
        return np.asarray(weights / np.sqrt((self.variances * weights**2).sum()))


def find_axes(rows: ScaledRows, n_axes: int) -> Axes | None:
    """The axes of most variance of centred rows (n, d), at most ``n_axes``; None if all are alike."""
    n, d = rows.matrix.shape
    if d <= max(EXACT_WIDTH, _BLOCKS * (n_axes + _SPARE)):
        values, vectors = largest_eigenpairs(_covariance(rows) / n, min(n_axes, d))
        values, directions = values[::-1], vectors[:, ::-1]
    else:
        values, directions = _iterate(rows, min(n_axes + _SPARE, n, d))
    kept = np.flatnonzero(values[:n_axes] > _USELESS * max(values[0], 0.0))
    if len(kept) == 0:
        return None
    return Axes(np.ascontiguousarray(directions[:, kept]), values[kept].copy())


def count_lasting(rows: ScaledRows, n_axes: int) -> int:
    """How many axes, at most ``n_axes``, may be more than how these rows happen to lie.

    Axes found in one half of the rows (n, d) are looked at in the other. Those of chance keep less
    than half of their variance there, and no more than their columns would, each varying by itself.
    Twice as many as are not of chance are kept, as all rows show more than half of them: rare kinds of
    rows lie along weak axes. Of many rows, few axes are of chance, and all are kept.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(200, 1000))
    >>> rows[:100, :100] += 1.0
    >>> count_lasting(ScaledRows(rows - rows.mean(axis=0)), 20) < 10
    True
    """
    found, others = find_axes(rows[::2], n_axes), rows[1::2]
    if found is None or len(others) < 2:
        return n_axes
    variances = (others.products(found.directions) ** 2).mean(axis=0)
    alone = _mean_squares(others) @ found.directions**2
    # A variance of m rows is known up to sqrt(2 / m) of itself.
    is_shared = variances > (1.0 + _SURELY * np.sqrt(2.0 / len(others))) * alone
    n_lasting = int((is_shared | (variances > 0.5 * found.variances)).sum())
    return min(2 * n_lasting, n_axes) if n_lasting else n_axes


def _mean_squares(rows: ScaledRows) -> Array:
    """The mean square of each column (d,) of centred rows."""
    X, n = rows.matrix, len(rows)
    if not sparse.issparse(X):
        return np.asarray(np.einsum("ij,ij->j", X, X) / n)
    squares = np.bincount(X.indices, X.data**2, minlength=X.shape[1]) / n
    means = np.bincount(X.indices, X.data, minlength=X.shape[1]) / n
    assert rows.offset is not None
    return np.asarray(squares - 2.0 * means * rows.offset + rows.offset**2)


def _covariance(rows: ScaledRows) -> Array:
    if rows.offset is None:
        X: Array = rows.matrix
        return X.T @ X
    return rows.transposed_products(rows.products(np.eye(rows.matrix.shape[1])))


def _without(block: Any, blocks: list[Any]) -> Any:
    """What of a block is orthogonal to earlier ones, up to rounding."""
    for earlier in blocks:
        block = block - earlier @ (earlier.T @ block)
    return block


def _iterate(rows: ScaledRows, count: int) -> tuple[Array, Array]:
    """Leading variances and directions of wide rows, by a block Krylov space from a fixed start.

    The space is found in single precision, which takes half as long, and what is best in it in double.
    """
    size = max(float(np.sqrt(rows.square_norms.mean())), np.finfo(np.float64).tiny)
    # Rows of length 1: others may be too large, or too small, for single precision.
    single, d = rows.single(1.0 / size), rows.matrix.shape[1]
    block: Any = np.random.default_rng(0).standard_normal((d, count), np.float32)
    blocks: list[Any] = []
    products: list[Any] = []
    while True:
        for _ in range(2):  # once leaves rounding of what was taken off
            block = linalg.qr(_without(block, blocks), mode="economic")[0]
        blocks.append(block)
        products.append(single.products(block))
        if len(blocks) == _BLOCKS:
            break
        block = single.transposed_products(products[-1])
        length = np.linalg.norm(block)
        block = _without(block, blocks)
        if not np.linalg.norm(block) > _ROUNDING * length:  # rows have no other directions
            break
    Q, X = np.concatenate(blocks, axis=1), np.concatenate(products, axis=1)
    rotation = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :count]
    directions = linalg.qr((Q @ rotation).astype(np.float64), mode="economic")[0]
    X = rows.products(directions)
    values, rotation = np.linalg.eigh(X.T @ X)
    return values[::-1] / len(rows), directions @ rotation[:, ::-1]
