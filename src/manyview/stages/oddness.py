"""Rows and a few anchors of each view -> how badly the anchors explain each row.

The anchors stand for many rows each: one that sits on a handful of them would explain these perfectly,
however far they lie from everything else. A row's residual is what the simplex problem leaves of it. It
is compared with those of rows that use the same anchors, so that a loose region is not odd as such, and
counted in deviations of its view, so that a view whose rows are all explained alike counts as much as a
loose one. Being explained well in one view does not make up for being explained badly in another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from manyview.simplex import rows_within
from manyview.stages.anchors import group_wide
from manyview.stages.graph import AnchorGraph, GraphRows
from manyview.stages.kmeans import sweep_likely
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.scaling import Scaler, largest_width

_ROWS_PER_ANCHOR, _LEAST_ANCHORS, _MOST_ANCHORS = 20, 4, 100
_LEAST_SHARE, _LEAST_ROWS = 0.2, 3  # of an average anchor's rows that one must stand for
_NEIGHBORS = 10
_ALPHA, _LOCALITY = 0.01, 0.03
_SWEEPS = 10
_WIDE = 512  # columns of sparse rows that are projected to fewer
_SCALED_BYTES = 4 << 20  # of rows that are scaled at a time
_FAR = 3.25  # deviations beyond which a row is marked
_LEAST_SPREAD = (
    0.2  # of a view's logarithms: where rows are explained even more alike, that is chance
)
_MOST_LOG = 1e3  # of a ratio: beyond what numbers can tell
_FEW = 0.02  # of the rows: so few have no say in what is usual
ODD = 0.5
"""Score above which a row is odd."""

Solved = tuple[sparse.csr_array, Array]
"""Graph rows of the samples that have a view, and their residuals."""
_NORMAL = (
    (0.5, 0.6745),
    (0.9, 1.6449),
)  # quantiles of the upper half of a normal law, in deviations


@dataclass(frozen=True)
class Oddness:
    """What rows are scored by: few anchors of each view, and the residual that is usual at each."""

    scalers: tuple[Scaler, ...]  # one per view
    graphs: tuple[AnchorGraph, ...]  # one per view
    usual: tuple[Array, ...]  # of each graph (m,), the residual that rows at an anchor have
    spreads: Array  # (v,), deviation of the logarithm of rows' residuals over the usual ones
    limit: float  # deviations beyond which a row is odd
    marks: bool = False  # whether labels of odd rows are -1

    @cached_property
    def _builds(self) -> list[GraphRows]:
        return _one_each(self.scalers, self.graphs)

    def __call__(self, tile: Sequence[Any], first_row: int) -> Array:
        """How odd each row of a tile of raw rows is, from 0 to 1: (n,).

        A row that is explained as well as usual or better, in every view that it has, scores 0, one at
        the limit .5, and one that lies r times as far out r / (1 + r).
        """
        return self.join([part() for part in self.parts(tile, first_row)])

    def parts(self, tile: Sequence[Any], first_row: int) -> list[Callable[[], Array]]:
        """What scores the rows of a tile, a few at a time; an engine may use threads for them."""
        step = rows_within(_SCALED_BYTES, 8 * largest_width(self.scalers), least=256)
        starts = range(0, max(tile[0].shape[0], 1), step)
        return [partial(self._scores, tile, first_row, slice(at, at + step)) for at in starts]

    def join(self, parts: list[Array]) -> Array:
        """The scores of a tile, from what its :meth:`parts` gave."""
        return np.concatenate(parts)

    def is_odd(self, tile: Sequence[Any], first_row: int) -> Any:
        """Which rows of a tile of raw rows are odd: (n,)."""
        return self(tile, first_row) > ODD

    def _scores(self, tile: Sequence[Any], first_row: int, rows: slice) -> Array:
        each = zip(self.scalers, tile, strict=True)
        scaled = [scaler.apply(X[rows], first_row + rows.start) for scaler, X in each]
        solved = list(map(partial(_solve, scaled), self._builds, self.graphs))
        far = _deviations(_log_ratios(scaled, self.graphs, solved, self.usual), self.spreads)
        return np.asarray(far / (far + self.limit))


def fit_oddness(
    scalers: tuple[Scaler, ...],
    arrays: Sequence[Any],
    applied: tuple[Scaler, ...] | None = None,
    *,
    seed: int,
    marks: bool = False,
    each: Any = map,
) -> Oddness:
    """What rows like those of ``arrays``, one a view, are scored by; odd ones among them do no harm.

    Arrays whose rows are scaled already have scalers that are ``applied``. ``each`` maps over views, in
    threads if it likes.
    """
    scaled = [s.apply(X, 0) for s, X in zip(applied or scalers, arrays, strict=True)]
    energies = [scaler.energy for scaler in scalers]
    find = partial(_few_anchors, seed=seed)
    graphs = tuple(each(find, range(len(scaled)), scaled, energies))
    solved = list(each(partial(_solve, scaled), _one_each(scalers, graphs), graphs))
    kept = np.ones(scaled[0].n_samples, bool)
    for _ in range(2):  # again without the rows that were odd
        usual = _usual_residuals(scaled, solved, kept)
        ratios = _log_ratios(scaled, graphs, solved, usual)
        middles, spreads = np.transpose([_middle_and_spread(view) for view in ratios])
        usual = tuple(each * np.exp(middle) for each, middle in zip(usual, middles, strict=True))
        spreads = np.maximum(spreads, _LEAST_SPREAD)
        far = _deviations(ratios - middles[:, None], spreads)
        middle, spread = _middle_and_spread(far)
        limit = max(middle + _FAR * spread, 1.0)
        kept = far <= limit
    return Oddness(scalers, graphs, usual, spreads, limit, marks)


def extend_oddness(oddness: Oddness, arrays: Sequence[Any]) -> Oddness:
    """The same, of rows like those of ``arrays`` too: they get anchors of their own in each view."""
    scaled = [s.apply(X, 0) for s, X in zip(oddness.scalers, arrays, strict=True)]
    graphs = with_anchors_of(oddness.graphs, scaled, oddness.scalers)
    solved = list(map(partial(_solve, scaled), _one_each(oddness.scalers, graphs), graphs))
    found = _usual_residuals(scaled, solved, np.ones(scaled[0].n_samples, bool))
    pairs = zip(oddness.usual, found, strict=True)
    usual = tuple(np.concatenate([known, each[len(known) :]]) for known, each in pairs)
    return replace(oddness, graphs=graphs, usual=usual)


def with_anchors_of(
    graphs: Sequence[AnchorGraph],
    scaled: Sequence[ScaledRows],
    scalers: Sequence[Scaler],
    most: int | None = None,
) -> tuple[AnchorGraph, ...]:
    """Graphs, one a view, with a few more anchors each: those of some scaled rows, ``most`` at most."""
    found = []
    most = _MOST_ANCHORS if most is None else most
    for graph, rows, scaler in zip(graphs, scaled, scalers, strict=True):
        more = _few_anchors(graph.views[0], rows, scaler.energy, seed=0, most=most).anchors
        anchors = np.concatenate([graph.anchors, more]) if len(rows) else graph.anchors
        found.append(replace(graph, anchors=anchors, n_neighbors=_count_neighbors(anchors)))
    return tuple(found)


def _count_neighbors(anchors: Array) -> int | None:
    return _NEIGHBORS if len(anchors) > _NEIGHBORS else None


def _middle_and_spread(values: Array) -> tuple[float, float]:
    """Median of numbers, and the deviation of those above it: NaN counts nothing.

    Two quantiles of the upper half tell it. The larger deviation counts, so that a heavy tail is not
    called odd as a whole; odd rows themselves, if they are few, have no say.
    """
    values = values[np.isfinite(values)]
    middle = float(np.median(values)) if len(values) else 0.0
    above = values[values > middle] - middle
    if len(above) <= _FEW * len(values):  # all others are alike
        return middle, 0.0
    return middle, max(float(np.quantile(above, share)) / normal for share, normal in _NORMAL)


def _deviations(ratios: Array, spreads: Array) -> Array:
    """How far out rows lie (n,), by the logarithms of their ratios (v, n), whose middle is 0.

    Root mean square, over the views that a row has, of the deviations that it is above the middle.
    """
    there = ~np.isnan(ratios)
    squares = (np.clip(ratios, 0.0, _MOST_LOG) / spreads[:, None]) ** 2
    totals = np.where(there, squares, 0.0).sum(axis=0)
    return np.asarray(np.sqrt(totals / np.maximum(there.sum(axis=0), 1)))


def _few_anchors(
    view: int, rows: ScaledRows, energy: float, *, seed: int, most: int = _MOST_ANCHORS
) -> AnchorGraph:
    """The graph of one view, with anchors that each stand for many rows."""
    n = len(rows)
    wanted = min(max(n // _ROWS_PER_ANCHOR, _LEAST_ANCHORS), most)
    anchors = np.zeros((1, rows.matrix.shape[1]))
    if n > wanted:
        means, counts = _group(rows, wanted, seed=seed)
        enough = min(max(_LEAST_SHARE * n / wanted, _LEAST_ROWS), counts.max())
        anchors = means[counts >= enough].dense()
    return AnchorGraph(
        views=(view,),
        view_scales=(1.0,),
        anchors=anchors,
        alpha=_ALPHA * energy,
        locality=_LOCALITY,
        n_neighbors=_count_neighbors(anchors),
    )


def _group(rows: ScaledRows, count: int, *, seed: int) -> tuple[ScaledRows, Any]:
    """Means of so many groups of rows by k-means, and their sizes."""
    starts = np.sort(np.random.default_rng(seed).choice(len(rows), count, replace=False))
    if rows.offset is not None and rows.lean is None and rows.matrix.shape[1] >= _WIDE:
        means, counts = group_wide(rows, starts, is_exact=False)
        return means.single(), counts  # these are large, and need no more than single precision
    dense = rows.dense()
    largest = max(float(np.abs(dense).max(initial=0.0)), np.finfo(np.float64).tiny)
    points = (dense / largest).astype(np.float32)  # which they may be too large, or small, for
    centers, labels = sweep_likely(points, points[starts], n_sweeps=_SWEEPS)
    return ScaledRows(largest * centers.astype(np.float64)), np.bincount(labels, minlength=count)


def _one_each(scalers: tuple[Scaler, ...], graphs: Sequence[AnchorGraph]) -> list[GraphRows]:
    return [GraphRows(scalers, (graph,)) for graph in graphs]


def _solve(scaled: Sequence[ScaledRows], build: GraphRows, graph: AnchorGraph) -> Solved:
    """Graph rows and residuals of the samples that have a view."""
    rows, Z = scaled[graph.views[0]], build.of_scaled(scaled).parts[0]
    Z = Z if rows.present is None else sparse.csr_array(Z[rows.present])
    return Z, _residuals(rows, Z, graph.anchors)


def _residuals(rows: ScaledRows, Z: sparse.csr_array, anchors: Array) -> Array:
    """Squared length of what is left of each row when its mixture of anchors is taken off."""
    if rows.offset is None:
        left = rows.matrix - Z @ anchors
        return np.asarray(np.einsum("ij,ij->i", left, left))
    products = np.asarray(Z.multiply(rows.products(np.ascontiguousarray(anchors.T))).sum(axis=1))
    lengths = np.asarray(Z.multiply(Z @ (anchors @ anchors.T)).sum(axis=1))
    left = rows.square_norms - 2.0 * products.ravel() + lengths.ravel()
    return np.asarray(np.maximum(left, 0.0))


def _usual_residuals(
    scaled: Sequence[ScaledRows], solved: Sequence[Solved], kept: Any
) -> tuple[Array, ...]:
    """For each graph, the geometric mean of the mean residual at each anchor and the median of all.

    The latter holds where an anchor stands for odd rows only, which are explained badly even by it.
    """
    usual = []
    for rows, (Z, residuals) in zip(scaled, solved, strict=True):
        weights = (kept if rows.present is None else kept[rows.present]).astype(np.float64)
        middle = float(np.median(residuals[weights > 0])) if weights.any() else 1.0
        totals = Z.T @ weights
        sums = Z.T @ (weights * residuals)
        means = np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), middle)
        usual.append(np.sqrt(means) * np.sqrt(middle))  # the product may overflow
    return tuple(usual)


def _log_ratios(
    scaled: Sequence[ScaledRows],
    graphs: Sequence[AnchorGraph],
    solved: Sequence[Solved],
    usual: Sequence[Array],
) -> Array:
    """Logarithm of each row's residual over the usual one (v, n), NaN where a row lacks the view."""
    found = np.full((len(scaled), scaled[0].n_samples), np.nan)
    each = zip(found, scaled, graphs, solved, usual, strict=True)
    for ratios, rows, graph, (Z, residuals), expected in each:
        # Residuals that are rounding, as of rows on their anchors, are alike.
        least = max(1e-9 * graph.alpha / _ALPHA, np.finfo(np.float64).tiny)
        there = slice(None) if rows.present is None else rows.present
        ratios[there] = np.log(np.maximum(residuals, least) / np.maximum(Z @ expected, least))
    return found
