"""Waiting for a cluster, with an eye on its workers: when none of them can go on, that is said."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from manyview.errors import warn_user
from manyview.wording import bytes_in_words, count, seconds_in_words

_NOTICE_SECONDS = 10.0  # without a finished block, before anybody looks why
_LOOK_SECONDS = 2.0
_MOST_NAMED = 5


class Patience:
    """Waits for blocks on a cluster, but not for ever when no worker can go on with them.

    That is so while all workers are paused for memory and execute nothing, while there are none, and
    when workers are lost faster than they finish a block.

    Parameters
    ----------
    client : distributed.Client
    seconds : float
        How long nothing may go on before it is an error.
    """

    def __init__(self, client: Any, seconds: float) -> None:
        self._client, self._seconds = client, seconds
        self._has_warned = False

    def completed(self, futures: Sequence[Any], *, with_results: bool = False) -> Iterator[Any]:
        """Futures as they are done, each with its result (or error) if that is wanted, too."""
        from distributed import as_completed

        done = as_completed(
            futures, loop=self._client.loop, with_results=with_results, raise_errors=False
        )
        stall = _Stall(self._client)
        while not done.is_empty():
            if done.has_ready():
                yield next(done)
                stall = _Stall(self._client)
                continue
            with done.thread_condition:
                done.thread_condition.wait(0.1)
            if stall.is_to_be_looked_at(min(_NOTICE_SECONDS, self._seconds)):
                self._judge(stall)

    def results(self, futures: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Results with their numbers, as they arrive; of several errors, the first in their order."""
        numbers = {future.key: number for number, future in enumerate(futures)}
        failed: list[int] = []
        for future, result in self.completed(futures, with_results=True):
            if has_failed(future):
                failed.append(numbers[future.key])
            yield numbers[future.key], result
        if failed:
            futures[min(failed)].result()

    def _judge(self, stall: _Stall) -> None:
        """Warn once, and raise when patience is at an end, if no worker can go on."""
        problem, advice, seconds = stall.look()
        if problem and seconds >= self._seconds:
            raise TimeoutError(
                f"Nothing has gone on for {seconds_in_words(seconds)} on the Dask cluster: {problem}. "
                f"{advice} Or wait longer, with engine=Dask(patience=...), in seconds."
            )
        if problem and seconds >= _NOTICE_SECONDS and not self._has_warned:
            self._has_warned = True
            warn_user(
                f"Nothing has gone on for {seconds_in_words(seconds)} on the Dask cluster: {problem}. "
                f"{advice} It is an error after {seconds_in_words(self._seconds)} "
                "(engine=Dask(patience=...)).",
                UserWarning,
            )


def has_failed(future: Any) -> bool:
    """Whether a future ended without a result; one whose worker died is made again, and has not."""
    return future.status not in ("finished", "pending")


class _Stall:
    """The time since a block was finished, and what became of the workers in it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._began = self._stuck_since = self._looked = time.monotonic()
        self._crew: set[str] = set()
        self._n_crews_lost = self._n_lost = 0

    def is_to_be_looked_at(self, notice_seconds: float) -> bool:
        now = time.monotonic()
        pause = min(_LOOK_SECONDS, notice_seconds)
        return now - self._began >= notice_seconds and now - self._looked >= pause

    def look(self) -> tuple[str, str, float]:
        """What keeps the workers from going on, what to do, and for how many seconds it has lasted."""
        self._looked = now = time.monotonic()
        try:
            # Not scheduler_info, which the client itself may replace by one without workers.
            workers = self._client.sync(self._client.scheduler.identity)["workers"]
        except OSError:  # the client reconnects, or gives up by itself
            return "", "", 0.0
        self._n_lost += len(self._crew - set(workers))
        if self._crew and not self._crew & set(workers):
            self._n_crews_lost += 1
        self._crew = (self._crew & set(workers)) or set(workers)
        problem, advice = self._find_problem(workers)
        if not problem:
            self._stuck_since = now
        return problem, advice, now - self._stuck_since

    def _find_problem(self, workers: dict[str, Any]) -> tuple[str, str]:
        if self._n_crews_lost >= 2:  # one may have been replaced on purpose
            return (
                f"{count(self._n_lost, 'worker')} were lost before they finished one block, and what "
                "they held with them",
                "What kills them, often too little memory, is in the logs of the workers and their "
                "nannies. Smaller chunks are finished sooner.",
            )
        if not workers:
            return "there are no workers", "Start some."
        if all(map(_is_paused, workers.values())):
            named = [_name(address, worker) for address, worker in sorted(workers.items())]
            beyond = len(named) - _MOST_NAMED
            listed = ", ".join(named[:_MOST_NAMED]) + (f" and {beyond} more" if beyond > 0 else "")
            return (
                f"all workers are paused, since their memory is nearly full: {listed}",
                "Give them more memory, cut the input into smaller chunks, or let go of what else is "
                "persisted.",
            )
        return "", ""


def _is_paused(worker: dict[str, Any]) -> bool:
    """Whether a worker takes no tasks, and has none left that it executes."""
    executing = worker["metrics"].get("task_counts", {}).get("executing", 0)
    return worker["status"] == "paused" and not executing


def _name(address: str, worker: dict[str, Any]) -> str:
    used, limit = worker["metrics"].get("memory", 0), worker["memory_limit"]
    return f"{address} ({bytes_in_words(used)} of {bytes_in_words(limit)})"
