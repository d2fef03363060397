"""Made data with the shape of data sets that cannot be had: for time and memory, not for scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from manyview.datasets import info, make_subspaces
from manyview.views.container import Views

_DIMENSION, _NOISE = 5, 0.05
_N_WORDS = {"reuters": 85, "rcv1": 60}
WORDS_FROM = {
    "reuters": "about 85 non-zeros a row, as a published part of Reuters has; for the whole a guess",
    "rcv1": "about 60 non-zeros a row, which is a guess",
}
"""Where the non-zeros a row of the sparse sets are from, for the page."""


def make_like(name: str, *, seed: int = 0) -> Views:
    """Made views with the rows, columns, sparsity and classes of a known data set.

    Rows lie near a union of subspaces of dimension five, one for each class.
    """
    known = info(name)
    even = [len(part) for part in np.array_split(np.arange(known.n_samples), known.n_clusters)]
    sizes = known.class_counts or even
    if name in _N_WORDS:
        return make_sparse_subspaces(sizes, known.n_features, _N_WORDS[name], seed=seed)
    return make_subspaces(
        sizes, known.n_clusters, _DIMENSION, known.n_features,
        noise=_NOISE, dtype=np.float32, random_state=seed,
    )  # fmt: skip


def make_sparse_subspaces(
    sizes: Sequence[int], widths: Sequence[int], n_nonzero: int, *, seed: int = 0
) -> Views:
    """Sparse rows on a union of subspaces with sparse bases, plus stray words.

    Each class has five directions in each view, each with a fifth of ``n_nonzero`` words less the
    stray ones; a row is a mixture of its class's directions with positive weights.
    """
    rng = np.random.default_rng(seed)
    n, k = sum(sizes), len(sizes)
    target = rng.permutation(np.repeat(np.arange(k, dtype=np.int32), sizes))
    weights = rng.gamma(2.0, size=(n, _DIMENSION)).astype(np.float32)
    n_stray = max(n_nonzero // 10, 1)
    shape = (k, _DIMENSION, (n_nonzero - n_stray) // _DIMENSION)

    def mix(width: int) -> sparse.csr_array:
        words = rng.integers(width, size=shape, dtype=np.int32)
        values = rng.gamma(2.0, size=shape).astype(np.float32)
        stray_words = rng.integers(width, size=(n, n_stray), dtype=np.int32)
        stray_values = rng.gamma(2.0, size=(n, n_stray)).astype(np.float32)
        columns = np.hstack([words[target].reshape(n, -1), stray_words])
        entries = np.hstack([(values[target] * weights[:, :, None]).reshape(n, -1), stray_values])
        indptr = np.arange(n + 1, dtype=np.int32) * np.int32(columns.shape[1])
        matrix = sparse.csr_array((entries.ravel(), columns.ravel(), indptr), shape=(n, width))
        matrix.sum_duplicates()
        return matrix

    return Views([mix(width) for width in widths], target=target)
