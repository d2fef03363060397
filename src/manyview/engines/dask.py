"""Row blocks as Dask arrays on a cluster: data stays on the workers, sums and samples travel.

Every stage is a layer of tasks over blocks of whole tiles, with the input's own graph behind it, so
that what a worker takes with it when it dies is made again by others.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.checks import check_number
from manyview.engines.base import Run, Tile, TileFunction, n_tiles, show_settings
from manyview.engines.dask_graphs import (
    Comparing,
    Prints,
    add_up,
    cut_to,
    is_dask,
    join_rows,
    keys_of,
    leave_out,
    make_rows,
    make_tiles,
    over_blocks,
    print_rows,
    sum_tiles,
    take,
    tile_edges,
)
from manyview.engines.dask_waits import Patience, has_failed
from manyview.engines.memory import MemoryRows
from manyview.sources import is_source
from manyview.views.selection import PartialView, Selection

T = TypeVar("T")
logger = logging.getLogger("manyview")

_PATIENCE = 300.0


class Dask:
    """The engine for Dask arrays: rows stay on the workers of a cluster.

    ``labels_`` and ``embedding_`` become Dask arrays held by the workers; ``predict`` and
    ``transform`` give Dask arrays that compute nothing before they are asked to. Blocks are the
    chunks of the input, moved to whole tiles of 4096 rows. Arrays in memory are sent along with the
    task graph, block by block, which suits small ones.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster to use; the active client by default. No cluster is started here.
    patience : float, optional
        Seconds after which a fit fails, 300 by default, if no worker can go on with it: all of them
        paused for memory, lost before they finish a block, or none there. A warning comes after ten.
    track_memory : bool, default=False
        Note in ``stage_memory_`` how much memory this process holds during a fit; workers do not
        count.

    See Also
    --------
    Memory : views in memory.
    Disk : views in files.

    Examples
    --------
    >>> from manyview.engines import Dask
    >>> Dask()
    Dask()
    """

    name = "dask"

    def __init__(
        self, client: Any = None, *, patience: float | None = None, track_memory: bool = False
    ) -> None:
        self.client = client
        self.patience = patience
        self.track_memory = track_memory

    def open(self, arrays: Sequence[Any], run: Run) -> DaskRows:
        """Rows of Dask arrays, or arrays in memory, side by side; computes nothing."""
        try:
            import dask.array  # noqa: F401
            import distributed  # noqa: F401
        except ImportError as error:
            raise ImportError(
                "The Dask engine needs dask and distributed: pip install 'manyview[dask]'."
            ) from error
        client = None if run.is_lazy else _find_client(self.client)
        seconds = _PATIENCE if self.patience is None else self.patience
        patience = Patience(client, check_number("patience", seconds, above=0.0))
        each = zip(arrays, _name_views(arrays), strict=True)
        return DaskRows([_as_blocks(array, name) for array, name in each], client, run, patience)

    def __repr__(self) -> str:
        return show_settings(self)

    # A client belongs to the process that made it: copies share it, files leave it out.
    def __sklearn_clone__(self) -> Dask:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Dask:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Dask, patience=self.patience, track_memory=self.track_memory), ()


def _name_views(arrays: Sequence[Any]) -> list[str]:
    return [f"View number {number} of {len(arrays)}" for number in range(1, len(arrays) + 1)]


def _as_blocks(array: Any, where: str) -> Any:
    """An array that blocks can be cut from; memory maps are, other files are refused."""
    if isinstance(array, PartialView) and is_dask(array.rows):
        return leave_out(array, where)
    if not is_source(array):
        return array
    if isinstance(array, Selection):
        return array.apply(_as_blocks(array.source, where))
    mapped = getattr(array, "memory_map", None)
    if mapped is None:
        raise TypeError(
            f"The Dask engine does not read {array.where}. Give it as a Dask array, with "
            "dask.array.from_array or dask.array.from_zarr; or load it if it fits in memory."
        )
    return np.asarray(mapped)


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


class DaskRows:
    """Rows of arrays side by side, in blocks of whole tiles; a tile has one part per array."""

    def __init__(self, arrays: Sequence[Any], client: Any, run: Run, patience: Patience) -> None:
        self.arrays = list(arrays)
        self._client, self._run, self._patience = client, run, patience
        self._sample: Prints = {}
        self.n_rows = int(self.arrays[0].shape[0])
        self._edges = tile_edges(self.arrays)
        self._cut: list[Any] = []

    def _blocks(self) -> list[Any]:
        """Dask arrays whose blocks, cut at the edges, hold these rows."""
        if not self._cut:
            each = zip(self.arrays, _name_views(self.arrays), strict=True)
            self._cut = [cut_to(array, self._edges, name) for array, name in each]
        return self._cut

    def _one_row(self) -> Tile:
        """A tile of one made-up row, to learn what a function makes of it."""
        return [
            (sparse.csr_array if sparse.issparse(getattr(array, "_meta", array)) else np.zeros)(
                (1, int(array.shape[1])), dtype=array.dtype
            )
            for array in self.arrays
        ]

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Rows by number, in the memory of this process."""
        each_view = zip(self.arrays, _name_views(self.arrays), strict=True)
        layers = [take(array, rows, name) for array, name in each_view if is_dask(array)]
        started = self._client.persist(layers) if layers else []
        each = [future for array in started for future in _futures(array)]
        self._run.progress.start("sample", len(each))
        try:
            blocks: list[Any] = [None] * len(each)
            for number, block in self._patience.results(each):
                blocks[number] = block
                self._run.progress.advance()
        finally:
            self._run.progress.finish()
            _release(each)
        left = iter(blocks)
        arrays = [
            join_rows([next(left) for _ in array.chunks[0]]) if is_dask(array) else array[rows]
            for array in self.arrays
        ]
        self._sample = print_rows(arrays, rows)
        return MemoryRows(arrays, self._run)

    def derive(self, function: TileFunction[Tile]) -> DerivedRows:
        """Rows made from these; the workers keep them, on disk if memory runs short."""
        return DerivedRows(self, function)

    def map_reduce(self, function: TileFunction[T], *, stage: str) -> T:
        """Sum of what ``function`` returns for every tile."""
        function = self._comparing(function)
        sums = over_blocks(sum_tiles, function, self._blocks(), self._edges[:-1], name=stage)
        sums, total = self._client.persist([sums, add_up(sums, name=stage)])
        result: T = self._follow(_futures(sums), stage, _futures(total)[0])
        return result

    def map_rows(self, function: TileFunction[npt.NDArray[Any]], *, stage: str) -> Any:
        """What ``function`` returns for every tile, as a Dask array, computed unless lazy."""
        like = function(self._one_row(), 0)
        blocks, starts = self._blocks(), self._edges[:-1]
        function = self._comparing(function)
        rows = over_blocks(make_rows, function, blocks, starts, name=stage, like=like)
        if not self._run.is_lazy:
            rows = self._client.persist(rows)
            self._follow(_futures(rows), stage)
        return rows

    def _comparing(self, function: TileFunction[T]) -> TileFunction[T]:
        """The function, after a look whether rows that were sampled are what they were."""
        return Comparing(function, self._sample) if self._sample else function

    def _follow(self, futures: list[Any], stage: str, total: Any = None) -> Any:
        """The ``total``, if there is one, once every block is done; progress is reported meanwhile.

        Partial sums are let go one by one, as soon as they are no longer needed for it.

        If blocks fail, the error of the first one in the order of rows is raised, as in memory, and
        nothing of the stage is left on the cluster. The same if the user interrupts it.
        """
        numbers = {future.key: number for number, future in enumerate(futures)}
        sizes = [n_tiles(end - start) for start, end in pairwise(self._edges)]
        waiting = set(range(len(futures)))
        failed = len(futures)
        self._run.progress.start(stage, sum(sizes))
        try:
            for future in self._patience.completed(futures):
                number = numbers[future.key]
                waiting.discard(number)
                if has_failed(future):
                    failed = min(failed, number)
                elif total is not None:
                    future.release()
                # Which block fails first is chance, which one is first is not.
                if failed < len(futures) and not any(other < failed for other in waiting):
                    futures[failed].result()
                self._run.progress.advance(sizes[number])
            return None if total is None else dict(self._patience.results([total]))[0]
        except BaseException:
            _release([*futures, *([] if total is None else [total]), *self._kept()])
            raise
        finally:
            self._run.progress.finish()

    def _kept(self) -> list[Any]:
        """Futures of what the workers keep for the stages."""
        return []


