"""Margins: shares of the graphs that sum to them, and where each graph stands in the model."""

import numpy as np
import pytest

from manyview import LMVSC
from manyview.explain.margins import graph_parts, margins_by_graph


@pytest.fixture(scope="module")
def fit(blobs):
    """Give a function: settings -> the arrays of a fitted model, its rows, and the estimator."""

    def make(X=None, n_clusters=3, **settings):
        X = blobs(60, 3, (4, 5)) if X is None else X
        cheap = {"random_state": 0, "n_jobs": 1, "n_repeats": 1, "scaling": "standard"}
        model = LMVSC(n_clusters, **cheap | settings).fit(X)
        return model.model_, X, model

    return make


SETTINGS = [
    {"n_repeats": 2},
    {"scaling": "auto"},
    {"n_neighbors": 3},
    {"n_clusters": 5},
    {"fusion": "late"},
    {"fusion": "early"},
    {"n_anchors": [5, 20], "view_weights": [1, 3]},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_shares_sum_to_how_much_nearer_the_own_centre_is(fit, settings):
    arrays, X, model = fit(**settings)
    margins = margins_by_graph(arrays, arrays.graph_rows(X))
    squares = ((model.embedding_[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    assert np.array_equal(margins.labels, model.labels_)
    assert np.array_equal(margins.second, np.argsort(squares, axis=1)[:, 1])
    squares.sort(axis=1)
    # Differences of squares of numbers near one, summed over a few hundred terms.
    assert np.allclose(margins.margin, squares[:, 1] - squares[:, 0], rtol=0, atol=1e-10)
    assert np.allclose(margins.by_graph.sum(axis=1), margins.margin)
    assert margins.by_graph.shape == (60, len(arrays.graphs))


def test_rows_that_are_not_scaled_to_unit_length_too(blobs):
    X = blobs(60, 3, (4, 5))
    model = LMVSC.as_published(3, 10, 0.1, random_state=0).fit(X)
    arrays = model.model_
    margins = margins_by_graph(arrays, arrays.graph_rows(X))
    squares = np.sort(((model.embedding_[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    assert np.allclose(margins.margin, squares[:, 1] - squares[:, 0], rtol=0, atol=1e-10)


def test_a_graph_contributes_nothing_to_samples_that_lack_its_view(fit, blobs):
    X = blobs(60, 3, (4, 5))
    X[0][::4], X[1][1::4] = np.nan, np.nan
    arrays, _, model = fit(X, fusion="late")
    margins = margins_by_graph(arrays, arrays.graph_rows(model_rows(X)))
    assert (margins.by_graph[::4, 0] == 0).all() and (margins.by_graph[1::4, 1] == 0).all()
    squares = np.sort(((model.embedding_[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    assert np.allclose(margins.margin, squares[:, 1] - squares[:, 0], rtol=0, atol=1e-10)


def model_rows(X):
    from manyview import Views

    return list(Views(X).arrays)


def test_one_cluster_has_no_second(fit):
    arrays, X, _ = fit(n_clusters=1)
    margins = margins_by_graph(arrays, arrays.graph_rows(X))
    assert set(margins.second) == {-1} and not margins.margin.any() and not margins.by_graph.any()


@pytest.mark.parametrize("settings", SETTINGS)
def test_parts_put_together_are_the_whole_transform(fit, settings):
    arrays, _, _ = fit(**settings)
    parts = list(graph_parts(arrays))
    assert [part.graph for part in parts] == list(arrays.graphs)
    for repeat, transform in enumerate(arrays.embedding.transforms):
        mine = [part.anchors for part in parts if part.graph.repeat == repeat]
        assert [place.start for place in mine] == [0, *(place.stop for place in mine[:-1])]
        assert mine[-1].stop == len(transform)
