import numpy as np
import pytest
from scipy import linalg

from manyview.baselines import LSC
from manyview.baselines.steps.landmarks import choose_landmarks, kernel_width, landmark_graph
from manyview.datasets import make_views


@pytest.fixture(scope="module")
def views():
    return make_views(400, 4, (10, 15), separation=12.0, random_state=0)


def test_embedding_spans_the_leading_eigenvectors_of_the_averaged_graph(views):
    model = LSC(4, n_anchors=30, normalise_rows=False, random_state=0).fit(views)
    rng = np.random.default_rng(0)  # the model draws its anchors from the same seed, in order
    average = np.zeros((400, 400))
    for X in views.arrays:
        anchors, sample = choose_landmarks(X.astype(float), 30, rng)
        Z = landmark_graph(X, anchors, 5, kernel_width(sample, anchors, 5)).toarray()
        average += Z @ np.diag(1 / np.maximum(Z.sum(axis=0), 1e-300)) @ Z.T / 2
    _, F = linalg.eigh(average, subset_by_index=(396, 399))
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, F @ F.T, atol=1e-9)


def test_more_neighbours_than_anchors_use_all_anchors(views):
    model = LSC(2, n_anchors=3, n_neighbors=50, random_state=0).fit(views)
    assert np.isfinite(model.embedding_).all()
