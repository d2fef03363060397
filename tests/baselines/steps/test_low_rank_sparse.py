import numpy as np
import pytest

from manyview.baselines.steps.low_rank_sparse import (
    Representation,
    factor_kernel,
    factor_rows,
    soft_threshold,
    solve_representation,
    threshold_singular_values,
    update_representation,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("width", [5, 30, 60])
def test_representation_step_equals_a_direct_solve(rng, width):
    X = rng.normal(size=(30, width))
    K, right = X @ X.T, rng.normal(size=(30, 30))
    factor = factor_rows(X) if width < 30 else factor_kernel(K)
    A, inside = solve_representation(factor, right, 0.7)
    np.testing.assert_allclose(A, np.linalg.solve(K + 0.7 * np.eye(30), K + right), atol=1e-10)
    np.testing.assert_allclose(inside, factor.vectors.T @ A, atol=1e-10)


def test_rows_and_their_kernel_have_the_same_factor(rng):
    X = rng.normal(size=(20, 6))
    by_rows, by_kernel = factor_rows(X), factor_kernel(X @ X.T)
    np.testing.assert_allclose(np.sort(by_rows.values), np.sort(by_kernel.values))
    assert by_kernel.vectors.shape == (20, 6)
    assert by_rows.trace == pytest.approx(np.square(X).sum())


@pytest.mark.parametrize("threshold", [20.0, 3.0, 1e-3, 1e-7])
@pytest.mark.parametrize("rank_guess", [0, 25])
def test_singular_values_are_thresholded(rng, threshold, rank_guess):
    Y = rng.normal(size=(25, 25))
    U, s, Vt = np.linalg.svd(Y)
    s = np.maximum(s - threshold, 0)
    result, left = threshold_singular_values(Y, threshold, rank_guess=rank_guess)
    np.testing.assert_allclose(result, (U * s) @ Vt, atol=1e-9)
    np.testing.assert_allclose(np.sort(left), np.sort(s[s > 0]), atol=1e-9)


def test_thresholding_is_the_proximal_step_of_the_norms(rng):
    Y, t = rng.normal(size=(8, 8)), 0.6
    steps = 0.05 * rng.normal(size=(200, 8, 8))
    for best, norm in (
        (soft_threshold(Y, t), lambda Z: np.abs(Z).sum()),
        (threshold_singular_values(Y, t, rank_guess=8)[0], lambda Z: np.linalg.norm(Z, "nuc")),
    ):
        value = 0.5 * np.square(best - Y).sum() + t * norm(best)
        others = [0.5 * np.square(best + d - Y).sum() + t * norm(best + d) for d in steps]
        assert value <= min(others)


def run(X, *, noise, n_sweeps=1000, mu=5.0):
    """ADMM with a fixed penalty, to full accuracy."""
    n = len(X)
    state, factor = Representation.zeros(n, noise=noise), factor_rows(X)
    target = np.zeros((n, n))
    for _ in range(n_sweeps):
        update_representation(
            state, factor, low_rank=0.3, sparse=0.2, mu=mu, target=target, pull=0.2
        )
    return state


def convex_objective(A, K):
    fit = 0.5 * np.trace(K - 2 * K @ A + A.T @ K @ A)
    return fit + 0.3 * np.linalg.norm(A, "nuc") + 0.2 * np.abs(A).sum() + 0.1 * np.square(A).sum()


def test_steps_with_a_fixed_penalty_solve_the_convex_problem(rng):
    X = rng.normal(size=(12, 4))
    K = X @ X.T
    state = run(X, noise=True)
    assert state.residual < 1e-6
    value = convex_objective(state.C[1], K)
    assert state.objective == pytest.approx(value, rel=1e-5)
    for _ in range(100):
        step = 0.01 * rng.normal(size=K.shape)
        np.fill_diagonal(step, 0.0)
        assert convex_objective(state.C[1] + step, K) > value


def test_without_noise_the_rows_are_represented_exactly(rng):
    X = rng.normal(size=(15, 4))
    state = run(X, noise=False)
    np.testing.assert_allclose(X.T @ state.C[1], X.T, atol=1e-5)
    assert state.residual < 1e-5
    assert np.diagonal(state.C[1]).max() == 0
