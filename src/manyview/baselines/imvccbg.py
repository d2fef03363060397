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
    n_clusters, n_anchors, init, n_init, max_iter : int, int, str, int, int
        As in :class:`~manyview.baselines.SMVSC`.
    lam : float, default 0.0
        Weight of :math:`\|Z\|^2`; 0 in the authors' improved version.
    tol : float, default 1e-3
        Stop when the objective changes by less than this share of itself.
    random_state, verbose : RandomState, int
        As in :class:`~manyview.baselines.SMVSC`.

    Attributes
    ----------
    labels_, embedding_, weights_, view_weights_, objective_, n_iter_ : ndarray or int
        As in :class:`~manyview.baselines.SMVSC`.

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
