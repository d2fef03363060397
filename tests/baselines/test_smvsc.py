import numpy as np
import pytest

from manyview import Views
from manyview.baselines import SMVSC
from manyview.metrics import accuracy


@pytest.mark.parametrize("lam", [0.0, 1.0])
@pytest.mark.parametrize("n_anchors", [None, 8])
def test_objective_of_the_exact_variant_never_rises(overlapping, lam, n_anchors):
    model = SMVSC(
        4, n_anchors=n_anchors, lam=lam, variant="exact", tol=1e-9, max_iter=30, random_state=0
    )
    with pytest.warns(UserWarning, match="max_iter=30"):
        model.fit(overlapping)
    objective = model.objective_
    assert (np.diff(objective) <= 1e-10 * objective[:-1]).all()


@pytest.mark.parametrize("variant", ["released", "exact"])
def test_rotations_and_anchors_are_orthonormal_and_weights_on_the_simplex(overlapping, variant):
    model = SMVSC(4, variant=variant, random_state=0).fit(overlapping)
    for W in (*model._shared.rotations, model._shared.anchors):
        np.testing.assert_allclose(W.T @ W, np.eye(4), atol=1e-10)
    assert (model.weights_ >= 0).all()
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    assert model.view_weights_.sum() == pytest.approx(1)


def test_step_of_the_released_program_leaves_fewer_weights(overlapping):
    n_used = {
        variant: (SMVSC(4, variant=variant, random_state=0).fit(overlapping).weights_ > 0).sum()
        for variant in ("released", "exact")
    }
    assert n_used["released"] < n_used["exact"]


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_separated_clusters_are_found_from_random_rows(apart, lam):
    assert accuracy(apart.target, SMVSC(3, lam=lam, random_state=0).fit_predict(apart)) > 0.95


def test_start_from_the_first_rows_needs_no_seed(apart):
    first = [SMVSC(3, init="first", random_state=s).fit(apart).objective_[-1] for s in (0, 1)]
    assert first[0] == first[1]


def test_new_rows_are_labelled_from_the_views_they_have(apart):
    model = SMVSC(3, random_state=0).fit(dict(apart.items()))
    name = apart.names[1]
    some = model.predict({name: apart[name]})
    assert accuracy(model.labels_, some) > 0.9


def test_views_narrower_than_the_shared_space_are_used(apart):
    narrow = Views([apart.arrays[0], apart.arrays[1][:, :2]])
    assert SMVSC(3, random_state=0).fit(narrow).labels_.shape == (150,)


@pytest.mark.parametrize("n_anchors", [2, 151, 2.5])
def test_number_of_anchors_lies_between_clusters_and_rows(apart, n_anchors):
    with pytest.raises((TypeError, ValueError), match="n_anchors"):
        SMVSC(3, n_anchors=n_anchors).fit(apart)
