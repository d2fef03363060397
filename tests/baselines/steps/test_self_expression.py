import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Lasso

from manyview.baselines.steps.representation import choose_dictionary
from manyview.baselines.steps.scaling import scale_rows
from manyview.baselines.steps.self_expression import (
    choose_fidelity,
    choose_step,
    factor_ridge,
    solve_admm,
    solve_l0,
    solve_proximal,
)


def data(n=25, p=8, seed=0):
    return scale_rows(np.random.default_rng(seed).normal(size=(n, p)))


def dictionary(X):
    return choose_dictionary(X, None, np.random.default_rng(0))


def admm(X, *, lam, affine=False, max_iter=20000, tol=1e-9, rho=20.0, is_balanced=True):
    return solve_admm(
        X,
        X,
        np.arange(X.shape[0]),
        lam=lam,
        rho=rho,
        is_balanced=is_balanced,
        affine=affine,
        ridge=factor_ridge(X),
        max_iter=max_iter,
        tol=tol,
    )


def proximal(X, *, lam, affine=False, max_iter=20000, tol=1e-11):
    return solve_proximal(
        X,
        X,
        np.arange(X.shape[0]),
        lam=lam,
        step=choose_step(X),
        affine=affine,
        max_iter=max_iter,
        tol=tol,
    )


def subgradient_error(X, C, lam):
    """How far C is from the optimality conditions of the l1 problem without a sum constraint."""
    gradient = lam * (X @ X.T - C @ X @ X.T)
    used = C != 0
    error = np.where(used, np.abs(gradient - np.sign(C)), np.maximum(np.abs(gradient) - 1, 0))
    np.fill_diagonal(error, 0)
    return error.max()


