import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.steps import intact_space
from manyview.baselines.steps.intact_space import learn_intact_space, principal_scores


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    H = rng.normal(size=(60, 4))
    arrays = [H @ rng.normal(size=(4, d)) + 0.3 * rng.normal(size=(60, d)) for d in (8, 12)]
    return [X / np.sqrt(np.square(X).sum() / 60) for X in arrays]


def learn(views, *, n_components=4, ridge=0.01, tol=1e-6, max_iter=200):
    rng = np.random.default_rng(0)
    return learn_intact_space(views, n_components, ridge=ridge, tol=tol, max_iter=max_iter, rng=rng)


@pytest.mark.parametrize("n_components", [1, 4, 15])
@pytest.mark.parametrize("ridge", [1e-6, 0.01, 1.0])
def test_objective_never_rises(views, n_components, ridge):
    objective = learn(views, n_components=n_components, ridge=ridge, tol=0.0).objective
    assert np.diff(objective).max() <= 1e-9 * np.abs(objective).max()


def test_objective_is_what_it_says(views):
    space = learn(views)
    H, n = space.points, 60
    losses = [
        (np.log1p(np.square(X - H @ W.T).sum(axis=1) / space.scale**2) + np.log(space.scale)).sum()
        for X, W in zip(views, space.maps, strict=True)
    ]
    penalty = n * sum(np.square(W).sum() for W in space.maps) + np.square(H).sum()
    assert space.objective[-1] == pytest.approx(sum(losses) + 0.01 * penalty)


def test_result_is_a_stationary_point(views):
    space = learn(views, tol=0.0, max_iter=600)
    H, c = space.points, space.scale
    gradient, shares = 2 * 0.01 * H, []
    for X, W in zip(views, space.maps, strict=True):
        residuals = H @ W.T - X
        weights = 1 / (c**2 + np.square(residuals).sum(axis=1))
        gradient += 2 * weights[:, None] * residuals @ W
        shares.append(c**2 * weights.mean())
        of_map = 2 * 0.01 * 60 * W + 2 * (weights[:, None] * residuals).T @ H
        assert np.abs(of_map).max() < 1e-3
    assert np.abs(gradient).max() < 1e-3
    assert np.mean(shares) == pytest.approx(0.5)


@pytest.mark.parametrize("size", [3, 50])
def test_outliers_have_little_say(views, size):
    clean = learn(views)
    spoiled = [X.copy() for X in views]
    spoiled[0][:5] = size * np.random.default_rng(1).normal(size=(5, 8))
    robust = learn(spoiled)
    errors = [
        np.square(views[0][5:] - space.points[5:] @ space.maps[0].T).sum()
        for space in (clean, robust)
    ]
    assert errors[1] < 1.1 * errors[0]


def test_sparse_views_give_what_dense_ones_give(views):
    dense = [np.where(X > 0, X, 0.0) for X in views]
    space = learn(dense, tol=1e-4)
    from_sparse = learn([sparse.csr_array(X) for X in dense], tol=1e-4)
    np.testing.assert_allclose(from_sparse.objective, space.objective, rtol=1e-6)
    np.testing.assert_allclose(from_sparse.points, space.points, atol=1e-6)


def test_blocks_of_rows_do_not_matter(views, monkeypatch):
    space = learn(views)
    monkeypatch.setattr(intact_space, "_BLOCK_ENTRIES", 100)
    np.testing.assert_allclose(learn(views).points, space.points, atol=1e-9)


def test_scores_are_those_of_a_singular_value_decomposition(views):
    scores = principal_scores(views, 4, np.random.default_rng(0))
    U, s, _ = np.linalg.svd(np.hstack(views), full_matrices=False)
    expected = (U * s)[:, :4]
    np.testing.assert_allclose(scores @ scores.T, expected @ expected.T, atol=1e-5)


def test_each_sweep_is_reported(views):
    seen = []
    rng = np.random.default_rng(0)
    space = learn_intact_space(
        views, 3, ridge=0.01, max_iter=5, tol=0.0, rng=rng, report=lambda *facts: seen.append(facts)
    )
    assert seen == list(enumerate(space.objective))[1:]
