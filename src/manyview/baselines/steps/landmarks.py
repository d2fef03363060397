"""Rows of a view -> hand-made anchor graph: Gaussian weights of the nearest anchors.

The graph of landmark spectral clustering (Chen and Cai, AAAI 2011), in time and memory linear in
the number of rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from manyview.baselines.steps import FloatArray
from manyview.checks import check_count, is_auto
from manyview.views.container import Block, with_short_indices

_SAMPLE_ROWS_PER_ANCHOR = 30
_SAMPLE_ROWS_AT_LEAST = 2000
_SWEEPS = 10
_BLOCK_ROWS = 4096


def choose_n_anchors(n_anchors: int | str, n_rows: int, n_clusters: int, *, most: int) -> int:
    """The number of anchors that was asked for, checked.

    "auto" is ``most``, or a third of the rows if that is less, but no fewer than clusters.

    Examples
    --------
    >>> choose_n_anchors("auto", 300, 10, most=500)
    100
    """
    if is_auto(n_anchors):
        return max(n_clusters, min(most, n_rows // 3))
    count = check_count("n_anchors", n_anchors)
    if not n_clusters <= count <= n_rows:
        raise ValueError(
            f"n_anchors={count} is not between n_clusters={n_clusters} and the {n_rows} rows."
        )
    return count


def anchor_graph(
    X: Block, n_anchors: int, n_neighbors: int, rng: np.random.Generator
) -> tuple[Any, float]:
    """Graph (n, n_anchors) between rows and anchors chosen from them, and the kernel's width."""
    anchors, sample = choose_landmarks(X, n_anchors, rng)
    r = min(n_neighbors, n_anchors)
    width = kernel_width(sample, anchors, r)
    return landmark_graph(X, anchors, r, width), width


def choose_landmarks(
    X: Block, n_anchors: int, rng: np.random.Generator, *, n_sweeps: int = _SWEEPS
) -> tuple[FloatArray, Block]:
    """Centres (n_anchors, d) of a k-means on some of the rows, and these rows.

    k-means sees all rows, or 30 for each anchor and 2000 more, and makes ``n_sweeps`` rounds.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> anchors, _ = choose_landmarks(X, 2, np.random.default_rng(0))
    >>> np.sort(anchors.ravel()).round(3).tolist()
    [0.1, 5.1]
    """
    n = X.shape[0]
    n_sample = n_anchors * _SAMPLE_ROWS_PER_ANCHOR + _SAMPLE_ROWS_AT_LEAST
    sample = X if n_sample >= n else X[np.sort(rng.choice(n, n_sample, replace=False))]
    sample = sample.astype(np.float64)
    # Anchors need to lie where rows are, not to be a perfect k-means solution: few sweeps from
    # random rows do, where a careful start would cost more than all of them.
    seed = int(rng.integers(2**31))
    model = KMeans(n_anchors, init="random", n_init=1, max_iter=n_sweeps, random_state=seed)
    with warnings.catch_warnings():
        # Fewer distinct rows than anchors: some anchors coincide, which does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(with_short_indices(sample))
    return np.asarray(model.cluster_centers_), sample


def landmark_graph(X: Block, anchors: FloatArray, n_neighbors: int, width: float) -> Any:
    r"""Weights of each row's nearest anchors, which sum to one; csr_array (n, m).

    :math:`z_j = K_j / \sum_l K_l` over the r nearest of m anchors (m, d), with
    :math:`K_j = \exp(-\|x - a_j\|^2 / (2 \delta^2))` (Nadaraya-Watson; Chen and Cai, Eq. 8) and
    ``width`` delta, where 0 leaves the nearest anchor alone. An anchor so much farther than the
    nearest that its weight underflows has weight zero; the nearest always counts.

    Examples
    --------
    >>> Z = landmark_graph(np.array([[0.0], [3.0]]), np.array([[0.0], [2.0], [9.0]]), 2, 1.0)
    >>> Z.toarray().round(3).tolist()
    [[0.881, 0.119, 0.0], [0.018, 0.982, 0.0]]
    """
    n, m = X.shape[0], len(anchors)
    squares, indices = nearest_anchors(X, anchors, n_neighbors)
    kernel = gaussian_weights(squares, width)
    weights = kernel / kernel.sum(axis=1, keepdims=True)
    indptr = n_neighbors * np.arange(n + 1)
    return sparse.csr_array((weights.ravel(), indices.ravel(), indptr), shape=(n, m))


def gaussian_weights(squares: FloatArray, width: float) -> FloatArray:
    """exp(-d^2 / (2 width^2)) of squared distances (n, r), over that of the nearest in each row.

    From the nearest on, so that far from all anchors not every weight underflows; 0 as the width leaves
    the nearest alone.
    """
    excess = squares - squares.min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-excess / max(2 * width**2, np.finfo(float).tiny)))


def kernel_width(sample: Block, anchors: FloatArray, n_neighbors: int) -> float:
    """Mean distance of the sampled rows to their r-th nearest anchor.

    Examples
    --------
    >>> kernel_width(np.array([[0.0], [3.0]]), np.array([[0.0], [2.0], [9.0]]), 2)
    2.5
    """
    squares, _ = nearest_anchors(sample, anchors, n_neighbors)
    return float(np.sqrt(squares.max(axis=1)).mean())


def nearest_anchors(
    X: Block, anchors: FloatArray, n_neighbors: int
) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Squared distances (n, r) of rows to their r nearest anchors, and which they are, in any order.

    Examples
    --------
    >>> nearest_anchors(np.array([[0.0], [3.0]]), np.array([[0.0], [2.0], [9.0]]), 1)[1].tolist()
    [[0], [1]]
    """
    squares = np.empty((X.shape[0], n_neighbors))
    nearest = np.empty((X.shape[0], n_neighbors), dtype=np.int32)
    for rows in gen_batches(X.shape[0], _BLOCK_ROWS):
        squares[rows], nearest[rows] = _nearest_in_block(X[rows], anchors, n_neighbors)
    return squares, nearest


def _nearest_in_block(
    rows: Block, anchors: FloatArray, n_neighbors: int
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Squared distances to the r nearest anchors, and which they are."""
    if not sparse.issparse(rows):
        # Far from the origin, the squares below would cancel to nothing.
        middle = anchors.mean(axis=0)
        rows, anchors = rows - middle, anchors - middle
    norms = row_norms(rows, squared=True)[:, None]
    squares = norms - 2 * (rows @ anchors.T) + row_norms(anchors, squared=True)
    nearest = np.argpartition(squares, n_neighbors - 1, axis=1)[:, :n_neighbors]
    return np.maximum(np.take_along_axis(squares, nearest, axis=1), 0.0), nearest
