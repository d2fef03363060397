"""The certificate: small for solutions, large for anything else, and right about both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manyview.simplex import certify, solve_simplex_qp

ALPHA, LOCALITY = 0.05, 0.1


def make(seed=0, *, n=30, m=12, d=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


def solve(X, A):
    return solve_simplex_qp(X, A, alpha=ALPHA, locality=LOCALITY).toarray()


def check(Z, X, A):
    return certify(sparse.csr_array(Z), X, A, alpha=ALPHA, locality=LOCALITY)


def toward(Z, step):
    """Move the weights of each row towards its last anchor by ``step``; they stay feasible."""
    return (1.0 - step) * Z + step * np.eye(Z.shape[1])[-1]


class TestWrongWeights:
    @pytest.mark.slow
    @given(seed=st.integers(0, 200), exponent=st.integers(-6, -1))
    def test_moving_weights_is_noticed(self, seed, exponent):
        X, A = make(seed)
        step = 10.0**exponent
        moved = toward(solve(X, A), step)
        # Moving by t raises the objective by at least alpha t^2 |z - e|^2, which the gap bounds from
        # above; rows that rest on that anchor alone do not move.
        distance = ((moved - solve(X, A)) ** 2).sum(axis=1)
        scale = ((X - A.mean(axis=0)) ** 2).sum(axis=1)
        scale = scale + ((A - A.mean(axis=0)) ** 2).sum(axis=1).mean()
        assert (check(moved, X, A).gap * scale >= ALPHA * distance - 1e-14).all()

    @pytest.mark.parametrize("step", [1e-7, 1e-4, 0.1])
    def test_moving_weights_raises_the_residual_above_what_is_promised(self, step):
        X, A = make()
        certificate = check(toward(solve(X, A), step), X, A)
        assert np.median(certificate.kkt) > 1e-9
        assert np.median(certificate.gap) > 1e-9
        assert certificate.worst > 1e-9

    def test_one_wrong_row_is_found(self):
        X, A = make()
        Z = solve(X, A)
        Z[7] = np.eye(12)[np.argmin(Z[7])]
        certificate = check(Z, X, A)
        assert np.argmax(certificate.kkt) == np.argmax(certificate.gap) == 7
        assert certificate.worst > 1e-3

    @pytest.mark.parametrize("amount", [1e-6, -1e-6, 0.5])
    def test_weights_that_do_not_sum_to_one_are_infeasible(self, amount):
        X, A = make()
        Z = solve(X, A)
        Z[3] *= 1.0 + amount
        certificate = check(Z, X, A)
        assert certificate.infeasibility[3] == pytest.approx(abs(amount), rel=1e-6)
        assert certificate.worst >= 0.99 * abs(amount)

    def test_a_negative_weight_is_infeasible(self):
        X, A = make()
        Z = solve(X, A)
        unused, most = np.argmin(Z[3]), np.argmax(Z[3])
        Z[3, unused], Z[3, most] = -0.25, Z[3, most] + 0.25
        assert check(Z, X, A).infeasibility[3] == 0.25

    def test_weights_for_another_alpha_are_not_certified(self):
        X, A = make()
        Z = solve_simplex_qp(X, A, alpha=0.5)
        assert certify(Z, X, A, alpha=0.5).worst <= 1e-9
        assert certify(Z, X, A, alpha=0.4).worst > 1e-4

    def test_weights_for_another_locality_are_not_certified(self):
        X, A = make()
        Z = solve_simplex_qp(X, A, alpha=0.5, locality=0.1)
        assert certify(Z, X, A, alpha=0.5, locality=0.0).worst > 1e-4

    def test_rows_in_another_order_are_not_certified(self):
        X, A = make()
        assert check(solve(X, A)[::-1], X, A).worst > 1e-3


class TestNumbers:
    def test_objective_is_the_problem_as_printed(self):
        X, A = make()
        Z = solve(X, A)
        distances = ((X[:, None] - A) ** 2).sum(axis=2)
        expected = ((X - Z @ A) ** 2).sum(axis=1) + ALPHA * (Z**2).sum(axis=1)
        expected += LOCALITY * (Z * distances).sum(axis=1)
        assert np.allclose(check(Z, X, A).objective, expected, rtol=1e-12)

    @pytest.mark.slow
    @given(seed=st.integers(0, 100), step=st.floats(0.0, 1.0))
    def test_gap_bounds_the_distance_to_the_minimum(self, seed, step):
        X, A = make(seed)
        best = check(solve(X, A), X, A)
        other = check(toward(solve(X, A), step), X, A)
        scale = ((X - A.mean(axis=0)) ** 2).sum(axis=1)
        scale = scale + ((A - A.mean(axis=0)) ** 2).sum(axis=1).mean()
        # Rounding of objectives: 1e-14 of their own size.
        assert (other.objective - best.objective <= other.gap * scale + 1e-14 * scale).all()

    def test_sparse_rows_are_certified_as_dense_rows(self):
        X, A = make()
        X = np.where(np.abs(X) < 0.7, 0.0, X)
        Z = toward(solve(X, A), 0.01)
        dense, csr = check(Z, X, A), check(Z, sparse.csr_array(X), A)
        assert np.allclose(csr.objective, dense.objective, rtol=1e-12)
        assert np.allclose(csr.gap, dense.gap, rtol=1e-10)
        assert np.allclose(csr.kkt, dense.kkt, rtol=1e-10)
        assert np.array_equal(csr.infeasibility, dense.infeasibility)

    def test_units_do_not_matter(self):
        X, A = make()
        Z = toward(solve(X, A), 0.01)
        small = certify(
            sparse.csr_array(Z), X * 1e-12, A * 1e-12, alpha=ALPHA * 1e-24, locality=LOCALITY
        )
        assert np.allclose(small.gap, check(Z, X, A).gap, rtol=1e-9)

    def test_more_rows_than_are_checked_at_a_time(self):
        X, A = make(n=5000)
        Z = solve(X, A)
        whole, last = check(Z, X, A), check(Z[4990:], X[4990:], A)
        assert whole.gap.shape == (5000,)
        assert np.allclose(whole.objective[4990:], last.objective, rtol=1e-12)

    @pytest.mark.parametrize("alpha", [0.0, 0.3])
    def test_a_row_equal_to_equal_anchors_is_certified(self, alpha):
        # The mean of three times 0.1 is not 0.1: what is left is rounding, and must not be a unit.
        A = np.full((3, 2), 0.1)
        Z = sparse.csr_array(np.full((1, 3), 1.0 / 3.0))
        assert certify(Z, A[:1], A, alpha=alpha).worst <= 1e-9
