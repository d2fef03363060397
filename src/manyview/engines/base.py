"""The seam between the algorithm and where its rows live.

Rows are handed out in **tiles** of fixed size, counted from row 0, whatever the block, chunk, file
or thread: a product of the same row inside another block may differ in its last bits, so tiles are
what makes labels the same everywhere. Sums over tiles are added in a fixed binary tree for the same
reason. An engine opens arrays as :class:`Rows`; the pipeline asks rows for a sample, for sums over
all tiles, and for one output row per input row, and nothing else.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import add, iadd
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
from threadpoolctl import OpenBLASController, ThreadpoolController

from manyview.engines.progress import Progress, SilentProgress

TILE_ROWS = 4096

Tile = Any
"""What a tile holds: a list with the rows of each array, or whatever a derived tile was made into."""

T = TypeVar("T")
TileFunction = Callable[[Tile, int], T]
"""Called with a tile and the number of its first row."""


@runtime_checkable
class Divisible(Protocol):
    """What makes a tile of another, and can do it in parts that know nothing of each other."""

    def parts(self, tile: Tile, first_row: int) -> list[Callable[[], Any]]:
        """What makes each part."""

    def join(self, parts: list[Any]) -> Tile:
        """The tile, from its parts in order."""


class Rows(Protocol):
    """Rows somewhere, in tiles."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> SampledRows:
        """Rows with these numbers (ascending), in memory."""

    def derive(self, function: TileFunction[Tile]) -> Rows:
        """Rows made from these, tile by tile, when they are needed; kept if that is affordable."""

    def map_reduce(self, function: TileFunction[T], *, stage: str) -> T:
        """Sum of what ``function`` returns for every tile, in the order of :class:`TreeSum`.

        What it returns must be its own, not a part of the tile: others may be added to it in place.
        """

    def map_rows(self, function: TileFunction[npt.NDArray[Any]], *, stage: str) -> Any:
        """What ``function`` returns for every tile, one row per row, as one array."""


class SampledRows(Rows, Protocol):
    """Rows in memory, with the arrays that hold them."""

    arrays: list[Any]

    def with_arrays(self, arrays: list[Any], run: Run | None = None) -> SampledRows:
        """Other arrays of the same rows; worked on by a run of their own, if that is given."""


class Engine(Protocol):
    """A way to hold and compute on rows.

    Attributes
    ----------
    name : str
        Its name, as in ``engine="disk"``.
    track_memory : bool
        Whether a fit is to watch how much memory this process holds.
    """

    name: str
    track_memory: bool

    def open(self, arrays: Sequence[Any], run: Run) -> Rows:
        """Rows of arrays that describe the same samples, side by side."""


@dataclass(frozen=True)
class Run:
    """How one call runs, whatever it computes.

    Attributes
    ----------
    n_jobs : int
        Threads.
    progress : Progress
        Told about every stage; silent by default.
    identity : mapping of str to (str or None), optional
        What decides the result of a fit besides its data, by name, so that an engine can tell this
        fit from another; None where there is nothing to go on with, as in predicting.
    resources : ExitStack
        What an engine must close, or remove, when the call ends.
    notes : dict
        What an engine keeps between opening the views and opening what was made of them.
    is_lazy : bool
        Whether rows that are mapped may be left to be computed when someone asks for them.
    """

    n_jobs: int
    progress: Progress = field(default_factory=SilentProgress)
    identity: Mapping[str, str | None] | None = None
    resources: ExitStack = field(default_factory=ExitStack, compare=False)
    notes: dict[str, Any] = field(default_factory=dict, compare=False)
    is_lazy: bool = False


def show_settings(engine: Engine) -> str:
    """An engine's class with the settings that were not left alone, as its ``repr``."""
    usual = (None, False, "auto")
    given = ", ".join(f"{name}={v!r}" for name, v in vars(engine).items() if v not in usual)
    return f"{type(engine).__name__}({given})"


