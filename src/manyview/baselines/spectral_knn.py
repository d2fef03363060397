"""Spectral clustering of the nearest-neighbour graph of all views side by side."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import SpectralClustering

from manyview.baselines.base import Baseline
from manyview.baselines.steps.scaling import SCALINGS, scale_and_join
from manyview.checks import check_option
from manyview.views.container import Views


@dataclass(eq=False, repr=False)
class SpectralKNN(Baseline):
    r"""Spectral clustering as scikit-learn does it, on all views side by side.

    What one would try first: views are scaled, given the same energy and put side by side; every row is
    linked to its nearest neighbours; and ``sklearn.cluster.SpectralClustering`` cuts the graph. Finding
    neighbours takes time that grows with the square of the rows where columns are many.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    n_neighbors : int, default 10
        Neighbours of a row, itself included; all rows if there are fewer.
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
    n_iter_ : int
        Always 1.

    See Also
    --------
    AMGL : a graph for each view.
    UMAPKMeans : a map of the same neighbours.

    Notes
    -----
    With :math:`W = (C + C^T) / 2`, where :math:`C_{ij}` is 1 if row j is among the nearest neighbours of
    row i, and D the diagonal matrix of its row sums, the rows of the k leading eigenvectors of
    :math:`D^{-1/2} W D^{-1/2}`, times :math:`D^{-1/2}`, go to k-means: a relaxation of the
    normalised cut.

    Examples
    --------
    >>> from manyview import datasets
    >>> from manyview.baselines import SpectralKNN
    >>> views = datasets.make_views(90, 3, (6, 9), separation=9.0, random_state=0)
    >>> labels = SpectralKNN(n_clusters=3, random_state=0).fit_predict(views)
    >>> len(set(zip(views.target, labels)))
    3
    """

    _least_rows: ClassVar[int] = 2

    n_clusters: int = 8
    _: KW_ONLY
    n_neighbors: int = 10
    scaling: str | None = "standard"
    n_init: int = 10
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("scaling", self.scaling, SCALINGS)
        self._check_counts("n_neighbors", "n_init")

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        X = scale_and_join(views.arrays, self.scaling)
        model = SpectralClustering(
            self.n_clusters,
            affinity="nearest_neighbors",
            n_neighbors=min(self.n_neighbors, X.shape[0]),
            n_init=self.n_init,
            random_state=int(rng.integers(2**31)),
        )
        self.n_iter_ = 1
        if self.n_clusters in (1, X.shape[0]):
            self.labels_ = np.arange(X.shape[0], dtype=np.int32) % self.n_clusters
            return
        with warnings.catch_warnings():
            # It falls into pieces where clusters lie far apart: then the pieces are what is found.
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            self.labels_ = model.fit_predict(X).astype(np.int32)
