"""Highly-efficient incomplete multi-view clustering with a consensus bipartite graph (IMVC-CBG)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

from manyview.baselines.smvsc import SMVSC


@dataclass(eq=False, repr=False)
class IMVCCBG(SMVSC):
    r"""Shared anchors found from the views that each sample has.

    The problem of :class:`SMVSC` over the rows that are there: a sample that lacks a view takes no part
    in that view's sums, and its weights over the anchors are

    .. math:: z_i = \mathrm{simplex}\left( \frac{\sum_v \alpha_v^2 h_{iv} A^T W_v^T x_i^v}
              {\sum_v \alpha_v^2 h_{iv} + \lambda} \right), \quad h_{iv} = 1 \text{ if view v is there}

    with :math:`\alpha_v \propto 1 / \sqrt{r_v}` as in the authors' program, :math:`r_v` the squared
    residual of view v. Every row of a view is scaled to unit length first, as there. k-means on the left
    singular vectors of Z gives the labels [1]_. Time and memory are linear in the number of rows.

    A view whose rows nearly all point the same way is fitted better with every sweep, until it has all
    the weight (look at ``view_weights_``) and nearly all rows share one anchor: leave it out, or centre
    it first.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    n_anchors : int, optional
        Number m of anchors; as many as clusters by default.
    lam : float, default 0.0
        Weight of :math:`\|Z\|^2`; 0 in the authors' improved version.
    init : {"random", "first"}, default "random"
        Rows that anchors start from: drawn at random, or the first of the file as in the authors'
        program. Public files are sorted by class, so "first" uses the labels in a roundabout way.
    n_init : int, default 10
        Restarts of k-means, of which the one with the least inertia is kept.
    max_iter : int, default 51
        Most sweeps.
    tol : float, default 1e-3
        Stop when the objective changes by less than this share of itself.
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
    SMVSC : the same for complete views.
    manyview.LMVSC : also takes samples that lack views.

    References
    ----------
    .. [1] S. Wang, X. Liu, L. Liu, W. Tu, X. Zhu, J. Liu, S. Zhou, E. Zhu, "Highly-efficient incomplete
       large-scale multi-view clustering with consensus bipartite graph", CVPR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import Views, datasets
    >>> from manyview.baselines import IMVCCBG
    >>> made = datasets.make_views(90, 3, (6, 9), separation=9.0, random_state=0)
    >>> present = np.random.default_rng(0).random((90, 2)) > 0.3
    >>> present[~present.any(axis=1), 0] = True
    >>> model = IMVCCBG(n_clusters=3, random_state=0).fit(Views(made, present=present))
    >>> bool((model.predict(Views(made, present=present)) == model.labels_).all())
    True
    """

    _standardise: ClassVar[bool] = False
    _power: ClassVar[float] = 0.5
    _least_sweeps: ClassVar[int] = 2

    _: KW_ONLY
    variant: str = field(default="exact", init=False)
    lam: float = 0.0
    tol: float = 1e-3
