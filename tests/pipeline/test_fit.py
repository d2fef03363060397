"""The algorithm as a whole: the paper's Proposition 1, and what must not change a result."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from manyview import LMVSC, Views
from manyview.engines import Memory
from manyview.engines.base import Run
from manyview.engines.progress import SilentProgress
from manyview.pipeline import fit as pipeline
from manyview.pipeline.settings import resolve
from manyview.simplex import solve_simplex_qp

ALPHA, N_VECTORS = 0.5, 4


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    groups = np.arange(80) % 4
    return [3.0 * rng.normal(size=(4, d))[groups] + rng.normal(size=(80, d)) for d in (3, 7, 20)]


def anchors_of(views):
    return [X[::7] for X in views]


def graph_of(X, A, *, degree_norm):
    """The explicit n x n graph Z Sigma^-1 Z' of one view (Eq. 4), or Z Z' as released."""
    Z = solve_simplex_qp(X, A, alpha=ALPHA).toarray()
    degrees = Z.sum(axis=0) if degree_norm else np.ones(len(A))
    used = degrees > 0
    return (Z[:, used] / degrees[used]) @ Z[:, used].T


def leading(graph):
    values, vectors = np.linalg.eigh(graph)
    return values[::-1][: N_VECTORS + 1], vectors[:, ::-1][:, :N_VECTORS]


def assert_spans(result, graph):
    """Check that the embedding is a basis of the graph's leading eigenvectors, with their values."""
    Q = result.embedding
    values, vectors = leading(graph)
    # An error e in the graph turns the leading space by at most 2 e / gap (Davis and Kahan); weights
    # are exact to about 1e-9 where alpha is a few hundredths of the energy.
    tolerance = 2e-8 / (values[N_VECTORS - 1] - values[N_VECTORS])
    assert np.allclose(Q.T @ Q, np.eye(N_VECTORS), rtol=0, atol=tolerance)
    assert np.allclose(Q @ Q.T, vectors @ vectors.T, rtol=0, atol=tolerance)
    assert np.allclose(result.bases[0].singular_values ** 2, values[:N_VECTORS], rtol=0, atol=1e-8)


def fit(views, *, degree_norm=True, row_norm=False, **options):
    """Fit the pipeline with an absolute alpha to raw views."""
    views = Views(views)
    params = {
        "alpha": ALPHA,
        "locality": 0.0,
        "scaling": None,
        "n_components": N_VECTORS,
        **options,
    }
    settings = replace(
        resolve(LMVSC(4, **params).get_params(), views),
        degree_norm=degree_norm,
        row_norm=row_norm,
        is_alpha_relative=False,
    )
    run, rng = Run(1, SilentProgress()), np.random.default_rng(0)
    return pipeline.fit(views.arrays, views.names, settings, engine=Memory(), run=run, rng=rng)