class DerivedRows(DaskRows):
    """Rows made from others, kept by the workers."""

    def __init__(self, parent: DaskRows, function: TileFunction[Tile]) -> None:
        self._parent, self._function = parent, function
        self._client, self._run, self._edges = parent._client, parent._run, parent._edges
        self._patience, self._sample = parent._patience, {}
        self.n_rows = parent.n_rows
        self._cut = []

    def _blocks(self) -> list[Any]:
        if not self._cut:
            parents, starts = self._parent._blocks(), self._edges[:-1]
            function = self._parent._comparing(self._function)
            made = over_blocks(make_tiles, function, parents, starts, name="graph-rows")
            self._cut = [made if self._run.is_lazy else self._client.persist(made)]
        return self._cut

    def _one_row(self) -> Tile:
        return self._function(self._parent._one_row(), 0)

    def _kept(self) -> list[Any]:
        return [future for array in self._cut for future in _futures(array)]

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> MemoryRows:
        """Refuse: sample the rows these were derived from."""
        raise TypeError("Sample the original rows, not derived ones.")


def _futures(array: Any) -> list[Any]:
    """The futures behind an array that was started, from the first rows to the last."""
    return [array.dask[key] for key in keys_of(array)]


def _release(futures: list[Any]) -> None:
    """Leave nothing of these on the cluster."""
    # Released, not cancelled: cancelling what nobody wants any more may make the scheduler forget
    # everything else of this client, too.
    for future in futures:
        future.release()
