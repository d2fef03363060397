"""k-means on a UMAP map of all views side by side; needs the optional package umap-learn."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from manyview.baselines.base import Baseline
from manyview.baselines.steps.scaling import SCALINGS, scale_and_join
from manyview.checks import check_count, check_number, check_option
from manyview.views.container import Views


@dataclass(eq=False, repr=False)
class UMAPKMeans(Baseline):
    r"""k-means on a low-dimensional map made by UMAP, as its documentation advises for clustering.

    Views are scaled, given the same energy and put side by side, then mapped by UMAP [1]_. Neighbours
    are found exactly, so labels do not depend on the luck of an approximate search; that takes time
    that grows with the square of the rows. Needs ``pip install 'manyview[umap]'``.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    n_components : int, default 2
        Dimensions of the map.
    n_neighbors : int, default 30
        Neighbours of a row that the map keeps near; at most one fewer than there are rows.
    min_dist : float, default 0.0
        How near rows may lie on the map; 0 suits clustering.
    scaling : {None, "standard", "unit"}, default "standard"
        What is done to each view first: nothing; each column divided by its standard deviation; or
        each row scaled to unit length.
    n_init : int, default 10
        Restarts of k-means, of which the one with the least inertia is kept.
    random_state, verbose : int, RandomState, int
        As in :class:`~manyview.baselines.SSCOMP`.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    embedding_ : ndarray of shape (n, n_components)
        The map.
    n_iter_ : int
        Always 1.

    See Also
    --------
    SpectralKNN : cuts the graph of neighbours instead.
    manyview.LMVSC : linear in rows.

    Notes
    -----
    UMAP ties row i to its neighbours j with :math:`p_{j|i} = \exp(-\max(0, d_{ij} - \rho_i) /
    \sigma_i)`, where :math:`\rho_i` is the distance to the nearest of them and :math:`\sigma_i` is
    such that the sum over j is :math:`\log_2` of their number; :math:`p = p_{j|i} + p_{i|j} -
    p_{j|i} p_{i|j}`. The map minimises the cross-entropy between p and :math:`q_{ij} = (1 + a \|y_i
    - y_j\|^{2b})^{-1}`, with a and b from ``min_dist``.

    References
    ----------
    .. [1] L. McInnes, J. Healy, J. Melville, "UMAP: uniform manifold approximation and projection for
       dimension reduction", arXiv 1802.03426.

    Examples
    --------
    >>> from manyview import datasets
    >>> from manyview.baselines import UMAPKMeans
    >>> views = datasets.make_views(90, 3, (6, 9), random_state=0)
    >>> UMAPKMeans(3, random_state=0).fit_predict(views).shape  # doctest: +SKIP
    (90,)
    """

    _least_rows: ClassVar[int] = 5

    n_clusters: int = 8
    _: KW_ONLY
    n_components: int = 2
    n_neighbors: int = 30
    min_dist: float = 0.0
    scaling: str | None = "standard"
    n_init: int = 10
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("scaling", self.scaling, SCALINGS)
        check_number("min_dist", self.min_dist, least=0)
        check_count("n_neighbors", self.n_neighbors, least=2)
        self._check_counts("n_components", "n_init")

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        X = scale_and_join(views.arrays, self.scaling)
        self.embedding_ = map_rows(
            X,
            int(rng.integers(2**31)),
            n_components=self.n_components,
            n_neighbors=self.n_neighbors,
            min_dist=self.min_dist,
        )
        seed = int(rng.integers(2**31))
        model = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed)
        self.labels_ = model.fit_predict(self.embedding_).astype(np.int32)
        self.n_iter_ = 1


def map_rows(
    X: Any, seed: int, *, n_components: int = 2, n_neighbors: int = 30, min_dist: float = 0.0
) -> Any:
    """UMAP's map of rows (n, d), by their exact neighbours; ndarray of shape (n, n_components)."""
    try:
        from umap import UMAP
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "UMAPKMeans needs the package umap-learn: pip install 'manyview[umap]'."
        ) from error
    n_neighbors = min(n_neighbors, X.shape[0] - 1)
    distances, near = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors(X)
    mapper = UMAP(
        n_components=n_components,
        n_neighbors=n_neighbors,
        min_dist=min_dist,
        precomputed_knn=(near, distances),
        init="spectral" if X.shape[0] > 2 * n_components + 2 else "random",
        random_state=seed,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what umap says of its own arguments
        return mapper.fit_transform(sparse.csr_matrix(X) if sparse.issparse(X) else X)