class TestProposition1:
    """The embedding spans the leading eigenvectors of the averaged graph, which is never built."""

    @pytest.mark.parametrize("degree_norm", [True, False])
    @pytest.mark.parametrize("n_views", [1, 2, 3])
    def test_embedding_spans_the_averaged_graph(self, views, n_views, degree_norm):
        views = views[:n_views]
        result = fit(views, anchor_method=anchors_of(views), degree_norm=degree_norm)
        graphs = [graph_of(X, X[::7], degree_norm=degree_norm) for X in views]
        assert_spans(result, sum(graphs) / n_views)

    @pytest.mark.parametrize("degree_norm", [True, False])
    @pytest.mark.parametrize("weights", [(1.0, 2.0, 5.0), (0.0, 0.5, 0.5)])
    def test_embedding_spans_the_weighted_graph(self, views, weights, degree_norm):
        result = fit(
            views,
            anchor_method=anchors_of(views),
            view_weights=weights,
            degree_norm=degree_norm,
        )
        graphs = [graph_of(X, X[::7], degree_norm=degree_norm) for X in views]
        shares = np.array(weights) / sum(weights)
        assert_spans(result, sum(w * S for w, S in zip(shares, graphs, strict=True)))
        assert np.allclose(result.view_weights, shares)

    def test_early_fusion_is_the_graph_of_views_side_by_side(self, views):
        result = fit(views, anchor_method=anchors_of(views), fusion="early")
        joined = np.hstack(views) / np.sqrt(3.0)
        assert_spans(result, graph_of(joined, joined[::7], degree_norm=True))

    def test_both_fusions_give_half_the_weight_each(self, views):
        result = fit(views, anchor_method=anchors_of(views), fusion="both")
        joined = np.hstack(views) / np.sqrt(3.0)
        late = sum(graph_of(X, X[::7], degree_norm=True) for X in views) / 3.0
        assert_spans(result, 0.5 * late + 0.5 * graph_of(joined, joined[::7], degree_norm=True))

    def test_several_alphas_are_averaged_like_views(self, views):
        alphas = [ALPHA, 4 * ALPHA]
        result = fit(views, anchor_method=anchors_of(views), alpha=alphas)
        graphs = []
        for X in views:
            for alpha in alphas:
                Z = solve_simplex_qp(X, X[::7], alpha=alpha).toarray()
                graphs.append((Z / Z.sum(axis=0)) @ Z.T)
        assert_spans(result, sum(graphs) / 6.0)

    def test_sparse_views_span_the_same_graph(self, views):
        result = fit(
            [views[0], sparse.csr_array(views[1]), views[2]], anchor_method=anchors_of(views)
        )
        graphs = [graph_of(X, X[::7], degree_norm=True) for X in views]
        assert_spans(result, sum(graphs) / 3.0)

    def test_rows_of_unit_length_are_those_of_the_embedding_divided_by_their_length(self, views):
        plain, result = (
            fit(views, anchor_method=anchors_of(views), row_norm=row_norm)
            for row_norm in (False, True)
        )
        plain = plain.embedding
        lengths = np.linalg.norm(plain, axis=1)[:, None]
        assert np.allclose(result.embedding, plain / lengths, rtol=1e-10, atol=1e-12)


@pytest.fixture(scope="module")
def many():
    """Rows of more than two tiles in two views, one of them sparse."""
    rng = np.random.default_rng(1)
    n = 9001
    groups = rng.integers(0, 5, n)
    X = 2.0 * rng.normal(size=(5, 6))[groups] + rng.normal(size=(n, 6))
    Y = sparse.csr_array(rng.poisson(np.exp(0.7 * rng.normal(size=(5, 15)))[groups]))
    return {"dense": X, "sparse": Y}


OPTIONS = {
    "n_anchors": 25, "random_state": 0, "fusion": "both", "n_repeats": 2, "scaling": ["standard", "log"],
}  # fmt: skip


@pytest.fixture(scope="module")
def expected(many):
    return LMVSC(5, n_jobs=1, **OPTIONS).fit(many)


@pytest.mark.slow
class TestSameLabels:
    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_for_any_threads_inside_products(self, many, expected, n_threads):
        with threadpool_limits(n_threads):
            model = LMVSC(5, n_jobs=1, **OPTIONS).fit(many)
        assert np.array_equal(model.embedding_, expected.embedding_)

    @pytest.mark.parametrize("method", ["kmeans-all", "random"])
    def test_for_any_threads_with_other_anchors(self, many, method):
        options = {"n_anchors": 5, "n_repeats": 1, "scaling": "standard", "random_state": 0}
        one, two = (
            LMVSC(3, anchor_method=method, n_jobs=n_jobs, **options).fit(many["dense"]).labels_
            for n_jobs in (1, 2)
        )
        assert np.array_equal(one, two)

    @pytest.mark.parametrize("rows", [slice(0, 100), slice(4000, 8200), slice(8990, None)])
    def test_rows_predicted_apart_get_the_labels_they_had_among_others(self, many, expected, rows):
        # The same row in another tile may differ in its last bits, and would change its label only
        # where two centres are equally near, which no row of these clear groups is.
        part = {name: view[rows] for name, view in many.items()}
        assert np.array_equal(expected.predict(part), expected.labels_[rows])
