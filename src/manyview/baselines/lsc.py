"""Landmark spectral clustering (LSC): the hand-made anchor graph, for one view or several."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import reduce
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from manyview.baselines.base import Baseline
from manyview.baselines.steps.landmarks import anchor_graph, choose_n_anchors
from manyview.baselines.steps.scaling import SCALINGS, scale_view
from manyview.baselines.steps.spectral import label_embedding
from manyview.checks import check_option
from manyview.stages.embedding import Embedding, spectral_basis
from manyview.stages.fusion import column_scales, graph_moments
from manyview.stages.grams import fused_gram
from manyview.stages.graph import GraphTile, side_by_side_graphs
from manyview.views.container import Views

_MOST_ANCHORS = 500
_BLOCK_ROWS = 4096


@dataclass(eq=False, repr=False)
class LSC(Baseline):
    r"""Spectral clustering of a graph between rows and their nearest anchors.

    Each row is tied to its r nearest anchors with Gaussian weights that sum to one (Eq. 3 of the
    LMVSC paper); :math:`Z \Sigma^{-1} Z^T` with :math:`\Sigma` the anchors' degrees (Eq. 4) is the graph
    between rows, never formed. Several views are fused as in LMVSC: their anchor graphs side by side,
    each times :math:`1/\sqrt{v}`. What differs from LMVSC is only where the weights come from: here
    they are made by hand, there they are learned [1]_.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    n_anchors : int or "auto", default "auto"
        Anchors of each view: "auto" is 500, or a third of the rows if that is less, but no fewer
        than clusters.
    n_neighbors : int, default 5
        Anchors that a row is tied to, r.
    scaling : {None, "standard", "unit"}, default None
        What is done to each view first: nothing; each column divided by its standard deviation; or
        each row scaled to unit length.
    normalise_rows : bool, default True
        Scale the embedding's rows to unit length before k-means.
    n_init, random_state, verbose : int, RandomState, int
        As in :class:`~manyview.baselines.SSCOMP`.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    embedding_ : ndarray of shape (n, n_clusters)
        Leading left singular vectors of the fused graph; fewer columns where its rank is lower.
    singular_values_ : ndarray
        Of the fused graph, descending.
    kernel_widths_ : ndarray of shape (v,)
        Width of each view's Gaussian: the mean distance of sampled rows to their r-th nearest anchor.
    n_iter_ : int
        Always 1: nothing is iterated but k-means.

    See Also
    --------
    manyview.LMVSC : weights that are learned.
    AMGL : weights of the views found with the cut.

    References
    ----------
    .. [1] X. Chen, D. Cai, "Large scale spectral clustering with landmark-based representation",
       AAAI 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.baselines import LSC
    >>> truth = np.repeat([0, 1, 2], 30)
    >>> X = np.eye(3)[truth] + 0.1 * np.random.default_rng(0).normal(size=(90, 3))
    >>> len(set(zip(truth, LSC(n_clusters=3, random_state=0).fit_predict(X))))
    3
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_anchors: int | str = "auto"
    n_neighbors: int = 5
    scaling: str | None = None
    normalise_rows: bool = True
    n_init: int = 20
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("scaling", self.scaling, SCALINGS)
        self._check_counts("n_neighbors", "n_init")

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        m = choose_n_anchors(self.n_anchors, views.n_rows, self.n_clusters, most=_MOST_ANCHORS)
        graphs, widths = [], []
        for name, array in views.items():
            self._log("LSC: %d anchors of view %r", m, name)
            scaled = scale_view(array, self.scaling)
            Z, width = anchor_graph(scaled, m, self.n_neighbors, rng)
            graphs.append(Z)
            widths.append(width)
        self.kernel_widths_ = np.array(widths)
        self._embed(side_by_side_graphs(graphs), [m] * views.n_views)
        self.labels_ = label_embedding(
            self.embedding_, self.n_clusters, n_init=self.n_init, random_state=rng
        )
        self.n_iter_ = 1

    def _embed(self, Z: Any, sizes: list[int]) -> None:
        """Set the embedding from graph rows, by LMVSC's own stages, a block of rows at a time."""
        Z.sort_indices()
        tiles = [GraphTile((Z[rows],), 0) for rows in gen_batches(Z.shape[0], _BLOCK_ROWS)]
        moments = reduce(lambda total, part: total + part, map(graph_moments, tiles))
        scales = column_scales(
            moments.column_sums[0], sizes, [1.0 / len(sizes)] * len(sizes), degree_norm=True
        )
        basis = spectral_basis(fused_gram(moments.grams[0], scales), scales, self.n_clusters)
        self.singular_values_ = basis.singular_values
        embedding = Embedding((basis.transform,), self.normalise_rows)
        self.embedding_ = np.concatenate([embedding.rows(tile) for tile in tiles])
