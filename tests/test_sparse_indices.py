"""Sparse views with 64-bit indices, which scikit-learn refuses, are fitted like any others."""

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC, baselines


def with_long_indices(X):
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize(
    "model",
    [
        LMVSC(3, n_anchors=6, anchor_method="kmeans-all", random_state=0),
        LMVSC(3, n_anchors=6, random_state=0),
        baselines.KMeans(3, random_state=0),
        baselines.LSC(3, n_anchors=6, random_state=0),
        baselines.AMGL(3, graph="anchors", n_anchors=6, random_state=0),
    ],
    ids=["kmeans-all", "kmeans", "KMeans", "LSC", "AMGL"],
)
@pytest.mark.parametrize("n_views", [1, 2])
def test_long_indices_change_nothing(model, n_views):
    rng = np.random.default_rng(0)
    views = [
        sparse.random_array((90, 40), density=0.3, rng=rng, format="csr") for _ in range(n_views)
    ]
    short = model.fit_predict(views).copy()
    long = [with_long_indices(X) for X in views]
    np.testing.assert_array_equal(model.fit_predict(long), short)
    assert {X.indices.dtype for X in long} == {np.dtype(np.int64)}  # the caller's are left alone
