"""Graph rows of scaled views, and their sums."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from manyview.simplex import METHODS, solve_simplex_qp
from manyview.stages import graph
from manyview.stages.fusion import graph_moments
from manyview.stages.graph import AnchorGraph, GraphRows, method_for
from manyview.stages.rows import ScaledRows
from manyview.stages.scaling import Scaler, fit_scaler

# Weights are unique with these alphas; see the solver's tests.
ATOL = 1e-6


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    return [np.abs(rng.normal(size=(300, d))) * rng.integers(0, 2, (300, d)) for d in (6, 4)]


def of_view(v, X, *, m=20, **options):
    return AnchorGraph((v,), (1.0,), X[:m], 0.02, 0.1, **options)


def build(graphs, rows):
    widths = [block.matrix.shape[1] for block in rows]
    scalers = tuple(Scaler("a view", None, np.zeros(d), np.ones(d)) for d in widths)
    return GraphRows(scalers, tuple(graphs)).of_scaled(rows)


def dense_rows(views):
    return [ScaledRows(X) for X in views]


class TestRows:
    def test_are_the_solutions_of_the_simplex_problems(self, views):
        tile = build([of_view(0, views[0])], dense_rows(views))
        expected = solve_simplex_qp(views[0], views[0][:20], alpha=0.02, locality=0.1)
        assert np.allclose(tile.parts[0].toarray(), expected.toarray(), rtol=0, atol=ATOL)
        assert tile.n_failed == 0

    @pytest.mark.parametrize("method", METHODS)
    def test_sum_to_one_whatever_the_method(self, views, method):
        tile = build([of_view(0, views[0], method=method)], dense_rows(views))
        # As many roundings as there are weights, far below this.
        assert np.allclose(tile.parts[0].sum(axis=1), 1.0, rtol=0, atol=1e-12)

    def test_some_are_taken_by_number(self, views):
        tile, few = build([of_view(0, views[0])], dense_rows(views)), np.array([2, 5, 299])
        assert np.array_equal(tile.take(few).parts[0].toarray(), tile.parts[0].toarray()[few])
        assert len(tile.take(few)) == 3

    def test_graphs_of_one_repeat_stand_side_by_side(self, views):
        graphs = [of_view(0, views[0]), of_view(1, views[1], m=7)]
        alone = [build([graph], dense_rows(views)).parts[0].toarray() for graph in graphs]
        together = build(graphs, dense_rows(views))
        assert len(together.parts) == 1
        assert np.array_equal(together.parts[0].toarray(), np.hstack(alone))

    def test_repeats_are_kept_apart(self, views):
        graphs = [of_view(0, views[0]), of_view(0, views[0], m=9, repeat=1)]
        tile = build(graphs, dense_rows(views))
        assert [Z.shape for Z in tile.parts] == [(300, 20), (300, 9)]

    def test_several_views_side_by_side_are_one_problem(self, views):
        factors = (0.6, 0.8)
        joined = np.hstack([f * X for f, X in zip(factors, views, strict=True)])
        graph = AnchorGraph((0, 1), factors, joined[:20], 0.02, 0.1)
        tile = build([graph], dense_rows(views))
        expected = solve_simplex_qp(joined, joined[:20], alpha=0.02, locality=0.1)
        assert np.allclose(tile.parts[0].toarray(), expected.toarray(), rtol=0, atol=ATOL)

    @pytest.mark.parametrize("which", [(0,), (1,), (0, 1)])
    def test_sparse_views_give_the_graph_of_dense_ones(self, views, which):
        offsets = [np.full(X.shape[1], 0.3) for X in views]
        dense = [ScaledRows(X - c) for X, c in zip(views, offsets, strict=True)]
        csr = [ScaledRows(sparse.csr_array(X), c) for X, c in zip(views, offsets, strict=True)]
        mixed = [csr[v] if v in which else dense[v] for v in (0, 1)]
        joined = np.hstack([X - 0.3 for X in views])
        graphs = [
            of_view(0, views[0] - 0.3),
            AnchorGraph((0, 1), (1.0, 1.0), joined[:9], 0.02, 0.0),
        ]
        expected = build(graphs, dense).parts[0].toarray()
        assert np.allclose(build(graphs, mixed).parts[0].toarray(), expected, rtol=0, atol=ATOL)

    def test_raw_rows_are_scaled_first(self, views):
        scalers = tuple(fit_scaler(X, name="a view", kind="standard") for X in views)
        anchors = scalers[1].apply(views[1][:7]).dense()
        graph = AnchorGraph((1,), (1.0,), anchors, 0.02, 0.1)
        tile = GraphRows(scalers, (graph,))(views, 0)
        scaled = scalers[1].apply(views[1]).dense()
        expected = solve_simplex_qp(scaled, anchors, alpha=0.02, locality=0.1)
        assert np.allclose(tile.parts[0].toarray(), expected.toarray(), rtol=0, atol=ATOL)
        assert len(tile) == 300

    @pytest.mark.parametrize("n_neighbors", [1, 3, 20])
    def test_of_near_anchors_solve_the_problem_of_those_alone(self, views, n_neighbors):
        X, A = views[0], views[0][:20]
        graph = of_view(0, X, n_neighbors=n_neighbors)
        Z = build([graph], dense_rows(views)).parts[0].toarray()
        nearest = np.argsort(cdist(X, A), axis=1, kind="stable")[:, :n_neighbors]
        for x, z, near in zip(X[:40], Z, nearest, strict=False):
            alone = solve_simplex_qp(x[None], A[near], alpha=0.02, locality=0.1).toarray()[0]
            assert np.allclose(z[near], alone, rtol=0, atol=ATOL)
            assert z.sum() == pytest.approx(z[near].sum())

    @pytest.mark.parametrize("kind", ["standard", "clr"])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_axes_are_evened_out(self, views, kind, convert):
        """Whitening weighs rows, not anchors, which come weighted."""
        X = convert(views[0])
        scaler = fit_scaler(X, name="a view", kind=kind, n_axes=4)
        rows = scaler.apply(X).matrix * scaler.axis_weights(0.5)
        graph = AnchorGraph((0,), (1.0,), rows[:20], 0.02, 0.1, whitening=0.5)
        Z = GraphRows((scaler,), (graph,))([X], 0).parts[0]
        expected = solve_simplex_qp(rows, rows[:20], alpha=0.02, locality=0.1)
        assert np.allclose(Z.toarray(), expected.toarray(), rtol=0, atol=ATOL)

    def test_sparse_log_ratios_give_the_graph_of_dense_ones(self, views):
        scalers = [tuple(fit_scaler(c(X), name="a", kind="clr") for X in views)
                   for c in (np.asarray, sparse.csr_array)]  # fmt: skip
        joined = np.hstack([s.apply(X).dense() for s, X in zip(scalers[0], views, strict=True)])
        graphs = (AnchorGraph((0, 1), (1.0, 1.0), joined[:20], 0.02, 0.1),)
        dense = GraphRows(scalers[0], graphs)(views, 0).parts[0].toarray()
        thin = GraphRows(scalers[1], graphs)(list(map(sparse.csr_array, views)), 0).parts[0]
        assert np.allclose(thin.toarray(), dense, rtol=0, atol=ATOL)

    def test_size_in_bytes_counts_all_parts(self, views):
        tile = build([of_view(0, views[0])], dense_rows(views))
        Z = tile.parts[0]
        assert tile.nbytes == Z.data.nbytes + Z.indices.nbytes + Z.indptr.nbytes

    def test_the_chosen_method_is_one_of_those_there_are(self, views):
        graph = of_view(0, views[0])
        assert method_for(graph, ScaledRows(views[0][:32])) in METHODS


class TestProblemsThatAreLarge:
    """Those of wide views are let go once all rows went through them, and prepared again if needed."""

    @pytest.fixture
    def rows(self, views):
        scaler = fit_scaler(views[0], name="a view", kind=None)
        return GraphRows((scaler,), (of_view(0, views[0]),))

    def test_give_the_same_rows_again_in_any_thread(self, rows, views, monkeypatch):
        expected = rows([views[0]], 0).parts[0].toarray()
        monkeypatch.setattr(graph, "_LARGE_BYTES", 0)
        problem = weakref.ref(rows._prepared()[0])
        rows.let_go_of_large()
        gc.collect()
        assert problem() is None
        with ThreadPoolExecutor(4) as pool:
            again = list(pool.map(lambda _: rows([views[0]], 0), range(8)))
        for tile in again:
            np.testing.assert_array_equal(tile.parts[0].toarray(), expected)

    def test_small_ones_stay(self, rows):
        problem = rows._prepared()[0]
        rows.let_go_of_large()
        assert rows._prepared()[0] is problem


class TestMoments:
    @pytest.mark.parametrize("alpha", [1e-4, 1e3])
    def test_are_the_gram_matrix_and_column_sums(self, views, alpha):
        # Few weights a row, then all: the Gram matrix is summed in two ways.
        graph = AnchorGraph((0,), (1.0,), views[0][:20], alpha, 0.0)
        tile = build([graph], dense_rows(views))
        Z = tile.parts[0].toarray()
        moments = graph_moments(tile)
        assert np.allclose(np.triu(moments.grams[0]), np.triu(Z.T @ Z), rtol=1e-12, atol=1e-12)
        assert np.allclose(moments.column_sums[0], Z.sum(axis=0), rtol=1e-12)
        assert np.array_equal(moments.n_entries[0], (Z > 0).sum(axis=0))

    def test_of_parts_add_up_to_those_of_the_whole(self, views):
        graphs = [of_view(0, views[0]), of_view(1, views[1], repeat=1)]
        whole = graph_moments(build(graphs, dense_rows(views)))
        halves = [
            graph_moments(build(graphs, [rows[part] for rows in dense_rows(views)]))
            for part in (slice(0, 111), slice(111, 300))
        ]
        total = halves[0] + halves[1]
        for repeat in (0, 1):
            assert np.allclose(total.grams[repeat], whole.grams[repeat], rtol=1e-9, atol=ATOL)
            assert np.allclose(total.column_sums[repeat], whole.column_sums[repeat], atol=ATOL)
        assert total.n_failed == whole.n_failed == 0

    def test_added_in_place_are_the_same_sums_without_a_copy(self, views):
        graphs = [of_view(0, views[0]), of_view(1, views[1], repeat=1)]
        first, second = (
            graph_moments(build(graphs, [rows[part] for rows in dense_rows(views)]))
            for part in (slice(0, 111), slice(111, 300))
        )
        expected, grams = first + second, first.grams
        first += second
        for repeat in (0, 1):
            assert first.grams[repeat] is grams[repeat]
            assert np.array_equal(first.grams[repeat], expected.grams[repeat])
            assert np.array_equal(first.column_sums[repeat], expected.column_sums[repeat])
            assert np.array_equal(first.n_entries[repeat], expected.n_entries[repeat])
        assert first.n_solved.tolist() == expected.n_solved.tolist() == [300, 300]
