"""Clustering a stream: what is kept of batches that are seen once.

The first batches give scaling and anchors. From then on every row becomes its graph row, which is added
to the sums that the spectral step needs, and may enter a reservoir: a uniform sample of graph rows of
bounded size, on which centres are found. Nothing else is kept, so memory does not depend on how many
rows there were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from operator import iadd
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.engines.base import TILE_ROWS, Run, one_thread_per_product, thread_pool
from manyview.engines.dask_graphs import is_dask
from manyview.engines.memory import Memory
from manyview.engines.progress import progress_for
from manyview.machine import Stopwatch, count_jobs
from manyview.pipeline.choices import warn_of_doubts
from manyview.pipeline.clusters import SampleGraph
from manyview.pipeline.outcome import Outcome
from manyview.pipeline.pilot import settle_counts
from manyview.pipeline.plan import Rngs, plan_graphs
from manyview.pipeline.settings import Settings, resolve
from manyview.pipeline.spectrum import find_bases
from manyview.pipeline.sureness import count_rows
from manyview.stages.fusion import Moments, graph_moments
from manyview.stages.graph import GraphTile, stack_tiles
from manyview.stages.kmeans import assign
from manyview.stages.rows import ScaledRows
from manyview.stages.sampling import count_sample_rows, spread_evenly
from manyview.stages.scaling import fit_scaler
from manyview.views.container import Views
from manyview.views.selection import (
    is_partial,
    refuse_samples_without_views,
    side_by_side,
    split_rows,
    stack,
)

_MOST_TILES = 256  # of a reservoir: small ones take more memory than their rows


class Reservoir:
    """A uniform sample of all graph rows that were added, of bounded size.

    Every row gets a random number, and the rows with the smallest are kept: which ones depends on the
    seed and the order of rows, not on how they come in batches.
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self._size, self._rng = size, rng
        self._tiles: list[GraphTile] = []
        self._keys: list[npt.NDArray[np.float64]] = []
        self._limit = np.inf
        self.n_seen = 0

    def add(self, tile: GraphTile) -> None:
        """Let graph rows enter."""
        keys = self._rng.random(len(tile))
        self.n_seen += len(keys)
        kept = np.flatnonzero(keys < self._limit)
        if len(kept):
            self._append(tile, keys, kept)
        if sum(map(len, self._keys)) > 2 * self._size or len(self._keys) > _MOST_TILES:
            self._shrink()

    def rows(self) -> GraphTile:
        """The sample, in the order in which rows came."""
        tile, _, kept = self._smallest()
        return tile.take(kept)

    def _append(
        self, tile: GraphTile, keys: npt.NDArray[np.float64], kept: npt.NDArray[np.int64]
    ) -> None:
        self._tiles.append(tile.take(kept))
        self._keys.append(keys[kept])

    def _smallest(self) -> tuple[GraphTile, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """All rows held, their numbers, and which of them make the sample; changes nothing."""
        tile, keys = stack_tiles(self._tiles), np.concatenate(self._keys)
        if len(keys) <= self._size:
            return tile, keys, np.arange(len(keys))
        return tile, keys, np.sort(np.argpartition(keys, self._size)[: self._size])

    def _shrink(self) -> None:
        tile, keys, kept = self._smallest()
        if len(kept) < len(keys):
            self._limit = float(keys[kept].max())
        self._tiles, self._keys = [], []
        self._append(tile, keys, kept)


class Stream:
    """Sums and a reservoir of rows seen so far; the first ones settle scaling and anchors."""

    def __init__(
        self, views: Views, settings: Settings, *, run: Run, rng: np.random.Generator
    ) -> None:
        settings = settle_counts(views.arrays, settings)
        self._settings, self._n_jobs = settings, run.n_jobs
        rngs, watch = Rngs.spawned(rng, settings), Stopwatch()
        self._seed = int(rngs.labels.integers(2**30))
        # All of these rows are the sample, so nothing was drawn from the first generator.
        size = count_sample_rows(settings.most_anchors, settings.n_clusters)
        self._reservoir = Reservoir(size, rngs.sample)
        with one_thread_per_product():
            rows = Memory().open(views.arrays, run)
            numbers = np.arange(rows.n_rows)
            self._plan, _ = plan_graphs(
                rows, rows, numbers, views.names, settings, run=run, rngs=rngs, watch=watch
            )
        # Of the rows themselves only these are kept, to tell how sure labels are.
        first = spread_evenly(views.n_rows, count_rows(settings.known_clusters))
        self._first = views[first].arrays
        self._moments: Moments | None = None
        self.add(views.arrays)

    @property
    def n_seen(self) -> int:
        """Number of rows."""
        return self._reservoir.n_seen

    def add(self, arrays: Sequence[Any]) -> None:
        """Add a batch of rows; on failure, such as a missing value, nothing of it is added."""
        n, first = arrays[0].shape[0], self.n_seen
        starts = range(0, n, TILE_ROWS)

        def build(start: int) -> GraphTile:
            tile = [array[start : start + TILE_ROWS] for array in arrays]
            return self._plan.build(tile, first + start)

        with one_thread_per_product(), thread_pool(self._n_jobs) as pool:
            tiles = list(pool.map(build, starts))
            batch = reduce(iadd, pool.map(graph_moments, tiles))
        self._moments = batch if self._moments is None else self._moments + batch
        for tile in tiles:
            self._reservoir.add(tile)

    def outcome(self) -> Outcome:
        """The model of the rows seen so far: basis from the sums, centres from the reservoir."""
        assert self._moments is not None
        moments, settings, rows = self._moments, self._settings, self._reservoir.rows()
        plan = self._plan
        stands_for = self.n_seen / len(rows)
        with one_thread_per_product():
            bases = find_bases(moments, plan.graphs, settings, n_jobs=self._n_jobs)
            sample = SampleGraph.of(rows, moments.column_sums, plan.graphs, settings, bases)
            options: Any = {"seed": self._seed, "n_jobs": self._n_jobs}
            search = partial(plan.communities, sample, settings, **options)
            found = plan.cluster(sample, search, settings, **options)
            embedding = ScaledRows(found.embedding.rows(rows))
            inertia = assign(embedding, found.centers).inertia * stands_for
            first = found.embedding.rows(self._plan.build(self._first, 0))
            model = self._plan.model(found, found.centers, self._first, first)
        return Outcome(
            model=model,
            bases=bases,
            view_weights=self._plan.view_weights,
            inertia=inertia,
            n_failed=moments.n_failed,
            settings=settings,
            decision=self._plan.decision,
            tried=found.tried,
        )


class StreamStart:
    """Batches on their way into a :class:`Stream`: gathered until there are enough to start it.

    ``params`` are those of LMVSC, the same for all batches; ``views`` is like every batch.
    """

    def __init__(self, params: Mapping[str, Any], views: Views, *, seed: int) -> None:
        _refuse_settings(params)
        self._settings = resolve(params, _many_rows_like(views))  # refuses what makes no sense
        self._params, self._given = dict(params), _fingerprint(params)
        self._names, self._n_jobs = views.names, count_jobs(params["n_jobs"])
        # A start that fails is tried again with more rows, and must draw the same numbers.
        self._seed = seed
        self._n_wanted = count_sample_rows(self._settings.most_anchors, self._settings.n_clusters)
        self._gathered: list[tuple[Any, ...]] = []
        self._stream: Stream | None = None
        self._outcome: Outcome | None = None

    @property
    def n_seen(self) -> int:
        """Number of rows."""
        if self._stream is not None:
            return self._stream.n_seen
        return sum(arrays[0].shape[0] for arrays in self._gathered)

    def add(self, views: Views, params: Mapping[str, Any]) -> None:
        """Add a batch; refuse it if parameters have changed."""
        if any(map(is_dask, views.arrays)):
            raise TypeError(
                "partial_fit takes batches that fit in memory, and loads no Dask array silently: give "
                "it array.compute(), a part at a time; or fit the whole array."
            )
        if _fingerprint(params) != self._given:
            raise ValueError(
                "Parameters were changed after the first partial_fit. Set them back, or start anew "
                "with a clone of this estimator."
            )
        if self._stream is not None:
            self._stream.add(views.arrays)
        else:
            self._check(views)
            # Copies: whoever reads a stream may use one buffer for all batches.
            self._gathered.append(tuple(array.copy() for array in views.arrays))
            if self.n_seen >= self._n_wanted:
                try:
                    self._stream = self._start()
                except BaseException:
                    del self._gathered[-1]  # a batch that is refused is not added
                    raise
                self._gathered = []
        self._outcome = None

    def outcome(self) -> Outcome:
        """The model of the rows seen so far, worked out when it is first asked for.

        Until there are enough rows to start, it is that of a stream of those there are, which is let go:
        asking changes nothing.
        """
        if self._outcome is None:
            self._outcome = (self._stream or self._start()).outcome()
            warn_of_doubts(self._outcome)
        return self._outcome

    def _check(self, views: Views) -> None:
        """Refuse what cannot be fitted now: later, it would not be known which batch it came with."""
        present = side_by_side(views.arrays)
        if present is not None:
            refuse_samples_without_views(present, self.n_seen)
        numbers = np.arange(self.n_seen, self.n_seen + views.n_rows)
        for name, array in views.items():
            if split_rows(array)[0].shape[0]:
                fit_scaler(array, name=name, kind=None, numbers=numbers)

    def _start(self) -> Stream:
        views = Views(stack_rows(self._gathered), names=self._names)
        first = views[: self._n_wanted]  # so many, however they came in batches
        settings = self._settings
        if first.n_rows < self._n_wanted:  # asked for an answer before enough was seen
            settings = resolve(self._params, first)
        rng = np.random.default_rng(self._seed)
        run = Run(self._n_jobs, progress_for(self._params["verbose"]))
        stream = Stream(first, settings, run=run, rng=rng)
        if views.n_rows > first.n_rows:
            stream.add(views[first.n_rows :].arrays)
        return stream


def stack_rows(batches: Sequence[Sequence[Any]]) -> list[Any]:
    """Batches (one array per view each) as one."""
    return [
        stack(parts)
        if any(map(is_partial, parts))
        else sparse.csr_array(sparse.vstack(parts, "csr"))
        if any(map(sparse.issparse, parts))
        else np.concatenate(parts)
        for parts in zip(*batches, strict=True)
    ]


def _fingerprint(params: Mapping[str, Any]) -> str:
    """What must stay the same; not the seed, which is drawn once and may be a generator."""
    return repr({name: params[name] for name in params if name != "random_state"})


def _refuse_settings(params: Mapping[str, Any]) -> None:
    """Name what a stream cannot do."""
    method, n_clusters, engine = params["anchor_method"], params["n_clusters"], params["engine"]
    if isinstance(method, str) and method == "kmeans-all":
        raise ValueError(
            "anchor_method='kmeans-all' needs all rows again and again, so partial_fit cannot do it. "
            "Use 'kmeans', 'random' or anchors of your own."
        )
    if isinstance(n_clusters, str):
        raise ValueError(
            f"n_clusters={n_clusters!r} cannot be settled before all rows are seen. Give "
            "partial_fit a number."
        )
    if params["outliers"] == "mark":
        raise ValueError(
            "outliers='mark' needs to know the odd rows before any is counted, so partial_fit cannot "
            "do it. Leave outliers on 'keep', or fit all rows."
        )
    name = engine if isinstance(engine, str) else engine.name
    if name not in ("auto", "memory"):
        raise ValueError(
            f"engine={name!r}: partial_fit takes batches that fit in memory, and works on them "
            "there. Leave engine on 'auto'."
        )


def _many_rows_like(views: Views) -> Any:
    """What settings depend on, for a stream that is longer than its first batch."""
    n_rows = 1 << 62
    return SimpleNamespace(
        n_rows=n_rows,
        n_views=views.n_views,
        n_features=views.n_features,
        names=views.names,
        encodings=views.encodings,
        shape=(n_rows, views.shape[1]),
    )
