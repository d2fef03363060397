"""Row blocks as Dask arrays on a cluster: data stays on the workers, sums and samples travel.

Every stage is a layer of tasks over blocks of whole tiles, with the input's own graph behind it, so
that what a worker takes with it when it dies is made again by others.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from manyview.engines.base import Run, Tile, TileFunction, n_tiles
from manyview.engines.dask_layers import (
    add_up,
    cut_to,
    is_dask,
    keys_of,
    leave_out,
    one_row_like,
    over_blocks,
    take,
    tile_edges,
)
from manyview.engines.dask_tasks import join_rows, make_rows, make_tiles, sum_tiles
from manyview.engines.memory import MemoryRows
from manyview.sources import is_source
from manyview.views.selection import PartialView, Selection

T = TypeVar("T")
logger = logging.getLogger("manyview")


class Dask:
    """The engine for Dask arrays: rows stay on the workers of a cluster.

    ``labels_`` and ``embedding_`` become Dask arrays held by the workers; ``predict`` and
    ``transform`` give Dask arrays that compute nothing before they are asked to. Blocks are the
    chunks of the input, moved to whole tiles of 4096 rows. Arrays in memory are sent along with the
    task graph, block by block, which suits small ones.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster to use; the active client by default. None is ever started here.
    track_memory : bool, default=False
        Note in ``stage_memory_`` how much memory this process holds during a fit; workers do not
        count.

    Examples
    --------
    >>> from manyview.engines import Dask
    >>> Dask()
    Dask()
    """

    name = "dask"

    def __init__(self, client: Any = None, *, track_memory: bool = False) -> None:
        self.client = client
        self.track_memory = track_memory

    def open(self, arrays: Sequence[Any], run: Run) -> DaskRows:
        """Give the rows of Dask arrays, or arrays in memory, side by side; computes nothing."""
        _check_installed()
        arrays = [_in_memory(array) if is_source(array) else array for array in arrays]
        arrays = [leave_out(a) if _is_partly_there(a) else a for a in arrays]
        return DaskRows(arrays, None if run.is_lazy else _find_client(self.client), run)

    def __repr__(self) -> str:
        return "Dask()" if self.client is None else f"Dask(client={self.client!r})"

    # A client belongs to the process that made it: copies share it, files leave it out.
    def __sklearn_clone__(self) -> Dask:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Dask:
        return self

    def __reduce__(self) -> tuple[type[Dask], tuple[()]]:
        return Dask, ()


def _is_partly_there(array: Any) -> bool:
    return isinstance(array, PartialView) and is_dask(array.rows)


def _in_memory(source: Any) -> Any:
    """Give the memory map that a source was made from; refuse other files."""
    if isinstance(source, Selection):
        return source.apply(_in_memory(source.source))
    mapped = getattr(source, "memory_map", None)
    if mapped is None:
        raise TypeError(
            f"The Dask engine does not read {source.where}. Give it as a Dask array, with "
            "dask.array.from_array or dask.array.from_zarr; or load it if it fits in memory."
        )
    return np.asarray(mapped)


def _check_installed() -> None:
    try:
        import dask.array  # noqa: F401
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "The Dask engine needs dask and distributed: pip install 'manyview[dask]'."
        ) from error


def _find_client(client: Any) -> Any:
    from distributed import Client

    if client is None:
        try:
            client = Client.current()
        except ValueError as error:
            raise RuntimeError(
                "The Dask engine found no active client, and starts none. Make one first: "
                "`from distributed import Client`, then `client = Client()` for the cores of this "
                "machine or `client = Client('tcp://HOST:8786')` for a cluster; or pass "
                "engine=Dask(client=client)."
            ) from error
    if client.asynchronous:
        raise TypeError("The Dask engine needs a client made with asynchronous=False.")
    if client.status != "running":
        raise RuntimeError(
            f"The Dask client is {client.status}, not running. Make a new one, or pass the one to "
            "use as engine=Dask(client=client)."
        )
    if not client.nthreads():
        logger.warning("the Dask cluster has no workers yet; waiting for some")
    return client


class _BlockRows:
    """What rows on a cluster and rows derived from them share: layers of tasks over blocks."""

    n_rows: int
    _client: Any
    _run: Run
    _starts: tuple[int, ...]

    def _sources(self) -> list[Any]:
        """Give the Dask arrays whose blocks, cut at ``_starts``, hold these rows."""
        raise NotImplementedError

    def _one_row(self) -> Tile:
        """Give a tile of one made-up row, to learn what a function makes of it."""
        raise NotImplementedError

    def _unstarted(self) -> list[Any]:
        """Give the arrays that the workers are to keep from the next stage on."""
        return []

    def _keep(self, started: list[Any]) -> None:
        """Take them back, started."""

    def derive(self, function: TileFunction[Tile]) -> DerivedRows:
        """Give rows made from these; the workers keep them, on disk if memory runs short."""
        return DerivedRows(self, function)

    def map_reduce(self, function: TileFunction[T], *, stage: str) -> T:
        """Sum what ``function`` gives over all tiles."""
        sums = over_blocks(sum_tiles, function, self._sources(), self._starts, name=stage)
        futures = self._start(sums, add_up(sums, name=stage))[1]
        total = futures.pop()
        result: T = self._follow(futures, stage, total)
        return result

    def map_rows(self, function: TileFunction[npt.NDArray[Any]], *, stage: str) -> Any:
        """Give what ``function`` gives for every tile as a Dask array, computed unless lazy."""
        like = function(self._one_row(), 0)
        sources, starts = self._sources(), self._starts
        rows = over_blocks(make_rows, function, sources, starts, name=stage, like=like)
        if self._run.is_lazy:
            return rows
        (rows,), futures = self._start(rows)
        self._follow(futures, stage)
        return rows

    def _start(self, *arrays: Any) -> tuple[list[Any], list[Any]]:
        """Start computing; give the arrays as held by the cluster, and the futures of their blocks."""
        unstarted = self._unstarted()
        started = self._client.persist([*unstarted, *arrays])
        self._keep(started[: len(unstarted)])
        held = started[len(unstarted) :]
        return held, [future for array in held for future in _futures(array)]

    def _follow(self, futures: list[Any], stage: str, total: Any = None) -> Any:
        """Report progress until every block is done; give the ``total``, if there is one.

        Partial sums are let go one by one, as soon as they are no longer needed for it.

        If blocks fail, the error of the first one in the order of rows is raised, as in memory, and
        nothing of the stage is left on the cluster. The same if the user interrupts it.
        """
        from distributed import as_completed

        numbers = {future.key: number for number, future in enumerate(futures)}
        sizes = [n_tiles(rows) for rows in np.diff([*self._starts, self.n_rows])]
        waiting = set(range(len(futures)))
        failed = len(futures)
        self._run.progress.start(stage, sum(sizes))
        try:
            for future in as_completed(futures, loop=self._client.loop):
                number = numbers[future.key]
                waiting.discard(number)
                if future.status != "finished":
                    failed = min(failed, number)
                elif total is not None:
                    future.release()
                # Which block fails first is chance, which one is first is not.
                if failed < len(futures) and not any(other < failed for other in waiting):
                    futures[failed].result()
                self._run.progress.advance(sizes[number])
            return None if total is None else total.result()
        except BaseException:
            self._drop([*futures, *([] if total is None else [total])])
            raise
        finally:
            self._run.progress.finish()

    def _drop(self, futures: list[Any]) -> None:
        """Leave nothing of a stage that failed, nor of what was kept for it, on the cluster."""
        # Released, not cancelled: cancelling what nobody wants any more may make the scheduler forget
        # everything else of this client, too.
        for future in futures:
            future.release()


class DaskRows(_BlockRows):
    """Rows of arrays side by side, in blocks of whole tiles; a tile has one part per array."""

    def __init__(self, arrays: Sequence[Any], client: Any, run: Run) -> None:
        self.arrays = list(arrays)
        self._client, self._run = client, run
        self.n_rows = int(self.arrays[0].shape[0])
        self._edges = tile_edges(self.arrays)
        self._starts = self._edges[:-1]
        self._cut: list[Any] = []

    def _sources(self) -> list[Any]:
        if not self._cut:
            self._cut = [cut_to(array, self._edges) for array in self.arrays]
        return self._cut

    def _one_row(self) -> Tile:
        return [one_row_like(array) for array in self.arrays]

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Give rows by number, in the memory of this process."""
        on_cluster = [v for v, array in enumerate(self.arrays) if is_dask(array)]
        layers = [take(self.arrays[v], rows) for v in on_cluster]
        sampled = dict(zip(on_cluster, self._gather(layers), strict=True))
        return MemoryRows(
            [sampled[v] if v in sampled else array[rows] for v, array in enumerate(self.arrays)],
            self._run,
        )

    def _gather(self, layers: list[Any]) -> list[Any]:
        """Compute arrays and give them, in memory."""
        from distributed import as_completed

        futures = [_futures(array) for array in self._client.persist(layers)] if layers else []
        each = [future for of_array in futures for future in of_array]
        self._run.progress.start("sample", len(each))
        try:
            for _ in as_completed(each, loop=self._client.loop):
                self._run.progress.advance()
            return [join_rows(self._client.gather(of_array)) for of_array in futures]
        finally:
            self._run.progress.finish()
            self._drop(each)


