"""Efficient orthogonal multi-view subspace clustering: labels without k-means (OMSC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.baselines.rowwise import RowwiseBaseline
from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.projections import polar, simplex_rows
from manyview.baselines.steps.shared_anchors import (
    INITS,
    SharedAnchors,
    choose_start,
    count_anchors,
    fit_scalers,
    scale_views,
    start_weights,
)
from manyview.checks import check_count, check_number, check_option
from manyview.stages.kmeans import nearest_centers
from manyview.stages.rows import ScaledRows
from manyview.views.container import Views


@dataclass(eq=False, repr=False)
class OMSC(RowwiseBaseline):
    r"""Shared anchors and clusters at once: the rows' weights are held near k orthonormal corners.

    The problem of FPMVS-CAG (see :class:`SMVSC`) with one more term,
    :math:`\lambda \|Z - F G^T\|_F^2`: G (m x k) has orthonormal columns and F says which of them each
    row belongs to. The steps for W, A, Z, G, F and alpha are taken in turn, fifteen times; F are the
    labels, without k-means [1]_. Time and memory are linear in the number of rows.

    As in the authors' program, the step for Z leaves out :math:`\alpha_v^2`, and counts the pull to the
    corner once for every view. A row's label is the corner nearest to its weights without that pull,
    for fitted and new rows alike; it equals F, except in rows that only the pull decides.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    n_anchors : int, optional
        Number m of anchors; as many as clusters by default.
    lam : float, default 1e-4
        How much weights are drawn to the corners.
    max_iter : int, default 15
        Sweeps; the authors' program always makes fifteen.
    init, random_state, verbose : str, RandomState, int
        As in :class:`~manyview.baselines.SMVSC`.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    corners_ : ndarray of shape (n_clusters, m)
        :math:`G^T`: orthonormal rows.
    weights_ : ndarray of shape (n, m)
        Z: each row's weights over the anchors, after the last sweep.
    view_weights_ : ndarray of shape (v,)
        alpha; its sum is one.
    n_iter_ : int
        Number of sweeps.

    See Also
    --------
    SMVSC : labels by k-means afterwards.
    EOMSC : labels by connected parts of the graph.

    References
    ----------
    .. [1] M.-S. Chen, C.-D. Wang, D. Huang, J.-H. Lai, P. S. Yu, "Efficient orthogonal multi-view
       subspace clustering", KDD 2022.

    Examples
    --------
    >>> from manyview import datasets
    >>> from manyview.baselines import OMSC
    >>> views = datasets.make_views(90, 3, (6, 9), separation=9.0, random_state=0)
    >>> model = OMSC(n_clusters=3, random_state=0).fit(views)
    >>> bool((model.predict(views) == model.labels_).all())
    True
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_anchors: int | None = None
    lam: float = 1e-4
    init: str = "random"
    max_iter: int = 15
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("init", self.init, INITS)
        check_count("max_iter", self.max_iter)
        check_number("lam", self.lam, least=0)

    def _learn(self, views: Views, rng: np.random.Generator) -> None:
        k, n = self.n_clusters, views.n_rows
        m = count_anchors(self.n_anchors, k, n)
        self._scalers = fit_scalers(views, standardise=True)
        rows = scale_views(views, self._scalers)
        start = choose_start(n, m, self.init, rng)
        Z = start_weights(n, start)
        G, labels = np.eye(m, k), np.zeros(n, np.int32)
        F = np.zeros((n, k))
        F[start[:k], np.arange(k)] = 1.0
        shared = SharedAnchors.start(views.n_features, k, m)
        for sweep in range(self.max_iter):
            shared = shared.turned(rows, Z)
            projections = shared.projections(rows)
            pulled = np.asarray(sum(projections)) + len(rows) * self.lam * (F @ G.T)
            Z = simplex_rows(pulled / (shared.masses(rows) + self.lam))
            G = polar(Z.T @ F)
            labels = nearest_centers(ScaledRows(Z), G.T)[0]
            F = np.eye(k)[labels]
            fitted, shared = shared, shared.reweighted(shared.residuals(rows, Z, projections))
            self._log("OMSC: sweep %d, view weights %s", sweep + 1, shared.weights.round(4))
        self._shared, self.corners_, self.weights_ = fitted, G.T, Z
        self.view_weights_, self.n_iter_ = fitted.weights, self.max_iter

    def _label(self, views: Views) -> npt.NDArray[np.int32]:
        rows = scale_views(views, self._scalers)
        return nearest_centers(ScaledRows(self._weigh(rows)), self.corners_)[0]

    def _weigh(self, rows: Sequence[ScaledRows]) -> FloatArray:
        total = np.asarray(sum(self._shared.projections(rows)))
        return simplex_rows(total / (self._shared.masses(rows) + self.lam))
