"""Graph -> spectral embedding -> labels, the last step of most baselines.

The normalised spectral clustering of Ng, Jordan and Weiss (NIPS 2001), with a sparse iterative
eigensolver, and its form for a bipartite graph of samples and exemplars, which is linear in n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.utils.extmath import row_norms

from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.scaling import inverse_roots
from manyview.checks import as_generator
from manyview.stages.eigen import largest_eigenpairs, leading_eigenvectors

_NEGLIGIBLE = 1e-10
"""Share of the longest row below which an embedding row is rounding error, not a direction."""


def spectral_embedding(
    W: Any, n_components: int, *, normalise_rows: bool = True, random_state: Any = None
) -> FloatArray:
    """Eigenvectors of the largest eigenvalues of D^(-1/2) W D^(-1/2), a row a vertex.

    Isolated vertices take no part in the eigenproblem, where each would claim a vector of its own;
    their rows are zero. So are rows of vertices that the leading vectors do not touch, which
    happens if the graph has more connected components than vectors are asked for.

    ``W`` is dense or CSR, symmetric, none of its weights negative; its diagonal counts as
    self-loops. With ``normalise_rows`` each row that is not zero is scaled to unit length.

    Returns
    -------
    ndarray of shape (n, n_components)
        Always finite. Each vector has the sign that makes its largest entry positive. Columns
        beyond the number of vertices with edges are zero.

    Examples
    --------
    Two pairs and a vertex without edges:

    >>> W = np.zeros((5, 5))
    >>> W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = 1
    >>> F = spectral_embedding(W, 2, random_state=0)
    >>> [bool(np.allclose(F[i], F[j])) for i, j in [(0, 1), (2, 3), (0, 2)]], F[4].tolist()
    ([True, True, False], [0.0, 0.0])
    """
    n, smallest, largest = W.shape[0], W.min(), W.max()
    # Not finite: of values so large that a method could not go on.
    if not np.isfinite(smallest + largest) or smallest < 0:
        raise ValueError(
            f"A graph's weights must be finite and none negative; they run from {smallest} to "
            f"{largest}."
        )
    degrees = np.asarray(W.sum(axis=0), dtype=np.float64).ravel()
    linked = np.flatnonzero(degrees > 0)
    F = np.zeros((n, n_components))
    if not len(linked):
        return F
    if len(linked) < n:
        W, degrees = W[linked][:, linked], degrees[linked]
    # The square root first: a product of two tiny degrees would underflow.
    scale = 1 / np.sqrt(degrees)
    M = (
        sparse.csr_array(sparse.diags_array(scale) @ W @ sparse.diags_array(scale))
        if sparse.issparse(W)
        else scale[:, None] * W * scale
    )
    k = min(n_components, len(linked))
    _, vectors = leading_eigenvectors(M, k, rng=as_generator(random_state))
    F[linked, :k] = _fix_signs(vectors)
    return _unit_rows(F) if normalise_rows else F


def bipartite_embedding(B: Any, n_components: int, *, normalise_rows: bool = True) -> FloatArray:
    """Left singular vectors of D_r^(-1/2) B D_c^(-1/2): the samples' side of a bipartite graph.

    For a graph between n samples and m exemplars these are the samples' rows of what
    :func:`spectral_embedding` gives for the graph of n + m vertices, up to a constant, at a cost
    linear in n (Dhillon, KDD 2001).

    ``B`` (n, m) holds weights, none negative. Vectors (n, n_components) beyond its rank are zero, as
    are rows of samples without edges.

    Examples
    --------
    >>> B = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> F = bipartite_embedding(B, 2)
    >>> [bool(np.allclose(F[0], F[i])) for i in (1, 2)]
    [True, False]
    """
    B = sparse.csr_array(B, dtype=np.float64)
    n, m = B.shape
    rows, columns = (inverse_roots(np.asarray(B.sum(axis=axis)).ravel()) for axis in (1, 0))
    B = sparse.diags_array(rows) @ B @ sparse.diags_array(columns)
    k = min(n_components, n, m)
    values, vectors = largest_eigenpairs((B.T @ B).toarray(), k)
    values, vectors = values[::-1], vectors[:, ::-1]
    useful = values > 1e-12
    F = np.zeros((n, n_components))
    F[:, :k][:, useful] = (B @ vectors[:, useful]) / np.sqrt(values[useful])
    F = _fix_signs(F)
    return _unit_rows(F) if normalise_rows else F


def label_graph(
    W: Any,
    n_clusters: int,
    *,
    is_bipartite: bool = False,
    n_init: int = 20,
    random_state: Any = None,
) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """Labels (n,) and embedding (n, n_clusters) of the samples of a graph, by spectral clustering.

    The graph is between samples (n, n), or between samples and exemplars (n, m) if ``is_bipartite``.
    Samples without edges go to one cluster, see :func:`label_embedding`.

    Examples
    --------
    >>> labels, _ = label_graph(np.kron(np.eye(2), np.ones((3, 3))), 2, random_state=0)
    >>> len(set(labels[:3])), len(set(labels[3:])), bool(labels[0] != labels[3])
    (1, 1, True)
    """
    rng = as_generator(random_state)
    if is_bipartite:
        F = bipartite_embedding(W, n_clusters)
    else:
        F = spectral_embedding(W, n_clusters, random_state=rng)
    return label_embedding(F, n_clusters, n_init=n_init, random_state=rng), F


def label_embedding(
    F: FloatArray, n_clusters: int, *, n_init: int = 20, random_state: Any = None
) -> npt.NDArray[np.int32]:
    """Labels of embedding rows by k-means; zero rows join the cluster with the nearest centre.

    Zero rows (vertices without edges) take no part in k-means, where they would hold a centre of
    their own, unless fewer other rows than clusters are left. Of ``n_init`` starts the one with the
    lowest inertia is kept.

    Examples
    --------
    >>> F = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.0, 0.0]])
    >>> labels = label_embedding(F, 2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    placed = np.asarray(F.any(axis=1))
    if placed.sum() < n_clusters:
        placed = np.ones_like(placed)
    seed = int(as_generator(random_state).integers(2**31))
    model = KMeans(n_clusters, n_init=n_init, random_state=seed, max_iter=300)
    labels = np.empty(len(F), dtype=np.int32)
    labels[placed] = model.fit_predict(F[placed])
    labels[~placed] = np.argmin(row_norms(model.cluster_centers_, squared=True))
    return labels


def _fix_signs(vectors: FloatArray) -> FloatArray:
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def _unit_rows(F: FloatArray) -> FloatArray:
    norms = row_norms(F)
    noise = norms <= _NEGLIGIBLE * norms.max()
    scaled = F / np.where(noise, 1.0, norms)[:, None]
    scaled[noise] = 0.0
    return scaled
