"""A stream: bounded memory, the basis of a fit on all rows, labels as good, at any time."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from manyview import LMVSC, Views, datasets, load, metrics
from manyview.engines import Disk, Memory
from manyview.engines.base import Run
from manyview.engines.progress import SilentProgress
from manyview.errors import RankWarning
from manyview.pipeline.fit import fit
from manyview.pipeline.predict import map_rows
from manyview.pipeline.settings import resolve
from manyview.pipeline.stream import Reservoir, Stream
from manyview.stages.fusion import graph_moments
from manyview.stages.graph import GraphTile

N_ROWS, N_START = 15_000, 5000
CHEAP = {"n_anchors": 20, "n_repeats": 1, "scaling": "standard", "random_state": 0}


@pytest.fixture(autouse=True)
def streams_start_early(monkeypatch):
    monkeypatch.setattr("manyview.stages.sampling._LEAST_ROWS", N_START)


@pytest.fixture(scope="module")
def views():
    return datasets.make_views(N_ROWS, 5, (12, 20), separation=9.0, random_state=0)


def in_batches(model, views, size):
    for start in range(0, len(views), size):
        model.partial_fit(views[start : start + size])
    return model


class TestOnePass:
    def test_the_basis_is_that_of_a_fit_with_the_same_anchors(self, views):
        params = LMVSC(5, n_anchors=40, alpha=0.5, scaling=None, fusion="late", n_repeats=1,
                       locality=0.0, view_weights="equal", n_components=5).get_params()  # fmt: skip
        # Absolute, because the views' energies come from other rows in a fit.
        settings = replace(resolve(params, views), is_alpha_relative=False)
        run, rng = Run(1, SilentProgress()), np.random.default_rng(0)
        stream = Stream(views[:N_START], settings, run=run, rng=rng)
        for start in range(N_START, N_ROWS, 4321):
            stream.add(views[start : start + 4321].arrays)
        model = stream.outcome().model
        anchors = tuple(model.anchors_in_units(graph) for graph in model.graphs)
        whole = fit(
            views.arrays, views.names, replace(settings, anchor_method=anchors),
            engine=Memory(), run=run, rng=rng,
        )  # fmt: skip
        for ours, theirs in zip(stream.outcome().bases, whole.bases, strict=True):
            assert np.allclose(ours.singular_values, theirs.singular_values, rtol=1e-10)
        embedding = map_rows(
            views.arrays, engine=Memory(), run=run, function=model.embed, stage="embedding"
        )
        assert np.allclose(embedding, whole.embedding, atol=1e-7)

    @pytest.mark.parametrize("size", [977, 6000, N_ROWS])
    def test_the_labels_agree_with_those_of_a_fit(self, views, size):
        stream = in_batches(LMVSC(5, **CHEAP), views, size)
        whole = LMVSC(5, **CHEAP).fit(views)
        assert metrics.ari(whole.labels_, stream.predict(views)) >= 0.99

    def test_sparse_views(self):
        rng = np.random.default_rng(0)
        groups = rng.integers(0, 3, 7000)
        words = Views(sparse.csr_array(rng.poisson(2 * rng.gamma(0.5, size=(3, 60))[groups])))
        params = {**CHEAP, "scaling": "hellinger"}
        stream, whole = LMVSC(3, **params), LMVSC(3, **params).fit(words)
        assert metrics.ari(whole.labels_, in_batches(stream, words, 2500).predict(words)) >= 0.99

    def test_which_way_to_go_is_decided_as_for_a_fit(self, views):
        """Nothing is named, and the groups are clear: the first rows say what all of them say."""
        params = {"n_anchors": 20, "n_repeats": 1, "random_state": 0}
        stream, whole = in_batches(LMVSC(5, **params), views, 6000), LMVSC(5, **params).fit(views)
        assert metrics.ari(whole.labels_, stream.predict(views)) >= 0.99

    def test_batches_of_another_size_give_the_same(self, views):
        models = [in_batches(LMVSC(5, **CHEAP), views, size) for size in (977, 6000)]
        labels = [model.predict(views) for model in models]
        assert metrics.ari(*labels) >= 0.999


class TestAnyTime:
    def test_predict_works_after_every_batch(self, views):
        model = LMVSC(5, **CHEAP)
        for start in (0, 500, 5000, 9000):
            model.partial_fit(views[start : start + 500])
            scores = metrics.ari(views.target[:2000], model.predict(views[:2000]))
            assert scores > 0.9
        assert model.n_samples_seen_ == 2000

    def test_few_rows_are_refused_with_the_number_needed(self, views):
        model = LMVSC(5, **{**CHEAP, "n_anchors": 100}).partial_fit(views[:60])
        with pytest.raises(ValueError, match=r"n_anchors must not exceed .* 100 for 60 samples"):
            model.predict(views[:60])
        assert len(model.partial_fit(views[60:400]).predict(views[:60])) == 60

    def test_before_there_are_enough_rows_it_has_no_model(self, views):
        model = LMVSC(5, **CHEAP).partial_fit(views[:3])
        assert not any(hasattr(model, name) for name in ("model_", "cluster_centers_"))
        with pytest.raises(NotFittedError, match=r"n_clusters must not exceed .* 5 for 3 samples"):
            model.predict(views[:3])

    def test_it_can_be_saved(self, views, tmp_path):
        model = in_batches(LMVSC(5, **CHEAP), views[:3000], 1000)
        model.save(tmp_path / "stream.mv")
        again = load(tmp_path / "stream.mv")
        assert np.array_equal(again.predict(views), model.predict(views))
        assert again.n_samples_seen_ == 3000
        assert again.partial_fit(views[:500]).n_samples_seen_ == 500  # sums are not saved

    def test_a_copy_goes_on_whatever_the_seed_is(self, views):
        model = LMVSC(5, **{**CHEAP, "random_state": np.random.RandomState(0)})
        again = copy.deepcopy(model.partial_fit(views[:500]))
        assert again.partial_fit(views[500:900]).n_samples_seen_ == 900

    def test_a_stream_that_shows_progress_can_be_pickled(self, views):
        model = LMVSC(5, verbose=1, **CHEAP).partial_fit(views[:200])
        again = pickle.loads(pickle.dumps(model)).partial_fit(views[200:400])
        assert again.n_samples_seen_ == 400

    def test_a_stream_after_a_fit_has_names_for_its_own_columns(self, views):
        model = LMVSC(2, **CHEAP).fit(views[:200]).set_params(n_clusters=5)
        model.partial_fit(views[:400])
        n_columns = model.transform(views[:3]).shape[1]
        assert len(model.get_feature_names_out()) == n_columns

    def test_several_threads_may_ask_at_once(self, views):
        model = LMVSC(5, **CHEAP).partial_fit(views[:6000])
        barrier = threading.Barrier(4)

        def ask(_):
            barrier.wait()
            return model.predict(views[:50])

        with ThreadPoolExecutor(4) as pool:
            first, *others = pool.map(ask, range(4))
        assert all(np.array_equal(first, labels) for labels in others)

    def test_fit_starts_anew_and_so_does_a_stream(self, views):
        model = LMVSC(5, **CHEAP).fit(views[:2000])
        model.partial_fit(views[:1000])
        assert not hasattr(model, "labels_")
        model.fit(views[:2000])
        assert not hasattr(model, "n_samples_seen_")
        assert model.partial_fit(views[:700]).n_samples_seen_ == 700


class TestAsking:
    """The model may be asked for at any time, and asking changes nothing."""

    def test_every_attribute_is_there_after_a_batch(self, views):
        model = LMVSC(5, **CHEAP).partial_fit(views[:500])
        assert [a.shape for a in model.anchors_] == [(20, 12), (20, 20), (20, 32)]
        assert model.cluster_centers_.shape == (5, model.transform(views[:3]).shape[1])
        assert model.n_clusters_ == 5
        assert model.view_weights_.sum() == pytest.approx(1.0)
        assert model.scaling_ == ["standard", "standard"]
        assert model.inertia_ > 0
        assert model.singular_values_[0] == pytest.approx(1.0)
        assert len(model.get_feature_names_out()) == model.cluster_centers_.shape[1]
        assert not hasattr(model, "labels_") and not hasattr(model, "embedding_")

    @pytest.mark.parametrize("size", [700, 5000])
    def test_does_not_change_what_comes_later(self, views, size):
        asked, quiet = LMVSC(5, **CHEAP), LMVSC(5, **CHEAP)
        for start in range(0, 3 * size, size):
            quiet.partial_fit(views[start : start + size])
            asked.partial_fit(views[start : start + size]).predict(views[:10])
        assert np.array_equal(asked.transform(views[:500]), quiet.transform(views[:500]))

    def test_sets_nothing_on_the_estimator(self, views):
        model = LMVSC(5, **CHEAP).partial_fit(views[:500])
        before = dict(vars(model))
        model.predict(views[:10])
        model.transform(views[:10])
        model.explain(views[:10])
        assert vars(model) == before

    def test_works_the_model_out_once(self, views):
        model = LMVSC(5, **CHEAP).partial_fit(views[:500])
        first = model.model_
        assert model.model_ is first
        assert model.partial_fit(views[500:600]).model_ is not first


class TestWarnings:
    def test_too_few_useful_vectors_warn_as_after_fit(self):
        X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 8, axis=0)
        stream = LMVSC(3, n_components=5, n_repeats=1, n_anchors=8, random_state=0).partial_fit(X)
        with pytest.warns(RankWarning, match="only 3 useful singular vectors of the 5 asked for"):
            stream.predict(X)

    def test_rows_that_were_not_solved_warn_as_after_fit(self, views, monkeypatch):
        def fail_one(tile):
            return replace(graph_moments(tile), n_failed=1)

        monkeypatch.setattr("manyview.pipeline.stream.graph_moments", fail_one)
        stream = LMVSC(5, **CHEAP).partial_fit(views[:500])
        with pytest.warns(ConvergenceWarning, match="1 graph rows were not solved"):
            stream.predict(views[:10])


class TestMemory:
    def test_the_reservoir_is_bounded_and_uniform(self):
        reservoir = Reservoir(500, np.random.default_rng(0))
        held = []
        for start in range(0, 50_000, 1000):
            rows = sparse.csr_array(np.arange(start, start + 1000.0)[:, None])
            reservoir.add(GraphTile((rows,), 0))
            held.append(sum(tile.parts[0].shape[0] for tile in reservoir._tiles))
        kept = reservoir.rows().parts[0].toarray().ravel()
        assert max(held) <= 1500
        assert len(kept) == len(set(kept)) == 500
        assert np.all(np.diff(kept) > 0)
        # The mean of 500 of 50 000 numbers is within four standard errors of theirs.
        assert abs(kept.mean() - 25_000) < 4 * 50_000 / np.sqrt(12 * 500)

    def test_the_reservoir_holds_few_tiles_however_small(self):
        reservoir = Reservoir(10, np.random.default_rng(0))
        for _ in range(3000):
            reservoir.add(GraphTile((sparse.csr_array(np.ones((1, 1))),), 0))
        assert len(reservoir._tiles) <= 30
        reservoir = Reservoir(5000, np.random.default_rng(0))
        for _ in range(3000):
            reservoir.add(GraphTile((sparse.csr_array(np.ones((1, 1))),), 0))
        assert len(reservoir._tiles) <= 257
        assert reservoir.rows().parts[0].shape == (3000, 1)

    def test_which_rows_are_kept_does_not_depend_on_the_batches(self):
        kept = []
        for size in (100, 777):
            reservoir = Reservoir(50, np.random.default_rng(3))
            for start in range(0, 5000, size):
                values = np.arange(start, min(start + size, 5000), dtype=float)
                reservoir.add(GraphTile((sparse.csr_array(values[:, None]),), 0))
            kept.append(reservoir.rows().parts[0].toarray())
        assert np.array_equal(*kept)

    def test_a_buffer_may_be_used_again(self, views):
        buffer = [array[:500].copy() for array in views.arrays]
        model = LMVSC(5, **CHEAP).partial_fit(buffer)
        expected = LMVSC(5, **CHEAP).partial_fit(views[:500])
        for array in buffer:
            array[:] = 0.0
        assert np.array_equal(model.predict(views[:500]), expected.predict(views[:500]))

    def test_rows_are_not_kept(self, views):
        model = in_batches(LMVSC(5, **CHEAP), views[:9000], 3000)
        assert model._stream._gathered == []


class TestRefused:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"anchor_method": "kmeans-all"}, "anchor_method='kmeans-all' needs all rows"),
            ({"engine": Disk()}, "engine='disk': partial_fit takes batches"),
            ({"engine": "disk"}, "engine='disk'"),
            ({"n_clusters": "auto"}, "n_clusters='auto' cannot be settled"),
            ({"alpha": -1}, "alpha must be a number of at least 0"),
        ],
    )
    def test_settings_that_a_stream_cannot_honour(self, views, params, message):
        with pytest.raises(ValueError, match=message):
            LMVSC(**{"n_clusters": 5, **params}).partial_fit(views[:100])

    def test_parameters_changed_on_the_way(self, views):
        model = LMVSC(5, **CHEAP).partial_fit(views[:100])
        with pytest.raises(ValueError, match="changed after the first partial_fit"):
            model.set_params(n_clusters=3).partial_fit(views[:100])

    def test_other_columns_and_other_views(self, views):
        model = LMVSC(5, **CHEAP).partial_fit(views[:100])
        arrays = [array[:50] for array in views.arrays]
        with pytest.raises(ValueError, match=r"X has 19 features.*expecting 20"):
            model.partial_fit([arrays[0], arrays[1][:, 1:]])
        with pytest.raises(ValueError, match=r"Got 1 view.*fitted with 2"):
            model.partial_fit(arrays[0])

    @pytest.mark.parametrize("n_before", [100, 6000])
    def test_a_batch_with_missing_values_is_not_added(self, views, n_before):
        model = LMVSC(5, **CHEAP).partial_fit(views[:n_before])
        broken = [array[:50].copy() for array in views.arrays]
        broken[0][7, 2] = np.nan
        with pytest.raises(ValueError, match=f"row {n_before + 7}, column 2"):
            model.partial_fit(broken)
        assert model.n_samples_seen_ == n_before
        assert model.partial_fit(views[:100]).n_samples_seen_ == n_before + 100
        assert np.isfinite(model.transform(views[:50])).all()

    @pytest.mark.parametrize("n_before", [100, 6000])
    def test_a_batch_with_a_sample_without_views_is_not_added(self, views, n_before):
        model = LMVSC(5, **CHEAP).partial_fit(views[:n_before])
        broken = [array[:50].copy() for array in views.arrays]
        for array in broken:
            array[7] = np.nan
        with pytest.raises(ValueError, match=rf"no view at all.*row\(s\) {n_before + 7}\."):
            model.partial_fit(broken)
        assert model.partial_fit(views[:100]).n_samples_seen_ == n_before + 100
        assert np.isfinite(model.transform(views[:50])).all()

    @pytest.mark.parametrize("n_rows", [50, 6000])
    def test_a_batch_with_infinity_is_not_added(self, views, n_rows):
        model = LMVSC(5, **CHEAP).partial_fit(views[:100])
        broken = [array[:n_rows].copy() for array in views.arrays]
        broken[0][7, 2] = np.inf
        with pytest.raises(ValueError, match="row 107, column 2"):
            model.partial_fit(broken)
        assert model.n_samples_seen_ == 100
        model.partial_fit(views[100:7000])
        expected = LMVSC(5, **CHEAP).partial_fit(views[:100]).partial_fit(views[100:7000])
        assert np.array_equal(model.predict(views[:500]), expected.predict(views[:500]))

    def test_a_batch_that_no_stream_can_start_with_is_not_added(self, views):
        lacking = [views.arrays[0][:6000], np.full((6000, 20), np.nan)]
        model = LMVSC(5, **CHEAP).partial_fit([array[:50] for array in lacking])
        with pytest.raises(ValueError, match="'view_1' describes none of the samples"):
            model.partial_fit(lacking)
        assert model.n_samples_seen_ == 50
        model.partial_fit(views[:6000])
        expected = LMVSC(5, **CHEAP).partial_fit([array[:50] for array in lacking])
        expected.partial_fit(views[:6000])
        assert np.array_equal(model.predict(views[:500]), expected.predict(views[:500]))


def test_odd_rows_of_a_stream_cannot_be_marked(views):
    with pytest.raises(ValueError, match="outliers='mark' needs"):
        LMVSC(5, outliers="mark", **CHEAP).partial_fit(views[:100])
