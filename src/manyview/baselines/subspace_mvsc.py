"""Multi-view subspace clustering with all rows as anchors: what LMVSC approximates."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import gen_batches

from manyview.baselines.base import Baseline, require_dense
from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.memory import refuse_if_too_large
from manyview.baselines.steps.spectral import label_graph
from manyview.checks import check_count, check_number, check_option
from manyview.simplex import SimplexProblem, Solver, pilot_rows, prepare
from manyview.stages.scaling import KINDS, fit_scaler
from manyview.views.container import Views

_BLOCK_ROWS = 256
_SPARSE_SUPPORT = 12


@dataclass(eq=False, repr=False)
class SubspaceMVSC(Baseline):
    r"""The full n x n multi-view problem: each row represented by all other rows.

    For each view it solves :math:`\min_S \|X - S X\|_F^2 + \alpha \|S\|_F^2` with rows of S not
    negative and summing to one, and a zero diagonal (Eq. 1 and 2 of the LMVSC paper with the Frobenius
    regulariser [1]_): one simplex problem a row, over all other rows. The views' graphs are averaged,
    made symmetric, and clustered spectrally. Time and memory grow with the square of n and worse; it
    is here as the reference that shows what anchors lose.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    alpha : float, default 0.01
        Ridge on the weights, relative to the view's mean squared norm unless ``scaling`` is None.
    scaling : {"standard", "normal-scores", "hellinger", "unit", "energy", None}, default "standard"
        How columns are scaled, as in ``LMVSC``; None uses raw features and an absolute ``alpha``.
    n_init, random_state, force, verbose : int, RandomState, bool, int
        As in :class:`~manyview.baselines.SSCOMP`.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    affinity_ : csr_array of shape (n, n)
        The averaged graph, symmetric.
    objective_ : ndarray of shape (v,)
        Value of each view's problem at its solution, in units of the view's energy.
    n_iter_ : int
        Always 1: each problem is solved exactly, once.

    See Also
    --------
    MLRSSC : low rank and sparsity for each view.
    manyview.LMVSC : linear in rows.

    References
    ----------
    .. [1] Z. Kang, W. Zhou, Z. Zhao, J. Shao, M. Han, Z. Xu, "Large-scale Multi-view Subspace
       Clustering in Linear Time", AAAI 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.baselines import SubspaceMVSC
    >>> truth = np.repeat([0, 1, 2], 20)
    >>> X = np.eye(3)[truth] + 0.1 * np.random.default_rng(0).normal(size=(60, 3))
    >>> len(set(zip(truth, SubspaceMVSC(n_clusters=3, random_state=0).fit_predict(X))))
    3
    """

    _takes_sparse = False
    _least_rows = 2

    n_clusters: int = 8
    _: KW_ONLY
    alpha: float = 0.01
    scaling: str | None = "standard"
    n_init: int = 20
    force: bool = False
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("scaling", self.scaling, KINDS)
        check_number("alpha", self.alpha, least=0)
        check_count("n_init", self.n_init)

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        n = views.n_rows
        refuse_if_too_large(
            (16 + 12 * (views.n_views + 2)) * n * n,
            what=f"The graph between all pairs of {n} rows",
            instead="LMVSC(n_clusters) solves the same problem with anchors, in linear time; or "
            "take a subsample.",
            force=self.force,
        )
        graphs, objective = [], []
        for name, array in views.items():
            self._log("SubspaceMVSC: graph of view %r", name)
            dense = require_dense(array, method="SubspaceMVSC", name=name)
            rows = fit_scaler(dense, name=name, kind=self.scaling).apply(dense).matrix
            S, value = represent_by_others(rows, alpha=self.alpha)
            graphs.append(S)
            objective.append(value)
        average = sum(graphs[1:], start=graphs[0]) / len(graphs)
        self.affinity_ = sparse.csr_array((average + average.T) / 2)
        self.objective_ = np.array(objective)
        self.n_iter_ = 1
        self.labels_, _ = label_graph(
            self.affinity_, self.n_clusters, n_init=self.n_init, random_state=rng
        )


def represent_by_others(X: FloatArray, *, alpha: float) -> tuple[Any, float]:
    """Weights (n, n) of every row over all other rows, sparse, and the value of the whole problem.

    Each of at least two rows (n, d) gets weights that sum to one, none on itself. The value is
    ``||X - S X||^2 + alpha ||S||^2``, in units of the rows' mean squared norm plus alpha.

    Examples
    --------
    >>> S, _ = represent_by_others(np.array([[0.0], [1.0], [2.0]]), alpha=0.0)
    >>> S.toarray().round(6).tolist()
    [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """
    n = len(X)
    problem = prepare(X, alpha=alpha)

    def linear_terms(rows: npt.NDArray[np.int64]) -> FloatArray:
        B = problem.linear_terms(X[rows])
        # So low a term that the row itself is never worth a weight, whatever the others are.
        B[np.arange(len(rows)), rows] = -4.0 * (np.abs(B).max() + np.abs(problem.gram).max())
        return B

    solver = _choose_solver(problem, linear_terms(pilot_rows(n)))
    blocks = [np.arange(n)[rows] for rows in gen_batches(n, _BLOCK_ROWS)]
    S = sparse.csr_array(
        sparse.vstack([solver.solve(linear_terms(rows)).rows(n) for rows in blocks], "csr")
    )
    residual = X - S @ X
    value = float((residual**2).sum() + alpha * (S.data**2).sum()) / problem.unit
    return S, value


def _choose_solver(problem: SimplexProblem, pilot: FloatArray) -> Solver:
    # The other methods need linear terms that are products with the anchors, without exceptions.
    support = len(Solver(problem, "active-set").solve(pilot).data) / len(pilot)
    return Solver(problem, "active-set" if support < _SPARSE_SUPPORT else "exchange")
