"""A process of its own that computes cells: stopped when time is up, and its memory is its own."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import cloudpickle

from manyview.bench.cells import Cell, Line

_START_SECONDS = 300.0  # loading data, and compiling where nothing is cached
_PATIENT_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_THREAD_TIMEOUT": "8"}
"""Threads that wait sleep: spinning, on a machine with other work, takes ten times as long."""


class Computer(Protocol):
    """What a child process computes cells with."""

    def prepare(self, cells: Sequence[Cell]) -> None:
        """Load what a batch of cells needs; its time is not counted."""

    def compute(self, cells: Sequence[Cell]) -> Iterator[Line]:
        """The result of each; in another order, ``number`` says whose it is."""


class Worker(AbstractContextManager["Worker"]):
    """Computes batches of cells in a child process, which is started when it is first needed.

    ``make`` makes its :class:`Computer` in the child; it and all it holds may come from a notebook. With
    ``memory_limit``, fits that need more bytes besides the data are refused, where the system can do it.
    ``busy_seconds`` is what the last batch took, without starting the process and loading data.
    """

    def __init__(self, make: Callable[[], Computer], *, memory_limit: int | None = None) -> None:
        self._work = cloudpickle.dumps(make), memory_limit
        self.busy_seconds = 0.0
        self._process: Any = None
        self._pipe: Connection | None = None

    def compute(
        self, cells: Sequence[Cell], *, seconds: float | None
    ) -> Iterator[tuple[Cell, Line]]:
        """Each cell of a batch with its result as it comes; those not done in ``seconds`` as stopped.

        Loading data is not counted; where it does not end in time cells are failed, so tried again.
        """
        pipe = self._start()
        self.busy_seconds = 0.0
        pipe.send(list(cells))
        waiting = dict(enumerate(cells))
        started: float | None = None
        while waiting:
            patience = None if seconds is None else _START_SECONDS
            if seconds is not None and started is not None:
                patience = max(started + seconds - time.monotonic(), 0.0)
            has_come = pipe.poll(patience)
            if started is not None:
                self.busy_seconds = time.monotonic() - started
            if not has_come:
                self.stop()
                line = {"status": "stopped", "reason": f"stopped after {seconds:.3g} s"}
                if started is None:
                    reason = f"data did not load within {_START_SECONDS:g} s"
                    line = {"status": "failed", "reason": reason}
                break
            try:
                number, line = pipe.recv()
            except (EOFError, OSError):
                self._process.join(10)
                code = self._process.exitcode
                self.stop()
                line = {"status": "failed", "reason": _why_it_ended(code)}
                break
            if number is None:  # data is loaded
                started = time.monotonic()
                continue
            yield waiting.pop(number), line
        yield from ((cell, dict(line)) for cell in waiting.values())

    def _start(self) -> Connection:
        if self._pipe is not None and self._process.is_alive():
            return self._pipe
        self.stop()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._work), daemon=True)
        with _environment(_PATIENT_THREADS), _plain_main():
            self._process.start()
        theirs.close()
        return self._pipe

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def __exit__(self, *error: object) -> None:
        self.stop()


def _why_it_ended(code: int | None) -> str:
    if code is None or code >= 0:
        return f"the process ended with code {code}"
    advice = "; most likely memory ran out" if code == -9 else ""
    return f"the process was killed (signal {-code}){advice}"


@contextmanager
def _environment(defaults: dict[str, str]) -> Iterator[None]:
    """While this is entered, processes that are started have these variables, unless set already."""
    added = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _plain_main() -> Iterator[None]:
    """While this is entered, processes that are started do not run the caller's script once more.

    They need not: what they get of it was sent as it is.
    """
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(pipe: Connection, make: bytes, memory_limit: int | None) -> None:
    """Compute what is asked for until the other end is closed."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(OSError):
        os.dup2(2, 1)  # what methods print must not stand among the results of the caller
    computer: Computer = cloudpickle.loads(make)()
    while True:
        try:
            cells: list[Cell] = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        answered = set()
        try:
            computer.prepare(cells)
            pipe.send((None, None))
            with _limited_memory(memory_limit):
                for number, line in enumerate(computer.compute(cells)):
                    number = line.pop("number", number)
                    answered.add(number)
                    pipe.send((number, line))
        except KeyboardInterrupt:
            return
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            for number in set(range(len(cells))) - answered:
                pipe.send((number, {"status": "failed", "reason": reason[:1000]}))


def _end_with_parent() -> None:
    """End this process, whatever it computes, when the one that started it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _limited_memory(n_bytes: int | None) -> Iterator[None]:
    """While this is entered, this process may take so many bytes more, where the system can say no."""
    before = None
    if n_bytes is not None:
        with suppress(ImportError, OSError, ValueError):
            import resource

            pages = int(Path("/proc/self/statm").read_text().split()[0])
            held = pages * os.sysconf("SC_PAGE_SIZE")
            limits = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (held + n_bytes, limits[1]))
            before = limits
    try:
        yield
    finally:
        if before is not None:
            resource.setrlimit(resource.RLIMIT_AS, before)
