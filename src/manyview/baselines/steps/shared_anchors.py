"""Views that share their anchors up to a rotation: the steps of SMVSC and of what came after it.

View v is about Z (W_v A)': Z (n, m) holds the rows' weights, each row on the simplex; A (l, m) the
anchors that all views share; W_v (d_v, l) turns them into the view's own columns. In all methods W_v
and A are found from sums over rows, so a sweep is linear in n, and sparse views stay sparse. A sample
that lacks a view takes no part in that view's sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.landmarks import choose_n_anchors
from manyview.baselines.steps.projections import polar
from manyview.stages.rows import ScaledRows
from manyview.stages.scaling import Scaler, fit_scaler
from manyview.views.container import Views
from manyview.views.selection import find_present

INITS = ("random", "first")
"""Rows that a fit starts from: drawn by the seed, or the first ones of the file as in the sources."""

_LEAST_SHARE = 1e-12  # of a view's energy: what is left of one that fits exactly is rounding


def fit_scalers(views: Views, *, standardise: bool) -> list[Scaler]:
    """How each view is scaled: columns to mean 0 and standard deviation 1 (n - 1), or rows to length 1.

    Constant columns are 0 where columns are standardised. Samples that lack a view do not count.
    """
    scalers = []
    for name, array in views.items():
        scaler = fit_scaler(array, name=name, kind="standard" if standardise else "unit")
        if not standardise:
            d = len(scaler.shift)
            scalers.append(replace(scaler, shift=np.zeros(d), scale=np.ones(d)))
            continue
        present = find_present(array)
        n = array.shape[0] if present is None else int(present.sum())
        # The scaler gives the view an energy of one; here each column that varies has one.
        factor = np.sqrt(np.count_nonzero(scaler.scale) * max(n - 1, 1) / n)
        scalers.append(replace(scaler, scale=scaler.scale * factor))
    return scalers


def scale_views(views: Views, scalers: Sequence[Scaler]) -> list[ScaledRows]:
    """Every view's rows as its scaler makes them."""
    return [scaler.apply(array) for scaler, array in zip(scalers, views.arrays, strict=True)]


def count_anchors(n_anchors: int | None, n_clusters: int, n_rows: int) -> int:
    """The number of anchors that was asked for, checked; as many as clusters by default."""
    if n_anchors is None:
        return n_clusters
    return choose_n_anchors(n_anchors, n_rows, n_clusters, most=n_rows)


def choose_start(n: int, count: int, init: str, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Numbers of the rows that a fit starts from, one an anchor."""
    return np.arange(count) if init == "first" else rng.choice(n, count, replace=False)


def start_weights(n: int, rows: npt.NDArray[np.intp]) -> FloatArray:
    """Z with one row for each anchor and nothing else."""
    Z = np.zeros((n, len(rows)))
    Z[rows, np.arange(len(rows))] = 1.0
    return Z


def times(rows: ScaledRows, B: FloatArray) -> FloatArray:
    """Rows @ B, (n, c); zero for samples that lack the view."""
    P = rows.products(B)
    if rows.present is None:
        return P
    spread = np.zeros((rows.n_samples, B.shape[1]))
    spread[rows.present] = P
    return spread


def transposed_times(rows: ScaledRows, Z: FloatArray) -> FloatArray:
    """Rows' @ Z over the samples that have the view, (d, c)."""
    return rows.transposed_products(Z if rows.present is None else Z[rows.present])


@dataclass(frozen=True)
class SharedAnchors:
    """What a row's weights depend on.

    Rotations and anchors have orthonormal columns, or rows where these are fewer.
    """

    rotations: tuple[FloatArray, ...]  # W_v (d_v, l)
    anchors: FloatArray  # A (l, m)
    weights: FloatArray  # alpha (v,), the views' weights

    @classmethod
    def start(cls, widths: Sequence[int], n_dimensions: int, n_anchors: int) -> SharedAnchors:
        """No rotation, no anchors yet, and equal weights."""
        return cls(
            tuple(np.eye(d, n_dimensions) for d in widths),
            np.zeros((n_dimensions, n_anchors)),
            np.full(len(widths), 1 / len(widths)),
        )

    def turned(self, views: Sequence[ScaledRows], Z: FloatArray) -> SharedAnchors:
        """With the best rotations, then the best anchors, for the rows' weights (n, m)."""
        sums = [transposed_times(rows, Z) for rows in views]
        rotations = self.rotations
        if self.anchors.any():  # in the first sweep there is nothing to turn yet
            rotations = tuple(polar(S @ self.anchors.T) for S in sums)
        total = sum(a**2 * (W.T @ S) for a, W, S in zip(self.weights, rotations, sums, strict=True))
        return replace(self, rotations=rotations, anchors=polar(np.asarray(total)))

    def reweighted(self, residuals: FloatArray, power: float = 1.0) -> SharedAnchors:
        """With weights that fall with the squared residuals, to this power; their sum is one."""
        positive = np.maximum(residuals, np.finfo(np.float64).tiny)
        inverse = (positive.min() / positive) ** power
        return replace(self, weights=inverse / inverse.sum())

    def projections(self, views: Sequence[ScaledRows]) -> list[FloatArray]:
        """P_v = X_v W_v A of every view, (n, m); zero for samples that lack it."""
        return [
            times(rows, W @ self.anchors) for rows, W in zip(views, self.rotations, strict=True)
        ]

    def masses(self, views: Sequence[ScaledRows]) -> FloatArray:
        """Sum of alpha_v^2 over the views that each row has, (n, 1)."""
        total = np.zeros(views[0].n_samples)
        for rows, a in zip(views, self.weights, strict=True):
            total[slice(None) if rows.present is None else rows.present] += a**2
        return total[:, None]

    def residuals(
        self, views: Sequence[ScaledRows], Z: FloatArray, projections: Sequence[FloatArray]
    ) -> FloatArray:
        """||X_v - Z (W_v A)'||^2 of every view over the samples that have it, (v,)."""
        found = []
        for rows, W, P in zip(views, self.rotations, projections, strict=True):
            own = Z if rows.present is None else Z[rows.present]
            M = W @ self.anchors
            fitted = float(np.sum((own.T @ own) * (M.T @ M)))
            energy = float(rows.square_norms.sum())
            left = energy - 2 * float(np.sum(P * Z)) + fitted
            found.append(max(left, _LEAST_SHARE * energy))
        return np.array(found)

    def weigh(self, projections: Sequence[FloatArray]) -> FloatArray:
        """Sum of alpha_v^2 P_v, (n, m)."""
        return np.asarray(sum(a**2 * P for a, P in zip(self.weights, projections, strict=True)))


def has_settled(objective: Sequence[float], tol: float, *, least_sweeps: int = 2) -> bool:
    """Whether the last sweep changed the objective by less than ``tol`` of itself.

    Examples
    --------
    >>> has_settled([5.0, 4.0], 0.1), has_settled([5.0, 4.9], 0.1), has_settled([5.0], 0.1)
    (False, True, False)
    """
    if len(objective) < max(least_sweeps, 2):
        return False
    before, now = objective[-2], objective[-1]
    return abs(before - now) <= tol * abs(before)
