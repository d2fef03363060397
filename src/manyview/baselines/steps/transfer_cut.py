"""Normalised cut of a graph between rows and anchors, as a map that new rows can take too."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.scaling import inverse_roots
from manyview.stages.mapping import unit_rows


@dataclass(frozen=True)
class TransferCut:
    """Rows of a bipartite graph -> clusters."""

    vectors: FloatArray  # E (p, k): leading eigenvectors of the anchors' graph, by roots of degrees
    centers: FloatArray  # (k, k), directions of the clusters among rows of unit length

    def embed(self, B: Any) -> FloatArray:
        """Mean of the anchors' vectors, weighted by each row of ``B`` (n, p), to unit length."""
        totals = np.asarray(B.sum(axis=1)).ravel()
        return unit_rows((B @ self.vectors) / np.where(totals > 0, totals, 1.0)[:, None])

    def label(self, B: Any) -> npt.NDArray[np.int32]:
        """The direction that each row agrees with most."""
        return np.asarray((self.embed(B) @ self.centers.T).argmax(axis=1), np.int32)


def fit_transfer_cut(
    B: Any, n_clusters: int, *, n_init: int, max_iter: int, rng: np.random.Generator
) -> TransferCut:
    r"""Cut the graph ``B`` (n, p) between rows and anchors into clusters, at a cost linear in n.

    With row sums :math:`D_x`, the anchors' graph is :math:`B^T D_x^{-1} B`, with degrees
    :math:`D_y`; its leading normalised eigenvectors give those of the whole graph (Li, Wu and Chang,
    CVPR 2012). k-means by cosine on the rows, ``n_init`` starts of ``max_iter`` rounds, gives clusters.

    Examples
    --------
    >>> B = sparse.csr_array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    >>> cut = fit_transfer_cut(B, 2, n_init=5, max_iter=20, rng=np.random.default_rng(0))
    >>> labels = cut.label(B)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    totals = np.asarray(B.sum(axis=1)).ravel()
    scaled = sparse.diags_array(1 / np.sqrt(np.where(totals > 0, totals, 1.0))) @ B
    W = (scaled.T @ scaled).toarray()
    degrees = W.sum(axis=0)
    roots = inverse_roots(degrees)
    p = len(W)
    k = min(n_clusters, p)
    _, vectors = linalg.eigh(roots[:, None] * W * roots, subset_by_index=(p - k, p - 1))
    cut = TransferCut(roots[:, None] * vectors[:, ::-1], np.empty((0, k)))
    rows = cut.embed(B)
    model = KMeans(
        min(n_clusters, len(rows)), init="random", n_init=n_init, max_iter=max_iter,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    with warnings.catch_warnings():
        # Fewer distinct rows than clusters: some clusters stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows)
    return TransferCut(cut.vectors, unit_rows(model.cluster_centers_))
