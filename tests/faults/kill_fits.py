"""Kill fits with SIGKILL at random moments, start them again, and compare their labels."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from manyview import LMVSC
from manyview.engines import Disk, checkpoint
from tests.faults.cases import arguments, conclude

N_ROWS = 20_001


def make_views(folder):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, N_ROWS)
    paths = []
    for name in ("a", "b"):
        paths.append(folder / f"{name}.npy")
        centers = rng.normal(size=(4, 8))
        np.save(paths[-1], (centers[groups] + rng.normal(size=(N_ROWS, 8))).astype(np.float32))
    return paths


def start(function):
    """Number of a process that calls a function, and that this one can kill."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return child


def ended_well(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def make_model(engine):
    cheap = {"n_anchors": 12, "n_repeats": 1, "scaling": "standard", "max_iter": 20}
    return LMVSC(4, random_state=0, engine=engine, **cheap)


def kill_fits(folder, n_kills, seed):
    """What happened to so many fits that were killed, and to those that ended."""
    paths = make_views(folder)
    # Each fit would load compiled code again; one thread, or a fork might wait for ever.
    make_model("memory").set_params(n_jobs=1).fit([np.load(path)[:500] for path in paths])
    checkpoint._SAVE_SECONDS = 0.01  # the fit is short: save as often as a long one would
    checkpoint._SAVE_SHARE = 0.5
    state = folder / "checkpoint"

    def fit(engine, name):
        model = make_model(engine).fit(paths)
        np.savez(folder / name, labels=model.labels_, embedding=np.asarray(model.embedding_))

    def fit_on():
        fit(Disk("8 MB", checkpoint=state), "disk.npz")

    assert ended_well(start(lambda: fit("memory", "memory.npz")))
    started = time.monotonic()
    assert ended_well(start(fit_on))
    seconds = time.monotonic() - started
    shutil.rmtree(state)

    expected = np.load(folder / "memory.npz")
    chance = random.Random(seed)
    report = {"n_killed": 0, "n_finished": 0, "n_resumed": 0, "all_same": True}
    while report["n_killed"] < n_kills or report["n_finished"] == 0:
        report["n_resumed"] += any(state.glob("0*.done")) if state.exists() else 0
        child = start(fit_on)
        if report["n_killed"] < n_kills:
            time.sleep(chance.uniform(0.0, seconds))
            os.kill(child, signal.SIGKILL)
        if not ended_well(child):
            report["n_killed"] += 1
            continue
        found = np.load(folder / "disk.npz")
        same = [np.array_equal(found[name], expected[name]) for name in ("labels", "embedding")]
        report["n_finished"] += 1
        report["all_same"] &= all(same)
        shutil.rmtree(state)
    return report


def main():
    options = arguments(50)
    folder = Path(tempfile.mkdtemp(prefix="manyview-faults-"))
    report = kill_fits(folder, options.n, options.seed)
    shutil.rmtree(folder)
    same = report.pop("all_same")
    conclude("kills", options, Counter(report), [] if same else ["other labels after a kill"])


if __name__ == "__main__":
    main()
