"""Adaptively weighted integral space: k-means with orthonormal centres that views share (AIMC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.baselines.rowwise import RowwiseBaseline
from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.projections import polar
from manyview.baselines.steps.shared_anchors import (
    INITS,
    choose_start,
    fit_scalers,
    has_settled,
    scale_views,
    start_weights,
    times,
    transposed_times,
)
from manyview.checks import check_number, check_option
from manyview.errors import ParameterError
from manyview.stages.rows import ScaledRows
from manyview.views.container import Views

Labels = npt.NDArray[np.int32]

_LEAST_RESIDUAL = 1e-6  # root of a view's squared residual, as a share of the root of its energy


@dataclass(eq=False, repr=False)
class AIMC(RowwiseBaseline):
    r"""k-means whose centres are orthonormal in every view, and the same in all but for a rotation.

    Minimises :math:`\sum_v \|X_v - Y (G_v F)^T\|_F` over labels Y, rotations
    :math:`G_v^T G_v = I_l` and shared centres :math:`F^T F = I_k`. Norms are not squared, so a bad
    view has little say: each sweep minimises the sum of squares with weights
    :math:`\alpha_v = 1 / (2 \|X_v - Y (G_v F)^T\|_F)` of the sweep before [1]_. Columns are
    standardised first. Time is linear in the number of rows, and so is memory.

    :math:`G_v F` is any :math:`d_v \times k` matrix with orthonormal columns, whatever :math:`l` is. So
    :math:`l` changes where a fit ends and not what it looks for; published figures are the best over
    about sixty values of it, chosen with the true labels.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    n_dimensions : int, optional
        :math:`l`, at least k, which is the default.
    init : {"random", "first"}, default "random"
        Rows that clusters start from, as in :class:`~manyview.baselines.SMVSC`.
    n_init : int, default 10
        Starts, of which the one with the least objective is kept; one is enough for "first".
    max_iter : int, default 51
        Most sweeps.
    tol : float, default 1e-5
        Stop when the objective changes by less than this share of itself.
    random_state, verbose : RandomState, int
        As in :class:`~manyview.baselines.SMVSC`.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    centers_ : list of ndarray of shape (n_clusters, d_v)
        Centres of each view in standardised columns: orthonormal rows, if :math:`d_v` is at least k.
    view_weights_ : ndarray of shape (v,)
        :math:`\alpha_v`, the weight of each view.
    objective_ : ndarray of shape (n_iter_,)
        The sum of norms after each sweep; it never rises.
    n_iter_ : int
        Number of sweeps.

    See Also
    --------
    SMVSC : weights over anchors in place of one label a row.
    KMeans : centres that are free.

    References
    ----------
    .. [1] M.-S. Chen, T. Liu, C.-D. Wang, D. Huang, J.-H. Lai, "Adaptively-weighted integral space for
       fast multiview clustering", ACM MM 2022.

    Examples
    --------
    >>> from manyview import datasets
    >>> from manyview.baselines import AIMC
    >>> views = datasets.make_views(90, 3, (6, 9), separation=9.0, random_state=0)
    >>> model = AIMC(n_clusters=3, random_state=0).fit(views)
    >>> len(set(zip(views.target, model.labels_)))
    3
    >>> bool((model.predict(views) == model.labels_).all())
    True
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_dimensions: int | None = None
    init: str = "random"
    n_init: int = 10
    max_iter: int = 51
    tol: float = 1e-5
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("init", self.init, INITS)
        self._check_counts("n_init", "max_iter", or_none=("n_dimensions",))
        check_number("tol", self.tol, least=0)
        if self.n_dimensions is not None and self.n_dimensions < self.n_clusters:
            raise ParameterError(
                "n_dimensions",
                f"must be at least n_clusters={self.n_clusters}; got {self.n_dimensions}.",
            )

    def _learn(self, views: Views, rng: np.random.Generator) -> None:
        self._scalers = fit_scalers(views, standardise=True)
        rows = scale_views(views, self._scalers)
        runs = []
        for _ in range(1 if self.init == "first" else self.n_init):
            start = choose_start(views.n_rows, self.n_clusters, self.init, rng)
            runs.append(self._alternate(rows, start))
            self._log("AIMC: objective %g after %d sweeps", runs[-1][-1][-1], len(runs[-1][-1]))
        self._fitted, objective = min(runs, key=lambda run: run[1][-1])
        if not has_settled(objective, self.tol) and len(objective) == self.max_iter:
            self._warn_of_few_sweeps()
        self.centers_ = [M.T for M in self._fitted.centers]
        self.view_weights_ = self._fitted.weights
        self.objective_, self.n_iter_ = np.array(objective), len(objective)

    def _alternate(
        self, rows: Sequence[ScaledRows], start: npt.NDArray[np.intp]
    ) -> tuple[_Centers, list[float]]:
        """Centres and weights of the last assignment, and the sum of norms after each sweep."""
        k, n = self.n_clusters, rows[0].n_samples
        F = np.eye(self.n_dimensions or k, k)
        weights = np.full(len(rows), 1 / len(rows))
        energies = np.array([float(X.square_norms.sum()) for X in rows])
        chosen = start_weights(n, start)
        objective: list[float] = []
        while True:
            sums = [transposed_times(X, chosen) for X in rows]
            G = [polar(S @ F.T) for S in sums]
            F = polar(
                np.asarray(sum(a * (g.T @ S) for a, g, S in zip(weights, G, sums, strict=True)))
            )
            centers = _Centers([g @ F for g in G], weights)
            distances = centers.distances(rows)
            labels = np.asarray(sum(distances)).argmin(axis=1)
            own = np.array([D[np.arange(n), labels].sum() for D in distances]) / weights
            squares = np.maximum(own + energies, _LEAST_RESIDUAL**2 * np.maximum(energies, 1.0))
            objective.append(float(np.sqrt(squares).sum()))
            if len(objective) == self.max_iter or has_settled(objective, self.tol):
                return centers, objective
            weights = 1 / (2 * np.sqrt(squares))
            chosen = np.eye(k)[labels]

    def _label(self, views: Views) -> Labels:
        distances = self._fitted.distances(scale_views(views, self._scalers))
        return np.asarray(np.asarray(sum(distances)).argmin(axis=1), np.int32)


@dataclass(frozen=True)
class _Centers:
    """Centres (d_v, k) of every view, and the views' weights."""

    centers: list[FloatArray]
    weights: FloatArray

    def distances(self, views: Sequence[ScaledRows]) -> list[FloatArray]:
        """alpha_v (||x - m_j||^2 - ||x||^2) of every view, (n, k); zero where a sample lacks it."""
        found = []
        for rows, M, a in zip(views, self.centers, self.weights, strict=True):
            D = -2 * a * times(rows, M)
            D[slice(None) if rows.present is None else rows.present] += a * (M**2).sum(axis=0)
            found.append(D)
        return found
