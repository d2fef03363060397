import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, KMeans

from manyview import datasets, metrics


def test_sizes_views_and_names_are_as_asked():
    views = datasets.make_uneven(
        (300, 30, 3), (2, 7), noise_features=(4, 5), n_words=40, random_state=0
    )
    assert np.bincount(views.target).tolist() == [300, 30, 3]
    assert views.names == ("view_0", "view_1", "noise_0", "noise_1", "words")
    assert views.n_features == (2, 7, 4, 5, 40)
    assert isinstance(views.arrays[-1], sparse.csr_array)


def test_rows_come_in_random_order():
    target = datasets.make_uneven((50, 50), random_state=0).target
    assert np.count_nonzero(np.diff(target)) > 20


def test_the_same_seed_gives_the_same_views():
    one, two, other = (datasets.make_uneven(random_state=seed) for seed in (3, 3, 4))
    assert all(map(np.array_equal, one.arrays, two.arrays))
    assert not np.array_equal(one.arrays[0], other.arrays[0])


@pytest.mark.parametrize("width", [1, 2, 50])
@pytest.mark.parametrize("n_clusters", [1, 2, 12])
def test_the_nearest_centres_are_as_far_apart_as_asked(width, n_clusters):
    views = datasets.make_uneven([500] * n_clusters, (width,), separation=9.0, random_state=0)
    (X,) = views.arrays
    centers = np.array([X[views.target == c].mean(axis=0) for c in range(n_clusters)])
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2)[~np.eye(n_clusters, dtype=bool)]
    assert gaps.min(initial=9.0) == pytest.approx(9.0, abs=0.5)


def test_kmeans_finds_uneven_blobs_in_every_view():
    views = datasets.make_uneven((500, 40, 20), (2, 30), separation=20, random_state=0)
    for array in views.arrays:
        found = KMeans(3, n_init=10, random_state=0).fit_predict(array)
        assert metrics.nmi(views.target, found) > 0.98


def test_stretched_blobs_are_longer_than_wide():
    views = datasets.make_uneven((4000,), (6,), stretch=5.0, random_state=0)
    deviations = np.sqrt(np.linalg.eigvalsh(np.cov(views.arrays[0].T)))
    assert deviations[-1] == pytest.approx(5.0, rel=0.1)
    assert deviations[:-1] == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [("moons", (400, 200)), ("circles", (300, 600, 900)), ("spirals", (900,) * 3)],
)
def test_curves_are_connected_and_apart(shape, sizes):
    views = datasets.make_uneven(sizes, (2,), shape=shape, separation=12, random_state=0)
    (X,) = views.arrays
    found = DBSCAN(eps=4.5, min_samples=2).fit_predict(X)
    assert metrics.nmi(views.target, found) > 0.98
    assert metrics.nmi(views.target, KMeans(len(sizes), random_state=0).fit_predict(X)) < 0.7


def test_curves_lie_in_a_plane_of_wider_views():
    views = datasets.make_uneven((200, 200), (9,), shape="circles", separation=50, random_state=0)
    values = np.linalg.svd(views.arrays[0], compute_uv=False)
    assert values[1] > 10 * values[2]


def test_words_are_rare_and_tell_the_clusters():
    views = datasets.make_uneven((200, 100), (2,), n_words=400, random_state=0)
    words = views.arrays[1]
    assert words.nnz / np.prod(words.shape) < 0.1
    found = KMeans(2, n_init=5, random_state=0).fit_predict(words)
    assert metrics.nmi(views.target, found) > 0.9


def test_duplicates_are_copies_within_a_cluster_in_all_views():
    views = datasets.make_uneven((80, 20), (2, 3), n_words=30, duplicates=0.5, random_state=0)
    first, second, words = views.arrays
    _, original = np.unique(first, axis=0, return_inverse=True)
    assert original.max() + 1 == 50
    both = np.hstack([first, second, words.toarray(), views.target[:, None]])
    assert len(np.unique(both, axis=0)) == 50


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": ()}, "sizes needs a number of samples for each cluster"),
        ({"sizes": (5, 0)}, "sizes must be at least 1; got 0"),
        ({"shape": "squares"}, "shape must be one of 'blobs', 'moons', 'circles', 'spirals'"),
        ({"shape": "moons"}, "There are two moons; got 3 sizes"),
        ({"shape": "circles", "n_features": (1, 4)}, "needs at least 2 columns in every view"),
        ({"stretch": 0.5}, "stretch must be between 1 and inf; got 0.5"),
        ({"duplicates": 1.5}, "duplicates must be between 0 and 1; got 1.5"),
        ({"noise_features": (0,)}, "noise_features needs a positive number for each view"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        datasets.make_uneven(**options)
