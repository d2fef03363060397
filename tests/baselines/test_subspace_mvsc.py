import numpy as np
import pytest

from manyview.baselines.subspace_mvsc import represent_by_others
from manyview.simplex import certify
from manyview.simplex.reference import solve_row


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.1, 10.0, 1e4])
@pytest.mark.parametrize("width", [2, 20])
def test_each_row_is_represented_by_the_others_as_the_reference_does(alpha, width):
    X = np.random.default_rng(0).normal(size=(40, width))
    S, _ = represent_by_others(X, alpha=alpha)
    assert (S.diagonal() == 0).all()
    for i in range(40):
        others = np.delete(X, i, axis=0)
        z = np.delete(S.toarray()[i], i)
        expected = solve_row(X[i], others, alpha=alpha)

        def value(weights, others=others, i=i):
            return ((X[i] - weights @ others) ** 2).sum() + alpha * (weights**2).sum()

        scale = (X[i] ** 2).sum() + width
        assert value(z) <= value(expected) + 1e-9 * scale
        assert z.sum() == pytest.approx(1.0, abs=1e-12)


def test_the_objective_is_that_of_the_problem_as_stated():
    X = np.random.default_rng(1).normal(size=(30, 4))
    S, value = represent_by_others(X, alpha=0.5)
    energy = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    stated = ((X - S.toarray() @ X) ** 2).sum() + 0.5 * (S.toarray() ** 2).sum()
    assert value == pytest.approx(stated / (energy + 0.5), rel=1e-12)


def test_all_rows_as_anchors_beat_no_solution_that_may_use_the_row_itself():
    X = np.random.default_rng(2).normal(size=(25, 3))
    S, _ = represent_by_others(X, alpha=0.1)
    certificate = certify(S, X, X, alpha=0.1)
    # Without the zero diagonal a row would choose itself, so this must not look optimal.
    assert certificate.worst > 1e-3


def test_duplicate_rows_represent_each_other():
    X = np.repeat(np.random.default_rng(3).normal(size=(10, 5)), 2, axis=0)
    S, value = represent_by_others(X, alpha=0.0)
    assert value == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(S @ X, X, atol=1e-7)
