"""Sparse subspace clustering with efficient solvers (E3SC)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from manyview.baselines.base import Baseline, single_view
from manyview.baselines.steps.memory import refuse_if_too_large
from manyview.baselines.steps.representation import (
    Dictionary,
    block_slices,
    choose_dictionary,
    n_pieces,
    symmetric_affinity,
)
from manyview.baselines.steps.scaling import scale_rows
from manyview.baselines.steps.self_expression import (
    BlockSolution,
    choose_fidelity,
    choose_step,
    factor_ridge,
    solve_admm,
    solve_l0,
    solve_proximal,
)
from manyview.baselines.steps.spectral import label_graph
from manyview.checks import check_number, check_option
from manyview.views.container import Block, Views

_BYTES_AT_ONCE = 2**25
"""Work space of one block of rows: about what a processor's cache holds."""

_STOPPING = {"admm": (200, 2e-4), "proximal": (200, 1e-4), "l0": (50, 1e-3)}
"""Default max_iter and tol of each solver, as published."""


@dataclass(eq=False, repr=False)
class E3SC(Baseline):
    r"""Sparse subspace clustering by the efficient solvers of Pourkamali-Anaraki et al.

    For one view. Every row is written as a sparse combination of the others,

    .. math:: \min_C \|C\|_1 + \frac{\lambda}{2} \|X - C X\|_F^2
              \quad \text{s.t.} \quad \operatorname{diag}(C) = 0\ [,\ C 1 = 1]

    or, with ``solver="l0"``, as the best one it can reach with at most s of them. Each row of C is
    divided by its largest magnitude, and normalised spectral clustering splits the graph
    :math:`|C| + |C|^T`.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    view : str, int or None, default None
        Which view to use, by name or position; None for the only one.
    solver : {"admm", "proximal", "l0"}, default "admm"
        ADMM with the matrix inversion lemma or accelerated proximal gradient, two ways to the same
        solution; or projected gradient for the l0 problem, which costs the least.
    affine : bool, default False
        Weights of a row sum to one: for affine subspaces, which need not contain the origin.
    alpha : float, default 800.0
        Weight of the fit, relative: :math:`\lambda = \alpha / \min_i \max_{j \ne i} |x_i^T x_j|`.
        More than 1. Not used by ``solver="l0"``.
    n_nonzero : int, default 10
        Non-zeros a row (s), for ``solver="l0"`` only.
    penalty : "balanced" or float, default "balanced"
        Penalty of ADMM: balanced for each row as it goes, or fixed at this multiple of alpha (1.0
        as published). It changes the way, not the solution; a fixed one may need thousands of
        iterations, and far too small a one leaves all weights at zero for the first few hundred.
    unit_rows : bool, default True
        Scale rows to unit length first.
    n_exemplars : int or None, default None
        Write rows in terms of this many rows, drawn at random, instead of all: time and memory
        become linear in n. The graph is then bipartite, between rows and exemplars.
    max_iter : int or None, default None
        Most iterations; None for 200, or 50 with "l0".
    tol : float or None, default None
        When to stop; None for 2e-4 (largest difference of weights, "admm"), 1e-4 (relative change,
        "proximal") or 1e-3 (relative change, "l0").
    n_init, random_state, force, verbose : int, RandomState, bool, int
        As in :class:`~manyview.baselines.SSCOMP`.

    Attributes
    ----------
    labels_, embedding_, affinity_, representation_, exemplars_, n_connected_components_ : ndarray
        As in :class:`~manyview.baselines.SSCOMP`.
    fidelity_ : float
        lambda; not set by ``solver="l0"``.
    objective_ : ndarray of shape (n_iter_,)
        Objective after each iteration, of all rows together: the formula above, or half the squared
        error with "l0".
    n_iter_ : int
        Iterations, of the block of rows that took most.

    See Also
    --------
    SSCOMP : the same, chosen greedily.
    manyview.LMVSC : anchors in place of chosen rows.

    Notes
    -----
    Rows are independent of each other given the data, so all solvers take a block of them at a
    time, and C is kept sparse: memory beyond the data is a block and the non-zeros. Time is
    :math:`O(d n^2)` an iteration, with d columns.

    References
    ----------
    F. Pourkamali-Anaraki, J. Folberth, S. Becker. Efficient solvers for sparse subspace clustering.
    Signal Processing 172 (2020), arXiv 1804.06291.

    Examples
    --------
    Two lines that do not meet in the origin, in three dimensions:

    >>> import numpy as np
    >>> from manyview.baselines import E3SC
    >>> t = np.linspace(-1, 1, 15)[:, None]
    >>> X = np.vstack([[1, 0, 2] + t * [0, 1, 0], [-1, 0, 2] + t * [0, 0, 1]])
    >>> model = E3SC(n_clusters=2, affine=True, unit_rows=False, alpha=50, random_state=0).fit(X)
    >>> len(set(model.labels_[:15])), len(set(model.labels_[15:]))
    (1, 1)
    """

    n_clusters: int = 8
    _: KW_ONLY
    view: str | int | None = None
    solver: str = "admm"
    affine: bool = False
    alpha: float = 800.0
    n_nonzero: int = 10
    penalty: float | str = "balanced"
    unit_rows: bool = True
    n_exemplars: int | None = None
    max_iter: int | None = None
    tol: float | None = None
    n_init: int = 20
    random_state: Any = None
    force: bool = False
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("solver", self.solver, tuple(_STOPPING))
        check_number("alpha", self.alpha, above=1)
        if isinstance(self.penalty, str):
            check_option("penalty", self.penalty, ("balanced",))
        else:
            check_number("penalty", self.penalty, above=0)
        self._check_counts("n_nonzero", "n_init", or_none=("max_iter", "n_exemplars"))
        if self.tol is not None:
            check_number("tol", self.tol, above=0)

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        data = single_view(views, self.view)
        n_atoms = min(data.shape[0], self.n_exemplars or data.shape[0])
        if self.affine and n_atoms < 2:
            raise ValueError(
                "affine=True needs at least two rows (or exemplars), to write one in terms of "
                f"another; got n_samples={data.shape[0]}, n_exemplars={self.n_exemplars}."
            )
        self._refuse_if_too_large(data)
        data = scale_rows(data) if self.unit_rows else data.astype(np.float64)
        dictionary = choose_dictionary(data, self.n_exemplars, rng)
        self.representation_ = self._represent(data, dictionary)
        scaled = _scale_by_largest(self.representation_)
        is_bipartite = not dictionary.is_whole
        self.affinity_ = abs(scaled) if is_bipartite else 2 * symmetric_affinity(scaled)
        self.exemplars_ = dictionary.rows
        self.n_connected_components_ = n_pieces(self.affinity_, is_bipartite=is_bipartite)
        self.labels_, self.embedding_ = label_graph(
            self.affinity_,
            self.n_clusters,
            is_bipartite=is_bipartite,
            n_init=self.n_init,
            random_state=rng,
        )

    def _refuse_if_too_large(self, X: Block) -> None:
        n, p = X.shape
        m = n if self.n_exemplars is None else min(n, self.n_exemplars)
        data = 12 * X.nnz if sparse.issparse(X) else 8 * n * p
        # A solution of the l1 problem has at most as many non-zeros a row as there are columns.
        n_nonzero = self.n_nonzero if self.solver == "l0" else min(m, p + 1)
        graph = 5 * 12 * n * min(n_nonzero, m)
        inverse = 16 * m * m if self.solver == "admm" and (sparse.issparse(X) or p >= m) else 0
        refuse_if_too_large(
            data + graph + inverse + min(_BYTES_AT_ONCE, 48 * n * m),
            what=f"E3SC(solver={self.solver!r}) on {n} rows of {p} columns",
            instead=(
                "Set n_exemplars (1000, say), use solver='l0', reduce the columns first "
                "(sklearn.decomposition.PCA or TruncatedSVD), or fit a sample of the rows."
            ),
            force=self.force,
        )

    def _represent(self, X: Block, dictionary: Dictionary) -> Any:
        n, m = X.shape[0], dictionary.atoms.shape[0]
        default_iter, default_tol = _STOPPING[self.solver]
        max_iter = default_iter if self.max_iter is None else self.max_iter
        tol = default_tol if self.tol is None else self.tol
        solve = self._make_solver(X, dictionary, max_iter, tol)
        blocks = block_slices(
            n, bytes_per_row=8 * (6 * m + 4 * X.shape[1]), bytes_at_once=_BYTES_AT_ONCE
        )
        solutions = []
        for i, rows in enumerate(blocks):
            found = solve(X[rows], dictionary.atoms, dictionary.own[rows])
            solutions.append(found)
            self._log(
                "E3SC: block %d of %d, %d iterations, residual %.2g",
                i + 1, len(blocks), len(found.objective), found.residual,
            )  # fmt: skip
        self.n_iter_ = max(len(found.objective) for found in solutions)
        self.objective_ = np.sum(
            [
                np.pad(found.objective, (0, self.n_iter_ - len(found.objective)), mode="edge")
                for found in solutions
            ],
            axis=0,
        )
        if not all(found.is_converged for found in solutions):
            residual = max(found.residual for found in solutions)
            easier = "" if self.solver == "l0" else ", or lower alpha for an easier problem"
            self._warn_unsettled(
                f"E3SC(solver={self.solver!r}) stopped at max_iter={max_iter} with a residual of "
                f"{residual:.2g}, above tol={tol:g}. Raise max_iter or tol{easier}."
            )
        return sparse.csr_array(sparse.vstack([found.C for found in solutions], format="csr"))

    def _make_solver(
        self, X: Block, dictionary: Dictionary, max_iter: int, tol: float
    ) -> Callable[..., BlockSolution]:
        atoms = dictionary.atoms
        stop: dict[str, Any] = {"affine": self.affine, "max_iter": max_iter, "tol": tol}
        if self.solver == "l0":
            n_nonzero = max(1, min(self.n_nonzero, atoms.shape[0] - 1))
            return partial(solve_l0, n_nonzero=n_nonzero, step=choose_step(atoms), **stop)
        lam = self.fidelity_ = choose_fidelity(X, dictionary, self.alpha)
        if self.solver == "proximal":
            return partial(solve_proximal, lam=lam, step=choose_step(atoms), **stop)
        is_balanced = isinstance(self.penalty, str)
        rho = self.alpha if is_balanced else float(self.penalty) * self.alpha
        ridge = factor_ridge(atoms)
        return partial(solve_admm, lam=lam, rho=rho, is_balanced=is_balanced, ridge=ridge, **stop)


def _scale_by_largest(C: Any) -> Any:
    """Divide each row by its largest magnitude; rows of zeros stay."""
    largest = abs(C).max(axis=1).toarray().ravel()
    return sparse.csr_array(sparse.diags_array(1 / np.where(largest > 0, largest, 1.0)) @ C)
