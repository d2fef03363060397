"""Fast multi-view clustering via ensembles: many quick clusterings of random views (FastMICE)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.baselines.rowwise import RowwiseBaseline
from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.landmarks import (
    choose_landmarks,
    gaussian_weights,
    nearest_anchors,
)
from manyview.baselines.steps.transfer_cut import TransferCut, fit_transfer_cut
from manyview.stages.graph import side_by_side_graphs
from manyview.views.container import Block, Views

Labels = npt.NDArray[np.int32]

_LEAST_SHARE, _MOST_SHARE = 0.2, 0.8  # of a view's columns that a member sees
_SAMPLE_ROWS_PER_ANCHOR = 10
_SWEEPS = 5


@dataclass(eq=False, repr=False)
class FastMICE(RowwiseBaseline):
    r"""Consensus of many quick clusterings, each of some columns of some views.

    Each member draws some of the views, and of each between a fifth and four fifths of its columns;
    ties every row to its nearest of many anchors; and cuts that graph into k to 2k clusters. A last
    cut, of the graph between rows and all members' clusters, gives the labels [1]_. Nothing is tuned:
    the settings are the same for all data. Neighbours are searched exactly here, where the authors'
    program approximates. Features enter as they are. Time and memory are linear in the number of rows.

    Parameters
    ----------
    n_clusters : int, default 8
        Number k of clusters.
    n_members : int, default 20
        Quick clusterings.
    n_anchors : int, default 1000
        Anchors of a member, of all its views together; half of the rows if that is less.
    n_neighbors : int, default 5
        Anchors that a row is tied to in a member, in all its views together.
    random_state : None, int, RandomState or Generator
        Draws members and starts k-means; an int gives the same labels every time.
    verbose : int, default 0
        Log progress at level INFO instead of DEBUG.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    member_labels_ : ndarray of int32 of shape (n, n_members)
        Labels of each member.
    n_iter_ : int
        Number of members.

    See Also
    --------
    LSC : one of its members, on all columns.
    manyview.LMVSC : several seeds of anchors joined.

    Notes
    -----
    A member draws a number of clusters between k and 2k, some of the views, and 20 to 80 % of the
    columns of each. A row x has the weights :math:`\exp(-\|x - a_j\|^2 / (2 \sigma^2))` to its
    nearest anchors :math:`a_j`, scaled to unit length; :math:`\sigma` is the mean distance to them.
    These weights B of all its views, side by side, are cut as a bipartite graph: with :math:`D_x` the
    row sums of B, :math:`W = B^T D_x^{-1} B` and :math:`D_y` the row sums of W, E has the leading
    eigenvectors of :math:`D_y^{-1/2} W D_y^{-1/2}` times :math:`D_y^{-1/2}`, and the rows of
    :math:`D_x^{-1} B E`, of unit length, go to k-means. The consensus is the same cut of the graph
    between rows and the clusters of all members.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang, J.-H. Lai, "Fast multi-view clustering via ensembles: towards
       scalability, superiority, and simplicity", IEEE TKDE 2023.

    Examples
    --------
    >>> from manyview import datasets
    >>> from manyview.baselines import FastMICE
    >>> views = datasets.make_views(90, 3, (6, 9), separation=9.0, random_state=0)
    >>> model = FastMICE(n_clusters=3, random_state=0).fit(views)
    >>> len(set(zip(views.target, model.labels_)))
    3
    >>> bool((model.predict(views) == model.labels_).all())
    True
    """

    _takes_missing: ClassVar[bool] = False

    n_clusters: int = 8
    _: KW_ONLY
    n_members: int = 20
    n_anchors: int = 1000
    n_neighbors: int = 5
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        self._check_counts("n_members", "n_anchors", "n_neighbors")

    def _learn(self, views: Views, rng: np.random.Generator) -> None:
        members, labels = [], []
        for number in range(self.n_members):
            self._log("FastMICE: member %d of %d", number + 1, self.n_members)
            member, found = self._fit_member(views, rng)
            members.append(member)
            labels.append(found)
        self._members = members
        self._n_found = [len(member.cut.centers) for member in members]
        self.member_labels_ = np.stack(labels, axis=1)
        self._consensus = fit_transfer_cut(
            self._one_hot(self.member_labels_), self.n_clusters, n_init=5, max_iter=20, rng=rng
        )
        self.n_iter_ = self.n_members

    def _fit_member(self, views: Views, rng: np.random.Generator) -> tuple[_Member, Labels]:
        n, k = views.n_rows, self.n_clusters
        n_found = int(rng.integers(k, 2 * k + 1))
        n_views = int(rng.integers(1, views.n_views + 1))
        chosen = rng.choice(views.n_views, n_views, replace=False)
        n_anchors = -(-min(self.n_anchors, max(n // 2, k)) // n_views)
        n_neighbors = min(-(-self.n_neighbors // n_views), n_anchors)
        parts = [_fit_part(views.arrays[v], int(v), n_anchors, n_neighbors, rng) for v in chosen]
        graph = side_by_side_graphs([part.graph(views.arrays[part.view]) for part in parts])
        cut = fit_transfer_cut(graph, min(n_found, n), n_init=1, max_iter=_SWEEPS, rng=rng)
        return _Member(parts, cut), cut.label(graph)

    def _label(self, views: Views) -> Labels:
        labels = np.stack([member.label(views) for member in self._members], axis=1)
        return self._consensus.label(self._one_hot(labels))

    def _one_hot(self, labels: Labels) -> Any:
        """The graph between rows and the clusters of all members."""
        first = np.concatenate([[0], np.cumsum(self._n_found)])
        n, count = labels.shape
        columns = (labels + first[:-1]).ravel()
        ones, indptr = np.ones(len(columns)), count * np.arange(n + 1)
        return sparse.csr_array((ones, columns, indptr), shape=(n, int(first[-1])))


@dataclass(frozen=True)
class _Part:
    """Some columns of one view, anchors among them, and the width of the kernel."""

    view: int
    columns: npt.NDArray[np.intp]
    anchors: FloatArray
    n_neighbors: int
    width: float

    def graph(self, X: Block) -> Any:
        """Gaussian weights of each row's nearest anchors, of unit length; csr_array (n, m)."""
        squares, nearest = nearest_anchors(_take(X, self.columns), self.anchors, self.n_neighbors)
        weights = gaussian_weights(squares, self.width)
        weights /= np.sqrt((weights**2).sum(axis=1, keepdims=True))
        indptr = self.n_neighbors * np.arange(X.shape[0] + 1)
        shape = (X.shape[0], len(self.anchors))
        graph = sparse.csr_array((weights.ravel(), nearest.ravel(), indptr), shape=shape)
        graph.sort_indices()
        return graph


@dataclass(frozen=True)
class _Member:
    """One quick clustering."""

    parts: list[_Part]
    cut: TransferCut

    def label(self, views: Views) -> Labels:
        """The cluster of each row."""
        graphs = [part.graph(views.arrays[part.view]) for part in self.parts]
        return self.cut.label(side_by_side_graphs(graphs))


def _fit_part(
    X: Block, view: int, n_anchors: int, n_neighbors: int, rng: np.random.Generator
) -> _Part:
    n, d = X.shape
    share = rng.uniform(_LEAST_SHARE, _MOST_SHARE)
    columns = np.sort(rng.choice(d, max(1, int(share * d)), replace=False))
    rows = np.sort(rng.choice(n, min(n, _SAMPLE_ROWS_PER_ANCHOR * n_anchors), replace=False))
    sample = _take(X[rows], columns)
    anchors, _ = choose_landmarks(sample, n_anchors, rng, n_sweeps=_SWEEPS)
    squares, _ = nearest_anchors(_take(X, columns), anchors, n_neighbors)
    return _Part(view, columns, anchors, n_neighbors, float(np.sqrt(squares).mean()))


def _take(X: Block, columns: npt.NDArray[np.intp]) -> Block:
    return X[:, columns].astype(np.float64)
