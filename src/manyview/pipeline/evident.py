"""Clusters that are evident from a few rows: they need no graph.

Either k-means finds them and each stands clear of the next, or rows fall into so many pieces, whatever
their shapes, or are bound into so many. Every row then belongs to the cluster of the anchor that is
nearest to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from manyview.engines.base import TILE_ROWS
from manyview.pipeline.clusters import Clusters
from manyview.pipeline.graphs import Columns
from manyview.stages.embedding import Embedding, leading_rotation
from manyview.stages.graph import AnchorGraph, GraphTile
from manyview.stages.kmeans import nearest_centers
from manyview.stages.labels import fit_kmeans
from manyview.stages.pieces import (
    Labels,
    Pieces,
    Tree,
    count_bound,
    count_pieces,
    distinct_rows,
    find_bound,
    find_pieces,
)
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import COUNTED, Scaler, fit_scaler, is_mostly_binary
from manyview.views.selection import find_present

_CLEAR = 0.65  # least mean simplified silhouette of every cluster for k-means to be the answer
_STARTS, _SWEEPS = 5, 20
_MOVED = 0.05  # rows that may lie on the other side of a border by another scaling
_MANY_CLUSTERS = 20
_LEAST_AXES = 5  # in fewer, anything that is cut looks clear
_MOST_COLUMNS, _LEAST_ROWS = 4000, 20  # in all; a cluster
MOST_ROWS = 4000
"""As many rows as are looked at."""
# Rows whose neighbours are looked for, each among all of them; a search tree finds those in few columns,
# where fewer rows would tear curves.
_FEWER_ROWS, _FEW_COLUMNS = 1000, 15
_ANCHORS = 1000  # of all pieces
_APART = 1.2  # pieces whose number is not known
# Pieces that one view shows and all together do not, where another is noise: views of noise reach 8.
_ALONE, _ALONE_EVIDENCE = ((0.05, 1.02), (0.015, 1.02)), 15.0


@dataclass(frozen=True)
class Evident:
    """Anchors, and the cluster of each."""

    scalers: tuple[Scaler, ...]  # one per view
    views: tuple[int, ...]  # that show them
    anchors: Array  # (a, c), in scaled columns of these views side by side
    clusters: npt.NDArray[np.int32]  # (a,)
    clearness: float | None = None  # least mean silhouette of k-means' clusters
    apart: float | None = None  # how far pieces are apart, over what holds them together
    bound: float | None = (
        None  # what one more cut would lose, over what is lost by cutting them apart
    )

    @property
    def kinds(self) -> tuple[str | None, ...]:
        """How views are scaled."""
        return tuple(scaler.kind for scaler in self.scalers)

    def graph(self) -> AnchorGraph:
        """The graph in which every row is tied to its nearest anchor."""
        return AnchorGraph(
            views=self.views,
            view_scales=_equal_scales(self.views),
            anchors=self.anchors,
            alpha=0.0,
            locality=0.0,
            n_neighbors=1,
        )

    @property
    def view_weights(self) -> Array:
        """One per view: those that show the clusters count alike."""
        return np.isin(range(len(self.scalers)), self.views) / len(self.views)

    def cluster(self, tile: GraphTile) -> Clusters:
        """Embedding rows that are the clusters themselves, and the labels of a tile's rows."""
        corners = np.eye(int(self.clusters.max()) + 1)
        embedding = Embedding((corners[self.clusters],))
        labels = np.empty(len(tile), np.int32)
        # A few at a time: the embedding of a whole sample may be as large as the sample.
        for first in range(0, len(tile), TILE_ROWS):
            part = np.arange(first, min(first + TILE_ROWS, len(tile)))
            rows = embedding.rows(tile.take(part))
            labels[part], _ = nearest_centers(ScaledRows(rows), corners)
        return Clusters(embedding=embedding, centers=corners, labels=labels, tried={})


