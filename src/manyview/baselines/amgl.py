"""Auto-weighted multiple graph learning (AMGL), on neighbour graphs or on anchor graphs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyview.baselines.base import Baseline
from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.landmarks import anchor_graph, choose_n_anchors
from manyview.baselines.steps.neighbours import neighbour_weights, normalised_graph
from manyview.baselines.steps.scaling import SCALINGS, inverse_roots, scale_view
from manyview.baselines.steps.spectral import label_embedding
from manyview.checks import check_count, check_number, check_option, is_auto
from manyview.stages.eigen import leading_eigenvectors
from manyview.stages.mapping import unit_rows
from manyview.stages.view_weights import anchor_view_weights, fused_basis, reweight
from manyview.views.container import Views

_MOST_ANCHORS = 300


@dataclass(eq=False, repr=False)
class AMGL(Baseline):
    r"""Spectral clustering of several graphs at once, which weights the views by itself.

    Minimises :math:`\sum_v \sqrt{\mathrm{tr}(F^T L_v F)}` over :math:`F^T F = I_k`, with
    :math:`L_v` the normalised Laplacian of view v. The root's derivative is the view's weight,
    :math:`w_v = 1 / (2 \sqrt{\mathrm{tr}(F^T L_v F)})`: for given weights F holds the eigenvectors of
    the k smallest eigenvalues of :math:`\sum_v w_v L_v`, and the two are found in turn. There is no
    parameter that balances the views. k-means on the rows of F gives the labels [1]_.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    graph : {"neighbours", "anchors"}, default "neighbours"
        "neighbours" is the published method: a graph of nearest neighbours for each view, found by
        comparing all pairs of rows in time that grows with n squared (but memory only with n).
        "anchors" takes :math:`L_v = I - B_v B_v^T` with :math:`B_v` the degree-normalised weights
        between rows and anchors [2]_; everything is then linear in n.
    n_neighbors : int, default 5
        Neighbours of a row, or anchors, that get weight; at most n - 2 rows, or all anchors.
    n_anchors : int or "auto", default "auto"
        Anchors of each view, for ``graph="anchors"``: "auto" is 300, or a third of the rows if that
        is less, but no fewer than clusters.
    scaling : {None, "standard", "unit"}, default None
        What is done to each view first: nothing, as published; each column divided by its standard
        deviation; or each row scaled to unit length.
    normalise_rows : bool, default False
        Scale the rows of F to unit length before k-means. The published method does not.
    max_iter : int, default 100
        Most sweeps over weights and vectors.
    tol : float, default 1e-8
        Stop when the objective falls by less than this share of itself.
    n_init, random_state, verbose : int, RandomState, int
        As in :class:`~manyview.baselines.SSCOMP`.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    view_weights_ : ndarray of shape (v,)
        Weight found for each view; their sum is one.
    embedding_ : ndarray of shape (n, n_clusters)
        F, with rows of unit length if ``normalise_rows``. An anchor graph of lower rank gives fewer
        columns.
    objective_ : ndarray of shape (n_iter_,)
        The objective after each sweep; it never rises.
    n_iter_ : int
        Number of sweeps.

    See Also
    --------
    SpectralKNN : one graph of all views side by side.
    LSC : a graph between rows and anchors.

    References
    ----------
    .. [1] F. Nie, J. Li, X. Li, "Parameter-free auto-weighted multiple graph learning",
       IJCAI 2016.
    .. [2] X. Chen, D. Cai, "Large scale spectral clustering with landmark-based representation",
       AAAI 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.baselines import AMGL
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1, 2], 30)
    >>> views = {"shape": np.eye(3)[truth] + 0.1 * rng.normal(size=(90, 3)),
    ...          "noise": rng.normal(size=(90, 4))}
    >>> model = AMGL(n_clusters=3, random_state=0).fit(views)
    >>> len(set(zip(truth, model.labels_)))
    3
    >>> bool(model.view_weights_[0] > 0.9)
    True
    """

    _least_rows = 2

    n_clusters: int = 8
    _: KW_ONLY
    graph: str = "neighbours"
    n_neighbors: int = 5
    n_anchors: int | str = "auto"
    scaling: str | None = None
    normalise_rows: bool = False
    n_init: int = 20
    max_iter: int = 100
    tol: float = 1e-8
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("graph", self.graph, ("neighbours", "anchors"))
        check_option("scaling", self.scaling, SCALINGS)
        self._check_counts("n_neighbors", "n_init", "max_iter")
        if not is_auto(self.n_anchors):
            check_count("n_anchors", self.n_anchors)
        check_number("tol", self.tol, least=0)

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        fuse = self._fuse_neighbours if self.graph == "neighbours" else self._fuse_anchors
        self.view_weights_, objective, F = fuse(views, rng)
        fall = np.inf if len(objective) < 2 else (objective[-2] - objective[-1]) / objective[-2]
        if len(objective) == self.max_iter and fall > self.tol and self.n_views_ > 1:
            self._warn_unsettled(
                f"AMGL stopped at max_iter={self.max_iter} while its objective still fell by "
                f"{fall:.1e} of itself a sweep (tol={self.tol:g}). Raise max_iter or tol."
            )
        self.objective_ = np.array(objective)
        self.n_iter_ = len(objective)
        self.embedding_ = unit_rows(F) if self.normalise_rows else F
        self.labels_ = label_embedding(
            self.embedding_, self.n_clusters, n_init=self.n_init, random_state=rng
        )

    def _fuse_neighbours(
        self, views: Views, rng: np.random.Generator
    ) -> tuple[FloatArray, list[float], FloatArray]:
        """Weights, objective and vectors of the neighbour graphs."""
        k, graphs = self.n_clusters, []
        for name, array in views.items():
            self._log("AMGL: neighbours of view %r", name)
            scaled = scale_view(array, self.scaling)
            graphs.append(normalised_graph(neighbour_weights(scaled, self.n_neighbors)))
        F: FloatArray | None = None

        def cuts(weights: FloatArray) -> FloatArray:
            nonlocal F
            fused = sum(w * graph for w, graph in zip(weights, graphs, strict=True))
            _, F = leading_eigenvectors(fused, k, start=F, rng=rng)
            self._log("AMGL: view weights %s", weights.round(4))
            return np.array([k - float(np.sum(F * (graph @ F))) for graph in graphs])

        weights, objective = reweight(cuts, len(graphs), max_iter=self.max_iter, tol=self.tol)
        assert F is not None
        return weights, objective, F

    def _fuse_anchors(
        self, views: Views, rng: np.random.Generator
    ) -> tuple[FloatArray, list[float], FloatArray]:
        """Weights, objective and vectors of the anchor graphs."""
        k = self.n_clusters
        m = choose_n_anchors(self.n_anchors, views.n_rows, k, most=_MOST_ANCHORS)
        graphs = []
        for name, array in views.items():
            self._log("AMGL: %d anchors of view %r", m, name)
            Z, _ = anchor_graph(scale_view(array, self.scaling), m, self.n_neighbors, rng)
            degrees = np.asarray(Z.sum(axis=0)).ravel()
            graphs.append(Z @ sparse.diags_array(inverse_roots(degrees)))
        B = sparse.csr_array(sparse.hstack(graphs, format="csr"))
        gram, sizes = (B.T @ B).toarray(), [m] * len(graphs)
        weights, objective = anchor_view_weights(
            gram, sizes, k, max_iter=self.max_iter, tol=self.tol
        )
        self._log("AMGL: view weights %s", weights.round(4))
        return weights, objective, B @ fused_basis(gram, sizes, weights, k)
