"""Easy things are not wrong: made data that k-means or spectral clustering solves, seen by the defaults.

A part of the family that ``benchmarks.easy`` draws: 30 of 300, small ones. All of it is measured by
``python -m benchmarks.quality --sets easy --methods default,easy``.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_moons,
)
from sklearn.preprocessing import scale

from manyview import LMVSC, metrics

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.easy import draw_easy
from benchmarks.quality_methods import side_by_side

SOLVED = (
    1, 5, 7, 8, 10, 11, 12, 13, 14, 18, 20, 23, 28, 29, 34, 38, 40, 41, 45, 46, 47, 53, 54, 57, 58, 60,
    141, 149, 200, 289, 297,
)  # fmt: skip


def find_easiest(views, k):
    """The best NMI of k-means and spectral clustering, each with scalings that suit it."""
    kmeans = KMeans(k, n_init=10, random_state=0).fit(side_by_side(views, "standard"))
    graph = SpectralClustering(k, affinity="nearest_neighbors", random_state=0)
    spectral = [graph.fit_predict(side_by_side(views, kind)) for kind in ("standard", "energy")]
    return max(metrics.nmi(views.target, labels) for labels in (kmeans.labels_, *spectral))


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
@pytest.mark.parametrize("seed", SOLVED)
def test_the_draws_are_easy(seed):
    views, settings = draw_easy(seed)
    assert find_easiest(views, len(settings["sizes"])) >= 0.98


@pytest.mark.parametrize("seed", SOLVED)
def test_the_defaults_find_what_is_easy(seed):
    views, settings = draw_easy(seed)
    labels = LMVSC(len(settings["sizes"]), random_state=0).fit(views).labels_
    assert metrics.nmi(views.target, labels) >= 0.95, f"draw {seed}: {settings}"


@pytest.mark.parametrize("load_set", [load_breast_cancer, load_iris, load_wine])
def test_the_defaults_are_no_worse_than_kmeans_on_what_everyone_has(load_set):
    """Small tables whose columns have units of their own; in raw units, one column is all there is."""
    X, target = load_set(return_X_y=True)
    k = len(set(target))
    rival = KMeans(k, n_init=10, random_state=0).fit_predict(scale(X))
    assert metrics.nmi(target, LMVSC(k, random_state=0).fit(X).labels_) >= metrics.nmi(
        target, rival
    )


@pytest.mark.parametrize("draw", ["normal", "uniform", "standard_cauchy"])
@pytest.mark.parametrize("widths", [(2, 20), (3, 14), (1,), (2, 3, 2)])
def test_noise_is_one_cluster(widths, draw):
    """In few columns, all anchor seeds cut noise in much the same way."""
    noise = getattr(np.random.default_rng(0), draw)
    model = LMVSC("auto", random_state=0, n_jobs=1).fit([noise(size=(400, d)) for d in widths])
    assert model.n_clusters_ == 1


@pytest.mark.parametrize("k", [3, 5])
def test_clusters_that_touch_are_not_one(k):
    rng = np.random.default_rng(0)
    groups = np.arange(600) % k
    views = [1.8 * np.eye(k)[groups] + rng.normal(size=(600, k)) for _ in range(2)]
    model = LMVSC("auto", random_state=0, n_jobs=1).fit(views)
    assert model.suggestion_.n_pieces == 1
    assert model.n_clusters_ == k


@pytest.mark.parametrize("side", [2, 3])
def test_blobs_on_a_grid_are_counted(side):
    rng = np.random.default_rng(side)
    places = 5.0 * np.array([[i, j] for i in range(side) for j in range(side)])
    rows = places[np.arange(1800) % side**2] + rng.normal(size=(1800, 2))
    assert LMVSC("auto", random_state=0, n_jobs=1).fit(rows).n_clusters_ == side**2


@pytest.mark.parametrize("settings", [{"n_components": 2}, {"n_anchors": 3}, {"n_anchors": 50}])
def test_two_blobs_are_two_with_few_vectors_or_anchors(settings):
    rng = np.random.default_rng(0)
    rows = 6.0 * (np.arange(400) % 2)[:, None] * [1.0, 0.0] + rng.normal(size=(400, 2))
    assert LMVSC("auto", random_state=0, n_jobs=1, **settings).fit(rows).n_clusters_ == 2


@pytest.mark.parametrize("shape", ["circles", "moons", "uneven spreads"])
def test_curves_and_blobs_of_uneven_spread_are_counted(shape):
    rows, k = {
        "circles": lambda: (make_circles(1500, factor=0.5, noise=0.05, random_state=30)[0], 2),
        "moons": lambda: (make_moons(1500, noise=0.05, random_state=30)[0], 2),
        "uneven spreads": lambda: (
            make_blobs(1500, cluster_std=[1.0, 2.5, 0.5], random_state=170)[0],
            3,
        ),
    }[shape]()
    assert LMVSC("auto", random_state=0, n_jobs=1).fit(rows).n_clusters_ == k
