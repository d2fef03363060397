import numpy as np
import pytest
from scipy import sparse

from manyview import Views
from manyview.baselines.steps.projections import polar, simplex_rows
from manyview.baselines.steps.shared_anchors import (
    SharedAnchors,
    choose_start,
    fit_scalers,
    scale_views,
    start_weights,
    times,
)


@pytest.fixture
def incomplete():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(3, 2, size=(30, 6)), rng.normal(size=(30, 8))
    X[:5], Y[20:] = np.nan, np.nan
    return Views([X, Y])


def make_shared():
    rng = np.random.default_rng(1)
    rotations = tuple(polar(rng.normal(size=(d, 4))) for d in (6, 8))
    return SharedAnchors(rotations, polar(rng.normal(size=(4, 4))), np.array([0.3, 0.7]))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_columns_are_standardised_with_n_minus_one_and_constant_ones_are_zero(kind):
    X = np.random.default_rng(0).normal(5, 3, size=(40, 3)) * [1, 100, 0]
    views = Views([kind(X)])
    rows = scale_views(views, fit_scalers(views, standardise=True))[0].dense()
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(rows.std(axis=0, ddof=1), [1, 1, 0])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_have_unit_length_without_standardising(kind):
    X = np.random.default_rng(0).normal(5, 3, size=(10, 3))
    X[4] = 0
    views = Views([kind(X)])
    rows = scale_views(views, fit_scalers(views, standardise=False))[0]
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    lengths[4] = 1
    np.testing.assert_allclose(times(rows, np.eye(3)), X / lengths)


def test_residuals_are_those_of_the_rows_that_are_there(incomplete):
    rows = scale_views(incomplete, fit_scalers(incomplete, standardise=True))
    shared = make_shared()
    Z = simplex_rows(np.random.default_rng(2).normal(size=(30, 4)))
    found = shared.residuals(rows, Z, shared.projections(rows))
    for X, W, residual in zip(rows, shared.rotations, found, strict=True):
        expected = np.sum((X.dense() - Z[X.present] @ (W @ shared.anchors).T) ** 2)
        np.testing.assert_allclose(residual, expected)


def test_masses_count_the_views_that_a_row_has(incomplete):
    rows = scale_views(incomplete, fit_scalers(incomplete, standardise=True))
    masses = make_shared().masses(rows).ravel()
    np.testing.assert_allclose(masses[[0, 10, 25]], [0.49, 0.09 + 0.49, 0.09])


def test_weights_minimise_the_weighted_sum_of_residuals():
    residuals = np.array([1.0, 2.0, 5.0])
    shared = SharedAnchors((), np.eye(2), np.ones(3)).reweighted(residuals)
    best = float(shared.weights**2 @ residuals)
    others = np.random.default_rng(0).dirichlet(np.ones(3), size=200)
    assert shared.weights.sum() == pytest.approx(1)
    assert (others**2 @ residuals >= best).all()


def test_weights_of_small_residuals_do_not_depend_on_a_huge_one():
    weights = (
        SharedAnchors((), np.eye(2), np.ones(3)).reweighted(np.array([1.0, 4.0, 1e30])).weights
    )
    np.testing.assert_allclose(weights, [0.8, 0.2, 0.8e-30])


def test_view_that_fits_exactly_does_not_break_the_weights():
    weights = SharedAnchors((), np.eye(2), np.ones(2)).reweighted(np.array([0.0, 1.0])).weights
    assert np.isfinite(weights).all() and weights.sum() == pytest.approx(1)
    none = SharedAnchors((), np.eye(2), np.ones(2)).reweighted(np.zeros(2)).weights
    np.testing.assert_allclose(none, 0.5)


def test_start_is_the_first_rows_or_different_random_ones():
    rng = np.random.default_rng(0)
    assert choose_start(50, 3, "first", rng).tolist() == [0, 1, 2]
    drawn = choose_start(50, 10, "random", rng)
    Z = start_weights(50, drawn)
    assert len(set(drawn)) == 10
    np.testing.assert_array_equal(Z[drawn], np.eye(10))
    assert Z.sum() == 10
