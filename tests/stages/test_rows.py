"""Rows of scaled views: sparse, dense, side by side, and of samples that lack views."""

import numpy as np
import pytest
from scipy import sparse

from manyview.stages.rows import IncompleteRows, ScaledRows, join_views, side_by_side

# Sums of some hundred float64 numbers of size one.
RTOL = 1e-11


def counts(n=200, d=6, seed=0):
    """Counts with many zeros: as dense rows and as sparse rows they are the same view."""
    return np.random.default_rng(seed).poisson(0.7, size=(n, d)).astype(float)


class TestScaledRows:
    @pytest.fixture(params=[0, 1, 2])
    def pair(self, request):
        """The same rows, dense and sparse with an offset, and a lean of so many parts."""
        X, offset = counts(n=30), np.linspace(-1, 1, 6)
        if request.param == 0:
            return ScaledRows(X - offset), ScaledRows(sparse.csr_array(X), offset)
        rng = np.random.default_rng(request.param)
        tilts, slopes = rng.normal(size=(30, request.param)), rng.normal(size=(request.param, 6))
        thin = ScaledRows(sparse.csr_array(X), offset, lean=(tilts, slopes))
        return ScaledRows(X - offset - tilts @ slopes), thin

    def test_products_agree(self, pair):
        W = np.random.default_rng(0).normal(size=(6, 4))
        assert np.allclose(pair[0].products(W), pair[1].products(W), rtol=RTOL, atol=1e-13)

    def test_transposed_products_agree(self, pair):
        Y = np.random.default_rng(0).normal(size=(30, 4))
        dense, thin = (rows.transposed_products(Y) for rows in pair)
        assert np.allclose(dense, thin, rtol=RTOL, atol=1e-12)

    def test_square_norms_agree(self, pair):
        assert np.allclose(pair[0].square_norms, pair[1].square_norms, rtol=RTOL, atol=1e-12)

    def test_dense_rows_agree(self, pair):
        assert np.array_equal(pair[0].dense(), pair[1].dense())

    def test_selected_rows_agree(self, pair):
        rows = np.array([3, 1, 7])
        assert np.array_equal(pair[0][rows].dense(), pair[1][rows].dense())
        assert len(pair[1][2:9]) == 7

    def test_single_precision(self, pair):
        for rows in pair:
            assert rows.single().matrix.dtype == np.float32
            assert np.allclose(rows.single().dense(), rows.dense(), rtol=1e-6, atol=1e-6)
            assert np.allclose(rows.single(2.0).dense(), 2.0 * rows.dense(), rtol=1e-6, atol=1e-6)

    def test_size_in_bytes_counts_all_parts(self, pair):
        X = pair[1].matrix
        assert pair[0].nbytes == 30 * 6 * 8
        assert pair[1].nbytes == X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


class TestSideBySide:
    def test_dense_views(self):
        X, Y = counts(d=3), counts(d=2, seed=1)
        joined = side_by_side([ScaledRows(X), ScaledRows(Y)], [0.5, 2.0])
        assert np.array_equal(joined.dense(), np.column_stack([0.5 * X, 2.0 * Y]))

    @pytest.mark.parametrize("which", [(0,), (1,), (0, 1)])
    def test_sparse_views_stay_sparse(self, which):
        X, Y = counts(d=3), counts(d=2, seed=1)
        dense = [ScaledRows(X - 0.3), ScaledRows(Y + 0.2)]
        csr = [
            ScaledRows(sparse.csr_array(X), np.full(3, 0.3)),
            ScaledRows(sparse.csr_array(Y), np.full(2, -0.2)),
        ]
        mixed = [csr[v] if v in which else dense[v] for v in (0, 1)]
        joined = side_by_side(mixed, [0.5, 2.0])
        assert sparse.issparse(joined.matrix)
        expected = side_by_side(dense, [0.5, 2.0]).dense()
        assert np.allclose(joined.dense(), expected, rtol=0, atol=1e-14)

    @pytest.mark.parametrize("which", [(0,), (1,), (0, 1)])
    def test_leans_stay_with_their_views(self, which):
        views = [counts(d=3), counts(d=2, seed=1)]
        means = [X.mean(axis=1, keepdims=True) for X in views]
        mixed = [
            ScaledRows(sparse.csr_array(X), np.full(d, 0.3), lean=(r, np.ones((1, d))))
            if v in which
            else ScaledRows(X - r - 0.3)
            for v, (X, r, d) in enumerate(zip(views, means, (3, 2), strict=True))
        ]
        joined = side_by_side(mixed, [0.5, 2.0])
        expected = [f * (X - r - 0.3) for f, X, r in zip((0.5, 2.0), views, means, strict=True)]
        assert sparse.issparse(joined.matrix)
        assert np.allclose(joined.dense(), np.hstack(expected), rtol=0, atol=1e-14)

    def test_one_view_is_itself(self):
        rows = ScaledRows(counts())
        assert side_by_side([rows], [1.0]) is rows

    def test_a_view_without_weight_becomes_zeros(self):
        joined = side_by_side([ScaledRows(counts(d=2)), ScaledRows(counts(d=3))], [0.0, 1.0])
        assert np.array_equal(joined.dense()[:, :2], np.zeros((200, 2)))


class TestIncompleteRows:
    @pytest.fixture
    def present(self):
        present = np.random.default_rng(1).random((200, 2)) > 0.3
        present[:3] = [[True, True], [True, False], [False, True]]
        return present

    @pytest.fixture
    def rows(self, present):
        first, second = counts(d=2), counts(d=3, seed=1)
        views = [
            ScaledRows(first[present[:, 0]], present=present[:, 0]),
            ScaledRows(sparse.csr_array(second[present[:, 1]]), np.full(3, 0.5), present[:, 1]),
        ]
        return join_views(views, [2.0, 1.0])

    @pytest.fixture
    def expected(self, present):
        blocks = [2.0 * counts(d=2), counts(d=3, seed=1) - 0.5]
        return np.hstack([np.where(present[:, [v]], X, 0.0) for v, X in enumerate(blocks)])

    def test_what_is_missing_is_zero(self, rows, expected):
        assert isinstance(rows, IncompleteRows)
        assert len(rows) == 200
        assert np.array_equal(rows.dense(), expected)

    def test_what_is_missing_is_filled_in(self, rows, present):
        filled = rows.dense(np.full((200, 5), 9.0))
        assert (filled[1] == 9.0).tolist() == [False] * 2 + [True] * 3
        assert (filled[2] == 9.0).tolist() == [True] * 2 + [False] * 3

    def test_products_are_those_of_zeros(self, rows, expected):
        W = np.random.default_rng(2).normal(size=(5, 4))
        assert np.allclose(rows.products(W), expected @ W, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("sample", [0, 1, 2, 199])
    def test_one_sample_is_its_row(self, rows, expected, sample):
        assert np.array_equal(rows.one(sample).dense(), expected[[sample]])

    def test_in_single_precision(self, rows, expected):
        assert rows.single().dtype == np.float32
        assert np.allclose(rows.single().dense(), expected, rtol=1e-6)

    def test_complete_views_stay_plain(self):
        views = [ScaledRows(counts(d=2)), ScaledRows(counts(d=3))]
        assert isinstance(join_views(views, [1.0, 1.0]), ScaledRows)
