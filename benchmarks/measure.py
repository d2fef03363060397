"""Seconds and bytes: rivals timed in turn, peak memory in a process of its own."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

T = TypeVar("T")


def time_in_turn(
    rivals: Mapping[str, Callable[[], Any]],
    *,
    repeats: int = 5,
    clock: Callable[[], float] = time.perf_counter,
    enough: float = 150.0,
) -> dict[str, list[float]]:
    """Seconds of every call, rivals taking turns, so that a busy moment hits all of them.

    Who has taken more than ``enough`` seconds sits the remaining turns out.

    Single-threaded work may be timed by ``time.process_time``: on a quiet machine it is the same,
    and on a shared one it leaves out the time that others were running.
    """
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(repeats):
        for name, call in rivals.items():
            if sum(seconds[name]) > enough:
                continue
            started = clock()
            call()
            seconds[name].append(clock() - started)
    return seconds


def medians(seconds: Mapping[str, list[float]]) -> dict[str, float]:
    """Median of each rival's times."""
    return {name: median(times) for name, times in seconds.items()}


def in_child(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function of a module in a fresh process, so that its memory is its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


class PeakMemory:
    """Largest resident memory while this is entered, beyond what was there before.

    ``bytes`` stays None where the system cannot tell (it is read from Linux's /proc).
    """

    def __init__(self) -> None:
        self.bytes: int | None = None
        self._before: int | None = None

    def __enter__(self) -> PeakMemory:
        gc.collect()
        if sys.platform == "linux":
            # What was freed but is still held would hide the first of what is used next.
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
            self._before = _status("VmRSS")
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            self.bytes = _status("VmHWM") - self._before


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(name)
