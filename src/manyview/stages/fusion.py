"""Graph sums of all views -> the fused graph's sums; degrees and view weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from manyview.stages.scaling import Array

if TYPE_CHECKING:
    from manyview.stages.graph import AnchorGraph

EARLY_SHARE = 0.5
"""Share of the graph of all views side by side where it is fused with one graph a view."""


def column_scales(
    column_sums: Array,
    sizes: Sequence[int],
    weights: Sequence[float],
    *,
    degree_norm: bool,
) -> Array:
    """What each anchor's column is multiplied by in the fused graph; shape (M,).

    Columns are scaled after summing over rows, so one pass over the data is enough: the inverse
    square root of the anchor's degree (Sigma^-1/2 of the paper's Eq. 4), times the square root of the
    graph's weight.

    Examples
    --------
    >>> column_scales(np.array([4.0, 0.0, 1.0]), [2, 1], [0.5, 0.5], degree_norm=True).round(3)
    array([0.354, 0.   , 0.707])
    """
    scales = np.ones_like(column_sums)
    if degree_norm:
        used = column_sums > 0  # an anchor no row uses has no say
        scales = np.where(used, 1.0 / np.sqrt(np.where(used, column_sums, 1.0)), 0.0)
    return scales * np.sqrt(np.repeat(np.asarray(weights, dtype=np.float64), sizes))


def repeat_scales(
    column_sums: Sequence[Array], graphs: Sequence[AnchorGraph], *, degree_norm: bool
) -> list[Array]:
    """Column scales of each repeat, from the sums of its columns over all rows."""
    scales = []
    for repeat, sums in enumerate(column_sums):
        fused = [graph for graph in graphs if graph.repeat == repeat]
        sizes, weights = [len(g.anchors) for g in fused], [g.weight for g in fused]
        scales.append(column_scales(sums, sizes, weights, degree_norm=degree_norm))
    return scales


def fused_gram(gram: Array, scales: Array) -> Array:
    """Zbar' Zbar of the fused graph, from the upper triangle of Z'Z (M, M) and column scales."""
    full: Array = np.triu(gram) + np.triu(gram, 1).T
    full *= scales
    full *= scales[:, None]
    return full


def normalised(weights: npt.ArrayLike) -> Array:
    """Weights scaled to sum to one."""
    values = np.asarray(weights, dtype=np.float64)
    share: Array = values / values.sum()
    return share
