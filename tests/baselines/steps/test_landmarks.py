import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.steps import landmarks
from manyview.baselines.steps.landmarks import choose_landmarks, kernel_width, landmark_graph


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 6)), rng.normal(size=(12, 6))


def test_weights_equal_their_definition(data):
    X, anchors = data
    squares = ((X[:, None] - anchors) ** 2).sum(axis=2)
    kernel = np.exp(-squares / (2 * 1.5**2))
    kernel[squares > np.sort(squares, axis=1)[:, [3]]] = 0
    expected = kernel / kernel.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(landmark_graph(X, anchors, 4, 1.5).toarray(), expected, atol=1e-12)


def test_sparse_rows_give_the_weights_of_dense_ones(data):
    X, anchors = data
    X = np.where(X > 0.5, X, 0.0)
    dense = landmark_graph(X, anchors, 4, 1.5).toarray()
    np.testing.assert_allclose(
        landmark_graph(sparse.csr_array(X), anchors, 4, 1.5).toarray(), dense, atol=1e-9
    )


def test_blocks_of_rows_do_not_matter(data, monkeypatch):
    X, anchors = data
    whole = landmark_graph(X, anchors, 4, 1.5).toarray()
    monkeypatch.setattr(landmarks, "_BLOCK_ROWS", 7)
    np.testing.assert_allclose(landmark_graph(X, anchors, 4, 1.5).toarray(), whole, atol=1e-14)


@pytest.mark.parametrize("width", [0.0, 1e-200, 1e-3])
def test_far_rows_and_narrow_kernels_leave_the_nearest_anchor(data, width):
    X, anchors = data
    Z = landmark_graph(1e6 * X, anchors, 4, width).toarray()
    np.testing.assert_allclose(Z.sum(axis=1), 1)
    assert (Z.max(axis=1) > 0.999).all()


def test_width_is_the_mean_distance_of_the_rth_nearest_anchor(data):
    X, anchors = data
    distances = np.sort(np.sqrt(((X[:, None] - anchors) ** 2).sum(axis=2)), axis=1)
    assert kernel_width(X, anchors, 3) == pytest.approx(distances[:, 2].mean())


def test_anchors_see_a_bounded_number_of_rows():
    X = np.random.default_rng(0).normal(size=(9000, 2)).astype(np.float32)
    anchors, sample = choose_landmarks(X, 10, np.random.default_rng(0))
    assert anchors.shape == (10, 2)
    assert sample.shape == (10 * 30 + 2000, 2)


def test_duplicates_may_share_an_anchor(recwarn):
    anchors, _ = choose_landmarks(np.ones((20, 3)), 5, np.random.default_rng(0))
    np.testing.assert_allclose(anchors, 1)
    assert not recwarn.list
