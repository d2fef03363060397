"""The solver against exact oracles, in every regime; and what must not change its answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manyview.simplex import METHODS, certify, prepare, product_rows, solve_simplex_qp
from manyview.simplex.kernels.active_set import room_for_active_set, solve_by_active_set
from manyview.simplex.solver import Solver

# What the library promises: objective and certificate within this share of ||x||^2 + energy. Rounding
# in products of float64 is about 1e-16 of that; what is lost on top comes from dependent anchors.
TOLERANCE = 1e-9


def scattered(rng, m, d):
    return rng.normal(size=(m, d))


def each_twice(rng, m, d):
    return rng.normal(size=(max(m // 2, 2), d))[np.arange(m) % max(m // 2, 2)]


def on_a_line(rng, m, d):
    return rng.normal(size=(m, 1)) * rng.normal(size=d) + rng.normal(size=d)


def corners_of_a_cube(rng, m, d):
    A = rng.integers(0, 2, size=(m, d)).astype(float)
    A[0], A[-1] = 0.0, 1.0  # never all alike
    return A


def in_two_groups(rng, m, d):
    return rng.normal(size=(m, d)) + 30.0 * (np.arange(m) % 2)[:, None]


def in_two_far_groups(rng, m, d):
    return rng.normal(size=(m, d)) + 1e4 * (np.arange(m) % 2)[:, None]


def near_an_anchor(rng, A, n):
    return A[rng.integers(0, len(A), n)] + 1e-8 * rng.normal(size=(n, A.shape[1]))


ANCHORS = [scattered, each_twice, on_a_line, corners_of_a_cube, in_two_groups]
ROWS = {
    "anywhere": lambda rng, A, n: rng.normal(size=(n, A.shape[1])),
    "anchors themselves": lambda rng, A, n: A[rng.integers(0, len(A), n)],
    "near an anchor": near_an_anchor,
    "all alike": lambda rng, A, n: np.tile(rng.normal(size=A.shape[1]), (n, 1)),
    "the anchors' mean": lambda rng, A, n: np.tile(A.mean(axis=0), (n, 1)),
    "inside the hull": lambda rng, A, n: rng.dirichlet(np.ones(len(A)), n) @ A,
    "far away": lambda rng, A, n: 1e5 * rng.normal(size=(n, A.shape[1])),
}
SHARES = [0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 1e3, 1e6]
SOUND = [share for share in SHARES if share >= 1e-4]
FORMATS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_array,
    "sparse float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "Fortran order": np.asfortranarray,
}


@dataclass(frozen=True)
class Regime:
    """All that decides a problem; small numbers, so that Hypothesis can make a failure simpler."""

    d: int
    m: int
    anchors: object
    rows: str
    alpha: float
    locality: float
    magnitude: int
    format: str
    seed: int

    def problem(self, n=4):
        """Give rows, anchors and settings; alpha is relative to the anchors' energy."""
        rng = np.random.default_rng(self.seed)
        A = self.anchors(rng, self.m, self.d)
        X = ROWS[self.rows](rng, A, n)
        A, X = A * 10.0**self.magnitude, X * 10.0**self.magnitude
        energy = ((A - A.mean(axis=0)) ** 2).sum(axis=1).mean()
        settings = {"alpha": self.alpha * energy, "locality": self.locality}
        return FORMATS[self.format](X), A, settings


def regimes(*, d, m, alpha=SHARES, anchors=ANCHORS):
    return st.builds(
        Regime,
        d=st.sampled_from(d),
        m=st.sampled_from(m),
        anchors=st.sampled_from(anchors),
        rows=st.sampled_from(sorted(ROWS)),
        alpha=st.sampled_from(alpha),
        locality=st.sampled_from([0.0, 0.01, 0.1, 1.0]),
        magnitude=st.sampled_from([0, -12, -6, 6, 12]),
        format=st.sampled_from(sorted(FORMATS)),
        seed=st.integers(0, 10_000),
    )


def dense(X):
    return np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)


def assert_certified(X, A, settings):
    Z = solve_simplex_qp(X, A, **settings)
    assert Z.shape == (X.shape[0], len(A))
    assert (Z.data > 0).all()
    assert np.abs(Z.sum(axis=1) - 1.0).max() <= TOLERANCE
    assert certify(Z, X, A, **settings).worst <= TOLERANCE
    return Z


