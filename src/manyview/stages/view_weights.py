"""Gram blocks of the views' anchor graphs -> how much each view should count, without labels.

View v has an anchor graph B_v (n, m_v). All that is needed of it are the small products B_v' B_w,
held side by side as one symmetric matrix: rows are read once, whatever happens here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

from manyview.stages.eigen import gram_eigenvectors
from manyview.stages.embedding import LEAST_SHARE
from manyview.stages.fusion import column_scales, normalised
from manyview.stages.grams import Gram, RowsGram

FloatArray = npt.NDArray[np.float64]

_FLOOR = 1e-10
"""Added under square roots: a view that separates the clusters perfectly has a cut of zero."""

_LEAST_SWEEPS = 3
_IGNORED, _FULL = 0.1, 0.3  # shares of the best view's agreement


def anchor_view_weights(
    gram_blocks: npt.ArrayLike,
    sizes: Sequence[int],
    n_components: int,
    *,
    max_iter: int = 100,
    tol: float = 1e-8,
) -> tuple[FloatArray, list[float]]:
    r"""Weights that minimise the sum of the roots of the views' cuts (AMGL on anchor graphs).

    Minimises :math:`\sum_v \sqrt{\mathrm{tr}(F^T L_v F)}` over :math:`F^T F = I_k` by reweighting
    (Nie, Li and Li, IJCAI 2016, Eq. 6 to 9) with the anchor graphs' Laplacians
    :math:`L_v = I - B_v B_v^T`, for which :math:`\mathrm{tr}(F^T L_v F) = k - \|B_v^T F\|^2` and F
    holds the leading left singular vectors of :math:`[\sqrt{w_1} B_1, \ldots, \sqrt{w_V} B_V]`.

    A graph scaled by its column sums has spectral norm one. Others are divided by theirs first, so
    that :math:`L_v` has no negative eigenvalue, and their weight answers for the graph as given.

    ``gram_blocks`` (M, M) are :math:`B_v^T B_w` for all views v, w; ``sizes`` are the numbers of anchors
    of each view, M their sum; k is ``n_components``, usually the number of clusters. ``max_iter`` and
    ``tol`` are those of :func:`reweight`; a sweep solves an (M, M) eigenproblem. What you get are the
    weights of the :math:`B_v B_v^T` in the fused graph, which sum to one, and each sweep's objective.

    Examples
    --------
    A view of two clear clusters, and one that is half noise:

    >>> clear = np.kron(np.eye(2), np.full((5, 1), 5 ** -0.5))
    >>> vague = np.full((10, 2), 20 ** -0.5) + 0.1 * np.array([[1.0, -1.0]] * 3 + [[-1.0, 1.0]] * 7)
    >>> B = np.hstack([clear, vague])
    >>> weights, objective = anchor_view_weights(B.T @ B, [2, 2], 2)
    >>> bool(weights[0] > 0.9), bool(objective[-1] <= objective[0])
    (True, True)
    """
    gram = _check_gram(gram_blocks, sizes)
    norms = _spectral_norms(gram, sizes)
    columns = 1 / np.sqrt(np.repeat(norms, sizes))
    gram = gram * columns * columns[:, None]
    first_rows = np.cumsum([0, *sizes[:-1]])

    def cuts(weights: FloatArray) -> FloatArray:
        products = gram @ fused_basis(gram, sizes, weights, n_components)
        kept = np.add.reduceat(np.einsum("ij,ij->i", products, products), first_rows)
        return n_components - np.asarray(kept, dtype=np.float64)

    weights, objective = reweight(cuts, len(sizes), max_iter=max_iter, tol=tol)
    return normalised(weights / norms), objective


def agreement_weights(gram: Any, sizes: Sequence[int], n_clusters: int, n_rows: int) -> FloatArray:
    r"""Weights that leave out views which agree with no other view.

    With U_v the k leading left singular vectors of view v alone, two views agree by
    :math:`a_{vw} = \max(\|U_v^T U_w\|^2 - 1 - (k-1)^2/n, 0) / (k-1)`: what their spaces share beyond
    the constant vector, and beyond what unrelated spaces share by chance. A view whose agreement
    with the others is at least .3 of the best view's counts fully, one below .1 not at all.

    ``gram``, dense, sparse or rows, and ``sizes`` are those of :func:`anchor_view_weights`, k is
    ``n_clusters`` and n the number of rows the graphs were made of. The weights (V,) sum to one; they
    are all equal with fewer than three views (which of two is the odd one cannot be told), with one
    cluster, or if no view agrees with any other.

    Examples
    --------
    Two views see the same two groups of rows, a third sees others:

    >>> same, other = (np.repeat(np.eye(2), 8, axis=0), np.tile(np.eye(2), (8, 1)))
    >>> B = np.hstack([same, same, other]) / np.sqrt(8)
    >>> agreement_weights(B.T @ B, [2, 2, 2], 2, 16).tolist()
    [0.5, 0.5, 0.0]
    """
    G = _check_gram(gram, sizes)
    n_views = len(sizes)
    if not may_disagree(n_views, n_clusters):
        return np.full(n_views, 1 / n_views)
    shared = _products_of_vectors(G, _slices(sizes), n_clusters)
    agreement = np.zeros((n_views, n_views))
    for v, w in _pairs(n_views):
        agreement[v, w] = _beyond_chance(shared(v, w), n_clusters, n_rows)
    return _weights_by(agreement.sum(axis=0) + agreement.sum(axis=1))


def may_disagree(n_views: int, n_clusters: int | None) -> bool:
    """Whether it can be told which view agrees with no other: three or more, and several clusters."""
    return n_views >= 3 and (n_clusters is None or n_clusters >= 2)


def _products_of_vectors(
    gram: Gram, blocks: list[slice], k: int
) -> Callable[[int, int], FloatArray]:
    """What gives U_v' U_w of two views, with U_v the k leading left singular vectors of view v."""
    if isinstance(gram, RowsGram):
        own = [gram.columns(block) for block in blocks]
        vectors = [_spread(each.rows @ _basis(each, k), k) for each in own]
        return lambda v, w: vectors[v].T @ vectors[w]
    bases = [_basis(gram[block, block], k) for block in blocks]
    return lambda v, w: bases[v].T @ gram[blocks[v], blocks[w]] @ bases[w]


