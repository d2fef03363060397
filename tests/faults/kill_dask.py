"""Kill workers of a Dask cluster with SIGKILL while fits run, and compare their labels."""

import contextlib
import shutil
import tempfile
import threading
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from distributed import KilledWorker

from manyview import LMVSC
from manyview.engines import Dask
from manyview.engines.base import TILE_ROWS
from tests.conftest import Cluster
from tests.faults.cases import arguments, conclude

N_ROWS = 5 * TILE_ROWS + 99


def make_block(block_info):
    """Rows of three groups by their numbers, so that a worker can make them again."""
    (start, end), _ = block_info[None]["array-location"]
    groups = np.arange(start, end) % 3
    return 3.0 * np.eye(3, 6)[groups] + np.random.default_rng(start).normal(size=(end - start, 6))


def make_views():
    import dask.array as da

    sizes = (5000,) * (N_ROWS // 5000) + (N_ROWS % 5000,)
    X = da.map_blocks(make_block, chunks=(sizes, (6,)), dtype=float, meta=np.empty((0, 0)))
    return [X, np.exp(-X)]


def make_model(**engine):
    cheap = {"n_anchors": 12, "n_repeats": 1, "scaling": "standard", "max_iter": 20}
    return LMVSC(3, random_state=0, n_jobs=1, engine=Dask(**engine) if engine else "auto", **cheap)


def kill_now_and_then(cluster, views, expected, rng):
    """What is wrong with a fit that two workers died in, if anything."""
    cluster.wait_for_workers()
    moments = rng.uniform(0.0, 2.0, 2).cumsum()
    timers = [threading.Timer(moment, cluster.kill_workers) for moment in moments]
    for timer in timers:
        timer.start()
    with cluster.client.as_current():
        model = make_model(client=cluster.client).fit(views)
        same = [
            np.array_equal(model.labels_.compute(), expected.labels_),
            np.array_equal(model.embedding_.compute(), expected.embedding_),
        ]
    for timer in timers:
        timer.join()
    return [] if all(same) else ["other labels"]


def kill_without_pause(cluster, views, expected):
    """How a fit ends whose workers are killed every second, and what is wrong with that, if anything."""
    ended = threading.Event()

    def kill():
        while not ended.wait(1.0):
            with contextlib.suppress(
                OSError, RuntimeError
            ):  # no worker, or one that died meanwhile
                cluster.kill_workers(cluster.n_workers)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = make_model(client=cluster.client, patience=30.0).fit(views)
    except (TimeoutError, KilledWorker) as error:
        is_told = any("Nothing has gone on" in str(warning.message) for warning in caught)
        is_told |= isinstance(error, KilledWorker)
        return "said that nothing goes on", [] if is_told else ["no warning came first"]
    finally:
        ended.set()
        thread.join()
    same = np.array_equal(model.labels_.compute(scheduler=cluster.client), expected.labels_)
    return "labels nevertheless", [] if same else ["other labels"]


def main():
    options = arguments(30)
    folder = Path(tempfile.mkdtemp(prefix="manyview-faults-"))
    views = make_views()
    expected = make_model().fit([view.compute(scheduler="sync") for view in views])
    rng = np.random.default_rng(options.seed)
    outcomes, wrong = Counter(), []
    cluster = Cluster(folder)
    try:
        while outcomes["kills"] < options.n:
            wrong += kill_now_and_then(cluster, views, expected, rng)
            outcomes.update({"kills": 2, "fits": 1})
        how, problems = kill_without_pause(cluster, views, expected)
        outcomes[f"killed without pause: {how}"] += 1
        wrong += problems
    finally:
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)
    conclude("Dask kills", options, outcomes, wrong)


if __name__ == "__main__":
    main()
