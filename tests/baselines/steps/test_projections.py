import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manyview.baselines.steps.projections import polar, simplex_rows
from manyview.simplex import solve_simplex_qp

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(arrays(float, (4, 5), elements=numbers))
def test_projected_rows_are_feasible_and_satisfy_the_optimality_conditions(Y):
    Z = simplex_rows(Y)
    scale = max(1.0, np.abs(Y).max())
    assert (Z >= 0).all()
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-12)
    # Y - Z is one multiplier where weights are positive, and no more than that elsewhere.
    slack = Y - Z
    used = np.where(Z > 0, slack, -np.inf).max(axis=1)
    assert (slack <= used[:, None] + 1e-12 * scale).all()


def test_projection_is_the_solution_of_the_simplex_problem_with_orthonormal_anchors():
    Y = np.random.default_rng(0).normal(size=(20, 6))
    expected = solve_simplex_qp(Y, np.eye(6), alpha=0.0).toarray()
    np.testing.assert_allclose(simplex_rows(Y), expected, atol=1e-9)


def test_entries_that_are_not_allowed_are_zero():
    allowed = np.array([[True, False, True], [False, False, False]])
    Z = simplex_rows(np.array([[0.1, 9.0, 0.2], [0.0, 0.0, 3.0]]), allowed)
    np.testing.assert_allclose(Z, [[0.45, 0, 0.55], [0, 0, 1]])


@pytest.mark.parametrize("shape", [(7, 3), (3, 3), (3, 7)])
def test_polar_factor_is_orthonormal_and_beats_every_other(shape):
    rng = np.random.default_rng(0)
    C = rng.normal(size=shape)
    W = polar(C)
    gram = W.T @ W if shape[0] >= shape[1] else W @ W.T
    np.testing.assert_allclose(gram, np.eye(min(shape)), atol=1e-12)
    others = [polar(rng.normal(size=shape)) for _ in range(50)]
    assert all(np.sum(W * C) >= np.sum(other * C) for other in others)
