"""Clustering a stream: what is kept of batches that are seen once.

The first batches give scaling and anchors. From then on every row becomes its graph row, which is added
to the sums that the spectral step needs, and may enter a reservoir: a uniform sample of graph rows of
bounded size, on which centres are found. Nothing else is kept, so memory does not depend on how many
rows there were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import iadd
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_random_state

from manyview.engines.base import (
    TILE_ROWS,
    Engine,
    Rows,
    Run,
    SampledRows,
    Tile,
    TileFunction,
    one_thread_per_product,
    thread_pool,
)
from manyview.engines.dask_graphs import is_dask
from manyview.engines.memory import Memory
from manyview.pipeline import fit as pipeline
from manyview.pipeline.graphs import choose_graphs
from manyview.pipeline.model import FittedModel, GraphRows
from manyview.pipeline.parameters import resolve
from manyview.pipeline.settings import Settings
from manyview.stages.embedding import Basis, embed_rows
from manyview.stages.graph import AnchorGraph, GraphTile, Moments, graph_moments, stack_tiles
from manyview.stages.kmeans import assign
from manyview.stages.labels import MIN_START_ROWS, START_ROWS_PER_CLUSTER, start_centers
from manyview.stages.scaling import Array, ScaledRows, Scaler, fit_scaler
from manyview.views.container import Views
from manyview.views.presence import (
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

    Parameters
    ----------
    size : int
        Most rows.
    rng : Generator
        Draws one number per row.
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self._size, self._rng = size, rng
        self._tiles: list[GraphTile] = []
        self._keys: list[npt.NDArray[np.float64]] = []
        self._limit = np.inf
        self.n_seen = 0

    def add(self, tile: GraphTile) -> None:
        """Let graph rows enter."""
        keys = self._rng.random(tile.parts[0].shape[0])
        self.n_seen += len(keys)
        kept = np.flatnonzero(keys < self._limit)
        if len(kept):
            self._append(tile, keys, kept)
        if sum(map(len, self._keys)) > 2 * self._size or len(self._keys) > _MOST_TILES:
            self._shrink()

    def rows(self) -> GraphTile:
        """Give the sample, in the order in which rows came."""
        self._shrink()
        return self._tiles[0]

    def _append(
        self, tile: GraphTile, keys: npt.NDArray[np.float64], kept: npt.NDArray[np.int64]
    ) -> None:
        shares = tuple(None if share is None else share[kept] for share in tile.shares)
        self._tiles.append(GraphTile(tuple(Z[kept] for Z in tile.parts), 0, shares=shares))
        self._keys.append(keys[kept])

    def _shrink(self) -> None:
        tile, keys = stack_tiles(self._tiles), np.concatenate(self._keys)
        kept = np.arange(len(keys))
        if len(keys) > self._size:
            kept = np.sort(np.argpartition(keys, self._size)[: self._size])
            self._limit = float(keys[kept].max())
        self._tiles, self._keys = [], []
        self._append(tile, keys, kept)


@dataclass(frozen=True)
class StreamResult:
    """What a stream gives at any time."""

    model: FittedModel
    bases: tuple[Basis, ...]
    rank: int
    view_weights: Array
    inertia: float
    n_failed: int
    settings: Settings


class Stream:
    """Sums and a reservoir of the rows seen so far.

    Parameters
    ----------
    arrays : sequence of (ndarray or csr_array)
        The first rows of each view: scaling and anchors come from them.
    names : sequence of str
        The views' names.
    settings : Settings
        The settings.
    engine, run
        Who computes on the first rows, and how.
    rng : Generator
        Split by purpose.
    """

    def __init__(
        self,
        arrays: Sequence[Any],
        names: Sequence[str],
        settings: Settings,
        *,
        engine: Engine,
        run: Run,
        rng: np.random.Generator,
    ) -> None:
        self._settings, self._n_jobs = settings, run.n_jobs
        reservoir_rng, *repeat_rngs, label_rng = rng.spawn(settings.n_repeats + 2)
        self._seed = int(label_rng.integers(2**30))
        size = max(MIN_START_ROWS, START_ROWS_PER_CLUSTER * settings.known_clusters)
        self._reservoir = Reservoir(size, reservoir_rng)
        with one_thread_per_product():
            rows = engine.open(arrays, run)
            sample = rows.sample_rows(np.arange(rows.n_rows))
            self._scalers: tuple[Scaler, ...] = tuple(
                fit_scaler(array, name=name, kind=kind, impute=settings.impute)
                for array, name, kind in zip(arrays, names, settings.scaling, strict=True)
            )
            graphs, weights = choose_graphs(rows, sample, self._scalers, settings, repeat_rngs)
        self._graphs: tuple[AnchorGraph, ...] = graphs
        self._weights = weights
        self._build = GraphRows(self._scalers, graphs)
        self._moments: Moments | None = None
        self.add(arrays)

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
            return self._build(tile, first + start)

        with one_thread_per_product(), thread_pool(self._n_jobs) as pool:
            tiles = list(pool.map(build, starts))
            batch = reduce(iadd, pool.map(graph_moments, tiles))
        self._moments = batch if self._moments is None else self._moments + batch
        for tile in tiles:
            self._reservoir.add(tile)

    def result(self) -> StreamResult:
        """Give the model of the rows seen so far: basis from the sums, centres from the reservoir."""
        assert self._moments is not None
        moments, settings, rows = self._moments, self._settings, self._reservoir.rows()
        n_kept = rows.parts[0].shape[0]
        with one_thread_per_product(), thread_pool(self._n_jobs) as pool:
            graph = _Standing(rows, self.n_seen)
            bases, rank = pipeline.find_bases(moments, graph, self._graphs, settings)
            transforms = tuple(basis.transform for basis in bases)
            embedding = embed_rows(rows, transforms, row_norm=settings.row_norm)
            centers = start_centers(
                embedding,
                settings.known_clusters,
                n_init=settings.n_init,
                max_iter=settings.max_iter,
                tol=settings.tol,
                seed=self._seed,
                each=pool.map,
            )
            inertia = assign(ScaledRows(embedding), centers).inertia * self.n_seen / n_kept
        model = FittedModel(
            self._scalers, self._graphs, transforms, settings.row_norm, centers, self._build
        )
        return StreamResult(model, bases, rank, self._weights, inertia, moments.n_failed, settings)


class _Standing:
    """Sampled graph rows that stand for all rows: a sum over them, times how many each stands for."""

    def __init__(self, tile: GraphTile, n_rows: int) -> None:
        self._tile, self.n_rows = tile, n_rows

    def map_reduce(self, function: TileFunction[Any], *, stage: str) -> Any:
        return function(self._tile, 0) * (self.n_rows / self._tile.parts[0].shape[0])

    def sample_rows(self, rows: npt.NDArray[np.int64]) -> SampledRows:
        raise NotImplementedError

    def derive(self, function: TileFunction[Tile]) -> Rows:
        raise NotImplementedError

    def map_rows(self, function: TileFunction[npt.NDArray[Any]], *, stage: str) -> Any:
        raise NotImplementedError


def stack_rows(batches: Sequence[Sequence[Any]]) -> list[Any]:
    """Give batches (one array per view each) as one."""
    return [
        stack(parts)
        if any(map(is_partial, parts))
        else sparse.csr_array(sparse.vstack(parts, "csr"))
        if any(map(sparse.issparse, parts))
        else np.concatenate(parts)
        for parts in zip(*batches, strict=True)
    ]


class Intake:
    """Batches on their way into a :class:`Stream`: gathered until there are enough to start it.

    Parameters
    ----------
    estimator : LMVSC
        Its parameters are those of the stream, from the first batch on.
    views : Views
        The first batch.
    """

    is_settled = False

    def __init__(self, estimator: Any, views: Views) -> None:
        _refuse_settings(estimator)
        self._settings = resolve(estimator, _many_rows_like(views))  # refuses what makes no sense
        self._params = _params(estimator)
        self._names = views.names
        # A start that fails is tried again with more rows, and must draw the same numbers.
        self._seed = check_random_state(estimator.random_state).randint(np.iinfo(np.int32).max)
        self._n_wanted = pipeline.count_sample_rows(self._settings)
        self._gathered: list[tuple[Any, ...]] = []
        self._stream: Stream | None = None

    @property
    def n_seen(self) -> int:
        """Number of rows."""
        if self._stream is not None:
            return self._stream.n_seen
        return sum(arrays[0].shape[0] for arrays in self._gathered)

    def add(self, estimator: Any, views: Views) -> None:
        """Add a batch."""
        if any(map(is_dask, views.arrays)):
            raise TypeError(
                "partial_fit takes batches that fit in memory, and loads no Dask array silently: give "
                "it array.compute(), a part at a time; or fit the whole array."
            )
        if _params(estimator) != self._params:
            raise ValueError(
                "Parameters were changed after the first partial_fit. Set them back, or start anew "
                "with a clone of this estimator."
            )
        if self._stream is not None:
            self._stream.add(views.arrays)
        else:
            self._check(estimator, views)
            # Copies: whoever reads a stream may use one buffer for all batches.
            self._gathered.append(tuple(array.copy() for array in views.arrays))
            try:
                if self.n_seen >= self._n_wanted:
                    self._start(estimator)
            except BaseException:
                del self._gathered[-1]  # a batch that is refused is not added
                raise
        self.is_settled = False

    def _check(self, estimator: Any, views: Views) -> None:
        """Refuse what cannot be fitted now: later, it would not be known which batch it came with."""
        present = side_by_side(views.arrays)
        if present is not None:
            refuse_samples_without_views(present, self.n_seen)
        numbers = np.arange(self.n_seen, self.n_seen + views.n_rows)
        for name, array in views.items():
            rows, there = split_rows(array)
            if rows.shape[0]:
                finite = rows if estimator.impute is None else _without_missing(rows)
                own = numbers if there is None else numbers[there]
                fit_scaler(finite, name=name, kind=None, numbers=own)

    def settle(self, estimator: Any) -> StreamResult:
        """Give the model of the rows seen so far."""
        if self._stream is None:
            self._start(estimator)
        assert self._stream is not None
        result = self._stream.result()
        self.is_settled = True
        return result

    def _start(self, estimator: Any) -> None:
        views = Views(stack_rows(self._gathered), names=self._names)
        first = views[: self._n_wanted]  # so many, however they came in batches
        settings = self._settings
        if first.n_rows < max(settings.n_anchors):  # asked for an answer before enough was seen
            settings = resolve(estimator, first)
        stream = Stream(
            first.arrays,
            first.names,
            settings,
            engine=Memory(),
            run=estimator._run(first.n_rows),
            rng=np.random.default_rng(self._seed),
        )
        if views.n_rows > first.n_rows:
            stream.add(views[first.n_rows :].arrays)
        self._stream, self._gathered = stream, []


def _params(estimator: Any) -> str:
    """What must stay the same; not the seed, which is drawn once and may be a generator."""
    params = estimator.get_params()
    return repr({name: params[name] for name in params if name != "random_state"})


def _without_missing(array: Any) -> Any:
    """Give an array with zero for NaN; infinities stay."""
    if sparse.issparse(array):
        values = _without_missing(array.data)
        return sparse.csr_array((values, array.indices, array.indptr), array.shape)
    return np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _refuse_settings(estimator: Any) -> None:
    """Name what a stream cannot do."""
    if isinstance(estimator.anchor_method, str) and estimator.anchor_method == "kmeans-all":
        raise ValueError(
            "anchor_method='kmeans-all' needs all rows again and again, so partial_fit cannot do it. "
            "Use 'kmeans', 'random' or anchors of your own."
        )
    if isinstance(estimator.n_clusters, str):
        raise ValueError(
            f"n_clusters={estimator.n_clusters!r} cannot be settled before all rows are seen. Give "
            "partial_fit a number."
        )
    name = estimator.engine if isinstance(estimator.engine, str) else estimator.engine.name
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
        shape=(n_rows, views.shape[1]),
    )
