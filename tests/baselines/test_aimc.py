import numpy as np
import pytest

from manyview.baselines import AIMC
from manyview.metrics import accuracy


@pytest.mark.parametrize("n_dimensions", [None, 7])
def test_objective_never_rises(overlapping, n_dimensions):
    model = AIMC(4, n_dimensions=n_dimensions, n_init=3, random_state=0).fit(overlapping)
    assert (np.diff(model.objective_) <= 1e-10 * model.objective_[:-1]).all()


def test_centres_are_orthonormal_in_every_view(overlapping):
    for M in AIMC(4, random_state=0).fit(overlapping).centers_:
        np.testing.assert_allclose(M @ M.T, np.eye(4), atol=1e-10)


def test_objective_is_the_sum_of_norms_of_what_the_centres_leave(overlapping):
    model = AIMC(4, random_state=0).fit(overlapping)
    norms = []
    for X, M in zip(overlapping.arrays, model.centers_, strict=True):
        scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        norms.append(np.linalg.norm(scaled - M[np.argsort(model._numbers)][model.labels_]))
    assert model.objective_[-1] == pytest.approx(sum(norms))


def test_more_starts_never_end_higher(overlapping):
    best = [AIMC(4, n_init=n, random_state=0).fit(overlapping).objective_[-1] for n in (1, 5)]
    assert best[1] <= best[0]


def test_dimension_of_the_shared_space_does_not_change_what_is_looked_for(overlapping):
    """G F with orthonormal columns is the same set of matrices for every l of at least k."""
    wide = AIMC(4, n_dimensions=8, n_init=10, random_state=0).fit(overlapping)
    narrow = AIMC(4, n_init=10, random_state=0).fit(overlapping)
    assert wide.objective_[-1] == pytest.approx(narrow.objective_[-1], rel=1e-3)


def test_a_view_of_noise_has_little_say(apart):
    noise = np.random.default_rng(0).normal(size=(150, 30))
    labels = AIMC(3, random_state=0).fit_predict([*apart.arrays, noise])
    assert accuracy(apart.target, labels) > 0.95


def test_shared_space_smaller_than_the_number_of_clusters_is_refused(overlapping):
    with pytest.raises(ValueError, match=r"n_dimensions must be at least n_clusters=4; got 3"):
        AIMC(4, n_dimensions=3).fit(overlapping)