def find_evident(
    arrays: Sequence[Any],
    names: Sequence[str],
    n_clusters: int,
    *,
    seed: int,
    counted: Sequence[str | None] | None = None,
) -> Evident | None:
    """So many clusters of raw rows, one array a view, if they are evident.

    ``counted`` are the views' kinds of scaling where some count molecules: pieces show in these.
    """
    if arrays[0].shape[0] < _LEAST_ROWS * n_clusters or not _are_whole(arrays):
        return None
    every = tuple(range(len(arrays)))
    together: list[_Scaled] = []
    if _may_be_evident(arrays):
        together = [_Scaled.by("standard", every, arrays, names)]
        found = _find_clear(together[0], n_clusters, seed=seed)
        if found is not None:
            return found if counted is None else _settle_borders(found, counted, arrays, names)
    if counted is not None:
        # Counts of molecules are turned to a few axes; other views may stay as wide as they are.
        others = (
            X.shape[1] for X, kind in zip(arrays, counted, strict=True) if kind not in COUNTED
        )
        is_wide = sum(others) > _MOST_COLUMNS
        together = [] if is_wide else [_Scaled.by(counted, every, arrays, names)]
    if not together:
        return None
    if together[0].rows.shape[1] > _FEW_COLUMNS:
        few = spread_evenly(len(together[0].rows), max(_FEWER_ROWS, _LEAST_ROWS * n_clusters))
        together = [replace(together[0], rows=together[0].rows[few])]
        arrays = [X[few] for X in arrays]
    if counted is None:
        together.append(_Scaled.by("energy", every, arrays, names))
    return _find_pieces(together, tuple(together[-1].each_alone(arrays)), n_clusters, seed=seed)


def _settle_borders(
    found: Evident, kinds: Sequence[str | None], arrays: Sequence[Any], names: Sequence[str]
) -> Evident | None:
    """The same clusters by means of counts as these are scaled; None if they are not the same there.

    Standardised counts show what is evident, but how much was counted of a cell moves it over a border.
    """
    labels, _ = nearest_centers(
        ScaledRows(_columns(found.scalers, found.views, arrays)), found.anchors
    )
    scaled = _Scaled.by(kinds, found.views, arrays, names)
    means = _means_of(scaled.rows, labels, len(found.anchors))
    again, _ = nearest_centers(ScaledRows(scaled.rows), means)
    if (again != labels).mean() > _MOVED:
        return None
    return replace(found, scalers=scaled.scalers, anchors=means)


def _find_pieces(
    together: Sequence[_Scaled], alone: Sequence[_Scaled], k: int, *, seed: int
) -> Evident | None:
    """So many pieces of all views or of one alone, or that all views are bound into."""
    trees = [Tree.of(each.rows) for each in together]
    tied = zip(together, trees, strict=True)
    pieces = [find_pieces(each.rows, k, tree=tree) for each, tree in tied]
    found = _best_of(together, pieces, "apart", seed)
    if found is None:
        find = partial(find_pieces, n_pieces=k, sizes=_ALONE, evidence=_ALONE_EVIDENCE)
        found = _best_of(alone, [find(each.rows) for each in alone], "apart", seed)
    if found is None:
        found = _best_of(together, [find_bound(tree, k) for tree in trees], "bound", seed)
    return found


def _best_of(
    scaled: Sequence[_Scaled], tried: Sequence[Pieces | None], clear: str, seed: int
) -> Evident | None:
    """The clearest pieces, if there are any; ``clear`` names what their figure tells."""
    found = [(each, pieces) for each, pieces in zip(scaled, tried, strict=True) if pieces]
    if not found:
        return None
    each, best = max(found, key=lambda one: one[1].apart)
    anchors, clusters = _anchors_of(each.rows, best.labels, seed=seed)
    return Evident(each.scalers, each.views, anchors, clusters, **{clear: best.apart})


def count_evident(arrays: Sequence[Any], names: Sequence[str]) -> int:
    """How many pieces raw rows fall into, in some view or all, or are bound into; 1 if they are not."""
    if not _may_be_evident(arrays):
        return 1
    every = tuple(range(len(arrays)))
    together = [_Scaled.by(kind, every, arrays, names) for kind in ("standard", "energy")]
    trees = [Tree.of(each.rows) for each in together]
    tied = zip(together, trees, strict=True)
    apart = (count_pieces(each.rows, _APART, tree=tree) for each, tree in tied)
    alone = (count_pieces(each.rows, _APART) for each in together[1].each_alone(arrays))
    return max(*apart, *alone, *map(count_bound, trees))


def standardise(arrays: Sequence[Any], names: Sequence[str]) -> Array:
    """Standardised columns of all views side by side, at equal energy."""
    return _Scaled.by("standard", tuple(range(len(arrays))), arrays, names).rows


def _may_be_evident(arrays: Sequence[Any]) -> bool:
    """Whether all rows have all views, and these are neither very wide nor mostly yes and no."""
    if sum(array.shape[1] for array in arrays) > _MOST_COLUMNS:
        return False
    return _are_whole(arrays) and not any(map(is_mostly_binary, arrays))


