import dataclasses

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.preprocessing import scale

from manyview import datasets, metrics
from manyview.datasets import digits as module


@pytest.fixture(scope="module")
def views():
    return datasets.digits_views()


def test_they_are_as_registered(views):
    info = datasets.info("digits")
    assert views.names == info.view_names
    assert views.n_features == info.n_features
    assert len(views) == info.n_samples
    assert np.bincount(views.target).tolist() == list(info.class_counts)
    assert dataclasses.is_dataclass(info)


def test_pixels_are_the_images(views):
    assert np.array_equal(views["pixels"] * 16, load_digits().data)
    assert np.array_equal(views.target, load_digits().target)


def test_values_are_finite_and_the_same_every_time(views):
    again = datasets.digits_views()
    for name, array in views.items():
        assert np.isfinite(array).all()
        assert np.array_equal(array, again[name])


def test_views_depend_on_their_own_image_only():
    images = load_digits().images / 16.0
    for make in (module._fourier, module._gradients, module._profiles, module._moments):
        assert np.allclose(make(images)[:5], make(images[:5]))


@pytest.mark.parametrize(
    ("name", "least"),
    [("pixels", 0.5), ("fourier", 0.5), ("gradients", 0.7), ("profiles", 0.4), ("moments", 0.5)],
)
def test_every_view_knows_something_about_the_digits(views, name, least):
    found = KMeans(10, n_init=1, random_state=0).fit_predict(scale(views[name]))
    assert metrics.nmi(views.target, found) > least


def test_fourier_magnitudes_do_not_change_when_shifted():
    image = np.random.default_rng(0).random((1, 8, 8))
    shifted = np.roll(image, (2, 3), axis=(1, 2))
    assert np.allclose(module._fourier(image), module._fourier(shifted))


def test_gradients_of_an_edge_point_one_way():
    image = np.tile(np.arange(8.0), (1, 8, 1))  # grows to the right, one a pixel
    cells = module._gradients(image).reshape(9, 8)
    assert np.allclose(cells[:, 0], 16)
    assert np.allclose(cells[:, 1:], 0)


def test_a_direction_between_bins_counts_for_both():
    turn = np.pi / 8
    grid_y, grid_x = np.mgrid[:8, :8]
    image = (np.cos(turn) * grid_x + np.sin(turn) * grid_y)[None]
    cells = module._gradients(image).reshape(9, 8)
    assert np.allclose(cells[:, :2], 8)
    assert np.allclose(cells[:, 2:], 0)


def test_profiles_of_one_stroke():
    image = np.zeros((1, 8, 8))
    image[0, :, 2] = 1.0
    rows, columns, left, right, top, bottom = module._profiles(image).reshape(6, 8)
    assert np.allclose(rows, 1 / 8)
    assert np.allclose(columns, np.arange(8) == 2)
    assert np.allclose(left, 2 / 8) and np.allclose(right, 5 / 8)
    assert np.allclose(top, np.where(np.arange(8) == 2, 0, 1))
    assert np.allclose(bottom, top)


def test_central_moments_do_not_change_when_shifted_or_darkened():
    image = np.zeros((1, 8, 8))
    image[0, 1:4, 2:4] = [[0.2, 0.4], [0.6, 0.1], [0.3, 0.5]]
    other = np.roll(image, (3, 2), axis=(1, 2)) * 1.5
    assert np.allclose(module._moments(image)[:, 3:], module._moments(other)[:, 3:])