def objectives(X, A, settings, oracle, objective, unit, *, rows=2):
    """Give our objectives and the oracle's for the first rows, in units of ||x||^2 + energy."""
    Z = assert_certified(X, A, settings)
    return np.array(
        [
            [objective(w, x, A, **settings) / unit(x, A) for w in (z, oracle(x, A, **settings))]
            for x, z in zip(dense(X)[:rows], Z.toarray(), strict=False)
        ]
    ).T


@pytest.mark.slow
class TestAgainstOracles:
    """In regimes near singular the oracles themselves lose digits, so there they bound from above."""

    @given(regime=regimes(d=[1, 2, 3, 5, 10, 30], m=[1, 2, 3, 5, 10, 20, 40], alpha=SOUND))
    @settings(max_examples=120)
    def test_objectives_agree_where_the_ridge_is_sound(self, regime, oracle, objective, unit):
        ours, exact = objectives(*regime.problem(), oracle, objective, unit)
        assert np.abs(ours - exact).max() <= TOLERANCE

    @given(regime=regimes(d=[1, 2, 3, 5, 10, 30], m=[1, 2, 3, 5, 10, 20, 40]))
    @settings(max_examples=150)
    def test_no_oracle_finds_less_in_any_regime(self, regime, oracle, objective, unit):
        ours, exact = objectives(*regime.problem(), oracle, objective, unit)
        assert (ours - exact).max() <= TOLERANCE

    @given(regime=regimes(d=[1, 4, 16, 60, 250], m=[80, 120, 200]))
    @settings(max_examples=25)
    def test_no_oracle_finds_less_with_many_anchors(self, regime, oracle, objective, unit):
        ours, exact = objectives(*regime.problem(), oracle, objective, unit, rows=1)
        assert (ours - exact).max() <= TOLERANCE

    @given(
        regime=regimes(
            d=[1, 2, 5, 20, 64], m=[1, 2, 10, 50, 100, 150], anchors=[*ANCHORS, in_two_far_groups]
        )
    )
    @settings(max_examples=250)
    def test_any_regime_is_certified(self, regime):
        assert_certified(*regime.problem(n=20))

    @pytest.mark.parametrize("locality", [0.0, 0.1])
    @pytest.mark.parametrize(
        ("d", "alpha"), [(6, 0.01), (54, 0.001), (54, 0.1), (54, 10.0), (300, 0.01), (1500, 1.0)]
    )
    def test_a_thousand_anchors_are_solved_to_rounding(self, d, alpha, locality):
        rng = np.random.default_rng(d)
        A, X = rng.normal(size=(1000, d)), rng.normal(size=(20, d))
        assert_certified(X, A, {"alpha": alpha * d, "locality": locality})

    def test_a_thousand_anchors_agree_with_the_oracle(self, oracle, objective, unit):
        rng = np.random.default_rng(0)
        A, X = rng.normal(size=(1000, 40)), rng.normal(size=(1, 40))
        settings = {"alpha": 400.0, "locality": 0.1}
        ours = objective(solve_simplex_qp(X, A, **settings).toarray()[0], X[0], A, **settings)
        # With this alpha, ten times the energy, nothing is near singular.
        z = oracle(X[0], A, **settings, weights=np.zeros(1))
        exact = objective(z, X[0], A, **settings)
        assert abs(ours - exact) <= TOLERANCE * unit(X[0], A)

    @pytest.mark.parametrize("alpha", [0.0, 1e-6, 0.01, 100.0])
    def test_columns_of_any_magnitude(self, alpha, oracle, objective, unit):
        rng = np.random.default_rng(1)
        columns = np.logspace(-12, 12, 9)
        A, X = rng.normal(size=(12, 9)) * columns, rng.normal(size=(4, 9)) * columns
        settings = {"alpha": alpha * 1e24, "locality": 0.0}
        ours, exact = objectives(X, A, settings, oracle, objective, unit)
        assert np.abs(ours - exact).max() <= TOLERANCE