def _spread(U: FloatArray, n_clusters: int) -> FloatArray:
    """Vectors (n, k), zero if they sit on a handful of rows: these may be odd in a view of noise too."""
    shares = 1.0 / (len(U) * (U**4).sum(axis=0))
    return np.asarray(U * (shares >= LEAST_SHARE / n_clusters))


def partial_agreement_weights(
    graphs: Sequence[sparse.csr_array], present: npt.NDArray[np.bool_], n_clusters: int
) -> FloatArray:
    """Weights by agreement where samples lack views: each pair of views by the samples of both.

    Rows of each view's graph (n, m) sum to one, or are empty; ``present`` (n, V) says which samples have
    which views. A pair that shares less than eight samples a cluster is compared by fewer vectors, and
    not by fewer than half as many as there are clusters: these tell of some of the clusters only, and
    good views may tell of different ones. The weights are by the mean over a view's compared pairs; a
    view that is in none counts fully.
    """
    n_views = len(graphs)
    if not may_disagree(n_views, n_clusters):
        return np.full(n_views, 1 / n_views)
    agreement = np.full((n_views, n_views), np.nan)
    for v, w in _pairs(n_views):
        both = np.flatnonzero(present[:, v] & present[:, w])
        k = min(n_clusters, len(both) // 8)
        if k < max(2, n_clusters / 2):
            continue
        B = sparse.hstack([_normalised(graphs[u][both]) for u in (v, w)], "csr")
        G, (first, second) = (B.T @ B).toarray(), _slices([graphs[u].shape[1] for u in (v, w)])
        shared = _basis(G[first, first], k).T @ G[first, second] @ _basis(G[second, second], k)
        agreement[v, w] = agreement[w, v] = _beyond_chance(shared, k, len(both))
    counts = (~np.isnan(agreement)).sum(axis=1)
    means = np.nansum(agreement, axis=1) / np.maximum(counts, 1)
    return _weights_by(means, counts == 0)


def _pairs(n_views: int) -> Iterator[tuple[int, int]]:
    return ((v, w) for v in range(n_views) for w in range(v))


def _beyond_chance(shared: FloatArray, k: int, n_rows: int) -> float:
    """How far k vectors of two views agree, from their products ``shared`` (k, k)."""
    chance = 1 + (k - 1) ** 2 / n_rows
    return max(float((shared**2).sum()) - chance, 0.0) / (k - 1)


def _weights_by(
    agreement: FloatArray, is_unknown: npt.NDArray[np.bool_] | bool = False
) -> FloatArray:
    """Weights from each view's agreement with the others; equal if no view agrees with any."""
    if agreement.max() == 0:
        return np.full(len(agreement), 1 / len(agreement))
    shares = np.clip((agreement / agreement.max() - _IGNORED) / (_FULL - _IGNORED), 0.0, 1.0)
    return normalised(np.where(is_unknown, 1.0, shares))


def partial_anchor_view_weights(
    graphs: Sequence[sparse.csr_array],
    present: npt.NDArray[np.bool_],
    n_components: int,
    *,
    max_iter: int = 100,
    tol: float = 1e-8,
) -> FloatArray:
    """Weights of AMGL where samples lack views: a view's cut is that of the samples it describes.

    ``graphs`` and ``present`` are those of :func:`partial_agreement_weights`; the vectors are those of
    the fused graph, in which the rows of a sample with few views count more.
    """
    sizes = [Z.shape[1] for Z in graphs]
    evened = sparse.hstack(graphs, "csr") * (len(graphs) / present.sum(axis=1))[:, None]
    fused = _normalised(sparse.csr_array(evened))
    gram = (fused.T @ fused).toarray()
    own = [_normalised(Z) for Z in graphs]

    def cuts(weights: FloatArray) -> FloatArray:
        F = fused @ fused_basis(gram, sizes, weights, n_components)
        kept = [float(((B.T @ F) ** 2).sum()) for B in own]
        inside = [float((F[there] ** 2).sum()) for there in present.T]
        return np.subtract(inside, kept)

    return reweight(cuts, len(graphs), max_iter=max_iter, tol=tol)[0]


def _normalised(Z: sparse.csr_array) -> sparse.csr_array:
    """Columns divided by the root of their sums."""
    sums = np.asarray(Z.sum(axis=0)).ravel()
    scales = column_scales(sums, [Z.shape[1]], [1.0], degree_norm=True)
    return sparse.csr_array(Z * scales[None, :])


def reweight(
    cuts: Callable[[FloatArray], FloatArray], n_views: int, *, max_iter: int, tol: float
) -> tuple[FloatArray, list[float]]:
    r"""Repeat w_v = 1 / (2 sqrt(cut_v)) from equal weights until the objective settles.

    The square root is concave, so its tangent lies above it: vectors that lower the weighted sum of
    cuts lower the sum of their roots too, and the objective never rises.

    ``cuts`` takes weights (V,) that sum to one to :math:`\mathrm{tr}(F^T L_v F)` of each view, for the F
    that minimises their weighted sum; ``tol`` is the smallest relative fall of the objective worth
    another sweep. What you get are such weights, and the sum of the cuts' roots of each sweep.

    Examples
    --------
    >>> weights, objective = reweight(lambda w: np.array([0.01, 0.09]), 2, max_iter=9, tol=0.0)
    >>> weights.round(3).tolist(), len(objective)
    ([0.75, 0.25], 3)
    """
    weights = np.full(n_views, 1 / n_views)
    objective: list[float] = []
    for _ in range(max_iter):
        # Rounding can make a cut slightly negative.
        roots = np.sqrt(np.maximum(cuts(weights), 0.0) + _FLOOR)
        objective.append(float(roots.sum()))
        weights = normalised(1 / roots)
        if len(objective) >= _LEAST_SWEEPS and objective[-2] - objective[-1] <= tol * objective[-2]:
            break
    return weights, objective


def fused_basis(
    gram: FloatArray, sizes: Sequence[int], weights: npt.ArrayLike, n_components: int
) -> FloatArray:
    """What takes the graphs' rows side by side to rows of the fused graph's singular vectors.

    ``gram`` and ``sizes`` are those of :func:`anchor_view_weights`; ``weights`` has one a view. What you
    get is T (M, c) with [B_1, ..., B_V] T the leading left singular vectors of [sqrt(w_1) B_1, ...], the
    strongest first; c is less than ``n_components`` if the graph's rank is.

    Examples
    --------
    >>> B = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    >>> np.abs(B @ fused_basis(B.T @ B, [2, 1], [0.5, 0.5], 3)).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    columns = np.sqrt(np.repeat(np.asarray(weights, dtype=np.float64), sizes))
    return columns[:, None] * _basis(gram * columns * columns[:, None], n_components)


def _basis(gram: Any, n_components: int) -> FloatArray:
    """T with B T the leading left singular vectors of B, from B'B."""
    values, vectors = gram_eigenvectors(gram, n_components)
    return np.asarray(vectors / np.sqrt(values))


def _spectral_norms(gram: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Largest eigenvalue of each view's own block; 1 for a graph without edges."""
    tops = [
        linalg.eigvalsh(gram[block, block], subset_by_index=(size - 1, size - 1))[0]
        for block, size in zip(_slices(sizes), sizes, strict=True)
    ]
    return np.array([top if top > 0 else 1.0 for top in tops])


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]


def _check_gram(gram: Any, sizes: Sequence[int]) -> Any:
    """The matrix as it was given: dense, sparse or rows."""
    is_stored = sparse.issparse(gram) or isinstance(gram, RowsGram)
    G = gram if is_stored else np.asarray(gram, dtype=np.float64)
    M = sum(sizes)
    if G.shape != (M, M) or min(sizes, default=0) < 1:
        raise ValueError(
            f"Gram matrix of shape {G.shape} does not fit graphs with {list(sizes)} anchors: "
            f"expected ({M}, {M}), at least one anchor each."
        )
    return G
