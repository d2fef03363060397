"""Which graphs a fit builds: the anchors of every view, repeat and setting, and their weights."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.engines.base import (
    TILE_ROWS,
    Rows,
    Run,
    SampledRows,
    run_side_by_side,
    thread_pool,
)
from manyview.engines.progress import SilentProgress
from manyview.pipeline.settings import Settings
from manyview.simplex import pilot_rows
from manyview.stages.anchors import (
    FEW_ROWS,
    WIDE,
    anchors_of_wide,
    best_start,
    first_of_alike,
    place_anchors,
    place_dense_anchors,
)
from manyview.stages.fusion import (
    EARLY_SHARE,
    column_scales,
    graph_moments,
    normalised,
)
from manyview.stages.grams import dense_gram, fused_gram
from manyview.stages.graph import AnchorGraph, GraphRows, GraphTile, beside, method_for, scale_views
from manyview.stages.kmeans import Assignment, Sweep, assign, lloyd
from manyview.stages.litekmeans import draw_starts, litekmeans
from manyview.stages.rows import Array, IncompleteRows, ScaledRows, join_views
from manyview.stages.sampling import ROWS_PER_ANCHOR, choose_rows, spread_evenly
from manyview.stages.scaling import Scaler, apply_to_sample, fit_to_sample
from manyview.stages.view_weights import (
    agreement_weights,
    anchor_view_weights,
    may_disagree,
    partial_agreement_weights,
    partial_anchor_view_weights,
)
from manyview.views.selection import find_present, side_by_side

WHITENING = (0.5, 0.25)
"""How far principal axes are evened out, in turn over the repeats."""
_SAY = 0.3  # of the greatest factor: views with less do not decide how a graph of several is made
_WEIGHING_ROWS = 1000  # in one tile
_INCOMPLETE_ROWS = 4000  # the same where samples lack views, so that pairs of views share fewer
_WEIGHING_VECTORS = 10  # while the number of clusters is not known
_MOST_WEIGHING_VECTORS = 200  # some rows each: more would span half of what there is
_SWEEPS_OF_ALL = 100


@dataclass(frozen=True)
class Columns:
    """Scaled columns of one view, or of several side by side, of a tile of raw rows.

    With ``single``, in single precision: enough to place anchors, and twice as fast.
    """

    scalers: tuple[Scaler, ...]
    views: tuple[int, ...]
    factors: tuple[float, ...]
    whitening: float = 0.0
    single: bool = False

    @classmethod
    def of(cls, scalers: tuple[Scaler, ...], graph: AnchorGraph) -> Columns:
        """Those that a graph sees."""
        return cls(scalers, graph.views, graph.view_scales, graph.whitening)

    def __call__(self, tile: Sequence[Any], first_row: int) -> ScaledRows | IncompleteRows:
        """The columns of a tile."""
        parts = scale_views(self.scalers, self.views, tile, first_row, whitening=self.whitening)
        joined = join_views(parts, self.factors)
        return joined.single() if self.single else joined

    @property
    def is_like_text(self) -> bool:
        """Whether nearly all is zero in all of the views that have a say."""
        least = _SAY * max(self.factors)
        each = zip(self.views, self.factors, strict=True)
        return all(self.scalers[v].is_like_text for v, factor in each if factor >= least)

    @property
    def has_text(self) -> bool:
        """Whether nearly all is zero in one of the views."""
        return any(self.scalers[v].is_like_text for v in self.views)

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(self.scalers[v].width for v in self.views)

    def described(self, sample: SampledRows) -> npt.NDArray[np.int64]:
        """Numbers of the sampled rows that have the view; all, if there are several."""
        present = find_present(sample.arrays[self.views[0]]) if len(self.views) == 1 else None
        return np.arange(sample.n_rows) if present is None else np.flatnonzero(present)

    def are_dense(self, sample: SampledRows) -> bool:
        """Whether the sampled rows are there as they are, without a view missing or stored sparse."""
        if any(find_present(sample.arrays[v]) is not None for v in self.views):
            return False
        first = self([array[:1] for array in sample.arrays], 0)
        return isinstance(first, ScaledRows) and first.offset is None

    def all_dense(self, sample: SampledRows) -> npt.NDArray[np.float32]:
        """Dense columns of all sampled rows in single precision, made a few rows at a time."""
        rows = np.empty((sample.n_rows, self.width), np.float32)
        for start in range(0, sample.n_rows, TILE_ROWS):
            part = slice(start, start + TILE_ROWS)
            rows[part] = self([array[part] for array in sample.arrays], start).dense()
        return rows

    @property
    def energy(self) -> float:
        """Mean squared norm of the rows, if all have all views."""
        squares = [factor * factor for factor in self.factors]
        energies = [self.scalers[v].energy for v in self.views]
        return sum(s * e for s, e in zip(squares, energies, strict=True)) / sum(squares)


class ScaledSample(NamedTuple):
    """A sample whose views come along their axes: scaled once for all that needs them."""

    scalers: tuple[Scaler, ...]  # of raw rows
    rows: SampledRows
    applied: tuple[Scaler, ...]  # of these rows

    def sample_rows(self, numbers: npt.NDArray[np.int64]) -> ScaledSample:
        """Some of the rows, by number."""
        return self._replace(rows=self.rows.sample_rows(numbers))


def scale_sample(
    sample: SampledRows,
    names: Sequence[str],
    kinds: Sequence[str | None],
    settings: Settings,
    *,
    n_jobs: int = 1,
) -> ScaledSample:
    """The sample along the axes that it has, each view by its kind of scaling."""
    tasks = [
        partial(
            fit_to_sample,
            X,
            name=name,
            kind=kind,
            n_axes=settings.n_axes,
            auto_axes=settings.auto_axes,
        )
        for X, name, kind in zip(sample.arrays, names, kinds, strict=True)
    ]
    found = run_side_by_side(tasks, n_jobs)
    return _scaled(sample, [scaler for scaler, _ in found], [applied for _, applied in found])


def apply_scalers(
    sample: SampledRows, scalers: Sequence[Scaler], *, n_jobs: int = 1
) -> ScaledSample:
    """The sample along axes that are known."""
    each = zip(scalers, sample.arrays, strict=True)
    tasks = [partial(apply_to_sample, scaler, array) for scaler, array in each]
    return _scaled(sample, scalers, run_side_by_side(tasks, n_jobs))


def _scaled(
    sample: SampledRows, scalers: Sequence[Scaler], applied: Sequence[tuple[Any, Scaler]]
) -> ScaledSample:
    rows = sample.with_arrays([array for array, _ in applied])
    return ScaledSample(tuple(scalers), rows, tuple(scaler for _, scaler in applied))


class ChosenGraphs(NamedTuple):
    """Graphs, repeat by repeat, and the views' weights.

    Within a repeat come the graphs of each view ("late"), then those of all views side by side
    ("early").
    """

    graphs: tuple[AnchorGraph, ...]
    view_weights: Array
    late: GraphTile | None = (
        None  # a small sample's rows in the late graphs, which weighed the views
    )

    def tile(self, scalers: tuple[Scaler, ...], arrays: Sequence[Any]) -> GraphTile:
        """Graph rows of the sample, if there is one repeat."""
        if self.late is None:
            return GraphRows(scalers, self.graphs)(arrays, 0)
        early = self.graphs[len(self.late.n_solved) :]
        return beside(self.late, GraphRows(scalers, early)(arrays, 0)) if early else self.late


def choose_graphs(
    rows: Rows,
    scaled: ScaledSample,
    settings: Settings,
    rngs: Sequence[np.random.Generator],
    *,
    n_jobs: int = 1,
) -> ChosenGraphs:
    """The graphs of as many repeats as there are generators."""
    n_views, sample = len(scaled.scalers), scaled.rows
    if settings.is_litekmeans or settings.anchor_method == "kmeans-all":
        n_jobs = 1  # sweeps over all rows have the threads
    if n_jobs > 1:
        sample = sample.with_arrays(sample.arrays, Run(1, SilentProgress()))
    make = partial(_make_graphs, rows, sample, scaled.scalers, settings=settings)
    scalers = scaled.applied
    early_share = {"late": 0.0, "early": 1.0, "both": EARLY_SHARE}[settings.fusion]
    weighs = settings.view_weights == "amgl" or (
        settings.view_weights == "agreement" and may_disagree(n_views, settings.n_clusters)
    )
    weights = np.full(n_views, 1.0 / n_views)
    if isinstance(settings.view_weights, tuple):
        weights = normalised(settings.view_weights)

    def task(
        views: Sequence[int], factors: Sequence[float], repeat: int, rng: Any, n_beside: int
    ) -> Any:
        whitening = WHITENING[repeat % len(WHITENING)]
        columns = Columns(scalers, tuple(views), tuple(factors), whitening)
        n_own = max(n_jobs // n_beside, 1)  # threads, where there are fewer tasks than threads
        return partial(make, columns, repeat=repeat, rng=rng, n_jobs=n_own)

    n_late = len(rngs) if early_share < 1.0 else int(weighs)
    names = ["" if settings.starts_are_shared else scaler.name for scaler in scalers]
    n_beside = n_views if weighs else n_late * n_views
    tasks = [
        task([v], [1.0], repeat, _rng_of(rng, name), n_beside)
        for repeat, rng in enumerate(rngs[:n_late])
        for v, name in enumerate(names)
    ]
    late: list[Any] = run_side_by_side(tasks[:n_views] if weighs else tasks, n_jobs)
    late_rows = None
    if weighs:  # the other repeats' anchors need not wait for it
        weigh: Any = partial(_weigh_views, sample, scalers, late, settings)
        (weights, late_rows), *others = run_side_by_side([weigh, *tasks[n_views:]], n_jobs)
        late = late + others
    factors, every = np.sqrt(weights).tolist(), range(n_views)
    tasks = [
        task(every, factors, repeat, rng.spawn(1)[0], len(rngs))
        for repeat, rng in enumerate(rngs if early_share > 0.0 else ())
    ]
    early = run_side_by_side(tasks, n_jobs)
    graphs: list[AnchorGraph] = []
    for repeat in range(len(rngs)):
        if early_share < 1.0:
            for v, of_view in enumerate(late[repeat * n_views : (repeat + 1) * n_views]):
                graphs += _sharing(of_view, (1.0 - early_share) * weights[v])
        if early_share > 0.0:
            graphs += _sharing(early[repeat], early_share)
    return ChosenGraphs(tuple(graphs), weights, late_rows if early_share < 1.0 else None)


def _make_graphs(
    rows: Rows,
    sample: SampledRows,
    scalers: tuple[Scaler, ...],
    columns: Columns,
    *,
    settings: Settings,
    repeat: int,
    rng: np.random.Generator,
    n_jobs: int,
) -> list[AnchorGraph]:
    """One graph for each pair of a number of anchors and an alpha.

    ``columns`` are of the sample, whose rows are scaled already; ``scalers`` are those of all rows.
    """
    described = columns.described(sample)
    pilot = columns(sample.sample_rows(described[pilot_rows(len(described))]).arrays, 0)
    unit = columns.energy if settings.is_alpha_relative else 1.0
    n_described = min(len(described), rows.n_rows)  # rows that weigh more are sampled repeatedly
    chosen = settings.for_graph(n_described, is_like_text=columns.is_like_text)
    graphs = []
    for n_anchors in chosen.n_anchors:
        if settings.is_litekmeans:
            anchors = _find_anchors_as_published(rows, sample, columns, n_anchors, rng)
        elif settings.anchor_method == "kmeans-all":
            sweep = _sweep(rows, replace(columns, scalers=scalers, single=settings.is_scaled))
            anchors = _find_anchors_of_all(sweep, sample, columns, n_anchors, rng)
        else:
            anchors = _find_anchors(sample, columns, n_anchors, settings, rng, n_jobs=n_jobs)
        for alpha in chosen.alpha:
            graph = AnchorGraph(
                views=columns.views,
                view_scales=columns.factors,
                anchors=anchors,
                alpha=alpha * unit,
                locality=chosen.locality,
                repeat=repeat,
                n_neighbors=chosen.n_neighbors,
                whitening=columns.whitening,
            )
            graphs.append(replace(graph, method=method_for(graph, pilot)))
    return graphs


def _find_anchors_as_published(
    rows: Rows, sample: SampledRows, columns: Columns, n_anchors: int, rng: np.random.Generator
) -> Array:
    """Anchors (m, d) by the authors' k-means on all rows, which are not scaled."""
    described = columns.described(sample)
    drawn = draw_starts(len(described), n_anchors, rng)
    each = (columns(sample.sample_rows(described[few]).arrays, 0).dense() for few in drawn)
    return litekmeans(partial(rows.derive(columns).map_reduce, stage="anchors"), each).centers


