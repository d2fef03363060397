"""The compile decorators, and the only import of numba.

Kernels are serial, release the GIL and are compiled once per machine. Where no cache folder can be
written (a read-only install without a home), they are compiled once per process instead.

numba notices a change in a kernel's own file only: after changing an inner function of another file,
delete ``__pycache__`` (``make clean-cache``).

In kernels, integers that are handed on start as ``np.int64(0)``: numba compiles a function anew for
every literal it is called with.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
from numba.core import event

logger = logging.getLogger("manyview")

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Sums may be reordered (it is what lets them vectorise) and inputs are finite by the time they get
# here; infinities keep their meaning. The order is fixed when compiling, so results repeat.
_FASTMATH = {"reassoc", "contract", "nsz", "nnan", "arcp"}


_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "no_cfunc_wrapper": True,
    "error_model": "numpy",
    "fastmath": _FASTMATH,
}


def inner(function: _Function) -> _Function:
    """Compile ``function`` into the one place that calls it; what is kept is the kernel around it.

    It is copied before anything is compiled, so that it is not compiled by itself too.
    """
    return numba.njit(inline="always", **_OPTIONS)(function)  # type: ignore[no-any-return]


def inner_of_several(function: _Function) -> _Function:
    """Compile ``function`` into the several places of a kernel that call it, or a large one into it."""
    # Called and not inlined, it would be whichever kernel's copy was loaded first, and copies are
    # optimised differently: results would differ between a process that compiled and one that
    # loaded.
    return numba.njit(forceinline=True, no_cpython_wrapper=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


class Notice(event.Listener):  # type: ignore[misc]
    """Logs, once, that some time goes by with compiling: only what is not in the cache is compiled.

    Meanwhile, Python looks for no garbage: with all that compiling makes and keeps, a seventh of the
    time would go there.
    """

    def __init__(self) -> None:
        self.kernels: set[Any] = set()
        self.is_given = False
        self._paused: Any = None  # the kernel for which the search for garbage was stopped

    def on_start(self, event: Any) -> None:
        """Log if it is one of our kernels that compiles."""
        kernel = event.data["dispatcher"].py_func
        if kernel not in self.kernels:
            return
        if gc.isenabled():
            gc.disable()
            self._paused = kernel
        if not self.is_given:
            self.is_given = True
            logger.info(
                "Compiling for this machine, which takes some seconds. It is done once: later "
                "processes load what was compiled."
            )

    def on_end(self, event: Any) -> None:
        """Look for garbage again."""
        if self._paused is event.data["dispatcher"].py_func:
            self._paused = None
            gc.enable()


NOTICE = Notice()
event.register("numba:compile", NOTICE)


def jit(function: _Function) -> _Function:
    """Compile ``function`` when it is first called; keep the machine code for the next process.

    It makes no arrays, but is handed what it needs for scratch: without counting who holds an array, a
    tenth less time goes by.
    """
    return _kept(function, _nrt=False)


def jit_allocating(function: _Function) -> _Function:
    """The same of a kernel that makes arrays."""
    return _kept(function)


def _kept(function: _Function, **options: Any) -> _Function:
    NOTICE.kernels.add(function)
    options |= _OPTIONS
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba: "cannot cache function: no locator available"
        return numba.njit(**options)(function)  # type: ignore[no-any-return]


class Compiling(event.Listener):  # type: ignore[misc]
    """Counts the seconds in which kernels are compiled, and tells of it; see :func:`watched`."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._lock = tell, threading.Lock()
        self._depth, self._started = 0, 0.0
        self.seconds = 0.0

    def on_start(self, event: Any) -> None:
        """A kernel is compiled, maybe for another."""
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._started = time.perf_counter()
                self._tell("compiling, once, about 6 s")

    def on_end(self, event: Any) -> None:
        """It is done."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - self._started
                self._tell("")


@contextmanager
def watched(tell: Callable[[str], None]) -> Iterator[Compiling]:
    """While this is entered, ``tell`` is given a remark when kernels are compiled, and "" when not."""
    with event.install_listener("numba:compile", Compiling(tell)) as listener:
        yield listener
