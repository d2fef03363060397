"""What is free, of the machine and of control groups; seconds and memory of stages."""

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from manyview import machine as module
from manyview.engines.disk import memory_limit
from manyview.errors import InUseError
from manyview.machine import (
    Lock,
    PeakMemory,
    Stopwatch,
    free_memory,
    open_locked,
    peak_bytes,
    resident_bytes,
)

FREE = 2_000_000 * 1024


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A made machine with 2 GB free; the files of control groups can be written."""
    monkeypatch.setattr(module, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(module, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(module, "_GROUPS", tmp_path / "cgroup")
    (tmp_path / "meminfo").write_text("MemTotal: 8000000 kB\nMemAvailable: 2000000 kB\n")
    return tmp_path


def write_group(folder, *, limit, used, inactive):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {inactive}\n")


def write_old_group(folder, *, limit, used, inactive):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.limit_in_bytes").write_text(f"{limit}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{used}\n")
    lines = f"inactive_file 7\ntotal_inactive_file {inactive}\n"
    (folder / "memory.stat").write_text(lines)


def test_is_what_the_system_says(machine):
    assert free_memory() == FREE


def test_pages_of_files_that_were_read_are_not_used_memory(machine):
    write_group(machine / "cgroup", limit=1_000_000, used=900_000, inactive=700_000)
    assert free_memory() == 800_000


def test_an_old_group_counts_as_well(machine):
    write_old_group(machine / "cgroup/memory", limit=1_000_000, used=900_000, inactive=700_000)
    assert free_memory() == 800_000


@pytest.mark.parametrize("tightest", ["a.slice", "a.slice/job", "a.slice/job/step"])
def test_is_the_least_of_the_own_group_and_those_around_it(machine, tightest):
    (machine / "own").write_text("0::/a.slice/job/step\n")
    for path in ("a.slice", "a.slice/job", "a.slice/job/step"):
        write_group(machine / "cgroup" / path, limit="max", used=5, inactive=0)
    write_group(machine / "cgroup" / tightest, limit=1_000_000, used=900_000, inactive=0)
    write_group(machine / "cgroup/a.slice/other", limit=10, used=10, inactive=0)
    assert free_memory() == 100_000


def test_the_own_old_group_is_found(machine):
    (machine / "own").write_text("5:cpu,memory:/slurm/job\n1:name=systemd:/else\n0::/\n")
    top = machine / "cgroup/memory"
    write_old_group(top, limit=2**63 - 4096, used=10**12, inactive=0)
    write_old_group(top / "slurm/job", limit=1_000_000, used=900_000, inactive=50_000)
    assert free_memory() == 150_000


def test_a_container_that_does_not_see_its_path_sees_its_group_at_the_top(machine):
    (machine / "own").write_text("0::/docker/0123\n")
    write_group(machine / "cgroup", limit=1_000_000, used=900_000, inactive=0)
    assert free_memory() == 100_000


def test_no_limit_is_no_limit(machine):
    write_group(machine / "cgroup", limit="max", used=900_000, inactive=0)
    assert free_memory() == FREE


def test_physical_memory_stands_in_where_the_system_says_nothing(machine):
    (machine / "meminfo").unlink()
    free = free_memory()
    assert free is None or free > 0


def test_a_quarter_is_for_rows(machine):
    assert memory_limit(None) == FREE // 4


def test_rows_get_something_where_nothing_seems_free(machine):
    write_group(machine / "cgroup", limit=1_000_000, used=1_000_000, inactive=0)
    assert memory_limit(None) == 16 << 20


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="read from Linux's /proc")


def test_seconds_are_those_spent_inside():
    watch = Stopwatch()
    started = time.perf_counter()
    with watch.stage("wait"):
        time.sleep(0.05)
    assert 0.05 <= watch.seconds["wait"] <= time.perf_counter() - started


def test_memory_let_go_of_before_the_end_is_seen(monkeypatch):
    held, is_seen = [100], threading.Event()

    def look():
        if held[0] == 900:
            is_seen.set()
        return held[0]

    monkeypatch.setattr(module, "resident_bytes", look)
    monkeypatch.setattr(module, "_STATM", Path(__file__))  # anything that exists
    watch = Stopwatch(track_memory=True)
    with watch.stage("large"):
        held[0] = 900
        assert is_seen.wait(timeout=60)
        held[0] = 100
    with watch.stage("small"):
        pass
    assert watch.peak_bytes == {"large": 900, "small": 100}


@linux_only
def test_memory_that_an_array_takes_is_counted():
    before = resident_bytes()
    large = np.ones(25_000_000)
    assert resident_bytes() - before > 0.9 * large.nbytes


def test_nobody_watches_unless_asked(monkeypatch):
    monkeypatch.setattr(module, "resident_bytes", lambda: pytest.fail("looked"))
    watch = Stopwatch()
    with watch.stage("quiet"):
        assert "manyview-memory" not in {thread.name for thread in threading.enumerate()}
    assert watch.peak_bytes == {}


@linux_only
def test_a_failing_stage_leaves_no_watcher_behind():
    watch = Stopwatch(track_memory=True)
    with pytest.raises(ZeroDivisionError), watch.stage("failing"):
        raise ZeroDivisionError
    assert "manyview-memory" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_the_peak_is_what_was_held_since_it_was_asked_for():
    kept = np.ones(2_000_000)
    with PeakMemory() as peak:
        np.ones(1_000_000).sum()
        assert peak.so_far() > 7e6
    assert 7e6 < peak.bytes < 16e6 <= kept.nbytes
    assert peak_bytes() >= kept.nbytes


def test_who_has_only_just_locked_it_is_waited_for(tmp_path):
    held = open_locked(tmp_path / "lock")

    def tell():
        held.write(b"123 45.6")
        held.flush()

    threading.Timer(0.1, tell).start()
    with pytest.raises(InUseError) as caught:
        Lock(tmp_path / "lock")
    held.close()
    assert caught.value.process == 123
