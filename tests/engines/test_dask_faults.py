"""Workers killed with SIGKILL, in every kind of stage of a fit, change nothing but time."""

import time
from dataclasses import replace
from threading import Timer

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC
from manyview.engines import Dask, dask_waits
from manyview.engines.base import TILE_ROWS, Run
from manyview.engines.progress import SilentProgress

pytest.importorskip("distributed", reason="the Dask engine needs distributed")
da = pytest.importorskip("dask.array")

N_ROWS = 5 * TILE_ROWS + 99
# Rows are gathered, derived and summed, mapped; what is left to lose are results.
STAGES = ("sample", "graph", "embedding")


class KillOnce(SilentProgress):
    """Kills a worker when the first block of a stage is done."""

    def __init__(self, cluster, stage):
        self.cluster, self.fatal_stage, self.stage = cluster, stage, None
        self.was_killed = False

    def start(self, stage, total):
        self.stage = stage

    def advance(self, steps=1):
        if self.stage == self.fatal_stage and not self.was_killed:
            self.was_killed = True
            self.cluster.kill_workers()


class FatalLMVSC(LMVSC):
    """Reports its progress to what was set as ``watcher``."""

    watcher = SilentProgress()

    def _run(self, *arguments, **options):
        return replace(super()._run(*arguments, **options), progress=self.watcher)


def make_block(first_row, n_rows):
    """Rows of three groups by their numbers, so that a worker can make them again."""
    rng = np.random.default_rng(first_row)
    groups = np.arange(first_row, first_row + n_rows) % 3
    return 3.0 * np.eye(3, 6)[groups] + rng.normal(size=(n_rows, 6))


@pytest.fixture(scope="module")
def views():
    """A dense and a sparse view in chunks that split tiles, made where they are needed."""

    def block(block_info):
        (start, end), _ = block_info[None]["array-location"]
        return make_block(start, end - start)

    chunks = ((5000,) * 4 + (N_ROWS - 20_000,), (6,))
    dense = da.map_blocks(block, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return [dense, dense.map_blocks(_thin_out, dtype=float)]


def _thin_out(block):
    return sparse.csr_array(np.where(block > 1.0, block, 0.0))


@pytest.fixture(scope="module")
def expected(views):
    sizes = views[0].chunks[0]
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    X = np.concatenate([make_block(s, n) for s, n in zip(starts, sizes, strict=True)])
    return LMVSC(3, n_anchors=12, n_repeats=1, random_state=0).fit([X, _thin_out(X)])


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_worker_changes_no_label(cluster, views, expected, stage):
    cluster.wait_for_workers()
    model = FatalLMVSC(3, n_anchors=12, n_repeats=1, random_state=0)
    model.watcher = KillOnce(cluster, stage)
    with cluster.client.as_current():
        model.fit(views)
        assert model.watcher.was_killed
        assert np.array_equal(model.labels_.compute(), expected.labels_)
        assert model.inertia_ == expected.inertia_


@pytest.mark.slow
def test_results_outlive_the_workers_that_held_them(cluster, views, expected):
    cluster.wait_for_workers()
    with cluster.client.as_current():
        model = LMVSC(3, n_anchors=12, n_repeats=1, random_state=0).fit(views)
        cluster.kill_workers(cluster.n_workers)
        assert np.array_equal(model.labels_.compute(), expected.labels_)
        assert np.array_equal(model.embedding_.compute(), expected.embedding_)


def pause_at(fraction, dask_worker=None):
    """Let a worker pause when it holds this share of its memory; the share it had before."""
    manager = dask_worker.memory_manager
    usual, manager.memory_pause_fraction = manager.memory_pause_fraction, fraction
    return usual


def status_of(dask_worker=None):
    return dask_worker.status.name


@pytest.mark.slow
class TestPausedWorkers:
    """All workers are paused: whatever they hold is too much for them."""

    @pytest.fixture(autouse=True)
    def resume(self, cluster, monkeypatch):
        """A function that lets all workers go on."""
        monkeypatch.setattr(dask_waits, "_NOTICE_SECONDS", 0.5)
        cluster.wait_for_workers()
        usual = next(iter(cluster.client.run(pause_at, 0.001).values()))
        while any(status != "paused" for status in cluster.client.run(status_of).values()):
            time.sleep(0.05)
        yield lambda: cluster.client.run(pause_at, usual)
        cluster.client.run(pause_at, usual)

    def test_are_named_with_their_memory_and_are_an_error_in_the_end(self, cluster, views):
        model = LMVSC(3, random_state=0, engine=Dask(cluster.client, patience=1.5))
        named = (
            r"paused.*: tcp://127.0.0.1:\d+ \(\d+ MB of 2.2 GB\), tcp://.* Give them more memory"
        )
        with pytest.warns(UserWarning, match=named), pytest.raises(TimeoutError, match=named):
            model.fit(views)
        assert cluster.is_empty()

    def test_that_go_on_end_the_fit_as_ever(self, cluster, resume, views, expected):
        model = LMVSC(3, n_anchors=12, n_repeats=1, random_state=0, engine=Dask(cluster.client))
        timer = Timer(2.0, resume)
        timer.start()
        with pytest.warns(UserWarning, match="paused"):
            model.fit(views)
        timer.join()
        with cluster.client.as_current():
            assert np.array_equal(model.labels_.compute(), expected.labels_)


@pytest.mark.slow
def test_a_source_that_gives_other_values_when_it_is_read_again_is_refused(cluster, views):
    noisy = views[0].map_blocks(lambda block: np.random.default_rng().normal(size=block.shape))
    engine = Dask(cluster.client)
    with pytest.raises(ValueError, match="View number 2 of 2 gave other values when"):
        LMVSC(3, n_anchors=12, n_repeats=1, engine=engine).fit([views[0], noisy])
    assert cluster.is_empty()


@pytest.mark.parametrize("patience", [0, -1, float("nan"), "long", True])
def test_patience_is_a_time(patience):
    with pytest.raises(ValueError, match="number greater than 0"):
        Dask(patience=patience).open([np.zeros((3, 2))], Run(1, is_lazy=True))
