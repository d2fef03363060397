"""Anchors: distinct rows to start from, moved to where rows are."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from manyview.stages.anchors import (
    FEW_ROWS,
    WIDE,
    anchors_of_wide,
    best_start,
    first_of_alike,
    place_anchors,
    place_dense_anchors,
)
from manyview.stages.kmeans import assign
from manyview.stages.rows import ScaledRows


class TestPlacedAnchors:
    @pytest.fixture
    def rows(self, blobs):
        return blobs(n=600, k=6, widths=(5,))[0]

    @pytest.mark.parametrize(
        "convert", [ScaledRows, lambda X: ScaledRows(sparse.csr_array(X), np.zeros(5))]
    )
    def test_serve_rows_better_than_their_start(self, rows, convert):
        sweep = partial(assign, convert(rows))
        start = rows[:12]
        anchors = place_anchors(start, sweep)
        assert anchors.shape == (12, 5)
        assert sweep(anchors).inertia < sweep(start).inertia

    def test_lie_inside_the_range_of_rows(self, rows):
        anchors = place_anchors(rows[:12], partial(assign, ScaledRows(rows)))
        assert (anchors >= rows.min(axis=0) - 1e-12).all()
        assert (anchors <= rows.max(axis=0) + 1e-12).all()

    def test_there_are_no_more_than_rows_that_differ(self):
        few = np.repeat(np.eye(3), 5, axis=0)
        sweep = partial(assign, ScaledRows(few))
        anchors = place_anchors(few[:8], sweep)
        assert np.array_equal(np.unique(anchors, axis=0), np.unique(few, axis=0))
        assert len(anchors) == 3

    def test_of_dense_rows_serve_as_well_by_fewer_comparisons(self, rows):
        sweep = partial(assign, ScaledRows(rows))
        anchors = place_dense_anchors(rows[:12], rows.astype(np.float32))
        assert anchors.shape == (12, 5)
        assert sweep(anchors).inertia <= 1.1 * sweep(place_anchors(rows[:12], sweep)).inertia

    def test_of_dense_rows_are_no_more_than_rows_that_differ(self):
        few = np.repeat(np.eye(3, dtype=np.float32), 5, axis=0)
        anchors = place_dense_anchors(few[:8], few)
        assert np.array_equal(np.unique(anchors, axis=0), np.unique(few, axis=0))
        assert len(anchors) == 3

    def test_best_start_finds_clear_groups(self, rows):
        centers = best_start(ScaledRows(rows), 6, seed=0)
        means = np.array([rows[g::6].mean(axis=0) for g in range(6)])
        distances = np.linalg.norm(centers[:, None] - means, axis=2)
        assert sorted(distances.argmin(axis=1)) == list(range(6))
        assert distances.min(axis=1).max() < 1e-6

    def test_best_start_of_sparse_rows_takes_the_offset_off(self, rows):
        offset = np.linspace(-1, 1, 5)
        dense = best_start(ScaledRows(rows - offset), 6, seed=0)
        csr = best_start(ScaledRows(sparse.csr_array(rows), offset), 6, seed=0)
        assert np.allclose(np.sort(csr, axis=0), np.sort(dense, axis=0), atol=1e-8)


def test_first_of_alike_are_those_of_a_sorted_search():
    rows = np.random.default_rng(0).integers(-1, 2, (200, 4)) * 1.0
    rows[::7] *= -0.0  # of which some have a sign
    expected = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    assert np.array_equal(first_of_alike(rows), expected)


class TestFewWideRows:
    @pytest.fixture(params=["dense", "sparse"])
    def rows(self, request):
        rng = np.random.default_rng(0)
        X = np.where(rng.random((60, 300)) < 0.1, rng.gamma(2.0, size=(60, 300)), 0.0)
        if request.param == "dense":
            return ScaledRows(X)
        return ScaledRows(sparse.csr_array(X), X.mean(axis=0))

    def test_anchors_are_those_of_sweeps_over_all_columns(self, rows):
        starts = np.arange(0, 60, 6)
        slow = place_anchors(rows[starts].dense(), partial(assign, rows))
        expected = assign(rows, slow).means()
        np.testing.assert_allclose(anchors_of_wide(rows, starts), expected, rtol=1e-6, atol=1e-8)

    def test_rows_all_alike(self):
        anchors = anchors_of_wide(ScaledRows(np.full((6, 20), 2.0)), np.array([0, 3]))
        np.testing.assert_allclose(anchors, 2.0)

    def test_sparse_rows_far_from_zero(self):
        rng = np.random.default_rng(0)
        X = np.where(rng.random((60, 301)) < 0.05, rng.random((60, 301)), 0.0)
        X[:, -1] = rng.normal(1.7e9, 1e6, 60)  # as seconds since 1970
        X /= 1e6
        starts = np.arange(0, 60, 6)
        far = anchors_of_wide(ScaledRows(sparse.csr_array(X), X.mean(axis=0)), starts)
        near = anchors_of_wide(ScaledRows(X - X.mean(axis=0)), starts)
        np.testing.assert_allclose(far, near, atol=1e-6)

    def test_anchors_of_many_rows_are_means_of_rows_that_are_near(self):
        rng = np.random.default_rng(0)
        groups = rng.integers(20, size=FEW_ROWS + 500)
        words = np.where(rng.random((20, WIDE)) < 0.02, rng.gamma(2.0, size=(20, WIDE)), 0.0)
        X = np.where(rng.random((len(groups), WIDE)) < 0.5, words[groups], 0.0)
        rows = ScaledRows(sparse.csr_array(X), X.mean(axis=0))
        starts = np.unique(groups, return_index=True)[1]
        found = anchors_of_wide(rows, starts)
        expected = np.stack([X[groups == g].mean(axis=0) for g in range(20)]) - X.mean(axis=0)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert found.dtype == np.float32
