import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from manyview.baselines import MSCIAS
from manyview.baselines.mscias import factor_similarity, similarity_graph
from manyview.datasets import make_subspaces, make_views
from manyview.metrics import accuracy


@pytest.fixture(scope="module")
def blobs():
    return make_views(200, 4, (12, 20, 6), separation=12.0, random_state=0)


@pytest.fixture(scope="module")
def fitted(blobs):
    """A fitted model of the exact form, only to look at."""
    return MSCIAS(4, form="exact", random_state=0).fit(blobs)


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(40, 5)) * [5, 3, 2, 1, 0.5] + 7


def dense_similarity(points, ridge, dependence):
    """The stationary point of the similarity's problem, by an n x n solve."""
    n, r = points.shape
    centred = points - points.mean(axis=0)
    G = centred @ centred.T
    shift = ridge * np.trace(G) / r
    return np.linalg.solve((1 - dependence) * G + shift * np.eye(n), G), G, shift


@pytest.mark.parametrize("dependence", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_similarity_is_the_stationary_point_of_its_problem(points, ridge, dependence):
    vectors, values = factor_similarity(points, ridge=ridge, dependence=dependence)
    S = (vectors * values) @ vectors.T
    dense, G, shift = dense_similarity(points, ridge, dependence)
    np.testing.assert_allclose(S, dense, atol=1e-8)
    gradient = -2 * G @ (np.eye(40) - S) + 2 * shift * S - 2 * dependence * G @ S
    assert np.abs(gradient).max() < 1e-8 * np.abs(G).max()


def test_factors_are_the_leading_eigenvectors_of_the_similarity(points):
    vectors, values = factor_similarity(points, ridge=0.1, dependence=0.5)
    dense_values, dense_vectors = np.linalg.eigh(dense_similarity(points, 0.1, 0.5)[0])
    np.testing.assert_allclose(values, dense_values[::-1][:5])
    for k in (1, 3, 5):
        leading = dense_vectors[:, ::-1][:, :k]
        np.testing.assert_allclose(
            vectors[:, :k] @ vectors[:, :k].T, leading @ leading.T, atol=1e-8
        )


def test_factored_embedding_is_the_root_of_the_exact_similarity(blobs):
    model = MSCIAS(4, form="factored", n_components=6, random_state=0).fit(blobs)
    S = dense_similarity(model.latent_, 1.0, 0.9)[0]
    lengths = np.sqrt(np.diagonal(S))
    expected = S / lengths[:, None] / lengths
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, expected, atol=1e-7)


def test_graph_keeps_the_largest_similarities(points):
    vectors, values = factor_similarity(points, ridge=0.1, dependence=0.0)
    S = np.abs((vectors * values) @ vectors.T)
    np.fill_diagonal(S, 0)
    third = np.sort(S, axis=1)[:, [-3]]
    kept = S * (third <= S)
    np.testing.assert_allclose(
        similarity_graph(vectors, values, 3).toarray(), (kept + kept.T) / 2, atol=1e-12
    )
    np.testing.assert_allclose(similarity_graph(vectors, values, None), S, atol=1e-12)


def test_blocks_of_rows_do_not_matter(points, monkeypatch):
    vectors, values = factor_similarity(points, ridge=0.1, dependence=0.0)
    whole = similarity_graph(vectors, values, 4).toarray()
    monkeypatch.setattr("manyview.baselines.mscias._BLOCK_ENTRIES", 100)
    np.testing.assert_allclose(similarity_graph(vectors, values, 4).toarray(), whole)


@pytest.mark.parametrize("n_neighbors", [20, None])
def test_planted_subspaces_are_found(n_neighbors):
    views = make_subspaces(40, 3, 3, (20, 30), random_state=0)
    model = MSCIAS(3, n_neighbors=n_neighbors, similarity_ridge=0.01, random_state=0)
    assert accuracy(views.target, model.fit_predict(views)) > 0.95


def test_objective_never_rises(blobs):
    objective = MSCIAS(4, tol=1e-8, max_iter=500, random_state=0).fit(blobs).objective_
    assert np.diff(objective).max() <= 1e-9 * np.abs(objective).max()


def test_only_the_ratio_of_ridge_and_dependence_matters(blobs, fitted):
    one = fitted
    assert (one.similarity_ridge, one.dependence) == (1.0, 0.9)
    other = MSCIAS(4, similarity_ridge=10.0, dependence=0.0, random_state=0).fit(blobs)
    # Products of rows, because eigenvectors of close eigenvalues may turn within their span.
    products = [model.embedding_ @ model.embedding_.T for model in (one, other)]
    np.testing.assert_allclose(*products, atol=1e-6)


def test_auto_is_exact_for_few_rows_and_factored_for_many(blobs, fitted, monkeypatch):
    auto = MSCIAS(4, random_state=0).fit(blobs)
    np.testing.assert_array_equal(auto.embedding_, fitted.embedding_)
    monkeypatch.setattr("manyview.baselines.mscias._EXACT_UP_TO", 100)
    assert MSCIAS(4, random_state=0).fit(blobs).embedding_.shape == (200, 38)


@pytest.mark.parametrize("form", ["exact", "factored"])
def test_sparse_views_give_the_labels_of_dense_ones(blobs, form):
    dense = [np.where(X > 0, X, 0.0) for X in blobs.arrays]
    model = MSCIAS(4, form=form, scaling="unit", random_state=0)
    labels = model.fit_predict([sparse.csr_array(X) for X in dense])
    assert accuracy(model.fit_predict(dense), labels) == 1


def test_units_of_a_view_do_not_matter(blobs, fitted):
    labels = fitted.labels_
    other = MSCIAS(4, random_state=0).fit_predict([X * 10.0**i for i, X in enumerate(blobs.arrays)])
    assert accuracy(labels, other) == 1


def test_it_says_that_it_is_a_reconstruction():
    assert "reconstruction" in MSCIAS.description
    assert "not the authors' algorithm" in " ".join(MSCIAS.__doc__.split())
    assert "description" not in MSCIAS().get_params()


def test_too_few_sweeps_warn_with_the_fall_reached(blobs):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .* fell by .* Raise max_iter or tol"):
        MSCIAS(4, max_iter=1, tol=1e-9, random_state=0).fit(blobs)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("form", ["exact", "factored"])
def test_rows_that_are_all_the_same_are_no_problem(form):
    labels = MSCIAS(2, form=form, random_state=0).fit_predict(np.full((10, 3), 4.0))
    assert labels.shape == (10,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"form": "dense"}, "form must be one of .*got 'dense'"),
        ({"dependence": 1.0}, "dependence must be a number of at least 0 and less than 1"),
        ({"n_components": 39}, "n_components=39 is more than the views allow"),
        ({"ridge": 0.0}, "ridge must be a number greater than 0"),
    ],
)
def test_bad_settings_are_refused(blobs, settings, message):
    with pytest.raises(ValueError, match=message):
        MSCIAS(4, **settings).fit(blobs)


def test_what_fits_in_no_memory_says_what_to_set(blobs, monkeypatch):
    monkeypatch.setattr("manyview.baselines.steps.memory.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="Set n_neighbors=20 or form='factored'"):
        MSCIAS(4, form="exact", n_neighbors=None).fit(blobs)
    for settings in ({"n_neighbors": 20}, {"n_neighbors": None, "form": "factored"}):
        assert len(MSCIAS(4, random_state=0, **settings).fit(blobs).labels_) == 200


@pytest.mark.slow
def test_factored_form_is_a_scikit_learn_estimator():
    check_estimator(MSCIAS(form="factored", n_init=2), on_skip=None)
