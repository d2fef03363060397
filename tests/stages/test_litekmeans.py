"""The k-means of published figures: as the authors do it, whatever is spared on the way."""

import pickle
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manyview.stages import litekmeans as module
from manyview.stages.litekmeans import draw_starts, litekmeans
from manyview.stages.rows import ScaledRows


def over(rows, *, tile=64, forgets=False, seen=None):
    """Sums over tiles of rows; with nothing remembered between rounds, as on a cluster."""

    def total(function):
        if seen is not None:
            seen.append(function.keywords["current"].runs.tolist())
        function = pickle.loads(pickle.dumps(function)) if forgets else function
        return reduce(add, [function(rows[i : i + tile], i) for i in range(0, len(rows), tile)])

    return total


def solve(X, starts, *, max_iter=100, **options):
    return litekmeans(over(ScaledRows(X), **options), X[starts], max_iter=max_iter)


def assert_same(one, other):
    assert np.array_equal(one.centers, other.centers)
    assert (one.n_iter, one.is_settled) == (other.n_iter, other.is_settled)


def make(n=300, d=6, k=7, *, seed=0):
    """Rows, and ten sets of them to start from."""
    rng = np.random.default_rng(seed)
    X = 2.0 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    return X, draw_starts(n, k, rng)


class TestAsTheAuthorsDoIt:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize(("n", "d", "k"), [(300, 6, 7), (90, 1, 5), (200, 40, 25), (70, 3, 1)])
    def test_equal_starts_give_equal_centres(self, authors_kmeans, n, d, k, seed):
        X, starts = make(n, d, k, seed=seed)
        distance, centers, labels, n_rounds = authors_kmeans(X, starts[:1])
        found = solve(X, starts[:1])
        np.testing.assert_allclose(found.centers, centers, rtol=1e-10, atol=1e-12)
        # Roots of what rounding leaves of a distance that is zero.
        assert found.distance == pytest.approx(distance, abs=1e-6 * n)
        assert found.inertia == pytest.approx(((X - centers[labels]) ** 2).sum(), rel=1e-10)
        assert found.n_iter == n_rounds
        assert found.is_settled

    def test_sparse_rows_are_as_dense_rows(self, authors_kmeans):
        X, starts = make()
        X = np.where(np.abs(X) < 1.5, 0.0, X)
        offset = X.mean(axis=0)
        rows = ScaledRows(sparse.csr_array(X), offset)
        found = litekmeans(over(rows), (X - offset)[starts])
        np.testing.assert_allclose(found.centers + offset, authors_kmeans(X, starts)[1], atol=1e-12)

    def test_the_run_with_the_least_sum_of_plain_distances_is_kept(self):
        X, starts = make(k=12, seed=6)
        runs = [solve(X, starts[i : i + 1]) for i in range(10)]
        by_distance, by_inertia = (
            min(runs, key=lambda run: getattr(run, name)) for name in ("distance", "inertia")
        )
        assert by_distance is not by_inertia  # else this would show nothing
        assert_same(solve(X, starts), by_distance)

    @pytest.mark.parametrize("limit", [1, 2, 4])
    def test_a_run_may_end_before_it_settles(self, authors_kmeans, limit):
        X, starts = make(k=12)
        found = solve(X, starts, max_iter=limit)
        distance, centers, labels, _ = authors_kmeans(X, starts, max_iter=limit)
        np.testing.assert_allclose(found.centers, centers, atol=1e-12)
        assert found.distance == pytest.approx(distance)
        assert (found.n_iter, found.is_settled) == (limit, False)
        # The labels are those of the centres that rows were compared with.
        squares = ((X[:, None] - found.compared) ** 2).sum(axis=2)
        assert np.array_equal(squares.argmin(axis=1), labels)

    def test_starts_are_distinct_rows(self):
        starts = draw_starts(20, 15, np.random.default_rng(0))
        assert starts.shape == (10, 15)
        assert all(len(set(start)) == 15 for start in starts.tolist())
        assert draw_starts(3, 5, np.random.default_rng(0), n_runs=2).tolist() == [[0, 1, 2]] * 2