def _find_anchors_of_all(
    sweep: Sweep, sample: SampledRows, columns: Columns, n_anchors: int, rng: np.random.Generator
) -> Array:
    """Anchors (m, d) by k-means on all rows."""
    start, seed = columns(sample.arrays, 0), int(rng.integers(2**31))
    if isinstance(start, IncompleteRows):
        few = sample.sample_rows(choose_rows(sample.n_rows, n_anchors, rng))
        anchors = columns(few.arrays, 0).dense()
    else:
        anchors = best_start(start, min(n_anchors, len(start)), seed=seed)
    return lloyd(sweep, anchors, max_iter=_SWEEPS_OF_ALL)[0]


def _find_anchors(
    sample: SampledRows,
    columns: Columns,
    n_anchors: int,
    settings: Settings,
    rng: np.random.Generator,
    *,
    n_jobs: int = 1,
) -> Array:
    """Anchors (m, d) in scaled coordinates: given, random rows, or by k-means on the sample.

    There are fewer than asked for where fewer rows have the view.
    """
    method, described = settings.anchor_method, columns.described(sample)
    if not isinstance(method, str):
        given = [method[v] for v in range(len(method))]
        raw = tuple(replace(scaler, is_applied=False) for scaler in columns.scalers)
        return replace(columns, scalers=raw)(given, 0).dense()
    n_rows = len(described)
    starts = choose_rows(n_rows, n_anchors, rng)
    is_few = n_rows <= FEW_ROWS and columns.width >= 2 * n_rows
    is_wide = settings.is_scaled and columns.has_text and columns.width >= WIDE
    if method == "kmeans" and (is_few or is_wide):
        numbers = described
        if not is_few:
            numbers = described[choose_rows(n_rows, ROWS_PER_ANCHOR * n_anchors, rng)]
            starts = choose_rows(len(numbers), n_anchors, rng)
        every = columns(sample.sample_rows(numbers).arrays, 0)
        if isinstance(every, ScaledRows) and every.lean is None:
            return anchors_of_wide(every, starts)
    anchors = columns(sample.sample_rows(described[starts]).arrays, 0).dense()
    if method == "random":
        return anchors
    anchors = _distinct(anchors, sample, columns, described, rng)
    some = sample.sample_rows(described[choose_rows(n_rows, ROWS_PER_ANCHOR * n_anchors, rng)])
    placing = replace(columns, single=settings.is_scaled)
    if placing.single and placing.are_dense(some):
        rows = placing.all_dense(some)
        if n_jobs == 1:
            return place_dense_anchors(anchors, rows)
        with thread_pool(n_jobs) as pool:
            return place_dense_anchors(anchors, rows, each=pool.map)
    return place_anchors(anchors, _sweep(some, placing))


