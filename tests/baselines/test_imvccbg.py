import numpy as np
import pytest
from scipy import sparse

from manyview import Views
from manyview.baselines import IMVCCBG
from manyview.metrics import accuracy


@pytest.fixture(scope="module")
def views(apart):
    present = np.random.default_rng(0).random((150, 2)) > 0.3
    present[~present.any(axis=1), 0] = True
    return Views(apart, present=present)


def test_clusters_are_found_from_the_views_that_samples_have(views):
    model = IMVCCBG(3, random_state=0).fit(views)
    assert accuracy(views.target, model.labels_) > 0.8
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)


def test_what_stands_in_missing_rows_does_not_matter(views):
    filled = [np.where(np.isnan(X), 1e6, X) for X in map(np.asarray, views.arrays)]
    again = Views(filled, present=views.present)
    np.testing.assert_array_equal(
        IMVCCBG(3, random_state=0).fit_predict(views), IMVCCBG(3, random_state=0).fit_predict(again)
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_lengths_of_rows_do_not_matter(apart, kind):
    factors = 10.0 ** np.random.default_rng(0).uniform(-2, 6, size=(150, 1))
    plain, scaled = (
        IMVCCBG(3, random_state=0).fit([kind(np.asarray(X) * factor) for X in apart.arrays])
        for factor in (1.0, factors)
    )
    np.testing.assert_allclose(scaled.weights_, plain.weights_, atol=1e-9)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


def test_sweeps_end_as_soon_as_the_objective_settles(views):
    model = IMVCCBG(3, tol=0.5, random_state=0).fit(views)
    assert model.n_iter_ == 2
