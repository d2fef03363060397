"""Kill fits with SIGKILL, start them again, and compare their labels.

Half of them are killed at random moments, the others in the midst of an operation on their checkpoint.
"""

import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from manyview import LMVSC
from manyview.engines import Disk, checkpoint
from tests.faults.cases import arguments, conclude
from tests.faults.injection import arm, preload

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


def ending(child):
    """Its exit code, or minus the signal that it died by."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


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

    def fit_on(operation=-1):
        count = arm(state, operation, "killed")
        fit(Disk("8 MB", checkpoint=state), "disk.npz")
        (folder / "operations").write_text(str(count()))

    assert ending(start(lambda: fit("memory", "memory.npz"))) == 0
    started = time.monotonic()
    assert ending(start(fit_on)) == 0
    seconds = time.monotonic() - started
    n_operations = int((folder / "operations").read_text())
    shutil.rmtree(state)

    expected = np.load(folder / "memory.npz")
    chance, wrong = random.Random(seed), []
    report = Counter()
    n_killed = 0
    while n_killed < n_kills or report["finished"] == 0:
        report["resumed"] += any(state.glob("0*.done")) if state.exists() else 0
        is_inside = n_killed % 2 == 0 and n_killed < n_kills
        operation = chance.randint(1, n_operations) if is_inside else -1
        child = start(partial(fit_on, operation))
        if n_killed < n_kills and not is_inside:
            time.sleep(chance.uniform(0.0, seconds))
            os.kill(child, signal.SIGKILL)
        code = ending(child)
        if code > 0:
            wrong.append(f"a fit after {n_killed} kills failed")
            break
        if code == -signal.SIGKILL:
            n_killed += 1
            report["killed inside an operation" if is_inside else "killed at a random moment"] += 1
            continue
        found = np.load(folder / "disk.npz")
        same = [np.array_equal(found[name], expected[name]) for name in ("labels", "embedding")]
        report["finished"] += 1
        if not all(same):
            wrong.append(f"fit {report['finished']}: other labels after a kill")
        shutil.rmtree(state)
    return report, wrong


def main():
    preload("tests.faults.kill_fits")
    options = arguments(50)
    folder = Path(tempfile.mkdtemp(prefix="manyview-faults-"))
    report, wrong = kill_fits(folder, options.n, options.seed)
    shutil.rmtree(folder)
    conclude("kills", options, report, wrong)


if __name__ == "__main__":
    main()
