"""Lloyd's iterations as sums over tiles: what scikit-learn finds, and empty clusters repaired."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from operator import add

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from manyview.stages.kernels import LANES, choose_likely
from manyview.stages.kmeans import assign, lloyd, move_once, nearest_centers, sweep_likely
from manyview.stages.rows import ScaledRows


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(500, 4))


def sweep_over(rows):
    return partial(assign, ScaledRows(rows))


class TestAssignment:
    def test_every_row_goes_to_its_nearest_centre(self, rows):
        centers = rows[:7]
        distances = ((rows[:, None] - centers) ** 2).sum(axis=2)
        labels, _ = nearest_centers(ScaledRows(rows), centers)
        assert labels.dtype == np.int32
        assert np.array_equal(labels, distances.argmin(axis=1))

    def test_sums_are_those_of_the_rows(self, rows):
        centers = rows[:7]
        distances = ((rows[:, None] - centers) ** 2).sum(axis=2)
        labels = distances.argmin(axis=1)
        result = assign(ScaledRows(rows), centers)
        assert np.array_equal(result.counts, np.bincount(labels, minlength=7))
        assert np.allclose(result.sums, np.eye(7)[labels].T @ rows, rtol=1e-12, atol=1e-12)
        assert result.inertia == pytest.approx(distances.min(axis=1).sum(), rel=1e-12)
        assert result.farthest == pytest.approx(distances.min(axis=1).max(), rel=1e-12)
        assert np.array_equal(result.farthest_row, rows[distances.min(axis=1).argmax()])

    @pytest.mark.parametrize("leans", [0.0, 1.0])
    def test_sparse_rows_are_as_dense_rows(self, rows, leans):
        rows = np.where(np.abs(rows) < 0.5, 0.0, rows)
        offset, centers = np.linspace(-1, 1, 4), rows[:7]
        tilts = leans * rows.mean(axis=1, keepdims=True)
        lean = (tilts, np.ones((1, 4))) if leans else None
        dense = assign(ScaledRows(rows - offset - tilts), centers)
        csr = assign(ScaledRows(sparse.csr_array(rows), offset, lean=lean), centers)
        assert np.array_equal(csr.counts, dense.counts)
        assert sparse.issparse(csr.sums) == (leans == 0.0)
        assert np.allclose(csr.means(), dense.means(), rtol=1e-11, atol=1e-11)
        assert np.allclose((csr + csr).means(), dense.means(), rtol=1e-11, atol=1e-11)
        assert csr.inertia == pytest.approx(dense.inertia, rel=1e-11)
        assert np.allclose(csr.farthest_row, dense.farthest_row, atol=1e-13)

    @pytest.mark.parametrize("cuts", [[100], [1, 2, 499], [250, 251]])
    def test_parts_add_up_to_the_whole(self, rows, cuts):
        centers = rows[:7]
        whole = assign(ScaledRows(rows), centers)
        parts = reduce(add, [assign(ScaledRows(p), centers) for p in np.split(rows, cuts)])
        assert np.array_equal(parts.counts, whole.counts)
        assert np.allclose(parts.sums, whole.sums, rtol=1e-12, atol=1e-12)
        assert parts.inertia == pytest.approx(whole.inertia, rel=1e-12)
        assert np.array_equal(parts.farthest_row, whole.farthest_row)

    def test_single_precision_rows_work(self, rows):
        single = assign(ScaledRows(rows.astype(np.float32)), rows[:7].astype(np.float32))
        assert single.inertia == pytest.approx(assign(ScaledRows(rows), rows[:7]).inertia, rel=1e-5)
        assert single.sums.dtype == np.float64

    def test_ties_go_to_the_first_centre(self):
        labels, _ = nearest_centers(ScaledRows(np.zeros((3, 2))), np.ones((4, 2)))
        assert labels.tolist() == [0, 0, 0]


class TestLloyd:
    def test_rests_where_scikit_learn_rests(self, rows):
        start = rows[:7]
        centers, assignment, _ = lloyd(sweep_over(rows), start, max_iter=300)
        expected = KMeans(7, init=start, n_init=1, max_iter=300, tol=0, algorithm="lloyd").fit(rows)
        assert np.allclose(centers, expected.cluster_centers_, rtol=1e-9, atol=1e-9)
        assert assignment.inertia == pytest.approx(expected.inertia_, rel=1e-10)

    def test_inertia_never_rises(self, rows):
        inertias = [
            lloyd(sweep_over(rows), rows[:7], max_iter=limit)[1].inertia for limit in range(1, 12)
        ]
        assert (np.diff(inertias) <= 1e-9).all()

    def test_the_assignment_belongs_to_the_centres_it_comes_with(self, rows):
        centers, assignment, _ = lloyd(sweep_over(rows), rows[:7], max_iter=3)
        again = sweep_over(rows)(centers)
        assert again.inertia == assignment.inertia
        assert np.array_equal(again.counts, assignment.counts)

    @pytest.mark.parametrize("limit", [1, 2, 5])
    def test_stops_at_the_limit(self, rows, limit):
        assert lloyd(sweep_over(rows), rows[:7], max_iter=limit)[2] == limit

    def test_stops_when_centres_rest(self):
        rows = np.repeat([[0.0], [10.0]], 5, axis=0)
        centers, _, n_iter = lloyd(sweep_over(rows), np.array([[1.0], [9.0]]), max_iter=100)
        assert n_iter == 2
        assert centers.ravel().tolist() == [0.0, 10.0]

    @pytest.mark.parametrize("tol", [0.0, 100.0])
    @pytest.mark.parametrize("is_far", [False, True])
    def test_one_move_leads_to_the_centres_of_two_sweeps(self, rows, tol, is_far):
        start = rows[:7] + 100.0 * is_far * np.eye(7)[:, :4]  # some of them empty
        centers, _, n_iter = lloyd(sweep_over(rows), start, max_iter=2, tol=tol)
        moved, n_sweeps = move_once(sweep_over(rows), start, tol=tol)
        assert (np.array_equal(moved, centers), n_sweeps) == (True, n_iter)

    def test_tolerance_stops_earlier(self, rows):
        _, _, exact = lloyd(sweep_over(rows), rows[:7], max_iter=300)
        _, _, loose = lloyd(sweep_over(rows), rows[:7], max_iter=300, tol=0.05)
        assert loose < exact

    def test_empty_clusters_take_the_worst_served_rows(self):
        rows = np.repeat([[0.0], [10.0], [20.0]], 5, axis=0)
        start = np.array([[0.0], [1e6], [2e6]])  # two centres that no row is near
        centers, assignment, _ = lloyd(sweep_over(rows), start, max_iter=100)
        assert sorted(centers.ravel().tolist()) == [0.0, 10.0, 20.0]
        assert assignment.inertia == 0.0
        assert (assignment.counts == 5).all()

    def test_more_centres_than_distinct_rows_leave_some_empty(self):
        rows = np.repeat([[0.0], [1.0]], 4, axis=0)
        centers, assignment, _ = lloyd(sweep_over(rows), np.zeros((5, 1)), max_iter=50)
        assert np.isfinite(centers).all()
        assert assignment.inertia == 0.0


class TestLikelyCentres:
    def test_few_are_all_likely_so_sweeps_are_those_of_lloyd(self, rows):
        single = rows.astype(np.float32)
        centers, labels = sweep_likely(single, single[:6], n_sweeps=4)
        exact, last, _ = lloyd(partial(assign, ScaledRows(rows)), rows[:6], max_iter=5)
        np.testing.assert_allclose(centers, exact, atol=1e-5)
        assert np.bincount(labels, minlength=6).sum() == len(rows) == last.counts.sum()

    def test_many_serve_rows_nearly_as_well_as_those_of_lloyd(self):
        rows = np.random.default_rng(0).normal(size=(4000, 5))
        single = rows.astype(np.float32)
        sweep = partial(assign, ScaledRows(rows))
        found = sweep_likely(single, single[:200], n_sweeps=7)[0].astype(np.float64)
        exact = lloyd(sweep, rows[:200], max_iter=8)[0]
        gain = sweep(rows[:200]).inertia - sweep(exact).inertia
        assert sweep(found).inertia < sweep(exact).inertia + 0.1 * gain

    @pytest.mark.parametrize("k", [*range(17, 64), 64, 65, 127, 128, 129, 200])
    def test_likely_are_the_nearest_of_each_group(self, k):
        products = np.random.default_rng(k).normal(size=(50, k)).astype(np.float32)
        products[:10] = products[:10].round()  # with equals, of which the first is taken
        half_norms = np.linspace(0, 1, k, dtype=np.float32).round(1)
        tops, places = np.empty(LANES, np.float32), np.empty(LANES, np.int32)
        found = np.empty((50, 16), np.int32)
        choose_likely(products, half_norms, tops, places, found)
        scores = products - half_norms
        for group in range(16):
            best = group + 16 * scores[:, group::16].argmax(axis=1)
            np.testing.assert_array_equal(found[:, group], best)

    def test_few_rows_are_compared_with_all(self):
        rows = np.random.default_rng(0).normal(size=(300, 4))
        single = rows.astype(np.float32)
        centers, _ = sweep_likely(single, single[:100], n_sweeps=5)
        exact = rows[:100]
        for _ in range(5):
            found = assign(ScaledRows(rows), exact)
            exact = np.where(found.counts[:, None] > 0, found.means(), exact)
        np.testing.assert_allclose(centers, exact, atol=1e-5)

    def test_centres_without_rows_stay(self):
        rows = np.repeat(np.eye(2, dtype=np.float32), 5, axis=0)
        starts = np.array([[1, 0], [0, 1], [9, 9]], np.float32)
        centers, labels = sweep_likely(rows, starts, n_sweeps=2)
        assert np.array_equal(centers, starts)
        assert np.bincount(labels, minlength=3).tolist() == [5, 5, 0]

    @pytest.mark.parametrize("width", [5, 600])
    def test_threads_change_nothing(self, width):
        rows = np.random.default_rng(0).normal(size=(5000, width)).astype(np.float32)
        alone = sweep_likely(rows, rows[:300], n_sweeps=3)
        with ThreadPoolExecutor(3) as pool:
            shared = sweep_likely(rows, rows[:300], n_sweeps=3, each=pool.map)
        for one, other in zip(alone, shared, strict=True):
            assert np.array_equal(one, other)

    def test_rows_that_are_very_wide_find_the_centres_they_belong_to(self):
        rng = np.random.default_rng(0)
        places = rng.normal(size=(400, 700)).astype(np.float32)
        groups = np.repeat(np.arange(400), 6)
        rows = places[groups] + 0.3 * rng.normal(size=(2400, 700)).astype(np.float32)
        _, labels = sweep_likely(rows, places, n_sweeps=2)
        assert np.array_equal(labels, groups)
