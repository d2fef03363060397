"""The plain solver: right where the answer is known, and as good as the fast one elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manyview.simplex import certify, solve_simplex_qp
from manyview.simplex.reference import solve_row


def test_a_point_of_a_segment_is_split_between_its_ends():
    z = solve_row(np.array([0.25, 0.75]), np.eye(2), alpha=0.0)
    assert np.allclose(z, [0.25, 0.75], atol=1e-12)


def test_a_point_beyond_a_corner_goes_to_that_corner():
    A = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert np.allclose(solve_row(np.array([9.0, -1.0]), A, alpha=0.0), [0.0, 1.0, 0.0])


def test_two_anchors_with_a_ridge_have_a_closed_form():
    # Anchors 0 and 1 on a line, z = (1 - t, t): (x - t)^2 + a (1 - t)^2 + a t^2 is least at
    # t = (x + a) / (1 + 2a).
    x, a = 0.3, 0.2
    z = solve_row(np.array([x]), np.array([[0.0], [1.0]]), alpha=a)
    assert z[1] == pytest.approx((x + a) / (1 + 2 * a), abs=1e-12)


def test_locality_prefers_the_near_anchor():
    # As above with gamma (t (x - 1)^2 + (1 - t) x^2): t = (x + a + gamma (2x - 1) / 2) / (1 + 2a).
    x, a, gamma = 0.3, 0.2, 0.5
    z = solve_row(np.array([x]), np.array([[0.0], [1.0]]), alpha=a, locality=gamma)
    assert z[1] == pytest.approx((x + a + gamma * (2 * x - 1) / 2) / (1 + 2 * a), abs=1e-12)


@pytest.mark.slow
@given(
    d=st.sampled_from([1, 3, 8, 20]),
    m=st.sampled_from([1, 2, 7, 15]),
    alpha=st.sampled_from([0.0, 1e-6, 0.01, 1.0, 1e3]),
    locality=st.sampled_from([0.0, 0.1, 1.0]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=80)
def test_reference_and_solver_reach_the_same_objective(d, m, alpha, locality, seed):
    rng = np.random.default_rng(seed)
    A, X = rng.normal(size=(m, d)), rng.normal(size=(3, d))
    settings = {"alpha": alpha * d, "locality": locality}
    Z = sparse.csr_array([solve_row(x, A, **settings) for x in X])
    plain = certify(Z, X, A, **settings)
    fast = certify(solve_simplex_qp(X, A, **settings), X, A, **settings)
    unit = (X**2).sum(axis=1) + ((A - A.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert plain.worst <= 1e-9
    assert (np.abs(plain.objective - fast.objective) <= 1e-9 * unit).all()
