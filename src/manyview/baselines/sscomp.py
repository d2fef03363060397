"""Sparse subspace clustering by orthogonal matching pursuit (SSC-OMP)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.baselines.base import Baseline, single_view
from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.memory import refuse_if_too_large
from manyview.baselines.steps.representation import (
    Dictionary,
    IntArray,
    block_slices,
    choose_dictionary,
    n_pieces,
    neighbor_affinity,
    symmetric_affinity,
)
from manyview.baselines.steps.scaling import scale_rows
from manyview.baselines.steps.spectral import label_graph
from manyview.checks import check_number, check_option
from manyview.views.container import Block, Views

_BYTES_AT_ONCE = 2**26
"""Work space of one batch of pursuits: enough rows for matrix products to be efficient."""

_DEPENDENT = 1e-12
"""Squared distance of an atom from the span of those chosen, below which it adds only rounding."""


@dataclass(eq=False, repr=False)
class SSCOMP(Baseline):
    r"""Sparse subspace clustering by orthogonal matching pursuit, for one view.

    Every row is written in terms of at most s others, chosen greedily:

    .. math:: \min_c \Big\| x_i - \sum_j c_j x_j \Big\|^2
              \quad \text{s.t.} \quad c_i = 0,\ \|c\|_0 \le s

    Each step takes the row most correlated with what is left of :math:`x_i` and fits all rows taken so
    far anew. The weights, scaled to unit length a row, make the graph :math:`W = (|C| + |C|^T) / 2`,
    which normalised spectral clustering splits.

    Time grows with :math:`n^2 d s`, memory with :math:`n s`; with ``n_exemplars`` both are linear in n.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    view : str, int or None, default None
        Which view to use, by name or position; None for the only one.
    n_nonzero : int, default 10
        Rows that each row is written in terms of, at most (s). 5 is usual for images of digits.
    tol : float, default 1e-6
        Stop early on a row when what is left is at most this long, relative to the row.
    unit_rows : bool, default True
        Scale rows to unit length first, as the method asks for. Without, long rows are chosen more
        often, which connects the graph: figures published for data that was not scaled differ.
    n_exemplars : int or None, default None
        Write rows in terms of this many rows, drawn at random, instead of all. The graph is then
        bipartite, between rows and exemplars.
    affinity : {"symmetric", "neighbors"}, default "symmetric"
        The graph: as above, or the symmetrised nearest neighbours of the rows of C, which suits
        few exemplars: rows that share none are all equally far from each other.
    n_neighbors : int, default 3
        Neighbours a row, for ``affinity="neighbors"``.
    n_init : int, default 20
        Restarts of the final k-means.
    random_state : None, int, RandomState or Generator
        Exemplars, eigensolver and k-means; an int gives the same labels every time.
    force : bool, default False
        Try even if more memory is needed than is free.
    verbose : int, default 0
        Log progress at level INFO instead of DEBUG.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    representation_ : csr_array of shape (n, n) or (n, n_exemplars)
        C; row i holds the weights of row i.
    affinity_ : csr_array of shape (n, n), or (n, n_exemplars)
        The graph.
    embedding_ : ndarray of shape (n, n_clusters)
        Spectral embedding that k-means was run on.
    n_connected_components_ : int
        Pieces of the graph. Many more than clusters is the known weakness of the method: labels
        then follow small pieces. More non-zeros connect them.
    exemplars_ : ndarray of shape (n_exemplars,)
        Rows used as exemplars; all rows if ``n_exemplars`` is None.
    objective_ : ndarray of shape (n_iter_,)
        Sum over rows of the squared length of what is left, after each step.
    n_iter_ : int
        Greedy steps taken.

    See Also
    --------
    E3SC : the same with an l1 penalty on the weights, or projected gradient.
    SubspaceMVSC : several views.

    References
    ----------
    C. You, D. Robinson, R. Vidal. Scalable sparse subspace clustering by orthogonal matching
    pursuit. CVPR 2016, Algorithms 1 and 2.

    Examples
    --------
    Two planes in five dimensions:

    >>> import numpy as np
    >>> from manyview.baselines import SSCOMP
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(20, 2)) @ rng.normal(size=(2, 5)) for _ in range(2)])
    >>> model = SSCOMP(n_clusters=2, n_nonzero=2, random_state=0).fit(X)
    >>> len(set(model.labels_[:20])), len(set(model.labels_[20:])), model.n_connected_components_
    (1, 1, 2)
    """

    n_clusters: int = 8
    _: KW_ONLY
    view: str | int | None = None
    n_nonzero: int = 10
    tol: float = 1e-6
    unit_rows: bool = True
    n_exemplars: int | None = None
    affinity: str = "symmetric"
    n_neighbors: int = 3
    n_init: int = 20
    random_state: Any = None
    force: bool = False
    verbose: int = 0

    def _check_parameters(self) -> None:
        self._check_counts("n_nonzero", "n_neighbors", "n_init", or_none=("n_exemplars",))
        check_number("tol", self.tol, least=0, below=1)
        check_option("affinity", self.affinity, ("symmetric", "neighbors"))

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        data = single_view(views, self.view)
        self._refuse_if_too_large(data)
        data = scale_rows(data) if self.unit_rows else data.astype(np.float64)
        dictionary = choose_dictionary(data, self.n_exemplars, rng)
        self.representation_, self.objective_ = self._represent(data, dictionary)
        self.n_iter_ = len(self.objective_)
        self.exemplars_ = dictionary.rows
        scaled = scale_rows(self.representation_)
        is_bipartite = not dictionary.is_whole and self.affinity == "symmetric"
        if self.affinity == "neighbors":
            self.affinity_ = neighbor_affinity(scaled, self.n_neighbors)
        else:
            self.affinity_ = abs(scaled) if is_bipartite else symmetric_affinity(scaled)
        self.n_connected_components_ = n_pieces(self.affinity_, is_bipartite=is_bipartite)
        self._log("SSC-OMP: graph in %d connected components", self.n_connected_components_)
        self.labels_, self.embedding_ = label_graph(
            self.affinity_,
            self.n_clusters,
            is_bipartite=is_bipartite,
            n_init=self.n_init,
            random_state=rng,
        )

    def _refuse_if_too_large(self, X: Block) -> None:
        n = X.shape[0]
        data = 12 * X.nnz if sparse.issparse(X) else 8 * n * X.shape[1]
        graph = 5 * 12 * n * self.n_nonzero
        vectors = 8 * n * (3 * self.n_clusters + 20)
        refuse_if_too_large(
            data + graph + vectors + _BYTES_AT_ONCE,
            what=f"SSCOMP on {n} rows of {X.shape[1]} columns",
            instead=(
                "Reduce the columns first (sklearn.decomposition.PCA or TruncatedSVD), lower "
                "n_nonzero, or fit a sample of the rows."
            ),
            force=self.force,
        )

    def _represent(self, X: Block, dictionary: Dictionary) -> tuple[Any, FloatArray]:
        n, m = X.shape[0], dictionary.atoms.shape[0]
        n_nonzero = min(self.n_nonzero, m)
        width = 1 if sparse.issparse(X) else n_nonzero * X.shape[1]
        blocks = block_slices(n, bytes_per_row=8 * (m + width), bytes_at_once=_BYTES_AT_ONCE)
        parts, left = [], np.zeros(n_nonzero)
        for i, rows in enumerate(blocks):
            support, weights, block_left = pursue(
                X[rows], dictionary.atoms, dictionary.own[rows], n_nonzero=n_nonzero, tol=self.tol
            )
            parts.append(_as_csr(support, weights, m))
            left += block_left
            self._log("SSC-OMP: block %d of %d", i + 1, len(blocks))
        C = sparse.csr_array(sparse.vstack(parts, format="csr"))
        n_steps = max(1, int(np.diff(C.indptr).max(initial=0)))
        return C, left[:n_steps]


def pursue(
    X: Block, atoms: Block, own: IntArray, *, n_nonzero: int, tol: float
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Orthogonal matching pursuit of many rows at a time.

    ``X`` (b, d) is written in terms of ``atoms`` (m, d), of unit length or zero, or of any length if
    longer ones are to be preferred, in at most ``n_nonzero`` steps. ``own`` (b,) is the atom that a
    row may not use, -1 for none. A row is done when what is left of it is at most ``tol`` long,
    relative to the row.

    Returns
    -------
    support : ndarray of shape (b, n_nonzero)
        Atoms in the order chosen; -1 where a row was done before.
    weights : ndarray of shape (b, n_nonzero)
        Their weights.
    left : ndarray of shape (n_nonzero,)
        Sum over rows of the squared length of what is left, after each step.

    Examples
    --------
    >>> support, weights, _ = pursue(np.array([[3.0, 4.0, 0.0]]), np.eye(3), np.array([-1]),
    ...                              n_nonzero=3, tol=1e-6)
    >>> support.tolist(), weights.tolist()
    ([[1, 0, -1]], [[4.0, 3.0, 0.0]])
    """
    b, m = X.shape[0], atoms.shape[0]
    support = np.full((b, n_nonzero), -1)
    weights = np.zeros((b, n_nonzero))
    factor = np.zeros((b, n_nonzero, n_nonzero))
    reduced = np.zeros((b, n_nonzero))
    squares = _row_dots(X, X)
    remaining = squares.copy()
    left = np.zeros(n_nonzero)
    correlations = np.empty((b, m))
    residual, alive = X, np.arange(b)
    for t in range(n_nonzero):
        alive, residual = _drop(alive, residual, remaining[alive] > tol**2 * squares[alive])
        if not len(alive):
            left[t:] = remaining.sum()
            break
        chosen, is_new = _most_correlated(
            residual, atoms, own[alive], support[alive, :t], out=correlations[: len(alive)]
        )
        alive, chosen = alive[is_new], chosen[is_new]
        picked = _products(atoms, support[alive, :t], chosen)
        is_new = _extend_factor(factor, alive, picked, _row_dots(atoms[chosen], atoms[chosen]))
        alive, chosen = alive[is_new], chosen[is_new]
        support[alive, t] = chosen
        target = _row_dots(X[alive], atoms[chosen])
        row = factor[alive, t]
        reduced[alive, t] = (target - _dots(row[:, :t], reduced[alive, :t])) / row[:, t]
        weights[alive, : t + 1] = _solve_upper(factor[alive, : t + 1, : t + 1], reduced[alive])
        residual = X[alive] - _combine(atoms, support[alive, : t + 1], weights[alive, : t + 1])
        remaining[alive] = _row_dots(residual, residual)
        left[t] = remaining.sum()
    return support, weights, left


