"""Multi-view low-rank sparse subspace clustering (MLRSSC)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from manyview.baselines.base import Baseline
from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.low_rank_sparse import (
    KernelFactor,
    Representation,
    factor_kernel,
    factor_rows,
    update_representation,
)
from manyview.baselines.steps.memory import refuse_if_too_large
from manyview.baselines.steps.scaling import SCALINGS, scale_view
from manyview.baselines.steps.spectral import label_graph
from manyview.checks import check_number, check_option
from manyview.views.container import Block, Views

_LEAST_SWEEPS = 10
_LARGEST_PENALTY = 1e6
_MOST_SWEEPS = {"centroid": 100, "pairwise": 300}
"""Default max_iter, as published."""


@dataclass(eq=False, repr=False)
class MLRSSC(Baseline):
    r"""Represent samples by each other, low-rank and sparse, alike in all views.

    For each view a matrix :math:`A_v` whose columns write each sample in terms of the others,

    .. math:: \min \tfrac{1}{2} \|X_v - X_v A_v\|_F^2 + \beta_1 \|A_v\|_* + \beta_2 \|A_v\|_1
              + \beta_3\, \mathrm{agreement}, \quad \mathrm{diag}(A_v) = 0,

    by ADMM with a copy of :math:`A_v` for each penalty (samples are columns here). The agreement is
    with a consensus C, :math:`\|A_v - C\|_F^2`, or between all pairs of views,
    :math:`\sum_{w \ne v} \|A_v - A_w\|_F^2`. The graph :math:`|C| + |C|^T` is clustered
    spectrally, with the mean of the views' sparse copies as C [1]_.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    agreement : {"centroid", "pairwise"}, default "centroid"
        Agree with a consensus, or each view with all others.
    noise : bool, default True
        Whether samples are represented up to noise, as above; False asks for
        :math:`X_v = X_v A_v` exactly, which takes samples that are combinations of others: a linear
        kernel, and fewer directions in each view than rows.
    kernel : {"linear", "gaussian"}, default "linear"
        Inner products of samples, or :math:`\exp(-\|x - y\|^2 / (2 \sigma^2))`.
    kernel_width : float, default 1.0
        sigma, as a multiple of the median distance of two samples of the view.
    beta_low_rank, beta_sparse, beta_agreement : float, default 0.3
        :math:`\beta_1, \beta_2, \beta_3`. Published figures chose beta_low_rank from 0.3 to 0.9,
        with beta_sparse one minus that, by the true labels.
    penalty : float, default 1.0
        Weight mu of ADMM's constraints at the start; 1.5 times that after each sweep, up to 1e6.
        Growing so fast it ends near the start's idea of a solution, so it is a parameter of the
        method and not only of the solver: larger values represent less and finish sooner.
    scaling : {"unit", "standard", None}, default "unit"
        What is done to each view first: rows scaled to unit length; columns centred and divided by
        their standard deviation, and the view by the root mean squared norm of its rows; or
        nothing, as published. With None the betas and the penalty refer to the data's own units.
    max_iter : int or None, default None
        Most sweeps; None is 100 for the centroid and 300 for the pairwise agreement.
    tol : float, default 0.01
        Stop when all copies of :math:`A_v` agree, and it changes, by less than this share of its
        largest entry, in every view, but not before 10 sweeps.
    n_init, random_state, force, verbose : int, RandomState, bool, int
        As in :class:`~manyview.baselines.SSCOMP`.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    affinity_ : ndarray of shape (n, n)
        :math:`|C| + |C|^T`.
    embedding_ : ndarray of shape (n, n_clusters)
        Its leading eigenvectors, rows of unit length.
    residuals_ : ndarray of shape (n_iter_,)
        Largest relative disagreement of copies after each sweep, over all views.
    objective_ : ndarray of shape (n_iter_,)
        The sum of the views' objectives after each sweep, each term at its own copy, agreement
        measured from the consensus or the mean of the other views. It may rise while copies still
        disagree.
    n_iter_ : int
        Number of sweeps.

    See Also
    --------
    SubspaceMVSC : labels found in the same sweeps.
    MSCIAS : a latent space that views share.

    Notes
    -----
    A sweep takes one decomposition of an n x n matrix a view, and about eight such matrices a view
    are held: for up to a few thousand rows. Sparse views are accepted; only their n x n kernels are
    dense. The authors' code adds each sweep's consensus to the last one's; here it is the mean that
    the paper gives. Their stopping rule compares with absolute 1e-3, which depends on n and on the
    units; here it is relative.

    References
    ----------
    .. [1] M. Brbic, I. Kopriva, "Multi-view low-rank sparse subspace clustering", Pattern
       Recognition 73 (2018) 247-258, arXiv:1708.08732.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.baselines import MLRSSC
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 20)
    >>> def planes(d):
    ...     return np.vstack([rng.normal(size=(20, 2)) @ rng.normal(size=(2, d)) for _ in range(2)])
    >>> labels = MLRSSC(n_clusters=2, random_state=0).fit_predict([planes(15), planes(20)])
    >>> len(set(zip(truth, labels)))
    2
    """

    n_clusters: int = 8
    _: KW_ONLY
    agreement: str = "centroid"
    noise: bool = True
    kernel: str = "linear"
    kernel_width: float = 1.0
    beta_low_rank: float = 0.3
    beta_sparse: float = 0.3
    beta_agreement: float = 0.3
    penalty: float = 1.0
    scaling: str | None = "unit"
    n_init: int = 20
    max_iter: int | None = None
    tol: float = 0.01
    force: bool = False
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("agreement", self.agreement, ("centroid", "pairwise"))
        check_option("noise", self.noise, (True, False))
        check_option("kernel", self.kernel, ("linear", "gaussian"))
        check_option("scaling", self.scaling, SCALINGS)
        if self.kernel == "gaussian" and not self.noise:
            raise ValueError(
                "noise=False asks that each sample is a combination of others exactly, and with "
                "kernel='gaussian' none is. Set noise=True or kernel='linear'."
            )
        self._check_counts("n_init", or_none=("max_iter",))
        for name in ("kernel_width", "penalty", "tol"):
            check_number(name, getattr(self, name), above=0)
        for name in ("beta_low_rank", "beta_sparse", "beta_agreement"):
            check_number(name, getattr(self, name), least=0)

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        refuse_if_too_large(
            8 * views.n_rows**2 * ((8 if self.noise else 9) * views.n_views + 6),
            what=f"MLRSSC on {views.n_rows} rows and {views.n_views} view(s)",
            instead="Cluster a sample of the rows, or use AMGL(graph='anchors') or LMVSC.",
            force=self.force,
        )
        factors = [
            factor_view(
                scale_view(array, self.scaling),
                kernel=self.kernel,
                width=self.kernel_width,
                to_unit_trace=self.scaling is not None,
            )
            for array in views.arrays
        ]
        C = self._represent(factors, views.n_rows)
        self.affinity_ = np.abs(C) + np.abs(C).T
        self.labels_, self.embedding_ = label_graph(
            self.affinity_, self.n_clusters, n_init=self.n_init, random_state=rng
        )

    def _represent(self, factors: list[KernelFactor], n: int) -> FloatArray:
        """The views' mean sparse representation, by ADMM over all views."""
        betas = {"low_rank": self.beta_low_rank, "sparse": self.beta_sparse}
        states = [Representation.zeros(n, noise=self.noise) for _ in factors]
        n_others = len(states) - 1
        most = _MOST_SWEEPS[self.agreement] if self.max_iter is None else self.max_iter
        mu, residuals, objective = self.penalty, [], []
        consensus = np.zeros((n, n))
        for sweep in range(1, most + 1):
            for state, factor in zip(states, factors, strict=True):
                if self.agreement == "centroid":
                    target, pull = consensus, 2 * self.beta_agreement
                else:
                    # The consensus and this view's own copy are both from before this sweep.
                    others = len(states) * consensus - state.C[1]
                    target, pull = others / max(n_others, 1), 2 * self.beta_agreement * n_others
                update_representation(state, factor, **betas, mu=mu, target=target, pull=pull)
            consensus = sum((state.C[1] for state in states), np.zeros((n, n))) / len(states)
            residuals.append(max(state.residual for state in states))
            objective.append(sum(state.objective for state in states))
            self._log(
                "MLRSSC: sweep %d, residual %.2e, objective %g",
                sweep, residuals[-1], objective[-1],
            )  # fmt: skip
            if sweep >= _LEAST_SWEEPS and residuals[-1] <= self.tol:
                break
            mu = min(1.5 * mu, max(_LARGEST_PENALTY, self.penalty))
        self.residuals_, self.objective_ = np.array(residuals), np.array(objective)
        self.n_iter_ = len(residuals)
        if residuals[-1] > self.tol:
            self._warn_unsettled(
                f"MLRSSC stopped at max_iter={most} with a relative residual of {residuals[-1]:.1e} "
                f"(tol={self.tol:g}). Raise max_iter, tol or penalty"
                + ("." if self.noise else ", or set noise=True: there may be no exact solution.")
            )
        return consensus


def factor_view(X: Block, *, kernel: str, width: float, to_unit_trace: bool) -> KernelFactor:
    """The factored kernel of a view's rows (n, d).

    ``width`` of the Gaussian kernel is a multiple of the median distance of two rows. With
    ``to_unit_trace`` a linear kernel is scaled to a mean diagonal of one, as a Gaussian one has.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> round(factor_view(X, kernel="gaussian", width=1.0, to_unit_trace=False).trace, 6)
    3.0
    """
    n, d = X.shape
    if kernel == "gaussian":
        squares = euclidean_distances(X, squared=True)
        median = float(np.median(np.sqrt(squares[~np.eye(n, dtype=bool)]))) if n > 1 else 1.0
        # Most rows may coincide: then any width will do.
        return factor_kernel(np.exp(-squares / (2 * (width * (median or 1.0)) ** 2)))
    factor = (
        factor_kernel((X @ X.T).toarray())
        if sparse.issparse(X)
        else factor_rows(X) if d < n else factor_kernel(X @ X.T)
    )  # fmt: skip
    if not to_unit_trace or factor.trace == 0:
        return factor
    return KernelFactor(factor.vectors, factor.values * (n / factor.trace))
