"""The Dask engine on a real cluster: the labels of memory from any chunks, lazily, leaving nothing."""

import copy
import gc
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_info

from manyview import LMVSC, Views, baselines, load
from manyview.engines import Dask, Memory, choose_engine
from manyview.engines.base import TILE_ROWS, Run
from manyview.engines.progress import SilentProgress

dask = pytest.importorskip("dask", reason="the Dask engine needs dask")
pytest.importorskip("distributed", reason="the Dask engine needs distributed")
da = pytest.importorskip("dask.array")

N_ROWS = 5 * TILE_ROWS + 701
CHUNKS = {
    "whole tiles": 2 * TILE_ROWS,
    "one chunk": N_ROWS,
    "smaller than a tile": 1111,
    "uneven, one empty": (6000, 0, 1, N_ROWS - 6001),
}


def as_chunks(array, chunks):
    """An array, dense or sparse, as a Dask array with these row chunks."""
    edges = np.cumsum([0, *da.core.normalize_chunks((chunks,), (array.shape[0],))[0]])
    parts = [
        da.from_delayed(
            dask.delayed(array[start:end], pure=False), (end - start, array.shape[1]), array.dtype
        )
        for start, end in pairwise(edges.tolist())
    ]
    return da.concatenate(parts)


def make_model(**options):
    cheap = {"n_anchors": 12, "n_repeats": 1, "scaling": "standard"}
    return LMVSC(4, random_state=0, **{**cheap, **options})