def _are_whole(arrays: Sequence[Any]) -> bool:
    return all(find_present(array) is None for array in arrays)


@dataclass(frozen=True)
class _Scaled:
    """Scaled columns of some views, side by side at equal energy."""

    scalers: tuple[Scaler, ...]
    views: tuple[int, ...]
    rows: Array

    @classmethod
    def by(
        cls,
        kinds: str | Sequence[str | None],
        views: tuple[int, ...],
        arrays: Sequence[Any],
        names: Sequence[str],
    ) -> _Scaled:
        kinds = [kinds] * len(arrays) if isinstance(kinds, str) else kinds
        each = zip(arrays, names, kinds, strict=True)
        scalers = tuple(
            fit_scaler(X, name=name, kind=kind, n_axes="auto") for X, name, kind in each
        )
        return cls(scalers, views, _columns(scalers, views, arrays))

    def each_alone(self, arrays: Sequence[Any]) -> Iterator[_Scaled]:
        """The same of single views; not of those that repeat a few rows, as categories do."""
        for view in self.views if len(self.views) > 1 else ():
            rows = _columns(self.scalers, (view,), arrays)
            if len(distinct_rows(rows)[0]) > 0.5 * len(rows):
                yield replace(self, views=(view,), rows=rows)


def _columns(scalers: tuple[Scaler, ...], views: tuple[int, ...], arrays: Sequence[Any]) -> Array:
    return Columns(scalers, views, _equal_scales(views))(arrays, 0).dense()


def _equal_scales(views: tuple[int, ...]) -> tuple[float, ...]:
    return (len(views) ** -0.5,) * len(views)


def _find_clear(scaled: _Scaled, k: int, *, seed: int) -> Evident | None:
    """K-means' clusters, if each stands clear of the next in the few directions where they differ."""
    if any(scaler.is_like_text for scaler in scaled.scalers):
        return None
    centered = scaled.rows - scaled.rows.mean(axis=0)
    rows = centered @ leading_rotation(centered, max(k - 1, _LEAST_AXES))
    # Where clusters are evident, k-means settles in a few sweeps.
    find = partial(fit_kmeans, rows, k, init="k-means++", max_iter=_SWEEPS)
    best = find(seed=seed)
    if k >= _MANY_CLUSTERS and np.median(_clearness(rows, best)) < _CLEAR:
        return None  # the best start would mend a few clusters, not half of them
    others = (find(seed=seed + start) for start in range(1, _STARTS))
    best = min((best, *others), key=lambda found: found.inertia_)
    clearness = float(_clearness(rows, best).min())
    # One row lies at its own centre, however odd it is.
    if clearness < _CLEAR or np.bincount(best.labels_, minlength=k).min() < 2:
        return None
    clusters = np.arange(k, dtype=np.int32)
    means = _means_of(scaled.rows, best.labels_, k)
    return Evident(scaled.scalers, scaled.views, means, clusters, clearness=clearness)


def _means_of(rows: Array, labels: Labels, k: int) -> Array:
    """The mean of each cluster's rows (k, c)."""
    return np.stack([rows[labels == cluster].mean(axis=0) for cluster in range(k)])


def _clearness(rows: Array, found: KMeans) -> Array:
    """Each cluster's mean (k,) of 1 - distance to its own centre / to the next."""
    labels, others = found.labels_, np.asarray(found.transform(rows))
    numbers = np.arange(len(labels))
    own = others[numbers, labels]
    others[numbers, labels] = np.inf
    clear = 1.0 - own / np.maximum(others.min(axis=1), np.finfo(np.float64).tiny)
    counts = np.bincount(labels, minlength=others.shape[1])
    means: Array = np.bincount(labels, clear, len(counts)) / np.maximum(counts, 1)
    return means


def _anchors_of(rows: Array, labels: Labels, *, seed: int) -> tuple[Array, Labels]:
    """Anchors that stand for pieces of rows, and the piece of each: the rows, if they are few."""
    if len(rows) <= _ANCHORS:
        return rows, labels
    anchors, pieces = [], []
    for piece, size in enumerate(np.bincount(labels)):
        own, count = rows[labels == piece], int(np.ceil(_ANCHORS * size / len(rows)))
        found = fit_kmeans(own, count, init="random", max_iter=10, seed=seed)
        anchors.append(found.cluster_centers_)
        pieces.append(np.full(count, piece, np.int32))
    return np.concatenate(anchors), np.concatenate(pieces)
