import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster
from sklearn.exceptions import ConvergenceWarning

from manyview.baselines import KMeans, kmeans
from manyview.metrics import accuracy
from manyview.stages.litekmeans import draw_starts


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 25)
    centers = rng.normal(size=(4, 6)) * 5
    return centers[truth] + rng.normal(size=(100, 6)), truth


def test_one_view_is_scikit_learns_kmeans(blobs):
    X, _ = blobs
    model = KMeans(4, random_state=0).fit(X)
    seed = int(np.random.default_rng(0).integers(2**31))
    reference = cluster.KMeans(4, n_init=10, random_state=seed).fit(X)
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    np.testing.assert_allclose(model.cluster_centers_, reference.cluster_centers_)
    assert model.inertia_ == pytest.approx(reference.inertia_)


def test_units_of_a_view_do_not_matter(blobs):
    X, _ = blobs
    labels = KMeans(4, random_state=0).fit_predict([X[:, :3], X[:, 3:]])
    other = KMeans(4, random_state=0).fit_predict([X[:, :3] * 1e6 + 5e6, X[:, 3:] / 1e4])
    assert accuracy(labels, other) == 1


def test_views_get_equal_energy(blobs):
    X, _ = blobs
    model = KMeans(4, random_state=0).fit([X[:, :1], X[:, 1:]])
    expected = [np.sqrt(X[:, part].var(axis=0).sum()) for part in (slice(1), slice(1, None))]
    np.testing.assert_allclose(model.view_scales_, expected)


def test_centers_are_means_in_the_units_of_the_input(blobs):
    X, _ = blobs
    model = KMeans(4, tol=0.0, random_state=0).fit([X[:, :2] * 1000, X[:, 2:]])
    joined = np.hstack([X[:, :2] * 1000, X[:, 2:]])
    means = [joined[model.labels_ == j].mean(axis=0) for j in range(4)]
    np.testing.assert_allclose(model.cluster_centers_, means)


def test_constant_view_has_no_say(blobs):
    X, truth = blobs
    assert accuracy(truth, KMeans(4, random_state=0).fit_predict([np.full((100, 2), 9), X])) == 1


def test_sparse_views_give_the_labels_of_dense_ones(blobs):
    X, _ = blobs
    X = np.where(X > 2, X, 0).round().astype(int)
    dense = KMeans(4, random_state=0).fit([X[:, :3], X[:, 3:]])
    mixed = KMeans(4, random_state=0).fit([sparse.csr_array(X[:, :3]), X[:, 3:]])
    np.testing.assert_allclose(mixed.view_scales_, dense.view_scales_)
    assert mixed.inertia_ == pytest.approx(dense.inertia_)
    assert accuracy(dense.labels_, mixed.labels_) == 1


def test_wide_sparse_view_is_never_made_dense():
    X = sparse.random_array((400, 10**6), density=1e-5, rng=0, format="csr")
    tracemalloc.start()
    labels = KMeans(2, n_init=1, tol=1.0, random_state=0).fit_predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert labels.shape == (400,)
    assert peak < 0.1 * 8 * 400 * 10**6


def test_one_view_of_several_can_be_chosen(blobs):
    X, _ = blobs
    views = {"a": X, "b": X[:, ::-1] ** 2}
    chosen = KMeans(4, view="b", random_state=0).fit(views)
    alone = KMeans(4, random_state=0).fit(views["b"])
    np.testing.assert_array_equal(chosen.labels_, alone.labels_)


class TestLitekmeans:
    def test_does_what_the_authors_of_published_figures_do(self, authors_kmeans):
        X = np.random.default_rng(1).normal(size=(200, 2))
        starts = draw_starts(200, 12, np.random.default_rng(0), n_runs=8)
        _, centers, labels, n_iter = authors_kmeans(X, starts)
        model = KMeans(12, variant="litekmeans", n_init=8, random_state=0).fit(X)
        np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-12)
        np.testing.assert_array_equal(model.labels_, labels)
        assert model.inertia_ == pytest.approx(((X - centers[labels]) ** 2).sum())
        assert model.n_iter_ == n_iter

    def test_views_side_by_side_and_sparse(self, blobs):
        X, _ = blobs
        X = np.where(X > 2, X, 0).round().astype(int)
        views = [1000 * X[:, :3], sparse.csr_array(X[:, 3:])]
        model = KMeans(4, variant="litekmeans", random_state=0).fit(views)
        dense = KMeans(4, variant="litekmeans", random_state=0).fit([views[0], X[:, 3:]])
        np.testing.assert_allclose(model.cluster_centers_, dense.cluster_centers_, atol=1e-9)
        means = [
            np.hstack([1000 * X[:, :3], X[:, 3:]])[model.labels_ == j].mean(0) for j in range(4)
        ]
        np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-9)

    def test_any_number_of_threads_gives_the_same(self, monkeypatch):
        X = np.random.default_rng(0).normal(size=(9000, 3))
        models = []
        for n_jobs in (1, 2):
            monkeypatch.setattr(kmeans, "count_jobs", lambda n_jobs=n_jobs: n_jobs)
            models.append(KMeans(5, variant="litekmeans", max_iter=300, random_state=0).fit(X))
        np.testing.assert_array_equal(*(model.cluster_centers_ for model in models))

    def test_a_hundred_rounds_are_most_unless_said(self):
        X = np.random.default_rng(0).normal(size=(500, 2))
        with pytest.warns(
            ConvergenceWarning, match=r"max_iter=2 before it settled\. Raise max_iter\.$"
        ):
            KMeans(10, variant="litekmeans", max_iter=2, random_state=0).fit(X)


def test_too_few_iterations_warn_and_say_what_to_change():
    X = np.random.default_rng(0).normal(size=(500, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter=2.*Raise max_iter or tol"):
        KMeans(10, init="random", n_init=1, max_iter=2, tol=0.0, random_state=0).fit(X)