class DerivedRows(_BlockRows):
    """Rows made from others, kept by the workers."""

    def __init__(self, parent: _BlockRows, function: TileFunction[Tile]) -> None:
        self._parent, self._function = parent, function
        self._client, self._run, self._starts = parent._client, parent._run, parent._starts
        self.n_rows = parent.n_rows
        self._made: Any = None
        self._is_started = False

    def _sources(self) -> list[Any]:
        if self._made is None:
            parents = self._parent._sources()
            self._made = over_blocks(
                make_tiles, self._function, parents, self._starts, name="graph-rows"
            )
        return [self._made]

    def _one_row(self) -> Tile:
        return self._function(self._parent._one_row(), 0)

    def _unstarted(self) -> list[Any]:
        return [] if self._is_started else [*self._parent._unstarted(), *self._sources()]

    def _keep(self, started: list[Any]) -> None:
        if started:
            *of_parent, self._made = started
            self._parent._keep(of_parent)
            self._is_started = True

    def _drop(self, futures: list[Any]) -> None:
        super()._drop([*futures, *(_futures(self._made) if self._is_started else [])])

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Refuse: sample the rows these were derived from."""
        raise TypeError("Sample the original rows, not derived ones.")


def _futures(array: Any) -> list[Any]:
    """Give the futures behind an array that was started, from the first rows to the last."""
    return [array.dask[key] for key in keys_of(array)]
