"""The problem over a row's nearest anchors."""

import numpy as np
import pytest
from scipy import sparse

from manyview.simplex import Solver, certify, prepare, solve_simplex_qp
from manyview.simplex.reference import solve_row


def made(seed, n=200, m=40, d=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


def nearest(X, A, r):
    distances = ((X[:, None] - A) ** 2).sum(axis=2)
    return np.argsort(distances, axis=1, kind="stable")[:, :r]


@pytest.mark.parametrize("r", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("locality", [0.0, 0.3])
def test_weights_are_optimal_among_the_nearest_anchors(r, alpha, locality):
    X, A = made(r)
    Z = solve_simplex_qp(X, A, alpha=alpha, locality=locality, n_neighbors=r)
    among = nearest(X, A, r)
    assert certify(Z, X, A, alpha=alpha, locality=locality, among=among).worst < 1e-12
    assert np.diff(Z.indptr).max() <= r


def test_each_row_agrees_with_a_slow_solver_given_its_anchors():
    X, A = made(7, n=25)
    Z = solve_simplex_qp(X, A, alpha=0.1, n_neighbors=4).toarray()
    for x, z, own in zip(X, Z, nearest(X, A, 4), strict=True):
        np.testing.assert_allclose(z[own], solve_row(x, A[own], alpha=0.1), atol=1e-7)


@pytest.mark.parametrize("r", [40, 1000])
def test_as_many_neighbours_as_anchors_is_the_problem_over_all(r):
    X, A = made(3)
    local = solve_simplex_qp(X, A, alpha=0.1, locality=0.2, n_neighbors=r)
    whole = solve_simplex_qp(X, A, alpha=0.1, locality=0.2)
    np.testing.assert_allclose(local.toarray(), whole.toarray(), atol=1e-9)


def test_one_neighbour_is_the_nearest_anchor():
    X, A = made(5)
    Z = solve_simplex_qp(X, A, alpha=0.1, n_neighbors=1)
    assert Z.data.tolist() == [1.0] * len(X)
    assert Z.indices.tolist() == nearest(X, A, 1).ravel().tolist()


def test_sparse_rows_have_the_weights_of_dense_ones():
    X, A = made(6)
    X[np.abs(X) < 0.5] = 0
    dense = solve_simplex_qp(X, A, alpha=0.1, n_neighbors=3)
    other = solve_simplex_qp(sparse.csr_array(X), A, alpha=0.1, n_neighbors=3)
    np.testing.assert_allclose(dense.toarray(), other.toarray(), atol=1e-12)


def test_anchors_that_are_all_alike_leave_feasible_weights():
    X = np.random.default_rng(0).normal(size=(9, 2))
    Z = solve_simplex_qp(X, np.ones((5, 2)), alpha=0.1, n_neighbors=3)
    np.testing.assert_allclose(Z.sum(axis=1), 1.0)


def test_the_certificate_sees_a_weight_on_an_anchor_that_is_not_among_the_nearest():
    X, A = np.array([[0.0], [1.0]]), np.array([[0.0], [1.0], [2.0]])
    Z = sparse.csr_array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    found = certify(Z, X, A, among=np.array([[0, 1], [0, 1]]))
    assert found.infeasibility.tolist() == [0.0, 0.5]


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "3"])
def test_numbers_of_neighbours_that_make_no_sense_are_refused(wrong):
    X, A = made(0)
    with pytest.raises((ValueError, TypeError), match="n_neighbors"):
        solve_simplex_qp(X, A, n_neighbors=wrong)


MADE = {
    "usual": lambda rng, *shape: rng.normal(size=shape),
    "far from zero": lambda rng, *shape: rng.normal(size=shape) + 1e4,
    "tiny": lambda rng, *shape: 1e-30 * rng.normal(size=shape),
    "too large for it": lambda rng, *shape: 1e40 * rng.normal(size=shape),
}


class TestByScoresInSinglePrecision:
    """Of many anchors most are ruled out by scores that are not exact; what is left is."""

    @pytest.mark.parametrize("r", [1, 3, 4, 5, 16])
    @pytest.mark.parametrize("make", MADE.values(), ids=MADE)
    @pytest.mark.parametrize(("m", "d"), [(256, 1), (300, 3), (1000, 40)])
    def test_rows_are_solved_as_by_exact_ones(self, make, r, m, d):
        rng = np.random.default_rng(m + r)
        X, A = make(rng, 150, d), make(rng, m, d)
        problem = prepare(A, alpha=0.1 * float(np.square(A - A.mean(axis=0)).sum(axis=1).mean()))
        solver = Solver(problem, "active-set", r)
        assert solver.can_solve_dense(d)
        expected = solver.solve(problem.linear_terms(X)).rows(m).toarray()
        np.testing.assert_allclose(solver.solve_dense(X).rows(m).toarray(), expected, atol=1e-9)

    def test_anchors_that_are_equally_near_are_as_good(self):
        rng = np.random.default_rng(0)
        X, A = rng.integers(0, 3, size=(150, 6)), rng.integers(0, 3, size=(400, 6))
        Z = Solver(prepare(A, alpha=0.1), "active-set", 3).solve_dense(X.astype(float)).rows(400)
        distances = np.square(X[:, None] - A).sum(axis=2)
        farthest = np.sort(distances, axis=1)[:, 2]
        assert (np.where(Z.toarray() > 0, distances, 0).max(axis=1) <= farthest).all()
        np.testing.assert_allclose(Z.sum(axis=1), 1.0)

    def test_few_anchors_many_neighbours_and_wide_rows_are_left_to_others(self):
        problem = prepare(np.eye(300), alpha=0.1)
        assert Solver(problem, "active-set", 3).can_solve_dense(300)
        assert not Solver(problem, "active-set", 3).can_solve_dense(5000)
        assert not Solver(problem, "active-set", 100).can_solve_dense(300)
        assert not Solver(problem, "active-set").can_solve_dense(300)
        assert not Solver(prepare(np.eye(20), alpha=0.1), "active-set", 3).can_solve_dense(20)