class TestDegenerate:
    @pytest.mark.parametrize("locality", [0.0, 1.0])
    @pytest.mark.parametrize("value", [0.0, 0.5, 0.1, 1e-12 / 3, 1e12 / 3])
    def test_weights_over_equal_anchors_are_feasible_without_a_ridge(self, value, locality):
        rng = np.random.default_rng(0)
        A, X = np.full((3, 2), value), rng.normal(size=(50, 2)) * (value or 1.0)
        Z = solve_simplex_qp(X, A, alpha=0.0, locality=locality)
        assert (Z.data > 0).all()
        assert np.allclose(Z.sum(axis=1), 1.0, rtol=0, atol=TOLERANCE)

    @pytest.mark.parametrize("m", [2, 3, 30])
    def test_a_ridge_spreads_weights_evenly_over_equal_anchors(self, m):
        # The unique solution is 1/m each; moving one weight by t costs alpha t^2, so weights are
        # found to the root of rounding at worst.
        Z = solve_simplex_qp(np.array([[0.7, -2.0]]), np.full((m, 2), 0.1), alpha=0.3)
        assert np.allclose(Z.toarray(), 1.0 / m, rtol=0, atol=1e-8)

    @pytest.mark.parametrize("distance", [1e3, 1e6, 1e8, 1e12])
    @pytest.mark.parametrize("alpha", [0.0, 1e-6, 0.1])
    @pytest.mark.parametrize("locality", [0.0, 1.0])
    def test_rows_however_far_are_feasible_and_certified(self, distance, alpha, locality):
        rng = np.random.default_rng(0)
        A, X = rng.normal(size=(30, 5)), distance * rng.normal(size=(100, 5))
        assert_certified(X, A, {"alpha": alpha, "locality": locality})

    @pytest.mark.parametrize("rows", ["inside the hull", "far away"])
    @pytest.mark.parametrize("anchors", [scattered, in_two_far_groups])
    @pytest.mark.parametrize(("d", "m"), [(2, 100), (20, 10), (60, 80)])
    def test_a_ridge_far_above_the_energy_is_certified(self, d, m, anchors, rows):
        # float64 holds alpha z_j to 1e6 * 1e-16 = 1e-10 of the energy, so 1e-9 can be asked for.
        assert_certified(*Regime(d, m, anchors, rows, 1e6, 0.0, 0, "float64", 0).problem(n=50))

    def test_one_anchor_takes_all_weight(self):
        Z = solve_simplex_qp(np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[5.0, 5.0]]))
        assert np.array_equal(Z.toarray(), [[1.0], [1.0]])

    def test_a_row_equal_to_an_anchor_is_that_anchor_without_a_ridge(self):
        A = np.random.default_rng(0).normal(size=(6, 10))
        Z = solve_simplex_qp(A, A, alpha=0.0)
        assert np.allclose(Z.toarray(), np.eye(6), rtol=0, atol=1e-12)

    def test_a_row_of_the_hull_is_reproduced_without_a_ridge(self):
        rng = np.random.default_rng(0)
        A = rng.normal(size=(20, 4))
        X = rng.dirichlet(np.ones(20), 50) @ A
        Z = solve_simplex_qp(X, A, alpha=0.0)
        # The objective, a squared distance, is zero to 1e-9 of the unit at worst.
        assert np.abs(Z @ A - X).max() <= np.sqrt(TOLERANCE * (X**2).sum(axis=1).max())

    def test_a_huge_ridge_spreads_weights_evenly(self):
        rng = np.random.default_rng(0)
        A, X = rng.normal(size=(10, 3)), rng.normal(size=(20, 3))
        Z = solve_simplex_qp(X, A, alpha=1e9)
        # z_j - 1/m is at most the largest |gradient difference| / (2 alpha), some 1e2 / 1e9.
        assert np.allclose(Z.toarray(), 0.1, rtol=0, atol=1e-7)

    def test_a_huge_locality_gives_all_weight_to_the_nearest_anchor(self):
        rng = np.random.default_rng(0)
        A, X = rng.normal(size=(10, 3)), rng.normal(size=(40, 3))
        nearest = ((X[:, None] - A) ** 2).sum(axis=2).argmin(axis=1)
        Z = solve_simplex_qp(X, A, alpha=0.0, locality=1e6)
        assert np.allclose(Z.toarray(), np.eye(10)[nearest], rtol=0, atol=TOLERANCE)


