"""Scaled rows of a sample -> the view's principal axes, and how they are evened out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from manyview.stages.rows import Array, ScaledRows

_EXACT_WIDTH = 400  # columns up to which all axes are found at once
_SPARE, _SWEEPS = 10, 6  # vectors beyond those wanted, and rounds, of the subspace iteration
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
    if d <= _EXACT_WIDTH:
        values, vectors = linalg.eigh(_covariance(rows) / n)
        values, directions = values[::-1], vectors[:, ::-1]
    else:
        values, directions = _iterate(rows, min(n_axes + _SPARE, n, d))
    kept = np.flatnonzero(values[:n_axes] > _USELESS * max(values[0], 0.0))
    if len(kept) == 0:
        return None
    return Axes(np.ascontiguousarray(directions[:, kept]), values[kept].copy())


def _covariance(rows: ScaledRows) -> Array:
    if rows.offset is None:
        X: Array = rows.matrix
        return X.T @ X
    return rows.transposed_products(rows.products(np.eye(rows.matrix.shape[1])))


def _iterate(rows: ScaledRows, count: int) -> tuple[Array, Array]:
    """Leading variances and directions of wide rows, by subspace iteration from a fixed start."""
    Q = np.random.default_rng(0).standard_normal((rows.matrix.shape[1], count))
    for _ in range(_SWEEPS):
        Q = linalg.qr(Q, mode="economic")[0]
        Q = rows.transposed_products(rows.products(Q))
    Q = linalg.qr(Q, mode="economic")[0]
    _, singular_values, rotated = linalg.svd(rows.products(Q), full_matrices=False)
    return singular_values**2 / len(rows), Q @ rotated.T
