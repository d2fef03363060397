import numpy as np
import pytest
from sklearn.cluster import KMeans

from manyview import datasets, metrics
from manyview.datasets import synthetic


class TestMakeViews:
    def test_shapes_and_balanced_classes(self):
        views = datasets.make_views(103, 4, (5, 7, 9), random_state=0)
        assert views.n_features == (5, 7, 9)
        sizes = np.bincount(views.target)
        assert sizes.sum() == 103
        assert sizes.max() - sizes.min() <= 1

    def test_the_same_seed_gives_the_same_views(self):
        one, two = (datasets.make_views(50, random_state=3) for _ in range(2))
        assert all(map(np.array_equal, one.arrays, two.arrays))
        assert np.array_equal(one.target, two.target)
        other = datasets.make_views(50, random_state=4)
        assert not np.array_equal(one.arrays[0], other.arrays[0])

    def test_a_generator_as_seed(self):
        rng = np.random.default_rng(3)
        views = datasets.make_views(50, random_state=rng)
        same = datasets.make_views(50, random_state=3)
        assert np.array_equal(views.arrays[0], same.arrays[0])

    @pytest.mark.parametrize("dtype", ["float32", np.float64])
    def test_dtype(self, dtype):
        views = datasets.make_views(50, dtype=dtype, random_state=0)
        assert all(array.dtype == dtype for array in views.arrays)

    def test_clusters_can_be_found_in_every_view(self):
        views = datasets.make_views(600, 4, (20, 40), separation=10, random_state=0)
        for array in views.arrays:
            found = KMeans(4, n_init=3, random_state=0).fit_predict(array)
            assert metrics.nmi(views.target, found) > 0.9

    def test_noise_of_each_view(self):
        options = {"n_latent": 2, "random_state": 0}
        views = datasets.make_views(200, 3, (6, 6), noise=[0.0, 5.0], **options)
        assert np.linalg.matrix_rank(views.arrays[0]) == 2
        assert np.linalg.matrix_rank(views.arrays[1]) == 6

    def test_weights_are_shares(self):
        views = datasets.make_views(1000, 3, weights=[8, 1, 1], random_state=0)
        assert np.allclose(np.bincount(views.target) / 1000, [0.8, 0.1, 0.1], atol=0.01)

    def test_no_cluster_is_empty(self):
        views = datasets.make_views(10, 8, weights=[1000, *[1] * 7], random_state=0)
        assert np.bincount(views.target).min() == 1

    def test_many_blocks_of_rows(self, monkeypatch):
        monkeypatch.setattr(synthetic, "_BLOCK_ROWS", 7)
        views = datasets.make_views(50, 3, (4,), random_state=0)
        assert np.isfinite(views.arrays[0]).all()
        assert len(np.unique(views.arrays[0][:, 0])) == 50

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_samples": 0}, "n_samples must be at least 1"),
            ({"n_samples": 3, "n_clusters": 4}, "3 samples cannot fill 4 clusters"),
            ({"n_features": ()}, "positive number for each view"),
            ({"n_features": (3, 0)}, "positive number for each view"),
            ({"noise": [1.0]}, "noise has 1 numbers; expected one, or 3"),
            ({"weights": [1.0, 2.0]}, "weights has 2 numbers"),
            ({"weights": [1, 1, 1, 1, 0]}, "weights must be positive"),
            ({"dtype": "int8"}, "dtype must be float32 or float64; got int8"),
        ],
    )
    def test_bad_arguments(self, options, message):
        with pytest.raises(ValueError, match=message):
            datasets.make_views(**{"random_state": 0} | options)


class TestMakeSubspaces:
    def test_every_class_spans_a_subspace_in_every_view(self):
        views = datasets.make_subspaces(30, 4, 3, (20, 12), random_state=0)
        assert len(views) == 120
        for array in views.arrays:
            ranks = [np.linalg.matrix_rank(array[views.target == k]) for k in range(4)]
            assert ranks == [3, 3, 3, 3]

    def test_bases_are_orthonormal(self):
        views = datasets.make_subspaces(30, 2, 3, (20, 15), random_state=0)
        lengths = [np.linalg.norm(array, axis=1) for array in views.arrays]
        assert np.allclose(lengths[0], lengths[1])

    def test_sizes_of_each_subspace(self):
        views = datasets.make_subspaces([5, 10, 15], 3, 2, (9,), random_state=0)
        assert np.bincount(views.target).tolist() == [5, 10, 15]

    def test_in_order_without_shuffling(self):
        views = datasets.make_subspaces(4, 3, 2, (9,), shuffle=False, random_state=0)
        assert views.target.tolist() == np.repeat([0, 1, 2], 4).tolist()

    def test_noise_fills_the_space(self):
        views = datasets.make_subspaces(30, 2, 2, (9,), noise=0.1, random_state=0)
        assert np.linalg.matrix_rank(views.arrays[0][views.target == 0]) == 9

    def test_dtype_and_seed(self):
        one, two = (
            datasets.make_subspaces(9, 2, 2, (9,), dtype="float32", random_state=1)
            for _ in range(2)
        )
        assert one.arrays[0].dtype == np.float32
        assert np.array_equal(one.arrays[0], two.arrays[0])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"dim": 31}, "dimension 31 does not fit a view of 30 columns"),
            ({"dim": 0}, "dim must be at least 1"),
            ({"n_samples": [5, 5]}, "n_samples has 2 numbers; expected one, or 5"),
            ({"n_samples": [5, 5, 5, 5, 0]}, "n_samples must be at least 1"),
        ],
    )
    def test_bad_arguments(self, options, message):
        with pytest.raises(ValueError, match=message):
            datasets.make_subspaces(**options)
