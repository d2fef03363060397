"""Every operation on files of a small fit, predict and report fails once: in four ways, one at a time.

A library that is loaded before the C library counts operations below a folder, and fails one: no space,
an error of the disk, half of a write or read, or the end of the process. Afterwards the old results are
whole or the new ones are. It needs a C compiler and Linux.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from tests.faults.cases import arguments, conclude
from tests.faults.injection import MODES, arm, preload

VIEWS = ("a.csv", "b.npy")
COMMANDS = {
    "fit": ["fit", *VIEWS, "-k", "3", "-o", "out", "--force", "--seed", "1", "--no-report"],
    "fit from disk": ["fit", "b.npy", "-k", "3", "-o", "out", "--force", "--seed", "1",
                      "--engine", "disk", "--no-report"],
    "predict": ["predict", "out", *VIEWS, "-o", "out/new.csv", "--force"],
    "report": ["report", "out", "--force"],
}  # fmt: skip
CHEAP = ("--n-anchors", "6", "--n-repeats", "1", "--scaling", "standard", "--n-jobs", "1", "-q")


def write_inputs(folder):
    rng, groups = np.random.default_rng(0), np.arange(60) % 3
    X = 4 * np.eye(3)[groups] + rng.normal(size=(60, 3))
    np.save(folder / "b.npy", X)
    np.savetxt(folder / "a.csv", X + 1, delimiter=",", header="x,y,z", comments="")


def run(command):
    """Exit code and words of a command in this process."""
    from manyview.cli import main

    words = io.StringIO()
    cheap = CHEAP if command[0] == "fit" else ("-q",)
    sys.argv = ["manyview", *command, *cheap]
    with contextlib.redirect_stderr(words), contextlib.redirect_stdout(words):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    return code, words.getvalue()


def in_child(command, folder, number, how):
    """Exit code, words and number of operations of a command in a child whose k-th operation fails."""
    note = folder.with_name("note.json")
    note.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            count = arm(folder, number, how)
            code, words = run(command)
            note.write_text(json.dumps([code, words, count()]))
        finally:
            os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        return status, "", 0
    return json.loads(note.read_text()) if note.exists() else (99, "no answer", 0)


def state(folder, seed):
    """What is in a folder of results: "old", "new", or what is wrong with it."""
    from manyview import load
    from manyview.cli.staging import settle

    settle(folder)
    try:
        labels = np.load(folder / "labels.npy")
        facts = json.loads((folder / "summary.json").read_text())["fit"]
        model = load(folder / "model.mv")
        lines = np.loadtxt(folder / "labels.csv", delimiter=",", skiprows=1, usecols=1)
        embedding = np.load(folder / "embedding.npy")
    except Exception as error:
        return f"not whole: {type(error).__name__}: {error}"
    if not np.array_equal(labels, lines) or not np.array_equal(labels, model.labels_):
        return "labels of two runs"
    if embedding.shape[1] != model.cluster_centers_.shape[1] or len(embedding) != len(labels):
        return "an embedding of another run"
    if model.random_state != facts["seed"]:
        return "a model of another run"
    page = folder / "report.html"
    if page.exists() and not page.read_text().rstrip().endswith("</html>"):
        return "half a page"
    return "new" if facts["seed"] == seed else "old"


def judge(command, folder, number, how):
    """What is wrong after a command whose k-th operation fails; empty if nothing is."""
    code, words, _ = in_child(command, folder, number, how)
    if code < 0 and not (how == "killed" and code == -signal.SIGKILL):
        return f"died by signal {-code}"
    if code > 0 and ("Traceback" in words or "unexpected" in words or code not in (1, 2)):
        return f"exit code {code}: {words[-200:]}"
    found = state(folder / "out", 1)
    if found not in ("old", "new"):
        return found
    if code == 0 and command[0] == "fit" and found != "new":
        return "ended well, but the old results are there"
    left = {file.name for file in folder.iterdir()} - {"out", *VIEWS}
    return f"left {left}" if left else ""


def list_cases(whole, folder):
    """Every operation of every command, in each way to fail: name, way, number, their number."""
    cases = []
    for name, command in COMMANDS.items():
        renew(whole, folder)
        code, words, n_operations = in_child(command, folder, -1, "killed")
        assert code == 0, words
        cases += [(name, how, k + 1, n_operations) for how in MODES for k in range(n_operations)]
    return cases


def renew(whole, folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)


def main():
    preload("tests.faults.inject")
    options = arguments(0)  # all cases, or so many of them from the first on, in a shuffled order
    warnings.simplefilter("ignore")
    top = Path(tempfile.mkdtemp(prefix="manyview-faults-"))
    whole, folder = top / "whole", top / "work"
    whole.mkdir()
    write_inputs(whole)
    os.chdir(whole)
    code, words = run(["fit", *VIEWS, "-k", "3", "-o", "out", "--seed", "0"])
    assert code == 0, words
    outcomes, wrong = Counter(), []
    cases = list_cases(whole, folder)
    np.random.default_rng(options.seed).shuffle(cases)
    end = options.first + options.n if options.n else len(cases)
    for name, how, number, n_operations in cases[options.first : end]:
        renew(whole, folder)
        problem = judge(COMMANDS[name], folder, int(number), how)
        outcomes[f"{name}, {how}"] += 1
        if problem:
            wrong.append(f"{name}, {how}, operation {number} of {n_operations}: {problem}")
            print(wrong[-1], file=sys.stderr, flush=True)
    os.chdir("/")
    shutil.rmtree(top, ignore_errors=True)
    conclude("injection", options, outcomes, wrong)


if __name__ == "__main__":
    main()