class TestEmptyClusters:
    def test_take_the_rows_farthest_from_their_centres(self, authors_kmeans):
        X, _ = make()
        X[:4] = X[0]  # three of four equal centres have no rows
        X[[50, 60]] += 30.0
        start = np.array([[0, 1, 2, 3, 10, 20]])
        np.testing.assert_allclose(
            solve(X, start, max_iter=1).centers, authors_kmeans(X, start, max_iter=1)[1], atol=1e-12
        )
        found = solve(X, start)
        np.testing.assert_allclose(found.centers, authors_kmeans(X, start)[1], atol=1e-12)
        assert len(np.unique(found.centers, axis=0)) == 6

    def test_fewer_distinct_rows_than_centres(self):
        X = np.repeat([[0.0, 1.0], [5.0, 2.0]], 40, axis=0)
        found = solve(X, np.arange(5)[None], tile=16)
        assert np.isfinite(found.centers).all()
        assert found.is_settled
        assert found.distance == pytest.approx(0.0, abs=1e-6)


class TestWhatIsSpared:
    def test_what_tiles_remember_changes_nothing(self):
        X, starts = make(500, 20, 15)
        assert_same(solve(X, starts), solve(X, starts, forgets=True))

    @given(
        data=st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=12, max_size=60),
        k=st.integers(1, 8),
        power=st.integers(-60, 60),
    )
    def test_nor_does_it_where_rows_lie_between_centres(self, data, k, power):
        X = np.array(data) * 10.0**power
        starts = draw_starts(len(X), k, np.random.default_rng(0), n_runs=3)
        assert_same(solve(X, starts, tile=7), solve(X, starts, tile=7, forgets=True))

    def test_notes_end_where_memory_does(self, monkeypatch):
        X, starts = make()
        expected = solve(X, starts)
        monkeypatch.setattr(module, "_NOTE_BYTES", 64 * 10 * 8 * 2)  # two of five tiles
        assert_same(solve(X, starts), expected)

    def test_runs_that_go_one_by_one_give_the_same(self, monkeypatch):
        X, starts = make()
        expected, seen = solve(X, starts), []
        monkeypatch.setattr(module, "_RUN_BYTES", 1)
        assert_same(solve(X, starts, seen=seen), expected)
        assert max(map(len, seen)) == 1

    def test_a_run_that_has_settled_is_left_alone(self):
        X, starts = make()
        each = [solve(X, start[None]).n_iter for start in starts]
        seen = []
        solve(X, starts, seen=seen)
        assert len(set(each)) > 1
        assert [sum(run in runs for runs in seen[:-1]) for run in range(10)] == each

    def test_distances_that_cannot_have_changed_are_not_computed(self, monkeypatch):
        X, starts = make(600, 3, 6)
        compared = []
        compare = module._Comparison.__call__

        def counting(self, near, *arguments):
            compared.append(len(near))
            return compare(self, near, *arguments)

        monkeypatch.setattr(module._Comparison, "__call__", counting)
        n_rounds = solve(X, starts[:1]).n_iter
        assert sum(compared) < 0.7 * n_rounds * len(X)

    @pytest.mark.parametrize("scale", [1e-120, 1e-20, 1e20, 1e120])
    def test_units_do_not_matter(self, scale):
        X, starts = make()
        found = solve(X * scale, starts)
        np.testing.assert_allclose(found.centers / scale, solve(X, starts).centers, rtol=1e-9)

    def test_rows_far_from_zero_are_told_apart(self, authors_kmeans):
        X, starts = make(200, 4, 5)
        far = np.round(X, 3) + 2.0**20
        expected = authors_kmeans(far - 2.0**20, starts)[1]
        np.testing.assert_allclose(solve(far, starts).centers - 2.0**20, expected, atol=1e-8)

    def test_a_tile_may_have_no_rows(self):
        X, starts = make()
        whole = over(ScaledRows(X))

        def with_an_empty_tile(function):
            return whole(function) + function(ScaledRows(X[:0]), 1 << 20)

        assert_same(litekmeans(with_an_empty_tile, X[starts]), solve(X, starts))
