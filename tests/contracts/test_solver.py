"""Every method of the simplex solver: the reference's answer, certified, whoever else could solve it."""

import numpy as np
import pytest
from scipy import sparse

from manyview.simplex import METHODS, certify, solve_simplex_qp
from manyview.simplex.reference import solve_row

# What the library promises, as a share of ||x||^2 + energy.
TOLERANCE = 1e-9

# Dimensions, anchors, alpha as a share of the energy, locality: supports from one anchor to all.
CELLS = [
    (5, 20, 0.01, 0.0),
    (40, 20, 0.001, 0.0),
    (40, 20, 0.01, 0.1),
    (3, 40, 0.001, 0.0),
    (3, 40, 0.1, 0.1),
    (10, 40, 10.0, 0.0),
    (60, 40, 1.0, 0.0),
    (60, 40, 100.0, 0.1),
    (1, 30, 0.01, 0.0),
    (2, 60, 1e3, 0.0),
    (20, 60, 1e6, 0.0),
    (4, 2, 0.1, 0.0),
    (4, 1, 0.1, 0.0),
]


def make(d, m, alpha, locality, *, n=60, seed=0):
    rng = np.random.default_rng(seed)
    A, X = rng.normal(size=(m, d)), rng.normal(size=(n, d))
    return X, A, {"alpha": alpha * d, "locality": locality}


def objective(Z, X, A, *, alpha, locality):
    distances = ((X[:, None] - A) ** 2).sum(axis=2)
    fit = ((X - Z @ A) ** 2).sum(axis=1) + alpha * (Z**2).sum(axis=1)
    return fit + locality * (Z * distances).sum(axis=1)


@pytest.fixture(scope="module", params=METHODS)
def method(request):
    return request.param


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_method_is_certified(method, cell):
    X, A, settings = make(*cell, n=300)
    Z = solve_simplex_qp(X, A, **settings, method=method)
    assert (Z.data > 0).all()
    assert certify(Z, X, A, **settings).worst <= TOLERANCE


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_method_agrees_with_the_reference(method, cell):
    X, A, settings = make(*cell, n=5)
    Z = solve_simplex_qp(X, A, **settings, method=method).toarray()
    expected = np.array([solve_row(x, A, **settings) for x in X])
    energy = ((A - A.mean(axis=0)) ** 2).sum(axis=1).mean()
    difference = objective(Z, X, A, **settings) - objective(expected, X, A, **settings)
    # Objectives are sums of squares in float64: about d + m roundings of their own size.
    size = (X**2).sum(axis=1) + energy + settings["alpha"]
    assert (np.abs(difference) <= TOLERANCE * ((X**2).sum(axis=1) + energy) + 1e-14 * size).all()


@pytest.mark.parametrize("cell", CELLS[:8], ids=str)
def test_methods_give_the_same_weights(method, cell):
    X, A, settings = make(*cell)
    Z = solve_simplex_qp(X, A, **settings, method=method).toarray()
    expected = solve_simplex_qp(X, A, **settings, method="active-set").toarray()
    # alpha makes weights unique: moving them by t costs alpha t^2, which rounding hides below
    # 1e-15 of the unit, so t is at most sqrt(1e-15 / 1e-3) = 1e-6.
    assert np.allclose(Z, expected, rtol=0, atol=1e-6)


def test_method_solves_each_row_alone_as_among_others(method):
    X, A, settings = make(6, 50, 0.01, 0.1)
    together = solve_simplex_qp(X, A, **settings, method=method).toarray()
    alone = [solve_simplex_qp(x[None], A, **settings, method=method).toarray()[0] for x in X[::7]]
    assert np.allclose(together[::7], alone, rtol=0, atol=1e-6)


def test_method_does_not_depend_on_threads(method):
    X, A, settings = make(8, 50, 0.01, 0.1, n=9000)
    one = solve_simplex_qp(X, A, **settings, method=method)
    two = solve_simplex_qp(X, A, **settings, method=method, n_jobs=2)
    assert np.array_equal(one.data, two.data)
    assert np.array_equal(one.indices, two.indices)


def test_method_takes_sparse_rows(method):
    X, A, settings = make(6, 30, 0.01, 0.0)
    X = np.where(np.abs(X) < 1.0, 0.0, X)
    Z = solve_simplex_qp(sparse.csr_array(X), A, **settings, method=method)
    assert certify(Z, X, A, **settings).worst <= TOLERANCE


def test_method_takes_rows_that_are_anchors_and_repeat(method):
    X, A, settings = make(6, 30, 0.01, 0.0)
    X = np.concatenate([A, A, X[:1], X[:1]])
    Z = solve_simplex_qp(X, A, **settings, method=method)
    assert certify(Z, X, A, **settings).worst <= TOLERANCE


def test_method_takes_anchors_that_repeat(method):
    X, A, settings = make(6, 30, 0.01, 0.0)
    A = np.concatenate([A, A[:10]])
    Z = solve_simplex_qp(X, A, **settings, method=method)
    assert certify(Z, X, A, **settings).worst <= TOLERANCE


@pytest.mark.parametrize("magnitude", [1e-12, 1e12])
def test_method_takes_any_unit(method, magnitude):
    X, A, settings = make(6, 30, 0.01, 0.1)
    settings["alpha"] *= magnitude**2
    X, A = X * magnitude, A * magnitude
    Z = solve_simplex_qp(X, A, **settings, method=method)
    assert certify(Z, X, A, **settings).worst <= TOLERANCE


def test_an_unknown_method_is_refused():
    X, A, settings = make(6, 30, 0.01, 0.0)
    with pytest.raises(ValueError, match="method"):
        solve_simplex_qp(X, A, **settings, method="guess")


@pytest.mark.parametrize("name", ["newton", "complement"])
def test_methods_that_need_a_ridge_are_refused_or_exact_without(name):
    X, A, _ = make(6, 5, 0.0, 0.0)
    Z = solve_simplex_qp(X, A, alpha=0.0, method="active-set")
    assert certify(Z, X, A).worst <= TOLERANCE
    with pytest.raises(ValueError, match="alpha"):
        solve_simplex_qp(X, A, alpha=0.0, method=name)