@pytest.fixture(scope="module")
def views():
    """A dense float32, a sparse and a dense integer view."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, N_ROWS)
    X = 2.0 * rng.normal(size=(4, 5))[groups] + rng.normal(size=(N_ROWS, 5))
    Y = rng.poisson(np.exp(rng.normal(size=(4, 12)))[groups])
    Z = rng.poisson(5.0 + 3.0 * rng.normal(size=(4, 6))[groups] ** 2)
    return [X.astype(np.float32), sparse.csr_array(Y.astype(float)), Z]


@pytest.fixture(scope="module")
def expected(views):
    return make_model(engine="memory").fit(views)


@pytest.fixture(scope="module")
def client(cluster):
    with cluster.client.as_current():
        yield cluster.client


@pytest.fixture
def chunked(client, views):
    return [as_chunks(view, 2 * TILE_ROWS) for view in views]


@pytest.fixture(scope="class")
def fitted(client, views):
    return make_model().fit([as_chunks(view, 2 * TILE_ROWS) for view in views])


@pytest.mark.slow
class TestSameLabels:
    @pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
    def test_any_chunks_give_the_labels_of_memory(self, client, views, expected, chunks):
        model = make_model().fit([as_chunks(view, chunks) for view in views])
        assert np.array_equal(model.labels_.compute(), expected.labels_)
        assert np.array_equal(model.embedding_.compute(), expected.embedding_)
        assert model.inertia_ == expected.inertia_

    def test_views_may_be_chunked_differently(self, client, views, expected):
        sizes = (5000, 2 * TILE_ROWS, 3001)
        mixed = [as_chunks(view, size) for view, size in zip(views, sizes, strict=True)]
        assert np.array_equal(make_model().fit(mixed).labels_.compute(), expected.labels_)

    def test_some_views_may_be_in_memory(self, client, views, expected):
        mixed = [as_chunks(views[0], 5000), *views[1:]]
        assert np.array_equal(make_model().fit(mixed).labels_.compute(), expected.labels_)

    def test_anchors_from_all_rows(self, client, views):
        options = {"anchor_method": "kmeans-all", "fusion": "late", "max_iter": 20}
        X = views[0][: 2 * TILE_ROWS + 9]
        memory = make_model(engine="memory", **options).fit(X)
        model = make_model(**options).fit(as_chunks(X, 5000))
        assert np.array_equal(model.labels_.compute(), memory.labels_)

    def test_chunks_that_are_stored_in_parts_or_masked(self, client, views):
        X = views[1][: 2 * TILE_ROWS]
        halves = sparse.coo_matrix(
            (np.tile(0.5 * X.data, 2), np.tile(np.vstack(X.nonzero()), 2)), shape=X.shape
        )
        rows = da.from_delayed(dask.delayed(halves), X.shape, float)
        masked = da.ma.masked_where(
            da.from_array(views[0][: 2 * TILE_ROWS]) > 1e9, views[0][: 2 * TILE_ROWS]
        )
        memory = make_model(engine="memory").fit([X, views[0][: 2 * TILE_ROWS].astype(float)])
        assert np.array_equal(make_model().fit([rows, masked]).labels_.compute(), memory.labels_)


@pytest.mark.slow
class TestLazy:
    def test_nothing_is_computed_while_validating(self, client):
        def refuse(block):
            raise AssertionError("computed")

        X = da.zeros((N_ROWS, 4), chunks=(5000, 4)).map_blocks(
            refuse, dtype=float, meta=np.empty((0, 0))
        )
        views = Views({"a": X, "b": X})
        assert views.shape == (N_ROWS, 8)
        assert views[:9000].n_rows == 9000
        with pytest.raises(ValueError, match="n_clusters"):
            LMVSC(N_ROWS + 1).fit(views)

    def test_results_are_arrays_held_by_the_workers(self, cluster, chunked, fitted):
        model = fitted
        assert isinstance(model.labels_, da.Array) and model.labels_.dtype == np.int32
        assert model.labels_.shape == (N_ROWS,)
        assert model.embedding_.chunks[0] == model.labels_.chunks[0] == chunked[0].chunks[0]
        assert isinstance(model.cluster_centers_, np.ndarray)
        # Whatever the scheduler still knows is done: asking for the labels computes nothing new.
        assert {str(key) for key in model.labels_.__dask_keys__()} <= set(cluster.tasks())

    def test_predict_and_transform_wait_to_be_asked(self, cluster, chunked, fitted, expected):
        before = set(cluster.tasks())
        labels, rows = fitted.predict(chunked), fitted.transform(chunked)
        assert set(cluster.tasks()) == before
        assert np.array_equal(labels.compute(), expected.labels_)
        assert np.array_equal(rows.compute(), expected.embedding_)

    def test_new_rows_update_a_model_as_in_memory(self, client, views, expected):
        new = [view[:5000] for view in views]
        there = copy.deepcopy(expected).update(new)
        lazy = copy.deepcopy(expected).set_params(engine="auto")
        lazy.update([as_chunks(view, 3000) for view in new])
        assert np.array_equal(lazy.labels_.compute(), there.labels_)
        assert np.array_equal(lazy.cluster_centers_, there.cluster_centers_)

    def test_a_model_fitted_in_memory_labels_dask_arrays_without_a_cluster(self, views, expected):
        model = copy.deepcopy(expected).set_params(engine="auto")
        labels = model.predict([as_chunks(view, 5000) for view in views])
        with dask.config.set(scheduler="synchronous"):
            assert np.array_equal(labels.compute(), expected.labels_)

    def test_the_model_is_in_the_graph_once(self, chunked, expected):
        model = copy.deepcopy(expected).set_params(engine="auto")
        graph = dict(model.predict(chunked).dask)
        alone = len(pickle.dumps(model.model_))
        sizes = [len(pickle.dumps(task)) for key, task in graph.items() if "labels" in str(key)]
        assert sum(sizes) < 2 * alone

    def test_saved_models_hold_the_labels(self, fitted, expected, tmp_path):
        fitted.save(tmp_path / "model.mv")
        assert np.array_equal(load(tmp_path / "model.mv").labels_, expected.labels_)


class TestRefused:
    def test_columns_in_several_chunks_with_the_call_that_mends_it(self):
        X = da.zeros((100, 8), chunks=(50, 4))
        with pytest.raises(ValueError, match=r"'a' is split along its columns") as error:
            Views({"a": X})
        call = str(error.value).split("Pass view")[1].rstrip(".")
        assert Views({"a": eval(f"X{call}", {"X": X})}).shape == (100, 8)

    def test_unknown_chunk_sizes_with_the_call_that_mends_it(self):
        X = da.from_array(np.eye(100), chunks=(50, 100))
        X = X[X[:, 0] == 0]
        with pytest.raises(ValueError, match=r"unknown size.*compute_chunk_sizes\(\)"):
            Views(X)
        with dask.config.set(scheduler="synchronous"):
            assert Views(X.compute_chunk_sizes()).n_rows == 99

    def test_data_frames_with_the_call_that_mends_it(self):
        pandas = pytest.importorskip("pandas")
        frames = pytest.importorskip("dask.dataframe")
        table = frames.from_pandas(pandas.DataFrame({"a": [1.0, 2.0]}), npartitions=1)
        with pytest.raises(TypeError, match=r"to_dask_array\(lengths=True\)"):
            Views([table])

    def test_text(self):
        with pytest.raises(ValueError, match="not numbers"):
            Views(da.from_array(np.array([["a"], ["b"]])))

    def test_no_client(self):
        # The client of this module is active in this thread, and in no other.
        with (
            ThreadPoolExecutor(1) as pool,
            pytest.raises(RuntimeError, match=r"no active client.*Client\(\)"),
        ):
            pool.submit(make_model().fit, da.zeros((100, 3))).result()

    def test_a_client_that_is_closed(self, cluster):
        from distributed import Client

        other = Client(cluster.client.scheduler.address, set_as_default=False)
        other.close()
        with pytest.raises(RuntimeError, match="closed, not running"):
            make_model(engine=Dask(client=other)).fit(da.zeros((100, 3)))

    @pytest.mark.parametrize("engine", ["memory", "disk"])
    def test_by_engines_of_one_machine(self, engine):
        message = f"The {engine} engine does not load a dask array silently"
        with pytest.raises(TypeError, match=message):
            make_model(engine=engine).fit(da.zeros((100, 3)))

    def test_by_streams(self):
        with pytest.raises(TypeError, match="loads no Dask array silently"):
            make_model().partial_fit(da.zeros((100, 3)))

    def test_files_beside_dask_arrays_with_the_call_that_mends_it(self, tmp_path):
        np.save(tmp_path / "x.npy", np.zeros((100, 2)))
        run = Run(1, is_lazy=True)
        views = Views([da.zeros((100, 3)), tmp_path / "x.npy"])
        with pytest.raises(TypeError, match=r"does not read '.*x.npy'.*dask.array.from_array"):
            Dask().open(views.arrays, run)

    def test_by_baselines(self):
        with pytest.raises(TypeError, match="not loaded into memory silently"):
            baselines.KMeans(2).fit(da.zeros((100, 3)))


LIES = {
    "fewer rows": lambda block: block[:-1],
    "more rows": lambda block: np.vstack([block, block[:1]]),
    "other columns": lambda block: block[:, :-1],
    "one axis": lambda block: block[:, 0],
    "nothing": lambda block: None,
    "text": lambda block: block.astype(str),
    "objects": lambda block: block.astype(object),
    "complex numbers": lambda block: block.astype(complex),
}


class TestBlocksThatLie:
    """What a Dask array says of its blocks is not always what they are: an error, no other labels."""

    @staticmethod
    def make(lie, n_rows, chunk_rows):
        X = da.from_array(np.random.default_rng(0).normal(size=(n_rows, 3)), (chunk_rows, 3))
        last = X.numblocks[0] - 1

        def block_of(block, block_info):
            is_last = block_info[0]["chunk-location"][0] == last
            return LIES[lie](block) if is_last else block

        return X.map_blocks(block_of, dtype=float, meta=np.empty((0, 0)), chunks=X.chunks)

    @pytest.mark.parametrize("lie", LIES)
    def test_a_fit_says_so(self, client, lie):
        words = (
            "^View number 1 of 1: a block (has shape|holds values of type) .*the Dask array says"
        )
        with pytest.raises((ValueError, TypeError), match=words):
            make_model().fit(self.make(lie, 900, 300))

    @pytest.mark.parametrize("lie", ["fewer rows", "more rows", "text"])
    @pytest.mark.parametrize("chunk_rows", [TILE_ROWS, 3000], ids=["tiles", "cut"])
    def test_so_does_every_pass(self, client, lie, chunk_rows):
        blocks = self.make(lie, 2 * TILE_ROWS + 100, chunk_rows)
        rows = Dask().open([blocks], Run(1))
        with pytest.raises((ValueError, TypeError), match=r"^View number 1 of 1: a block"):
            rows.map_reduce(_sum, stage="sums")

    def test_numbers_of_another_type_are_numbers(self, client, views, expected):
        lying = [da.from_array(views[0], (5000, 5)).map_blocks(np.float32, dtype=float)]
        lying += [as_chunks(view, 5000) for view in views[1:]]
        assert np.array_equal(make_model().fit(lying).labels_.compute(), expected.labels_)


class TestEngine:
    def test_takes_memory_maps_as_arrays(self, tmp_path):
        X = np.arange(300.0).reshape(100, 3)
        np.save(tmp_path / "x.npy", X)
        views = Views([da.zeros((100, 2)), np.load(tmp_path / "x.npy", mmap_mode="r")])
        rows = Dask().open(views.arrays, Run(1, is_lazy=True))
        found = rows.map_rows(lambda tile, first: 2 * tile[1], stage="rows")
        assert np.array_equal(found.compute(scheduler="synchronous"), 2 * X)

    def test_is_chosen_for_dask_arrays(self):
        assert isinstance(choose_engine("auto", (np.eye(2), da.zeros((2, 2)))), Dask)
        assert isinstance(choose_engine("auto", (np.eye(2),)), Memory)

    def test_copies_share_the_client_and_files_leave_it_out(self):
        engine = Dask(client="a client")
        assert clone(make_model(engine=engine)).engine is engine
        assert copy.deepcopy(engine) is engine
        assert pickle.loads(pickle.dumps(engine)).client is None

    def test_a_given_client_need_not_be_active(self, cluster, views, expected):
        chunks = [as_chunks(view, 5000) for view in views]
        model = make_model(engine=Dask(client=cluster.client)).fit(chunks)
        labels = cluster.client.compute(model.labels_).result()
        assert np.array_equal(labels, expected.labels_)


@pytest.mark.slow
class TestOnWorkers:
    def test_products_use_one_thread(self, client, chunked):
        def count(tile, first_row):
            return [pool["num_threads"] for pool in threadpool_info()]

        rows = Dask().open(chunked, Run(1))
        assert set(rows.map_reduce(count, stage="threads")) == {1}

    def test_tasks_have_names_to_read(self, client, chunked):
        from distributed import get_task_stream

        with get_task_stream(client) as stream:
            make_model().fit(chunked)
        names = {str(task["key"]).split("manyview-")[-1].rsplit("-", 1)[0] for task in stream.data}
        stages = {
            "sample",
            "graph-rows",
            "graph",
            "graph-add",
            "embedding",
            "k-means",
            "labels",
        }
        assert stages <= names

    def test_progress_counts_every_tile_of_every_stage(self, client, chunked):
        class Counter(SilentProgress):
            def __init__(self):
                self.totals, self.done = {}, {}

            def start(self, stage, total):
                self.stage, self.totals[stage], self.done[stage] = stage, total, 0

            def advance(self, steps=1):
                self.done[self.stage] += steps

        progress = Counter()
        rows = Dask().open(chunked, Run(1, progress))
        doubled = rows.derive(_double)
        doubled.map_reduce(_sum, stage="sums")
        doubled.map_rows(_itself, stage="rows")
        assert progress.totals == {"sums": 6, "rows": 6}
        assert progress.done == progress.totals

    def test_rows_stay_on_the_workers(self, client, views):
        persisted = client.persist([as_chunks(views[0], 2 * TILE_ROWS)])
        rows = Dask().open(persisted, Run(1))
        biggest = rows.map_reduce(_sum, stage="sums")
        assert np.allclose(biggest, views[0].sum(axis=0), rtol=1e-3)
        assert rows.sample_rows(np.array([3, N_ROWS - 1])).arrays[0].shape == (2, 5)


def _double(tile, first_row):
    return 2.0 * tile[0]


def _itself(tile, first_row):
    return tile


def _sum(tile, first_row):
    return (tile[0] if isinstance(tile, list) else tile).sum(axis=0)


@pytest.mark.slow
class TestNothingIsLeft:
    def test_when_a_model_is_deleted(self, cluster, chunked):
        model = make_model().fit(chunked)
        assert cluster.tasks()
        del model
        gc.collect()
        assert cluster.is_empty()

    def test_when_a_fit_fails_and_the_error_is_that_of_memory(self, cluster, client, views):
        X = views[0].copy()
        numbers = [4 * TILE_ROWS + 7, 2 * TILE_ROWS + 5]
        X[numbers, 3] = np.nan
        rows = Dask().open([as_chunks(X, 5000)], Run(1))
        with pytest.raises(ValueError, match=f"^row {min(numbers)}$"):
            rows.derive(_double_finite).map_reduce(_sum, stage="sums")
        del rows
        gc.collect()
        assert cluster.is_empty()

    def test_a_fit_of_a_bad_value_says_what_memory_says(self, client, views):
        X = views[0].copy()
        X[12345, 2] = np.inf
        with pytest.raises(ValueError) as in_memory:
            make_model(engine="memory").fit(X)
        with pytest.raises(ValueError) as on_cluster:
            make_model().fit(as_chunks(X, 5000))
        assert str(on_cluster.value) == str(in_memory.value)
        assert "row 12345, column 2" in str(on_cluster.value)

    def test_but_what_the_user_holds_survives_a_failure(self, client, views):
        mine = client.persist(da.ones((6000, 3), chunks=(1000, 3)))
        X = views[0].copy()
        X[2 * TILE_ROWS + 5, 3] = np.nan
        rows = Dask().open([as_chunks(X, TILE_ROWS)], Run(1))
        with pytest.raises(ValueError, match=r"^row \d+$"):
            rows.derive(_double_finite).map_reduce(_sum, stage="sums")
        assert mine.sum().compute() == 18_000.0
        del mine, rows
        gc.collect()

    def test_when_it_is_interrupted(self, cluster, client, chunked):
        class Interrupt(SilentProgress):
            def advance(self, steps=1):
                raise KeyboardInterrupt

        rows = Dask().open(chunked, Run(1, Interrupt()))
        with pytest.raises(KeyboardInterrupt):
            rows.derive(_double).map_reduce(_sum, stage="sums")
        assert cluster.is_empty()


def _double_finite(tile, first_row):
    wrong = np.flatnonzero(np.isnan(tile[0]).any(axis=1))
    time.sleep(0.1 if first_row < 3 * TILE_ROWS else 0.0)  # later rows fail first
    if len(wrong):
        raise ValueError(f"row {first_row + wrong[0]}")
    return 2.0 * tile[0]
