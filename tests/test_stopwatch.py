"""Seconds and memory of stages."""

import sys
import time

import numpy as np
import pytest

from manyview.stopwatch import Stopwatch, resident_bytes

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="read from Linux's /proc")


def test_seconds_are_those_spent_inside():
    watch = Stopwatch()
    started = time.perf_counter()
    with watch.stage("wait"):
        time.sleep(0.05)
    assert 0.05 <= watch.seconds["wait"] <= time.perf_counter() - started


@linux_only
def test_memory_let_go_of_before_the_end_is_seen():
    watch = Stopwatch()
    before = resident_bytes()
    with watch.stage("large"):
        large = np.ones(25_000_000)
        time.sleep(0.2)
        del large
    with watch.stage("small"):
        pass
    assert watch.peak_bytes["large"] - before > 0.9 * 200e6
    assert watch.peak_bytes["small"] < watch.peak_bytes["large"] - 0.9 * 200e6


@linux_only
def test_a_failing_stage_leaves_no_watcher_behind():
    import threading

    watch = Stopwatch()
    with pytest.raises(ZeroDivisionError), watch.stage("failing"):
        raise ZeroDivisionError
    assert "manyview-memory" not in {thread.name for thread in threading.enumerate()}