class TestInvariance:
    """Weights are unique where alpha is positive, so they are compared themselves.

    An error e of the objective moves weights by at most sqrt(e / alpha); with e at rounding, 1e-15 of
    the unit, and alpha .01 of it, that is 3e-7.
    """

    ATOL = 3e-7

    def weights(self, X, A, **settings):
        return solve_simplex_qp(X, A, **{"alpha": 0.03, "locality": 0.1, **settings}).toarray()

    @pytest.fixture
    def problem(self):
        rng = np.random.default_rng(3)
        return rng.normal(size=(3000, 3)), rng.normal(size=(40, 3))

    def test_order_of_rows_does_not_matter(self, problem):
        X, A = problem
        order = np.random.default_rng(0).permutation(len(X))
        expected = self.weights(X, A)[order]
        assert np.allclose(self.weights(X[order], A), expected, rtol=0, atol=self.ATOL)

    def test_rows_solved_alone_are_as_rows_solved_together(self, problem):
        X, A = problem
        alone = np.concatenate([self.weights(X[i : i + 1], A) for i in range(0, 200, 7)])
        assert np.allclose(alone, self.weights(X, A)[:200:7], rtol=0, atol=self.ATOL)

    @pytest.mark.parametrize("split", [1, 37, 1024, 2999])
    def test_splitting_the_batch_does_not_matter(self, problem, split):
        X, A = problem
        parts = np.concatenate([self.weights(X[:split], A), self.weights(X[split:], A)])
        assert np.allclose(parts, self.weights(X, A), rtol=0, atol=self.ATOL)

    @pytest.mark.parametrize("n_jobs", [2, 3])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_threads_do_not_change_a_bit(self, problem, n_jobs, convert):
        X, A = problem
        one = solve_simplex_qp(convert(X), A, alpha=0.03, locality=0.1, n_jobs=1)
        more = solve_simplex_qp(convert(X), A, alpha=0.03, locality=0.1, n_jobs=n_jobs)
        assert np.array_equal(one.indptr, more.indptr)
        assert np.array_equal(one.indices, more.indices)
        assert np.array_equal(one.data, more.data)

    def test_order_of_anchors_does_not_matter(self, problem):
        X, A = problem
        order = np.random.default_rng(0).permutation(len(A))
        expected = self.weights(X, A)[:, order]
        assert np.allclose(self.weights(X, A[order]), expected, rtol=0, atol=self.ATOL)

    @pytest.mark.parametrize("shift", [1.0, -1e3])
    def test_moving_rows_and_anchors_together_does_not_matter(self, problem, shift):
        X, A = problem
        moved = self.weights(X + shift, A + shift)
        # Moving rounds the numbers: an error of eps |shift| each, so of the objective.
        atol = self.ATOL + np.sqrt(np.finfo(float).eps * abs(shift) * 10 / 0.03)
        assert np.allclose(moved, self.weights(X, A), rtol=0, atol=atol)

    @pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
    def test_units_do_not_matter(self, problem, factor):
        X, A = problem
        scaled = self.weights(factor * X, factor * A, alpha=0.03 * factor**2)
        assert np.allclose(scaled, self.weights(X, A), rtol=0, atol=self.ATOL)

    def test_turning_rows_and_anchors_together_does_not_matter(self, problem):
        X, A = problem
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
        turned = self.weights(X @ rotation, A @ rotation)
        assert np.allclose(turned, self.weights(X, A), rtol=0, atol=self.ATOL)

    def test_sparse_rows_are_as_dense_rows(self, problem):
        X, A = problem
        X = np.where(np.abs(X) < 1.0, 0.0, X)
        sparse_weights = self.weights(sparse.csr_array(X), A)
        assert np.allclose(sparse_weights, self.weights(X, A), rtol=0, atol=self.ATOL)

    def test_equal_rows_get_equal_weights(self, problem):
        X, A = problem
        X = np.tile(X[:1], (3000, 1))
        Z = self.weights(X, A)
        assert np.allclose(Z, Z[0], rtol=0, atol=self.ATOL)

    def test_whole_numbers_are_as_floats(self):
        X = np.random.default_rng(0).integers(-5, 6, size=(30, 4))
        A = X[:10]
        assert np.array_equal(self.weights(X.astype(np.int16), A), self.weights(X.astype(float), A))


class TestResult:
    def test_rows_are_sorted_csr_without_stored_zeros(self):
        rng = np.random.default_rng(0)
        Z = solve_simplex_qp(rng.normal(size=(500, 4)), rng.normal(size=(30, 4)), alpha=0.1)
        assert isinstance(Z, sparse.csr_array)
        assert Z.data.dtype == np.float64
        assert Z.has_sorted_indices
        assert (Z.data > 0).all()

    def test_input_is_left_alone(self):
        rng = np.random.default_rng(0)
        X, A = rng.normal(size=(50, 4)), rng.normal(size=(9, 4))
        before = X.copy(), A.copy()
        solve_simplex_qp(X, A, alpha=0.1)
        assert np.array_equal(X, before[0])
        assert np.array_equal(A, before[1])

    def test_wide_sparse_rows_are_not_made_dense(self):
        # 2000 rows of 40 000 columns would be 640 MB.
        X = sparse.random_array((2000, 40_000), density=1e-4, rng=np.random.default_rng(0))
        X = X.tocsr()
        A = X[:5].toarray()
        Z = solve_simplex_qp(X, A, alpha=0.01)
        assert np.allclose(Z.sum(axis=1), 1.0)

    def test_a_prepared_problem_knows_its_size(self):
        problem = prepare(np.eye(4, 7), alpha=0.1)
        assert problem.n_anchors == 4
        assert problem.linear_terms(np.ones((3, 7))).shape == (3, 4)

    def test_rows_multiplied_at_a_time_depend_on_sizes_alone(self):
        assert product_rows(10, 50) == product_rows(10, 50)
        assert all(product_rows(d, m) >= 1 for d in (1, 10**6) for m in (1, 1000))


