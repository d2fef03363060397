"""Labels: the best of several starts on a sample, finished over all rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manyview.stages.kmeans import assign
from manyview.stages.labels import label_rows, start_centers
from manyview.stages.rows import ScaledRows

SETTINGS = {"n_init": 5, "max_iter": 50, "tol": 1e-4}


@pytest.fixture
def rows(blobs):
    return blobs(n=400, k=5, widths=(3,), spread=1.0)[0]


def inertia(rows, centers):
    return assign(ScaledRows(rows), centers).inertia


def test_the_same_seed_gives_the_same_centres(rows):
    first, second = (start_centers(rows, 5, seed=7, **SETTINGS) for _ in range(2))
    assert np.array_equal(first, second)


def test_threads_do_not_change_the_start(rows):
    with ThreadPoolExecutor(3) as pool:
        threaded = start_centers(rows, 5, seed=7, each=pool.map, **SETTINGS)
    assert np.array_equal(threaded, start_centers(rows, 5, seed=7, **SETTINGS))


def test_more_starts_are_never_worse(rows):
    one, ten = (
        inertia(rows, start_centers(rows, 5, seed=0, n_init=n, max_iter=50, tol=1e-4))
        for n in (1, 10)
    )
    assert ten <= one


def test_labels_are_the_nearest_centres(rows):
    centers = rows[:5]
    expected = ((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    labels = label_rows(rows, centers)
    assert np.array_equal(labels, expected)
    assert labels.dtype == np.int32


def test_fewer_distinct_rows_than_clusters_are_reported():
    rows = np.repeat(np.eye(3), 2, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 3 distinct rows for 4 clusters"):
        centers = start_centers(rows, 4, seed=0, **SETTINGS)
    assert np.isfinite(centers).all()


def test_one_cluster_is_the_mean(rows):
    assert np.allclose(start_centers(rows, 1, seed=0, **SETTINGS), rows.mean(axis=0))