def _drop(alive: IntArray, residual: Block, keep: npt.NDArray[np.bool_]) -> tuple[IntArray, Block]:
    return (alive, residual) if keep.all() else (alive[keep], residual[keep])


def _most_correlated(
    residual: Block, atoms: Block, own: IntArray, used: IntArray, *, out: FloatArray
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Best atom of each row among those not excluded, and whether there is one at all."""
    rows = np.arange(residual.shape[0])
    if sparse.issparse(residual):
        out[:] = (residual @ atoms.T).toarray()
    else:
        np.matmul(residual, atoms.T, out=out)
    np.abs(out, out=out)
    out[rows[:, None], used] = -1.0
    has_own = own >= 0
    out[rows[has_own], own[has_own]] = -1.0
    chosen = out.argmax(axis=1)
    return chosen, out[rows, chosen] > 0


def _extend_factor(
    factor: FloatArray, rows: IntArray, products: FloatArray, squares: FloatArray
) -> npt.NDArray[np.bool_]:
    """Add a row to the Cholesky factors of the Gram matrices of chosen atoms, in place.

    ``products`` (b, t) of the new atom with those before, ``squares`` (b,) with itself. The
    answer is whether the new atom is independent of those before.
    """
    t = products.shape[1]
    for i in range(t):
        before = _dots(factor[rows, i, :i], factor[rows, t, :i])
        factor[rows, t, i] = (products[:, i] - before) / factor[rows, i, i]
    rest = squares - _dots(factor[rows, t, :t], factor[rows, t, :t])
    is_new = rest > _DEPENDENT * squares
    factor[rows, t, t] = np.sqrt(np.where(is_new, rest, 1.0))
    return np.asarray(is_new)


def _solve_upper(factor: FloatArray, target: FloatArray) -> FloatArray:
    """Solve L^T c = y for many small lower factors L at a time, by back substitution."""
    b, t, _ = factor.shape
    solution = np.zeros((b, t))
    for i in range(t - 1, -1, -1):
        after = _dots(factor[:, i + 1 :, i], solution[:, i + 1 :])
        solution[:, i] = (target[:, i] - after) / factor[:, i, i]
    return solution


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", a, b), dtype=np.float64)


def _row_dots(A: Block, B: Block) -> FloatArray:
    """Inner product of each row of A with the same row of B, dense or sparse."""
    if sparse.issparse(A):
        return np.asarray((A * B).sum(axis=1), dtype=np.float64).ravel()
    return _dots(A, B)


def _products(atoms: Block, support: IntArray, chosen: IntArray) -> FloatArray:
    """Inner products (b, t) of each row's new atom with the atoms it has."""
    b, t = support.shape
    if sparse.issparse(atoms):
        pairs = _row_dots(atoms[support.ravel()], atoms[np.repeat(chosen, t)])
        return pairs.reshape(b, t)
    products: FloatArray = np.matmul(atoms[support], atoms[chosen][:, :, None])[:, :, 0]
    return products


def _combine(atoms: Block, support: IntArray, weights: FloatArray) -> Block:
    """Weighted sums (b, d) of each row's atoms."""
    if sparse.issparse(atoms):
        return _as_csr(support, weights, atoms.shape[0]) @ atoms
    return np.matmul(weights[:, None, :], atoms[support])[:, 0]


def _as_csr(support: IntArray, weights: FloatArray, m: int) -> Any:
    used = support >= 0
    rows = np.nonzero(used)[0]
    entries = (weights[used], (rows, support[used]))
    return sparse.csr_array(entries, shape=(len(support), m))
