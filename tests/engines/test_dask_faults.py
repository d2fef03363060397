"""Workers killed with SIGKILL, in every kind of stage of a fit, change nothing but time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC
from manyview.engines.base import TILE_ROWS
from manyview.engines.progress import SilentProgress

pytest.importorskip("distributed", reason="the Dask engine needs distributed")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.xdist_group("dask")  # so that one process starts one cluster

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
