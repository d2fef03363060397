import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from manyview.baselines import MLRSSC
from manyview.baselines.mlrssc import factor_view
from manyview.datasets import make_subspaces, make_views
from manyview.metrics import accuracy


@pytest.fixture(scope="module")
def subspaces():
    return make_subspaces(25, 3, 3, (20, 30), random_state=0)


@pytest.fixture(scope="module")
def fitted(subspaces):
    """Fitted models of every form, only to look at."""
    return {
        (agreement, noise): MLRSSC(3, agreement=agreement, noise=noise, random_state=0).fit(
            subspaces
        )
        for agreement in ("centroid", "pairwise")
        for noise in (True, False)
    }


@pytest.mark.parametrize("agreement", ["centroid", "pairwise"])
@pytest.mark.parametrize("noise", [True, False])
def test_planted_subspaces_are_found(subspaces, fitted, agreement, noise):
    model = fitted[agreement, noise]
    assert accuracy(subspaces.target, model.labels_) > 0.95
    assert model.labels_.dtype == np.int32


@pytest.mark.parametrize("agreement", ["centroid", "pairwise"])
@pytest.mark.parametrize("noise", [True, False])
def test_residuals_go_below_the_tolerance(subspaces, agreement, noise, recwarn):
    model = MLRSSC(3, agreement=agreement, noise=noise, tol=1e-4, random_state=0).fit(subspaces)
    assert model.residuals_[-1] <= 1e-4
    assert len(model.residuals_) == len(model.objective_) == model.n_iter_ >= 10
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]


def test_rows_are_represented_by_rows_of_their_own_subspace(subspaces, fitted):
    W = fitted["centroid", False].affinity_
    is_other = subspaces.target[:, None] != subspaces.target
    assert W[is_other].sum() < 0.01 * W.sum()
    assert np.diagonal(W).max() == 0


def test_gaussian_kernel_finds_blobs():
    views = make_views(90, 3, (6, 9), random_state=0)
    model = MLRSSC(3, kernel="gaussian", scaling="standard", random_state=0).fit(views)
    assert accuracy(views.target, model.labels_) > 0.95


def test_gaussian_kernel_finds_subspaces(subspaces):
    model = MLRSSC(
        3, kernel="gaussian", beta_low_rank=0.03, beta_sparse=0.03, beta_agreement=0.03,
        random_state=0,
    )  # fmt: skip
    assert accuracy(subspaces.target, model.fit_predict(subspaces)) > 0.95


def test_gaussian_width_is_relative_to_the_median_distance():
    X = np.random.default_rng(0).normal(size=(20, 3))
    squares = np.square(X[:, None] - X).sum(axis=2)
    median = np.median(np.sqrt(squares[np.triu_indices(20, 1)]))
    K = np.exp(-squares / (2 * (0.5 * median) ** 2))
    factor = factor_view(X, kernel="gaussian", width=0.5, to_unit_trace=True)
    np.testing.assert_allclose((factor.vectors * factor.values) @ factor.vectors.T, K, atol=1e-9)


def test_units_of_a_view_do_not_matter(subspaces):
    first, second = subspaces.arrays
    model = MLRSSC(3, scaling="standard", random_state=0)
    affinity = model.fit([first, second]).affinity_
    other = model.fit([first * 1e5, second / 1e3]).affinity_
    np.testing.assert_allclose(other, affinity, atol=1e-9)


def test_unscaled_views_are_used_as_they_are(subspaces):
    model = MLRSSC(3, scaling=None, random_state=0)
    affinity = model.fit(subspaces).affinity_
    scaled = model.fit([10 * X for X in subspaces.arrays]).affinity_
    assert np.abs(scaled - affinity).max() > 1e-3


def test_sparse_views_give_the_labels_of_dense_ones(subspaces, fitted):
    views = [sparse.csr_array(X) for X in subspaces.arrays]
    model = MLRSSC(3, random_state=0).fit(views)
    dense = fitted["centroid", True]
    np.testing.assert_allclose(model.affinity_, dense.affinity_, atol=1e-8)


def test_one_view_agrees_with_itself(subspaces):
    model = MLRSSC(3, agreement="pairwise", random_state=0).fit(subspaces.arrays[1])
    assert accuracy(subspaces.target, model.labels_) > 0.95


def test_views_that_agree_help_one_that_is_noisy():
    views = make_subspaces(25, 3, 3, (20, 30), noise=0.05, random_state=1)
    noisy = views.arrays[0] + 0.3 * np.random.default_rng(0).normal(size=views.arrays[0].shape)
    alone = MLRSSC(3, random_state=0).fit_predict(noisy)
    together = MLRSSC(3, random_state=0).fit_predict([noisy, views.arrays[1]])
    assert accuracy(views.target, together) > max(0.95, accuracy(views.target, alone))


def test_too_few_sweeps_warn_with_the_residual_reached(subspaces):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 with a relative residual of \d"):
        MLRSSC(3, max_iter=3, random_state=0).fit(subspaces)


def test_exact_representations_that_cannot_be_warn_what_to_change():
    X = np.random.default_rng(0).normal(size=(12, 20))
    with pytest.warns(ConvergenceWarning, match="noise=True"):
        MLRSSC(2, noise=False, max_iter=20, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"agreement": "all"}, "agreement must be one of .*got 'all'"),
        ({"kernel": "rbf"}, "kernel must be one of .*got 'rbf'"),
        ({"kernel": "gaussian", "noise": False}, "Set noise=True or kernel='linear'"),
        ({"penalty": 0.0}, "penalty must be a number greater than 0"),
        ({"beta_sparse": -1.0}, "beta_sparse must be"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
    ],
)
def test_bad_settings_are_refused(subspaces, settings, message):
    with pytest.raises(ValueError, match=message):
        MLRSSC(3, **settings).fit(subspaces)


@pytest.mark.slow
def test_pairwise_form_is_a_scikit_learn_estimator():
    check_estimator(MLRSSC(agreement="pairwise", n_init=2), on_skip=None)