class TestRefused:
    @pytest.mark.parametrize(
        ("X", "A", "message"),
        [
            (np.ones(3), np.ones((2, 3)), r"shape \(3,\) .* do not fit"),
            (np.ones((2, 3)), np.ones(3), r"anchors of shape \(3,\) do not fit"),
            (np.ones((2, 3)), np.ones((2, 4)), r"\(2, 3\) and anchors of shape \(2, 4\)"),
            (np.ones((0, 3)), np.ones((2, 3)), "must not be empty"),
            (np.ones((2, 3)), np.ones((0, 3)), "must not be empty"),
            (np.ones((2, 0)), np.ones((2, 0)), "must not be empty"),
            (np.full((2, 3), np.nan), np.ones((2, 3)), "without NaN or infinity"),
            (np.ones((2, 3)), np.full((2, 3), np.inf), "without NaN or infinity"),
            (sparse.csr_array([[np.nan, 0.0]]), np.ones((2, 2)), "without NaN or infinity"),
        ],
    )
    def test_rows_and_anchors_that_do_not_fit(self, X, A, message):
        with pytest.raises(ValueError, match=message):
            solve_simplex_qp(X, A)

    @pytest.mark.parametrize("name", ["alpha", "locality"])
    @pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
    def test_settings_out_of_range(self, name, value):
        with pytest.raises(ValueError, match=f"{name} must be zero or more and finite"):
            solve_simplex_qp(np.ones((2, 3)), np.eye(3), **{name: value})


class TestNumbersThatAreNone:
    """What no one should hand in: it ends, and is counted as not solved."""

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_rows_with_such_terms_are_counted_and_others_are_solved(self, method, value):
        rng = np.random.default_rng(0)
        problem = prepare(rng.normal(size=(20, 4)), alpha=0.1)
        B = problem.linear_terms(rng.normal(size=(6, 4)))
        solver = Solver(problem, method)
        expected = solver.solve(B).rows(20).toarray()
        B[2, 3] = value
        B[4] = value
        solution = solver.solve(B)
        assert solution.n_failed == 2
        others = [0, 1, 3, 5]
        np.testing.assert_allclose(solution.rows(20).toarray()[others], expected[others], atol=1e-9)

    @pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -1.0])
    def test_the_active_set_ends_whatever_the_products_are(self, value):
        n, m = 3, 12
        indptr, data = np.zeros(n + 1, np.int64), np.empty(n * m)
        indices = np.empty(n * m, np.int32)
        gram, all_of_them = np.full((m, m), value), np.empty((n, 0), np.int64)
        failed = solve_by_active_set(
            gram, np.ones((n, m)), all_of_them, room_for_active_set(m, 0), indptr, indices, data
        )
        assert failed == n
        assert np.diff(indptr).tolist() == [1] * n and (data[:n] == 1).all()

    def test_rows_far_from_all_anchors_use_the_best_one(self):
        anchors = np.eye(3)
        Z = solve_simplex_qp(np.array([[1e140, 0.0, 0.0], [0.0, -1e60, 1e130]]), anchors)
        assert np.array_equal(Z.toarray(), [[1, 0, 0], [0, 0, 1]])


def test_a_rough_problem_is_nearly_that_of_the_same_anchors():
    A = np.random.default_rng(0).normal(size=(12, 30)).astype(np.float32)
    exact, rough = (prepare(A, alpha=0.1, locality=0.2, is_rough=each) for each in (False, True))
    assert exact.weights.dtype == np.float64 and rough.weights.dtype == np.float32
    np.testing.assert_allclose(rough.gram, exact.gram, atol=1e-5)
    np.testing.assert_allclose(rough.weights, exact.weights, atol=1e-5)
    np.testing.assert_allclose(rough.offset, exact.offset, atol=1e-5)
