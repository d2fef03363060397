"""Principal axes: those of the sample's covariance, from dense, sparse, narrow and wide rows."""

import numpy as np
import pytest
from scipy import sparse

from manyview.stages import axes as stage
from manyview.stages.axes import Axes, find_axes
from manyview.stages.rows import ScaledRows

NARROW, WIDE = 12, 60


@pytest.fixture(autouse=True)
def wide_from_20_columns(monkeypatch):
    monkeypatch.setattr(stage, "EXACT_WIDTH", 20)


def centred(n=200, d=NARROW, seed=0):
    """Rows whose variance falls from axis to axis, in a basis of any kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(3.0, 0.1, d)
    X = X @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    return X - X.mean(axis=0)


def exact(X, count):
    _, values, vectors = np.linalg.svd(X, full_matrices=False)
    return values[:count] ** 2 / len(X), vectors[:count].T


def assert_same_axes(axes, variances, directions, *, atol):
    assert np.allclose(axes.variances, variances, rtol=atol)
    cosines = np.abs((axes.directions * directions).sum(axis=0))
    assert np.allclose(cosines, 1.0, rtol=0, atol=atol)


class TestFound:
    @pytest.mark.parametrize("n_axes", [1, 5, 12, 50])
    def test_are_the_leading_ones_of_the_covariance(self, n_axes):
        X = centred()
        axes = find_axes(ScaledRows(X), n_axes)
        assert len(axes.variances) == min(n_axes, 12)
        assert_same_axes(axes, *exact(X, n_axes), atol=1e-9)

    def test_of_wide_rows_are_those_of_a_whole_decomposition(self):
        # Variances fall by 1.12 from axis to axis here, so by 3.4 over the ten that are to spare: the
        # Chebyshev polynomial of degree 3 leaves about T_3(2 * 3.4 - 1)^-2 = 2e-6 of the others.
        X = centred(d=WIDE)
        assert_same_axes(find_axes(ScaledRows(X), 4), *exact(X, 4), atol=1e-5)

    def test_of_wide_rows_of_low_rank_are_found_at_once(self):
        X = centred(d=WIDE) @ np.linalg.qr(np.random.default_rng(1).normal(size=(WIDE, 3)))[0]
        X = X @ np.random.default_rng(2).normal(size=(3, WIDE))
        axes = find_axes(ScaledRows(X), 4)
        assert_same_axes(axes, *exact(X, 3), atol=1e-9)

    @pytest.mark.parametrize("d", [NARROW, WIDE])
    def test_of_sparse_rows_are_those_of_dense_ones(self, d):
        rng = np.random.default_rng(0)
        X = np.where(rng.random((200, d)) < 0.2, rng.gamma(2.0, np.geomspace(9, 0.1, d)), 0.0)
        tilt, slope = X.mean(axis=1, keepdims=True), np.ones((1, d))
        offset = (X - tilt @ slope).mean(axis=0)
        dense = find_axes(ScaledRows(X - offset - tilt @ slope), 4)
        thin = find_axes(ScaledRows(sparse.csr_array(X), offset, lean=(tilt, slope)), 4)
        assert_same_axes(thin, dense.variances, dense.directions, atol=1e-9)

    def test_are_orthonormal_and_descend(self):
        for d in (NARROW, WIDE):
            axes = find_axes(ScaledRows(centred(d=d)), 8)
            assert np.allclose(axes.directions.T @ axes.directions, np.eye(8), atol=1e-9)
            assert (np.diff(axes.variances) <= 0).all()

    @pytest.mark.parametrize("d", [NARROW, WIDE])
    def test_there_are_no_more_than_directions_in_which_rows_differ(self, d):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 3)) @ rng.normal(size=(3, d))
        axes = find_axes(ScaledRows(X - X.mean(axis=0)), 10)
        assert len(axes.variances) == 3

    @pytest.mark.parametrize("d", [NARROW, WIDE])
    def test_rows_that_are_all_alike_have_none(self, d):
        assert find_axes(ScaledRows(np.zeros((20, d))), 5) is None

    def test_more_axes_than_rows(self):
        X = centred(n=4, d=WIDE)
        assert len(find_axes(ScaledRows(X), 50).variances) == 3  # four rows, centred

    @pytest.mark.parametrize("d", [NARROW, WIDE])
    def test_are_the_same_every_time(self, d):
        first, again = (find_axes(ScaledRows(centred(d=d)), 5) for _ in range(2))
        assert np.array_equal(first.directions, again.directions)


class TestWeights:
    @pytest.mark.parametrize("whitening", [0.0, 0.25, 0.5, 1.0])
    def test_give_unit_energy(self, whitening):
        X = centred()
        axes = find_axes(ScaledRows(X), 7)
        rows = X @ axes.directions * axes.weights(whitening)
        assert (rows**2).sum(axis=1).mean() == pytest.approx(1.0, rel=1e-9)

    def test_without_whitening_axes_keep_their_proportions(self):
        assert np.ptp(find_axes(ScaledRows(centred()), 7).weights(0.0)) < 1e-12

    def test_whole_whitening_lets_all_vary_alike(self):
        axes = find_axes(ScaledRows(centred()), 7)
        assert np.allclose(axes.variances * axes.weights(1.0) ** 2, 1 / 7, rtol=1e-9)

    def test_half_of_it_takes_roots_of_the_variances(self):
        axes = Axes(np.eye(2), np.array([16.0, 1.0]))
        left = axes.variances * axes.weights(0.5) ** 2
        assert left[0] / left[1] == pytest.approx(4.0)


@pytest.mark.parametrize("magnitude", [1e140, 1e25, 1e-15, 1e-140])
def test_axes_of_wide_rows_do_not_depend_on_their_size(magnitude):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 500)) + 0.1 * rng.normal(size=(300, 500))
    usual, found = (find_axes(ScaledRows(size * rows), 6).directions for size in (1.0, magnitude))
    np.testing.assert_allclose(np.abs(found.T @ usual), np.eye(6), atol=1e-5)
