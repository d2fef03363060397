"""Seconds and bytes: rivals timed in turn, peak memory in a process of its own."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any, TypeVar

from manyview.machine import PeakMemory

__all__ = ["PeakMemory", "in_child", "medians", "time_in_turn"]

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
