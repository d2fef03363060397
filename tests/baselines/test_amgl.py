import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from manyview.baselines import AMGL, amgl
from manyview.baselines.steps.neighbours import neighbour_weights
from manyview.datasets import make_views
from manyview.metrics import accuracy
from manyview.views.container import Views

GRAPHS = ["neighbours", "anchors"]


@pytest.fixture(scope="module")
def blobs():
    return make_views(240, 4, (10, 15, 6), noise=(0.3, 0.6, 2.0), random_state=0)


@pytest.fixture(scope="module")
def fitted(blobs):
    """A fitted model of neighbour graphs, only to look at."""
    return AMGL(4, random_state=0).fit(blobs)


def dense_amgl(laplacians, k, n_sweeps):
    """The published sweeps by full eigendecompositions."""
    weights, objective = np.full(len(laplacians), 1 / len(laplacians)), []
    for _ in range(n_sweeps):
        F = np.linalg.eigh(sum(w * L for w, L in zip(weights, laplacians, strict=True)))[1][:, :k]
        roots = np.sqrt([np.trace(F.T @ L @ F) for L in laplacians])
        objective.append(roots.sum())
        weights = 1 / (2 * roots)
        weights /= weights.sum()
    return weights, np.array(objective), F


def neighbour_laplacian(X):
    W = neighbour_weights(X, 5).toarray()
    W = (W + W.T) / 2
    root = np.sqrt(W.sum(axis=1))
    return np.eye(len(X)) - W / root[:, None] / root


def test_neighbour_form_equals_full_eigendecompositions(blobs, fitted):
    model = fitted
    laplacians = [neighbour_laplacian(X) for X in blobs.arrays]
    weights, objective, F = dense_amgl(laplacians, 4, model.n_iter_)
    np.testing.assert_allclose(model.view_weights_, weights, rtol=1e-5)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, F @ F.T, atol=1e-6)


def test_iterative_eigensolver_gives_what_the_dense_one_gives(blobs, fitted, monkeypatch):
    dense = fitted
    monkeypatch.setattr("manyview.stages.eigen._DENSE_BELOW", 0)
    model = AMGL(4, random_state=0).fit(blobs)
    np.testing.assert_allclose(model.objective_, dense.objective_, rtol=1e-7)
    np.testing.assert_allclose(model.view_weights_, dense.view_weights_, rtol=1e-5)
    assert accuracy(dense.labels_, model.labels_) == 1


def test_anchor_form_equals_full_eigendecompositions(blobs, monkeypatch):
    graphs = []

    def remember(*arguments):
        graphs.append(original(*arguments))
        return graphs[-1]

    original = amgl.anchor_graph
    monkeypatch.setattr(amgl, "anchor_graph", remember)
    model = AMGL(4, graph="anchors", n_anchors=30, random_state=0).fit(blobs)
    scaled = [Z.toarray() / np.sqrt(np.maximum(Z.sum(axis=0), 1e-300)) for Z, _ in graphs]
    laplacians = [np.eye(240) - B @ B.T for B in scaled]
    weights, objective, F = dense_amgl(laplacians, 4, model.n_iter_)
    np.testing.assert_allclose(model.view_weights_, weights, rtol=1e-5)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-6)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, F @ F.T, atol=1e-5)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("seed", range(3))
def test_objective_never_rises(graph, seed):
    views = make_views(150, 3, (5, 8), separation=2.0, noise=(0.5, 1.5), random_state=seed)
    objective = AMGL(3, graph=graph, random_state=0).fit(views).objective_
    assert np.diff(objective).max() <= 1e-9 * objective[0]


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_noise_view_counts_less(blobs, graph):
    noise = np.random.default_rng(1).normal(size=(240, 10))
    model = AMGL(4, graph=graph, random_state=0).fit([*blobs.arrays[:2], noise])
    assert model.view_weights_[2] < 0.5 * model.view_weights_[:2].min()
    assert accuracy(blobs.target, model.labels_) > 0.95


@pytest.mark.parametrize("graph", GRAPHS)
def test_separate_clusters_of_many_rows_are_found(graph):
    # More rows than the dense solver takes, in a graph with as many pieces as clusters.
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(8), 160)
    X = 100 * rng.normal(size=(8, 4))[truth] + rng.normal(size=(1280, 4))
    model = AMGL(8, graph=graph, n_anchors=60, normalise_rows=True, random_state=0).fit(X)
    assert accuracy(truth, model.labels_) == 1


def test_columns_in_other_units_give_the_same_labels_once_scaled(blobs):
    model = AMGL(4, scaling="standard", random_state=0)
    other = Views([X * np.logspace(0, 6, X.shape[1]) for X in blobs.arrays])
    assert accuracy(model.fit_predict(blobs), model.fit_predict(other)) == 1


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("scaling", [None, "standard", "unit"])
def test_sparse_views_give_the_labels_of_dense_ones(blobs, graph, scaling):
    dense = [np.where(X > 0, X, 0.0) for X in blobs.arrays]
    model = AMGL(4, graph=graph, scaling=scaling, random_state=0)
    labels = model.fit_predict([sparse.csr_array(X) for X in dense])
    # Distances differ by rounding, so only rows halfway between two clusters may change sides.
    assert accuracy(model.fit_predict(dense), labels) > 0.97


def test_a_single_view_is_plain_spectral_clustering(blobs):
    model = AMGL(4, random_state=0).fit(blobs.arrays[0])
    F = np.linalg.eigh(neighbour_laplacian(blobs.arrays[0]))[1][:, :4]
    np.testing.assert_array_equal(model.view_weights_, [1.0])
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, F @ F.T, atol=1e-8)


def test_rows_of_the_embedding_can_have_unit_length(blobs):
    model = AMGL(4, normalise_rows=True, random_state=0).fit(blobs)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)


def test_too_few_sweeps_warn_with_the_fall_reached(blobs):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .* fell by .* Raise max_iter or tol"):
        AMGL(4, max_iter=2, random_state=0).fit(blobs)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"graph": "nearest"}, "graph must be one of .*got 'nearest'"),
        ({"scaling": "energy"}, "scaling must be one of .*got 'energy'"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1"),
        ({"graph": "anchors", "n_anchors": 500}, "n_anchors=500 is not between"),
        ({"graph": "anchors", "n_anchors": 3}, "n_anchors=3 is not between"),
        ({"tol": -1.0}, "tol must be"),
    ],
)
def test_bad_settings_are_refused(blobs, settings, message):
    with pytest.raises(ValueError, match=message):
        AMGL(4, **settings).fit(blobs)


def test_anchors_are_counted_even_where_none_are_used(blobs):
    with pytest.raises(TypeError, match="n_anchors must be an integer"):
        AMGL(4, n_anchors="many").fit(blobs)


@pytest.mark.slow
def test_anchor_form_is_a_scikit_learn_estimator():
    check_estimator(AMGL(graph="anchors", n_init=2), on_skip=None)