@pytest.mark.parametrize(("n", "p"), [(30, 8), (8, 30), (20, 20)])
def test_inversion_lemma_equals_a_plain_solve(n, p):
    rng = np.random.default_rng(0)
    X, R = rng.normal(size=(n, p)), rng.normal(size=(5, n))
    weight = 10.0 ** rng.integers(-3, 4, size=(5, 1))
    Z = factor_ridge(X).solve(R, weight)
    expected = [
        np.linalg.solve(np.eye(n) + w * X @ X.T, r) for w, r in zip(weight[:, 0], R, strict=True)
    ]
    np.testing.assert_allclose(Z, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(factor_ridge(sparse.csr_array(X)).solve(R, weight), Z, atol=1e-8)


def test_first_affine_step_of_admm_equals_a_plain_solve():
    X, lam, rho = data(n=20, p=6), 50.0, 7.0
    one = admm(X, lam=lam, rho=rho, affine=True, max_iter=1, is_balanced=False)
    gram = lam * X @ X.T
    Z = np.linalg.solve(gram + rho * np.eye(20) + rho, gram + rho).T
    C = np.sign(Z) * np.maximum(np.abs(Z) - 1 / rho, 0)
    np.fill_diagonal(C, 0)
    np.testing.assert_allclose(one.C.toarray(), C, atol=1e-12)


@pytest.mark.parametrize("lam", [5.0, 100.0])
@pytest.mark.parametrize("solve", [admm, proximal])
def test_solution_meets_the_optimality_conditions(solve, lam):
    X = data()
    found = solve(X, lam=lam)
    assert found.is_converged
    assert subgradient_error(X, found.C.toarray(), lam) < 1e-5


def test_solution_is_that_of_a_lasso_solver():
    X, lam = data(), 30.0
    C = proximal(X, lam=lam).C.toarray()
    others = np.arange(25) != 4
    lasso = Lasso(alpha=1 / (lam * X.shape[1]), fit_intercept=False, tol=1e-14, max_iter=10**6)
    lasso.fit(X[others].T, X[4])
    np.testing.assert_allclose(C[4, others], lasso.coef_, atol=1e-6)


@pytest.mark.parametrize(
    ("n", "p", "lam", "affine"),
    [
        (25, 8, 5.0, False),
        (25, 8, 100.0, False),
        (20, 30, 50.0, False),
        (25, 8, 50.0, True),
        (20, 30, 50.0, True),
        (20, 30, 500.0, True),
    ],
)
def test_admm_and_proximal_gradient_agree(n, p, lam, affine):
    X = data(n, p)
    first, second = admm(X, lam=lam, affine=affine), proximal(X, lam=lam, affine=affine)
    assert first.is_converged and second.is_converged
    assert abs(first.C - second.C).max() < 1e-5
    assert first.objective[-1] == pytest.approx(second.objective[-1], rel=1e-8)


def test_fixed_penalties_lead_to_the_balanced_solution():
    X = data()
    balanced = admm(X, lam=20.0)
    fixed = [admm(X, lam=20.0, rho=rho, is_balanced=False) for rho in (2.0, 40.0)]
    assert all(abs(found.C - balanced.C).max() < 1e-5 for found in fixed)


@pytest.mark.parametrize("solve", [admm, proximal])
def test_affine_weights_sum_to_one(solve):
    C = solve(data(n=20, p=30), lam=50.0, affine=True).C
    np.testing.assert_allclose(C.sum(axis=1), 1, atol=1e-7)
    assert not C.diagonal().any()


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("solve", [admm, proximal])
def test_sparse_input_gives_the_same_weights(solve, affine):
    X = data(n=20, p=30)
    X[np.abs(X) < 0.1] = 0
    dense = solve(X, lam=30.0, affine=affine, max_iter=100)
    thin = solve(sparse.csr_array(X), lam=30.0, affine=affine, max_iter=100)
    assert abs(dense.C - thin.C).max() < 1e-9


def test_proximal_gradient_with_restarts_ends_lower_than_it_began_and_says_when_it_fails():
    found = proximal(data(), lam=100.0, max_iter=15)
    assert not found.is_converged and len(found.objective) == 15
    assert found.objective[-1] < found.objective[0]


@pytest.mark.parametrize("affine", [False, True])
def test_l0_weights_are_feasible_and_the_error_never_grows(affine):
    X = data()
    found = solve_l0(
        X,
        X,
        np.arange(25),
        n_nonzero=4,
        step=choose_step(X),
        affine=affine,
        max_iter=200,
        tol=1e-6,
    )
    C = found.C.toarray()
    assert (np.count_nonzero(C, axis=1) <= 4).all() and not np.diag(C).any()
    np.testing.assert_allclose(C.sum(axis=1)[: 25 * affine], 1, atol=1e-10)
    assert (np.diff(found.objective) < 1e-12).all()
    assert found.objective[-1] == pytest.approx(0.5 * np.linalg.norm(X - C @ X) ** 2)


def test_l0_finds_the_right_support_where_it_is_easy():
    atoms = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    X = 2 * atoms[[1]] - atoms[[5]]
    found = solve_l0(
        X, atoms, np.array([-1]), n_nonzero=2, step=1.0, affine=False, max_iter=50, tol=1e-9
    )
    assert found.is_converged
    np.testing.assert_allclose(found.C.toarray()[0, [1, 5]], [2, -1])


def test_fidelity_is_alpha_over_the_smallest_largest_correlation():
    X = data(n=50)
    K = np.abs(X @ X.T)
    np.fill_diagonal(K, 0)
    assert choose_fidelity(X, dictionary(X), 8.0) == pytest.approx(8 / K.max(axis=1).min())
    thin = sparse.csr_array(X)
    assert choose_fidelity(thin, dictionary(thin), 8.0) == pytest.approx(8 / K.max(axis=1).min())


def test_alpha_of_one_is_where_weights_start():
    X = data()
    K = np.abs(X @ X.T)
    np.fill_diagonal(K, 0)
    last = int(K.max(axis=1).argmin())
    below, above = (
        proximal(X, lam=choose_fidelity(X, dictionary(X), alpha)).C[[last]].nnz
        for alpha in (0.999, 1.001)
    )
    assert below == 0 and above > 0


@pytest.mark.parametrize("X", [np.zeros((4, 3)), np.eye(4)])
def test_fidelity_is_finite_where_nothing_is_correlated(X):
    assert choose_fidelity(X, dictionary(X), 8.0) == 8.0


@pytest.mark.parametrize("shape", [(30, 10), (10, 30), (5, 1), (1, 1), (3, 3)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_step_is_just_safe(shape, make):
    X = np.random.default_rng(0).normal(size=shape)
    safe = 1 / np.linalg.norm(X, 2) ** 2
    assert 0.99 * safe < choose_step(make(X)) < safe


def test_step_of_zeros_is_finite():
    assert choose_step(np.zeros((5, 5))) == choose_step(np.zeros((2, 5))) == 1.0
