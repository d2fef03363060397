"""Columns that set a cluster apart, as effect sizes; sparse views stay sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.rows import Array
from manyview.stages.sampling import spread_evenly
from manyview.views.container import Views
from manyview.views.selection import split_rows

N_LISTED = 5
_CELLS = 4_000_000
_MOST_ROWS = 2000  # that importances are measured on


class Effects(NamedTuple):
    """How the clusters differ in some columns of one view; all of shape (k, d)."""

    effect: Array  # mean inside less mean of all other rows, in the column's standard deviations
    inside: Array  # means of the cluster
    outside: Array  # means of all other rows
    present_inside: Array  # shares of values that are not zero
    present_outside: Array


def measure_effects(X: Any, labels: npt.NDArray[np.integer], n_clusters: int) -> Effects:
    """The effect sizes of the columns of ``X`` (n, d), an ndarray or CSR; NaN is left out.

    Examples
    --------
    >>> X = np.array([[5.0, 1.0], [5.0, 2.0], [1.0, 1.0], [1.0, 2.0]])
    >>> measure_effects(X, np.array([0, 0, 1, 1]), 2).effect.tolist()
    [[2.0, 0.0], [-2.0, 0.0]]
    """
    n = len(labels)
    members = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    is_thin = sparse.issparse(X)
    values = np.asarray(X.data if is_thin else X, dtype=np.float64)

    def sums(values: Array) -> Array:
        if not is_thin:
            return np.asarray(members @ values)
        part = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
        return np.asarray((members @ part).toarray())

    is_missing = np.isnan(values)
    values = np.where(is_missing, 0.0, values)
    counts = members.sum(axis=1)[:, None] - sums(is_missing * 1.0)
    return _compare(sums(values), sums(values**2), sums((values != 0) * 1.0), counts)


def _compare(sums: Array, squares: Array, filled: Array, counts: Array) -> Effects:
    def share(part: Array, of: Array) -> tuple[Array, Array]:
        rest = of.sum(axis=0) - of
        return part / np.maximum(of, 1), (part.sum(axis=0) - part) / np.maximum(rest, 1)

    inside, outside = share(sums, counts)
    present_inside, present_outside = share(filled, counts)
    total = np.maximum(counts.sum(axis=0), 1)
    mean = sums.sum(axis=0) / total
    variance = squares.sum(axis=0) / total - mean**2
    # What is left of a constant column is rounding.
    deviation = np.sqrt(np.where(variance > 1e-12 * mean**2, variance, 0.0))
    known = (deviation > 0) & (counts > 0)
    effect = np.where(known, inside - outside, 0.0) / np.where(deviation > 0, deviation, 1.0)
    return Effects(effect, inside, outside, present_inside, present_outside)


def find_features(
    views: Views,
    labels: npt.NDArray[np.integer],
    n_clusters: int,
    *,
    n_listed: int = N_LISTED,
) -> list[list[dict[str, Any]]]:
    """For each cluster, the columns that set it apart most: up to ``n_listed`` of each view.

    They are listed strongest first, whatever their view.
    """
    found: list[list[dict[str, Any]]] = [[] for _ in range(n_clusters)]
    for (name, X), columns in zip(views.items(), views.feature_names, strict=True):
        per_cluster: list[list[tuple[float, int, dict[str, Any]]]] = [[] for _ in range(n_clusters)]
        rows, present = split_rows(X)
        own_labels = labels if present is None else labels[present]
        for start, part in _column_blocks(rows, n_clusters):
            effects = measure_effects(part, own_labels, n_clusters)
            for cluster, listed in enumerate(per_cluster):
                listed += _strongest(effects, cluster, start, n_listed)
        for cluster, listed in enumerate(per_cluster):
            listed.sort(key=lambda item: (-item[0], item[1]))
            found[cluster] += [
                {"view": name, "column": columns[j] if columns else f"column {j}", **facts}
                for _, j, facts in listed[:n_listed]
            ]
    for features in found:
        features.sort(key=lambda feature: -abs(feature["effect"]))
    return found


def _column_blocks(X: Any, n_clusters: int) -> Iterator[tuple[int, Any]]:
    """Few enough columns at a time that neither they nor the clusters' sums fill memory."""
    rows = n_clusters if sparse.issparse(X) else max(n_clusters, X.shape[0])
    step = max(_CELLS // rows, 1)
    columns = sparse.csc_array(X) if sparse.issparse(X) and step < X.shape[1] else X
    for start in range(0, X.shape[1], step):
        part = columns[:, start : start + step]
        yield start, sparse.csr_array(part) if sparse.issparse(part) else part


def _strongest(
    effects: Effects, cluster: int, first_column: int, n_listed: int
) -> list[tuple[float, int, dict[str, Any]]]:
    strength = np.abs(effects.effect[cluster])
    listed = []
    for j in np.argsort(-strength, kind="stable")[:n_listed]:
        if strength[j] > 0:
            facts = {
                "effect": round(float(effects.effect[cluster, j]), 3),
                "inside": float(f"{effects.inside[cluster, j]:.4g}"),
                "outside": float(f"{effects.outside[cluster, j]:.4g}"),
                "present_inside": round(float(effects.present_inside[cluster, j]), 3),
                "present_outside": round(float(effects.present_outside[cluster, j]), 3),
            }
            listed.append((float(strength[j]), first_column + int(j), facts))
    return listed


def measure_importances(views: Views, labels: npt.NDArray[np.integer]) -> list[Array]:
    """For each view the share of each column in what tells clusters apart; they sum to one.

    A column tells as much as the share of its variance that lies between clusters. At most 2000 rows
    are looked at, at equal distances; those in no cluster (-1) are left out.

    Examples
    --------
    >>> X = np.array([[5.0, 1.0], [5.0, 2.0], [1.0, 1.0], [1.0, 2.0]])
    >>> measure_importances(Views(X), np.array([0, 0, 1, 1]))[0].tolist()
    [1.0, 0.0]
    """
    few = spread_evenly(views.n_rows, _MOST_ROWS)
    few = few[labels[few] >= 0]
    found = []
    for array in views[few].arrays:
        rows, present = split_rows(array)
        own = labels[few] if present is None else labels[few][present]
        found.append(_shares_between(rows, own))
    return found


def _shares_between(X: Any, labels: npt.NDArray[np.integer]) -> Array:
    n, codes = len(labels), np.unique(labels, return_inverse=True)[1]
    if n == 0:
        return np.zeros(X.shape[1])
    members = sparse.csr_array((np.ones(n), (codes, np.arange(n))))
    counts = np.asarray(members.sum(axis=1))[:, None]
    sums = members @ X
    sums = np.asarray(sums.toarray() if sparse.issparse(sums) else sums, dtype=np.float64)
    # In double precision: squares of small integers would wrap.
    squares = (
        X.astype(np.float64).power(2) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    )
    mean = sums.sum(axis=0) / n
    total = np.asarray(squares.sum(axis=0)).ravel() - n * mean**2
    between = (sums**2 / counts).sum(axis=0) - n * mean**2
    varies = total > 1e-12 * n * mean**2
    shares = np.where(varies, np.maximum(between, 0.0) / np.where(varies, total, 1.0), 0.0)
    whole = float(shares.sum())
    return shares / whole if whole > 0 else shares