class TreeSum:
    """Adds numbered parts in a fixed binary tree, in whatever order they arrive.

    Parts 2i and 2i+1 of one level make part i of the next. Addition of two numbers commutes, so the
    result depends on the parts' numbers alone: not on threads, blocks or workers. Any engine that
    holds a whole subtree may sum it beforehand.

    Parameters
    ----------
    in_place : bool
        Add to parts where they lie, which takes less memory. They must be nobody else's.

    Examples
    --------
    >>> from manyview.engines.base import TreeSum
    >>> total = TreeSum()
    >>> for number in (2, 0, 1):
    ...     total.add(number, 10.0**number)
    >>> total.result()
    111.0
    """

    def __init__(self, *, in_place: bool = False) -> None:
        self._parts: dict[tuple[int, int], Any] = {}
        self._add: Callable[[Any, Any], Any] = iadd if in_place else add

    def add(self, number: int, part: Any, *, level: int = 0) -> None:
        """Add the part with this number (at a level above 0: the sum of a whole subtree)."""
        while (sibling := (level, number ^ 1)) in self._parts:
            other = self._parts.pop(sibling)
            part = self._add(other, part) if number & 1 else self._add(part, other)
            level, number = level + 1, number >> 1
        self._parts[level, number] = part

    def take(self, other: TreeSum) -> None:
        """Add all that another tree holds, which is empty then."""
        for level, number in list(other._parts):
            self.add(number, other._parts.pop((level, number)), level=level)

    def parts(self) -> dict[tuple[int, int], Any]:
        """Sums that still wait for their other half, by level and number."""
        return dict(self._parts)

    def result(self) -> Any:
        """Sum of all parts; those that have no other half are added from the first on."""
        # Left to right in row order: higher levels lie further left when no number is missing.
        ordered = [self._parts[key] for key in sorted(self._parts, key=lambda k: k[1] << k[0])]
        if not ordered:
            raise ValueError("There is nothing to sum.")
        return reduce(add, ordered)


def n_tiles(n_rows: int) -> int:
    """Number of tiles that hold ``n_rows`` rows."""
    return -(-n_rows // TILE_ROWS)


def n_block_tiles(n_rows: int) -> int:
    """Number of tiles handed to a thread at a time, where nobody has said."""
    return 4 if n_rows > 64 * TILE_ROWS else 1


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limits: Any = None


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> Any:
    """The BLAS and OpenMP libraries that are loaded.

    Looking for them takes milliseconds, as long as some tasks: they are looked for again only after
    more modules were imported.
    """
    return ThreadpoolController()


@contextmanager
def one_thread_per_product() -> Iterator[None]:
    """While this is entered, BLAS and OpenMP use one thread: the engine's threads do the rest.

    The number of threads inside a product could change its last bits, and with them a label. BLAS has
    one setting for the whole process, so the first to enter sets it and the last to leave restores
    it; OpenMP has one for each calling thread.
    """
    global _blas_users, _blas_limits
    with _blas_lock:
        _blas_users += 1
        if _blas_users == 1:
            _blas_limits = _thread_pools(len(sys.modules)).limit(limits=1, user_api="blas")
    try:
        with _thread_pools(len(sys.modules)).limit(limits=1, user_api="openmp"):
            yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limits.restore_original_limits()
                _leave_blas_to_other_threads()


def _leave_blas_to_other_threads() -> None:
    """Let other threads set how many OpenBLAS uses.

    From version 3.7 on, threadpoolctl leaves that to the first thread that did, until that lets go.
    """
    let_go = getattr(OpenBLASController, "clear_controlling_thread", None)
    if let_go is not None:
        let_go()


def thread_pool(n_jobs: int) -> ThreadPoolExecutor:
    """Threads for work that is not done on tiles; OpenMP inside each of them uses one thread."""
    # OpenMP counts threads per calling thread, so the limit must be set in each of them.
    return ThreadPoolExecutor(n_jobs, initializer=_use_one_openmp_thread)


def _use_one_openmp_thread() -> None:
    _thread_pools(len(sys.modules)).limit(limits=1, user_api="openmp")


def run_side_by_side(tasks: Sequence[Callable[[], T]], n_jobs: int) -> list[T]:
    """What each task returns, in their order; here, one after the other, if there is one thread."""
    if n_jobs == 1 or len(tasks) < 2:
        return [task() for task in tasks]
    with thread_pool(min(n_jobs, len(tasks))) as pool:
        return [each.result() for each in [pool.submit(task) for task in tasks]]


@contextmanager
def meanwhile(task: Callable[[], T], n_jobs: int) -> Iterator[Callable[[], T]]:
    """A function that gives what a task returns.

    The task runs in a thread of its own beside what happens inside; where there is but one, when it is
    asked for.
    """
    if n_jobs == 1:
        yield task
        return
    with thread_pool(1) as pool:
        yield pool.submit(task).result
