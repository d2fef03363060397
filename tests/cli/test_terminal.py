"""Real processes: a terminal that shows progress, pipes that do not, Ctrl-C, completion, colour."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import manyview

pty = pytest.importorskip("pty", reason="there are no such terminals on Windows")

COMMAND = [sys.executable, "-m", "manyview"]
SOURCE = os.path.dirname(os.path.dirname(manyview.__file__))


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """Two views of many rows on disk, so that even a quick fit takes a while."""
    folder = tmp_path_factory.mktemp("big")
    views = manyview.datasets.make_views(60_000, 5, (12, 9), random_state=0)
    for name, array in views.items():
        np.save(folder / f"{name}.npy", array)
    return folder


def environment(**changes):
    return {**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", "TERM": "xterm", **changes}


def in_terminal(arguments, folder, *, interrupt_after=None, **changes):
    """Run with stderr on a terminal; give exit code, stdout and what the terminal saw."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=follower,
        env=environment(COLUMNS="140", **changes),
        # A test run in the background of a script ignores Ctrl-C, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(follower)
    seen = b""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        ready, _, _ = select.select([leader], [], [], 0.1)
        if ready:
            try:
                seen += os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
        if interrupt_after is not None and re.search(interrupt_after, seen):
            process.send_signal(signal.SIGINT)
            interrupt_after = None
    out = process.communicate(timeout=60)[0].decode()
    os.close(leader)
    return process.returncode, out, seen.decode(errors="replace")


FIT = [
    "fit", "view_0.npy", "view_1.npy", "-k", "5", "--no-report", "--n-repeats", "1",
    "--fusion", "late", "--view-weights", "equal", "--n-anchors", "150", "--scaling", "standard",
]  # fmt: skip
DISK = [*FIT, "--engine", "disk", "--memory-limit", "64MB"]


@pytest.fixture(scope="module")
def shown(big):
    """A whole fit from disk on a terminal where NO_COLOR is set."""
    return in_terminal([*DISK, "-o", "shown"], big, NO_COLOR="1")


@pytest.mark.slow
def test_a_terminal_shows_stages_with_time_left_and_results_stay_clean(shown):
    code, out, seen = shown
    assert code == 0, seen
    assert "\x1b" not in out and out.startswith("60000 rows in 2 view(s)")
    for word in ("reading", "anchors", "graph", "left", "tiles", "%"):
        assert word in seen
    assert re.search(r"about [\d. smin]+ left", seen)


@pytest.mark.slow
def test_no_color_is_respected_on_a_terminal(shown):
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", shown[2])


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(big, shown):
    disk = [*DISK, "-o", "out"]
    code, out, seen = in_terminal(disk, big, interrupt_after=rb"graph[^\n]*\d%")
    assert code == 130
    assert out == ""
    assert "manyview: stopped. Kept: what was computed so far, in out/checkpoint" in seen
    assert "Traceback" not in seen
    assert [path.name for path in (big / "out").iterdir()] == ["checkpoint"]
    resumed = piped(disk, big)
    assert resumed.returncode == 0, resumed.stderr
    labels = [np.load(big / name / "labels.npy") for name in ("out", "shown")]
    assert np.array_equal(*labels)


@pytest.mark.slow
def test_ctrl_c_in_memory_says_that_nothing_was_written(big):
    code, _, seen = in_terminal(
        [*FIT, "-o", "stopped", "--engine", "memory"], big, interrupt_after=rb"anchors|graph"
    )
    assert code == 130
    assert "manyview: stopped. Nothing was written to stopped." in seen
    assert not (big / "stopped").exists()


def piped(arguments, folder, **changes):
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env=environment(**changes), capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_output_to_a_closed_pipe_is_no_traceback(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "datasets", "list", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(), cwd=tmp_path,
    )  # fmt: skip
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    process.wait(timeout=60)
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("words", "place", "expected"),
    [
        ("manyview fit --n-", "2", "plain,--n-anchors"),
        ("manyview ", "1", "plain,predict"),
        ("manyview datasets ", "2", "plain,convert"),
    ],
)
def test_commands_and_options_are_completed(tmp_path, words, place, expected):
    changes = {"_MANYVIEW_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": place}
    assert expected in piped([], tmp_path, **changes).stdout.split()


@pytest.mark.slow
def test_bench_of_speed_gives_ratios(run, monkeypatch):
    few = manyview.datasets.digits_views()[:300]
    monkeypatch.setattr(manyview.datasets, "digits_views", lambda: few)
    result = run("bench", "--speed", "--rows", "1000", "--json", "-q")
    lines = json.loads(result.stdout)
    assert [line["n_rows"] for line in lines] == [300, 1000]
    assert all(line["ratio"] > 0 for line in lines)
    assert lines[0]["lmvsc_nmi"] > lines[0]["kmeans_nmi"]