def _distinct(
    anchors: Array,
    sample: SampledRows,
    columns: Columns,
    described: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> Array:
    """Anchors, those that repeat others exchanged for other rows where these differ."""
    first = first_of_alike(anchors)
    n_wanted = len(anchors) - len(first)
    if n_wanted == 0:
        return anchors
    others = described[choose_rows(len(described), 2 * len(anchors), rng)]
    rows = columns(sample.sample_rows(others).arrays, 0).dense()
    every = np.concatenate([anchors[first], rows])
    return every[first_of_alike(every)[: len(anchors)]]


def _sweep(rows: Rows, columns: Columns) -> Sweep:
    """Assigns the rows' columns to centres."""
    derived, precision = rows.derive(columns), np.float32 if columns.single else np.float64

    def sweep(centers: Array) -> Assignment:
        # In the order in which tiles multiply by them: turned once, not once a tile.
        turned: Any = np.asarray(centers, precision, order="F")
        return derived.map_reduce(partial(_assign, centers=turned), stage="anchors")

    return sweep


def _assign(rows: ScaledRows | IncompleteRows, first_row: int, *, centers: Array) -> Assignment:
    return assign(rows, centers)


def _sharing(graphs: list[AnchorGraph], weight: float) -> list[AnchorGraph]:
    return [replace(graph, weight=weight / len(graphs)) for graph in graphs]


def _weigh_views(
    sample: SampledRows,
    scalers: tuple[Scaler, ...],
    late: list[list[AnchorGraph]],
    settings: Settings,
) -> tuple[Array, GraphTile | None]:
    """Views' weights from the graphs of a bounded sample, by agreement or by AMGL.

    Also the graph rows of the sample, if all of them were looked at and have all views.
    """
    lacks_some = side_by_side(sample.arrays) is not None
    n_looked_at = _INCOMPLETE_ROWS if lacks_some else _WEIGHING_ROWS
    some = sample.sample_rows(spread_evenly(sample.n_rows, n_looked_at))
    graphs = tuple(graph for of_view in late for graph in of_view)
    build = GraphRows(scalers, graphs)
    sizes = [sum(len(graph.anchors) for graph in of_view) for of_view in late]
    n_vectors = min(settings.n_clusters or _WEIGHING_VECTORS, _MOST_WEIGHING_VECTORS)
    is_amgl = settings.view_weights == "amgl"
    present = side_by_side(some.arrays)
    if present is not None:  # from each view's graph of the samples it describes
        Z, ends = build(some.arrays, 0).parts[0], np.cumsum([0, *sizes])
        parts = [_stochastic(sparse.csr_array(Z[:, start:end])) for start, end in pairwise(ends)]
        weigh = partial_anchor_view_weights if is_amgl else partial_agreement_weights
        return weigh(parts, present, n_vectors), None
    tile = build(some.arrays, 0)
    moments, is_all = graph_moments(tile), some.n_rows == sample.n_rows
    counts = [len(graph.anchors) for graph in graphs]
    shares = [1.0 / len(of_view) for of_view in late for _ in of_view]
    sums = moments.column_sums[0]
    scales = column_scales(sums, counts, shares, degree_norm=settings.degree_norm)
    gram = fused_gram(moments.grams[0], scales)
    if is_amgl:
        weights = anchor_view_weights(dense_gram(gram), sizes, n_vectors)[0]
    else:
        weights = agreement_weights(gram, sizes, n_vectors, some.n_rows)
    return weights, tile if is_all else None


def _stochastic(Z: sparse.csr_array) -> sparse.csr_array:
    """Rows scaled to sum to one; empty ones stay empty."""
    sums = np.asarray(Z.sum(axis=1)).ravel()
    data = Z.data / np.repeat(sums, np.diff(Z.indptr))
    return sparse.csr_array((data, Z.indices, Z.indptr), shape=Z.shape)


def _rng_of(rng: np.random.Generator, name: str) -> np.random.Generator:
    """A view's own randomness: the same wherever it stands among other views, and for an equal name."""
    words = np.frombuffer(hashlib.blake2b(name.encode(), digest_size=16).digest(), "<u4")
    seed: Any = rng.bit_generator.seed_seq
    key = (*seed.spawn_key, *words.tolist())
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key))
