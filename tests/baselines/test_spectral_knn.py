import numpy as np
import pytest

from manyview import datasets
from manyview.baselines import SpectralKNN
from manyview.metrics import accuracy


def test_rings_that_k_means_cannot_tell_apart_are_found():
    rng = np.random.default_rng(0)
    angles, truth = rng.uniform(0, 2 * np.pi, 300), np.repeat([0, 1], 150)
    rings = (1 + 3 * truth[:, None]) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert accuracy(truth, SpectralKNN(2, random_state=0).fit_predict(rings)) == 1.0


@pytest.mark.parametrize("scaling", [None, "standard", "unit"])
def test_views_have_equal_say_whatever_their_units(scaling):
    made = datasets.make_views(120, 3, (8, 10), separation=9.0, random_state=0)
    views = [1000 * made.arrays[0], made.arrays[1]]
    labels = SpectralKNN(3, scaling=scaling, random_state=0).fit_predict(views)
    assert accuracy(made.target, labels) > 0.9


@pytest.mark.parametrize("n_clusters", [1, 2, 11, 12])
def test_as_many_clusters_as_rows_can_have(n_clusters):
    X = np.random.default_rng(0).normal(size=(12, 3))
    labels = SpectralKNN(n_clusters, random_state=0).fit_predict(X)
    assert labels.dtype == np.int32 and len(np.unique(labels)) == n_clusters
