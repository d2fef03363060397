"""New rows and what is known of rows -> clusters of new rows that nothing known explains.

New rows are written as mixtures of known anchors and of a few made from new rows, those of the other
half, so that no row is explained by itself. Rows like the known ones use mostly known anchors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from manyview.stages.graph import GraphRows
from manyview.stages.kmeans import indicator
from manyview.stages.labels import Labels, fit_kmeans
from manyview.stages.oddness import Oddness, with_anchors_of
from manyview.stages.rows import Array

_ROWS_PER_GROUP, _MOST_GROUPS, _SWEEPS = 20, 60, 20
_ALIKE = 0.2  # least overlap in the use of anchors for two groups to be one
_KNOWN = 0.75  # least weight on known anchors beside one of its own for a group to be known
_LEAST_ROWS = 10  # of a new cluster


@dataclass(frozen=True)
class Known:
    """What explains known rows, and how much each view counts."""

    oddness: Oddness
    view_weights: Array  # (v,)

    def mean_of_views(self, values: Sequence[Array]) -> Array:
        """Geometric mean of values of each view, without those that are NaN; 1 if all are."""
        logs = np.log(np.maximum(np.stack(values), 1e-3))
        there = np.isfinite(logs)
        weights = there * self.view_weights.reshape(-1, *[1] * (logs.ndim - 1))
        totals = weights.sum(axis=0)
        sums = (weights * np.where(there, logs, 0.0)).sum(axis=0)
        return np.asarray(np.exp(sums / np.where(totals > 0, totals, 1.0)))


def find_new_clusters(known: Known, arrays: Sequence[Any], columns: Array) -> Labels:
    """Which new cluster each new row belongs to (n,), counted from 0; -1 if it is none.

    ``arrays`` are the rows' views, and ``columns`` (n, c) few columns in which rows that are alike are
    near. Small groups of rows that use the same anchors are put together; what they make is new if it
    uses known anchors little.
    """
    n = len(columns)
    found = np.full(n, -1, np.int32)
    if n < _LEAST_ROWS:
        return found
    count = int(np.clip(n // _ROWS_PER_GROUP, 1, _MOST_GROUPS))
    small = fit_kmeans(columns, count, init="k-means++", max_iter=_SWEEPS, seed=0).labels_
    uses = [(indicator(small, count) @ Z).toarray() for Z in _use_anchors(known.oddness, arrays)]
    groups = _merge_alike(known, uses)[small]
    n_found = 0
    for group in groups[np.sort(np.unique(groups, return_index=True)[1])]:  # as first rows come
        rows = np.flatnonzero(groups == group)
        if len(rows) >= _LEAST_ROWS and _is_new(known, [X[rows] for X in arrays]):
            found[rows] = n_found
            n_found += 1
    return found


def _merge_alike(known: Known, uses: list[Array]) -> Labels:
    """What groups (g,) become when those that use the same anchors most are put together.

    ``uses`` are the groups' weights (g, a) on the anchors of each view, in and out: of what is merged,
    the first has all.
    """
    count = len(uses[0])
    merged = np.arange(count, dtype=np.int32)
    overlaps = np.full((count, count), -np.inf)

    def compare(group: int, others: Any) -> None:
        found = []
        for use in uses:
            totals = use.sum(axis=1)
            with np.errstate(invalid="ignore"):  # nobody in a group has the view, or it is no more
                shares = use / totals[:, None]
            found.append(np.minimum(shares[others], shares[group]).sum(axis=1))
        overlaps[group, others] = overlaps[others, group] = known.mean_of_views(found)

    for group in range(1, count):
        compare(group, np.arange(group))
    left = np.ones(count, bool)
    while count > 1 and overlaps.max() >= _ALIKE:
        first, second = sorted(divmod(int(overlaps.argmax()), count))
        for use in uses:
            use[first] += use[second]
        merged[merged == second] = first
        left[second] = False
        overlaps[second] = overlaps[:, second] = -np.inf
        others = np.flatnonzero(left)
        others = others[others != first]
        if len(others):
            compare(first, others)
    return merged


def _is_new(known: Known, arrays: Sequence[Any]) -> bool:
    """Whether a group of rows is explained by its mean much better than by known anchors.

    One new anchor of each half against all known ones: a large group must not outvote what is known.
    """
    uses = _use_anchors(known.oddness, arrays, most=1)
    sizes = [len(graph.anchors) for graph in known.oddness.graphs]
    with np.errstate(invalid="ignore"):  # nobody in the group has the view
        shares = [Z[:, :m].sum() / Z.sum() for Z, m in zip(uses, sizes, strict=True)]
    return bool(known.mean_of_views([np.asarray(share) for share in shares]) < _KNOWN)


def _use_anchors(
    oddness: Oddness, arrays: Sequence[Any], most: int | None = None
) -> list[sparse.csr_array]:
    """Each row's weights (n, m + q + r) on the m known anchors of each view and on new ones.

    The q are made from rows with even numbers and used by the others, the r the other way round; at
    most ``most`` of each.
    """
    n, scalers = arrays[0].shape[0], oddness.scalers
    evens, odds = (
        [s.apply(X[first::2], 0) for s, X in zip(scalers, arrays, strict=True)] for first in (0, 1)
    )
    by_half = []
    for making, using in ((evens, odds), (odds, evens)):
        graphs = with_anchors_of(oddness.graphs, making, scalers, most)
        Z = sparse.csc_array(GraphRows(scalers, graphs).of_scaled(using).parts[0])
        ends = np.cumsum([0, *(len(graph.anchors) for graph in graphs)])
        by_half.append([Z[:, start:end] for start, end in pairwise(ends)])
    uses, order = [], np.argsort(np.r_[1:n:2, 0:n:2])
    for graph, of_odds, of_evens in zip(oddness.graphs, *by_half, strict=True):
        m = len(graph.anchors)
        on_known = sparse.vstack([of_odds[:, :m], of_evens[:, :m]])
        on_new = sparse.block_diag([of_odds[:, m:], of_evens[:, m:]])
        uses.append(sparse.csr_array(sparse.hstack([on_known, on_new], "csr"))[order])
    return uses
