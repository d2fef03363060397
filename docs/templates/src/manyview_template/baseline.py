"""Clusters around rows that lie far apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import euclidean_distances

from manyview.baselines.base import Baseline
from manyview.baselines.steps.scaling import SCALINGS, scale_and_join
from manyview.checks import check_option
from manyview.views.container import Views


class FarthestFirst(Baseline):
    r"""Each row with the nearest of k rows, each the farthest from those before it.

    The largest distance of a row x to its centre c, :math:`\max_x \min_c \|x - c\|`, is at most twice
    the least that any k centres reach [1]_. Sparse views stay sparse.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    scaling : {None, "standard", "unit"}, default "standard"
        What is done to each view before they are put side by side.
    random_state : None, int, RandomState or Generator
        Chooses the first centre.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    radius_ : float
        The largest distance of a row to its centre.
    n_iter_ : int
        Centres that were chosen.

    See Also
    --------
    manyview.baselines.KMeans : centres that may lie anywhere.

    References
    ----------
    .. [1] T. F. Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical
       Computer Science 38, 1985; the algorithm of section 3.

    Examples
    --------
    >>> from manyview import datasets
    >>> views = datasets.make_views(90, 3, (6, 9), separation=9.0, random_state=0)
    >>> labels = FarthestFirst(n_clusters=3, random_state=0).fit_predict(views)
    >>> len(set(zip(views.target, labels)))
    3
    """

    def __init__(
        self, n_clusters: int = 8, *, scaling: str | None = "standard", random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.scaling = scaling
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_option("scaling", self.scaling, SCALINGS)

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        X = scale_and_join(views.arrays, self.scaling)
        nearest, labels = np.full(len(views), np.inf), np.zeros(len(views), np.int32)
        center = int(rng.integers(len(views)))
        for label in range(self.n_clusters):
            distances = euclidean_distances(X, X[[center]]).ravel()
            is_nearer = distances < nearest
            nearest[is_nearer], labels[is_nearer] = distances[is_nearer], label
            center = int(nearest.argmax())
        self.labels_, self.radius_, self.n_iter_ = labels, float(nearest.max()), self.n_clusters
