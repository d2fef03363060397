"""Scalable multi-view subspace clustering with unified anchors (SMVSC), and FPMVS-CAG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from manyview.baselines.rowwise import RowwiseBaseline
from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.embedded_rows import fit_singular_rows
from manyview.baselines.steps.projections import simplex_rows
from manyview.baselines.steps.shared_anchors import (
    INITS,
    SharedAnchors,
    choose_start,
    count_anchors,
    fit_scalers,
    has_settled,
    scale_views,
    start_weights,
)
from manyview.checks import check_number, check_option
from manyview.stages.rows import ScaledRows
from manyview.views.container import Views


@dataclass(eq=False, repr=False)
class SMVSC(RowwiseBaseline):
    r"""Anchors that all views share up to a rotation, found together with the rows' weights.

    Minimises, over weights :math:`\alpha` of the views, rotations :math:`W_v`, shared anchors A and
    rows' weights Z,

    .. math:: \sum_v \alpha_v^2 \|X_v - Z (W_v A)^T\|_F^2 + \lambda \|Z\|_F^2, \quad
              W_v^T W_v = I,\; A^T A = I,\; Z \ge 0,\; Z 1 = 1,\; \sum_v \alpha_v = 1,

    one of them after the other; k-means on the left singular vectors of Z gives the labels [1]_.
    ``SMVSC(k, lam=0.0)`` is FPMVS-CAG [2]_, which has no parameter to set. Columns are standardised
    first. Time and memory are linear in the number of rows.

    The released programs leave out :math:`\alpha_v^2` in the step for Z, which makes the point that
    is projected :math:`1/\alpha_v^2` times too long: nearly every row then uses one anchor only.
    Published figures come from that, and are better than those of the problem as stated.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    n_anchors : int, optional
        Number m of anchors; as many as clusters by default. The authors try k, 2k and 3k.
    lam : float, default 1.0
        Weight of :math:`\|Z\|^2`; 0 is FPMVS-CAG.
    variant : {"released", "exact"}, default "released"
        What the authors' program does, or the minimiser of the problem above in every step: then the
        objective never rises, if no view has fewer columns than there are anchors.
    init : {"random", "first"}, default "random"
        Rows that anchors start from: drawn at random, or the first of the file as in the authors'
        program. Public files are sorted by class, so "first" uses the labels in a roundabout way.
    n_init : int, default 10
        Restarts of k-means, of which the one with the least inertia is kept.
    max_iter : int, default 51
        Most sweeps.
    tol : float, default 1e-4
        Stop, after ten sweeps, when the objective changes by less than this share of itself.
    random_state : None, int, RandomState or Generator
        Draws the start and starts k-means; an int gives the same labels every time.
    verbose : int, default 0
        Log progress at level INFO instead of DEBUG.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    embedding_ : ndarray of shape (n, m)
        Left singular vectors of Z, rows scaled to unit length; fewer columns where its rank is lower.
    weights_ : ndarray of shape (n, m)
        Z: each row's weights over the anchors.
    view_weights_ : ndarray of shape (v,)
        alpha; its sum is one.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each sweep.
    n_iter_ : int
        Number of sweeps.

    See Also
    --------
    OMSC : labels found in the same sweeps.
    EOMSC : a graph that falls into exactly k parts.
    IMVCCBG : samples that lack views.

    References
    ----------
    .. [1] M. Sun, P. Zhang, S. Wang, S. Zhou, W. Tu, X. Liu, E. Zhu, C. Wang, "Scalable multi-view
       subspace clustering with unified anchors", ACM MM 2021.
    .. [2] S. Wang, X. Liu, X. Zhu, P. Zhang, Y. Zhang, F. Gao, E. Zhu, "Fast parameter-free multi-view
       subspace clustering with consensus anchor guidance", IEEE TIP 2022.

    Examples
    --------
    >>> from manyview import datasets
    >>> from manyview.baselines import SMVSC
    >>> views = datasets.make_views(90, 3, (6, 9), separation=9.0, random_state=0)
    >>> model = SMVSC(n_clusters=3, random_state=0).fit(views)
    >>> len(set(zip(views.target, model.labels_)))
    3
    >>> bool((model.predict(views) == model.labels_).all())
    True
    """

    _standardise: ClassVar[bool] = True
    _power: ClassVar[float] = 1.0  # of the squared residuals, whose inverses weight the views
    _least_sweeps: ClassVar[int] = 10

    n_clusters: int = 8
    _: KW_ONLY
    n_anchors: int | None = None
    lam: float = 1.0
    variant: str = "released"
    init: str = "random"
    n_init: int = 10
    max_iter: int = 51
    tol: float = 1e-4
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("variant", self.variant, ("released", "exact"))
        check_option("init", self.init, INITS)
        self._check_counts("n_init", "max_iter")
        for name in ("lam", "tol"):
            check_number(name, getattr(self, name), least=0)

    def _learn(self, views: Views, rng: np.random.Generator) -> None:
        m = count_anchors(self.n_anchors, self.n_clusters, views.n_rows)
        self._scalers = fit_scalers(views, standardise=self._standardise)
        rows = scale_views(views, self._scalers)
        self._shared, objective = self._alternate(rows, m, rng)
        self.view_weights_, self.n_iter_ = self._shared.weights, len(objective)
        self.objective_ = np.array(objective)
        self.weights_ = self._weigh_rows(rows)
        self._rows = fit_singular_rows(self.weights_, self.n_clusters, n_init=self.n_init, rng=rng)
        self.embedding_ = self._rows.embed(self.weights_)

    def _alternate(
        self, rows: Sequence[ScaledRows], m: int, rng: np.random.Generator
    ) -> tuple[SharedAnchors, list[float]]:
        """Anchors and rotations after the last sweep, and the objective after each."""
        n = rows[0].n_samples
        Z = start_weights(n, choose_start(n, m, self.init, rng))
        n_dimensions = m if self.variant == "exact" else self.n_clusters
        widths = [X.matrix.shape[1] for X in rows]
        shared, objective = SharedAnchors.start(widths, n_dimensions, m), []
        for sweep in range(self.max_iter):
            shared = shared.turned(rows, Z)
            projections = shared.projections(rows)
            Z = self._solve(shared, rows, projections)
            residuals = shared.residuals(rows, Z, projections)
            fitted, shared = shared, shared.reweighted(residuals, self._power)
            penalty = self.lam * float((Z**2).sum())
            objective.append(float(shared.weights**2 @ residuals) + penalty)
            self._log("%s: sweep %d, objective %g", type(self).__name__, sweep + 1, objective[-1])
            if has_settled(objective, self.tol, least_sweeps=self._least_sweeps):
                return fitted, objective
        self._warn_of_few_sweeps()
        return fitted, objective

    def _solve(
        self, shared: SharedAnchors, rows: Sequence[ScaledRows], projections: Sequence[FloatArray]
    ) -> FloatArray:
        """Z: each row's nearest weights on the simplex."""
        is_exact = self.variant == "exact"
        total = shared.weigh(projections) if is_exact else np.asarray(sum(projections))
        return simplex_rows(total / (shared.masses(rows) + self.lam))

    def _weigh_rows(self, rows: Sequence[ScaledRows]) -> FloatArray:
        return self._solve(self._shared, rows, self._shared.projections(rows))

    def _label(self, views: Views) -> npt.NDArray[np.int32]:
        return self._rows.label(self._weigh_rows(scale_views(views, self._scalers)))
