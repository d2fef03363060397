"""Evident clusters: by k-means or as pieces, never of noise, and labelled by the nearest anchor."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from manyview import LMVSC
from manyview.pipeline.evident import find_evident
from manyview.stages.graph import GraphRows, GraphTile
from manyview.views.selection import PartialView, number_present


@pytest.fixture
def groups():
    return np.repeat(np.arange(3), [300, 60, 15])


@pytest.fixture
def views(groups):
    """Two narrow views in which very uneven groups stand clear of each other."""
    rng = np.random.default_rng(0)
    return [
        30.0 * rng.normal(size=(3, d))[groups] + rng.normal(size=(len(groups), d)) for d in (2, 4)
    ]


def moons():
    return make_moons(300, noise=0.03, random_state=0)


def find(arrays, k, seed=0):
    return find_evident(arrays, [f"view {v}" for v in range(len(arrays))], k, seed=seed)


def labels_by(evident, arrays):
    tile = GraphRows(evident.scalers, (evident.graph(),))(arrays, 0)
    return evident.cluster(tile)


def test_a_large_sample_is_labelled_without_its_whole_embedding(views):
    evident, n, k = find(views, 3), 40_000, 200
    many = replace(evident, clusters=np.arange(k, dtype=np.int32))
    anchors = np.arange(n) % k
    tile = GraphTile((sparse.csr_array((np.ones(n), (np.arange(n), anchors))),), 0)
    tracemalloc.start()
    labels = many.cluster(tile).labels
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(labels, anchors)
    assert peak < 8 * n * k


class TestFound:
    def test_groups_that_stand_clear_by_kmeans(self, views, groups):
        found = find(views, 3)
        assert found.clearness >= 0.65
        assert len(found.anchors) == 3
        assert adjusted_rand_score(groups, labels_by(found, views).labels) == 1.0

    def test_curves_as_pieces(self):
        X, groups = moons()
        found = find([X], 2)
        assert found.clearness is None and found.apart > 1
        assert adjusted_rand_score(groups, labels_by(found, [X]).labels) == 1.0

    def test_curves_that_one_of_two_views_shows(self):
        X, groups = moons()
        noise = np.random.default_rng(0).normal(size=(300, 3))
        found = find([noise, X], 2)
        assert found.views == (1,)
        assert found.view_weights.tolist() == [0.0, 1.0]
        assert adjusted_rand_score(groups, labels_by(found, [noise, X]).labels) == 1.0

    def test_uneven_blobs_that_one_of_two_views_shows(self):
        """Of two views, agreement cannot tell which is noise; a narrow one would mix the blobs."""
        rng = np.random.default_rng(0)
        groups = np.repeat(np.arange(4), [200, 40, 40, 20])
        X = 7.0 * np.eye(4, 20)[groups] + rng.normal(size=(300, 20))
        arrays = [rng.normal(size=(300, 12)), X]
        found = find(arrays, 4)
        assert found.views == (1,)
        assert found.apart < 1.3
        assert adjusted_rand_score(groups, labels_by(found, arrays).labels) == 1.0

    def test_clusters_that_touch_by_their_neighbours(self):
        groups = np.arange(300) % 3
        X = np.random.default_rng(0).normal(size=(300, 4)) + 3 * np.eye(3, 4)[groups]
        found = find([X], 3)
        assert found.apart is None and found.bound >= 5
        assert adjusted_rand_score(groups, labels_by(found, [X]).labels) > 0.9
        assert "bound into so many pieces" in LMVSC(3, random_state=0).fit(X).choices_[0]["why"]

    def test_the_same_for_sparse_storage(self, views, groups):
        stored = [views[0], sparse.csr_array(views[1])]
        assert adjusted_rand_score(groups, labels_by(find(stored, 3), stored).labels) == 1.0

    def test_many_rows_are_stood_for_by_fewer_anchors(self, monkeypatch):
        monkeypatch.setattr("manyview.pipeline.evident._ANCHORS", 60)
        X, groups = moons()
        found = find([X], 2)
        assert 60 <= len(found.anchors) <= 62
        assert adjusted_rand_score(groups, labels_by(found, [X]).labels) == 1.0


class TestNotFound:
    def test_in_noise(self):
        rng = np.random.default_rng(0)
        assert find([rng.normal(size=(200, 5)), rng.normal(size=(200, 2))], 3) is None

    @pytest.mark.parametrize("k", [2, 4])
    @pytest.mark.parametrize("draw", ["normal", "random", "standard_exponential"])
    def test_in_views_of_noise_one_by_one(self, draw, k):
        noise = getattr(np.random.default_rng(0), draw)
        for n, d in [(100, 2), (400, 3), (400, 20)]:
            assert find([noise(size=(n, d)) for _ in range(4)], k) is None

    def test_where_clusters_overlap(self):
        rng = np.random.default_rng(0)
        assert find([rng.normal(size=(300, 4)) + 2 * np.eye(3, 4)[np.arange(300) % 3]], 3) is None

    def test_where_one_would_be_a_single_odd_row(self, views):
        odd = [np.vstack([X, 900.0 * np.ones((1, X.shape[1]))]) for X in views]
        assert find(odd, 4) is None

    def test_in_few_rows(self, views):
        assert find([X[::7] for X in views], 3) is None

    def test_where_samples_lack_views(self, views):
        part = PartialView(views[0][:300], number_present(np.arange(375) < 300))
        assert find([part, views[1]], 3) is None

    def test_in_very_wide_tables(self, views):
        wide = np.hstack([views[0], np.zeros((len(views[0]), 4000))])
        assert find([wide, views[1]], 3) is None


class TestLabels:
    def test_are_those_of_the_nearest_anchor(self, views):
        found = find(views, 3)
        clusters = labels_by(found, views)
        scaled = [s.apply(X).dense() for s, X in zip(found.scalers, views, strict=True)]
        weights = [s.axis_weights(0.0) for s in found.scalers]
        parts = [X if w is None else X * w for X, w in zip(scaled, weights, strict=True)]
        distances = cdist(np.hstack(parts) / np.sqrt(2), found.anchors)
        assert np.array_equal(clusters.labels, found.clusters[distances.argmin(axis=1)])

    def test_rows_become_corners(self, views):
        clusters = labels_by(find(views, 3), views)
        assert np.array_equal(clusters.centers, np.eye(3))

    @pytest.mark.parametrize("shape", ["groups", "moons"])
    def test_a_model_predicts_those_it_was_fitted_with(self, views, groups, shape):
        X, expected = (views, groups) if shape == "groups" else ([moons()[0]], moons()[1])
        model = LMVSC(len(set(expected)), random_state=0).fit(X)
        assert adjusted_rand_score(expected, model.labels_) == 1.0
        assert np.array_equal(model.predict(X), model.labels_)
        assert np.array_equal(model.transform(X), model.embedding_)
        assert "so they are the answer" in model.choices_[0]["why"]


class TestCounts:
    """Genes and proteins of cells, of which more or less was counted."""

    @staticmethod
    def draw(groups, depth):
        rng = np.random.default_rng(0)
        genes = np.exp(rng.normal(-2, 2, (3, 300)))[groups]
        proteins = np.exp(rng.normal(5, 1, (3, 10)))[groups]
        return [rng.poisson(depth[:, None] * rates).astype(float) for rates in (genes, proteins)]

    def test_borders_are_drawn_as_counts_are_scaled(self):
        groups = np.arange(300) % 3
        depth = np.exp(np.random.default_rng(1).normal(0, 0.3, 300))
        cells = self.draw(groups, depth)
        assert find(cells, 3).kinds == ("standard", "standard")
        model = LMVSC(3, random_state=0).fit(cells)
        assert model.scaling_ == ["lognorm", "clr"]
        assert model.choices_[-1]["why"].startswith("clusters are evident")
        assert adjusted_rand_score(groups, model.labels_) == 1.0
        assert (model.predict(cells) == model.labels_).all()

    def test_how_much_was_counted_is_no_cluster(self):
        depth = np.repeat([0.2, 1.0], 150)
        cells = self.draw(np.zeros(300, int), depth)
        assert find(cells, 2) is not None
        found = find_evident(cells, ["genes", "proteins"], 2, seed=0, counted=["lognorm", "clr"])
        assert found is None
