"""How well clusters agree with known classes; arguments in the order ``(y_true, y_pred)``.

``y_true`` are the known classes, and ``y_pred`` the clusters found: array-likes of shape (n,), of any
hashable kind but NaN. Every score is computed from one sparse table of class and cluster counts: never
an n x n array, nor a large classes x clusters one, so ten million labels or many thousand clusters are
no trouble. Scores do not depend on how classes or clusters are named, and all but :func:`ari` are
between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from manyview.wording import count

__all__ = [
    "accuracy", "ari", "f_score", "inverse_purity", "match_labels", "nmi", "purity", "scores",
]  # fmt: skip

Average = Literal["max", "arithmetic", "geometric", "min"]

_AVERAGES: dict[str, Callable[[float, float], float]] = {
    "max": max,
    "arithmetic": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: math.sqrt(a) * math.sqrt(b),
    "min": min,
}

_NONE = -1  # the label of what is in no cluster

# Up to this many cells the assignment problem is solved on a dense table, which is faster.
_DENSE_CELLS = 4_000_000


def accuracy(y_true: Any, y_pred: Any) -> float:
    """Share of samples in the right cluster, clusters matched to classes one to one.

    The best one-to-one matching is found by the Hungarian algorithm. Clusters beyond the number
    of classes stay unmatched, and so count as wrong. It is at most :func:`purity` and
    :func:`inverse_purity`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes, and clusters found.

    Examples
    --------
    >>> from manyview.metrics import accuracy
    >>> accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    return _accuracy(_count(y_true, y_pred))


def nmi(y_true: Any, y_pred: Any, *, average: Average = "max") -> float:
    """Normalised mutual information of classes and clusters.

    Mutual information divided by an average of the entropies of classes and of clusters. Papers
    differ in the average, so always say which: the larger the average, the smaller the score. It is
    1 where classes and clusters are both one group, and 0 where only one of them is.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes, and clusters found.
    average : {"max", "arithmetic", "geometric", "min"}, default="max"
        Average of the two entropies. "max" is what the LMVSC paper reports, "arithmetic" is
        scikit-learn's default.

    Examples
    --------
    >>> from manyview.metrics import nmi
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2], average="arithmetic"), 4)
    0.8
    """
    if average not in _AVERAGES:
        raise ValueError(f"average must be one of {sorted(_AVERAGES)}; got {average!r}.")
    return _nmi(_count(y_true, y_pred), average)


def purity(y_true: Any, y_pred: Any) -> float:
    """Share of samples that belong to the majority class of their cluster.

    It is never below the share of the largest class, and 1 when every sample is its own cluster.
    Some papers print :func:`inverse_purity` under this name.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes, and clusters found.

    Examples
    --------
    >>> from manyview.metrics import purity
    >>> purity([0, 0, 0, 1], [5, 5, 6, 7])
    1.0
    """
    table = _count(y_true, y_pred)
    return _majority_share(table, table.clusters)


def inverse_purity(y_true: Any, y_pred: Any) -> float:
    """Share of samples that belong to the majority cluster of their class.

    This is :func:`purity` with the arguments exchanged. It is 1 when everything is one cluster.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes, and clusters found.

    Examples
    --------
    >>> from manyview.metrics import inverse_purity
    >>> inverse_purity([0, 0, 0, 1], [5, 5, 6, 7])
    0.75
    """
    table = _count(y_true, y_pred)
    return _majority_share(table, table.classes)


def ari(y_true: Any, y_pred: Any) -> float:
    """Rand index of classes and clusters, adjusted for chance.

    It is 1 for the same grouping, about 0 for a random one, and at least -0.5.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes, and clusters found.

    Examples
    --------
    >>> from manyview.metrics import ari
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    return _ari(_count(y_true, y_pred))


def f_score(y_true: Any, y_pred: Any) -> float:
    """Pairwise F1: how well the pairs in one cluster match the pairs in one class.

    Precision is the share of pairs of samples in a common cluster that are in a common class,
    recall the share of pairs in a common class that are in a common cluster; this is their
    harmonic mean. It is not the F-measure of classes matched to clusters.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes, and clusters found.

    Examples
    --------
    >>> from manyview.metrics import f_score
    >>> round(f_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    """
    return _f_score(_count(y_true, y_pred))


def scores(y_true: Any, y_pred: Any) -> dict[str, float]:
    """All scores of this module by name.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes, and clusters found.

    Returns
    -------
    dict of str to float
        ``accuracy``, ``nmi`` (divided by the larger entropy), ``nmi_arithmetic``, ``purity``,
        ``inverse_purity``, ``ari`` and ``f_score`` (pairwise).

    Examples
    --------
    >>> from manyview.metrics import scores
    >>> for name, value in scores([0, 0, 1, 1], [0, 0, 1, 2]).items():
    ...     print(f"{name:15}{value:.3f}")
    accuracy       0.750
    nmi            0.667
    nmi_arithmetic 0.800
    purity         1.000
    inverse_purity 0.750
    ari            0.571
    f_score        0.667
    """
    table = _count(y_true, y_pred)
    return {
        "accuracy": _accuracy(table),
        "nmi": _nmi(table, "max"),
        "nmi_arithmetic": _nmi(table, "arithmetic"),
        "purity": _majority_share(table, table.clusters),
        "inverse_purity": _majority_share(table, table.classes),
        "ari": _ari(table),
        "f_score": _f_score(table),
    }


def match_labels(old: Any, new: Any) -> npt.NDArray[np.int64]:
    """New labels, numbered like the old ones where clusters are the same.

    Clusters are matched one to one so that most samples keep their number. A new cluster that matches
    none gets a number that is not in use; -1, no cluster, stays.

    Parameters
    ----------
    old, new : array-like of int of shape (n,)
        Clusters of the same samples in the same order.

    Returns
    -------
    ndarray of shape (n,), int64
        ``new``, renumbered.

    Examples
    --------
    >>> from manyview.metrics import match_labels
    >>> match_labels([0, 0, 1, 1, 2], [5, 5, 0, 0, 0]).tolist()
    [0, 0, 1, 1, 1]
    >>> match_labels([0, 0, 0, 1], [1, 1, 2, 0]).tolist()
    [0, 0, 2, 1]
    """
    old, new = (_whole_labels(labels, name) for labels, name in ((old, "old"), (new, "new")))
    if len(old) != len(new):
        raise ValueError(f"old has {len(old)} labels but new has {len(new)}.")
    both = (old != _NONE) & (new != _NONE)
    names, codes = np.unique(new, return_inverse=True)
    numbers = np.full(len(names), _NONE, dtype=np.int64)
    if both.any():
        before, after = np.unique(old[both]), np.unique(new[both])
        found = _match(_count(old[both], new[both]))
        numbers[np.searchsorted(names, after[found.clusters])] = before[found.classes]
    fresh = (numbers == _NONE) & (names != _NONE)
    first = max(int(old.max(initial=_NONE)), _NONE) + 1
    numbers[fresh] = first + np.arange(int(fresh.sum()))
    return numbers[codes]


def _whole_labels(labels: Any, name: str) -> npt.NDArray[np.int64]:
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise ValueError(
            f"{name} must hold one whole number a sample; got {array.dtype} of shape {array.shape}."
        )
    return array.astype(np.int64)


class _Table(NamedTuple):
    """Counts of samples by class and cluster, only where there are any."""

    classes: npt.NDArray[np.int64]  # of each cell
    clusters: npt.NDArray[np.int64]  # of each cell
    counts: npt.NDArray[np.int64]  # of each cell
    class_sizes: npt.NDArray[np.int64]
    cluster_sizes: npt.NDArray[np.int64]
    n: int


def _count(y_true: Any, y_pred: Any) -> _Table:
    classes, clusters = _encode(y_true, "y_true"), _encode(y_pred, "y_pred")
    if len(classes) != len(clusters):
        raise ValueError(
            f"y_true has {len(classes)} labels but y_pred has {len(clusters)}. "
            "Both must label the same samples in the same order."
        )
    if len(classes) == 0:
        raise ValueError("y_true and y_pred are empty; scores need at least one sample.")
    n_clusters = int(clusters.max()) + 1
    cells, counts = np.unique(classes * n_clusters + clusters, return_counts=True)
    return _Table(
        classes=cells // n_clusters,
        clusters=cells % n_clusters,
        counts=counts,
        class_sizes=np.bincount(classes),
        cluster_sizes=np.bincount(clusters),
        n=len(classes),
    )


def _encode(labels: Any, name: str) -> npt.NDArray[np.int64]:
    """Number labels of any hashable kind from 0."""
    array = _as_labels(labels)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, one label a sample; its shape is {array.shape}."
        )
    if n_missing := _count_nan(array):
        raise ValueError(f"{name} has {count(n_missing, 'label')} that are NaN. Leave these out.")
    if array.dtype.kind != "O":
        return np.unique(array, return_inverse=True)[1].astype(np.int64, copy=False)
    numbers: dict[Hashable, int] = {}
    try:
        codes = [numbers.setdefault(label, len(numbers)) for label in array]
    except TypeError as error:
        raise TypeError(f"{name} has labels that cannot be compared: {error}.") from error
    return np.array(codes, dtype=np.int64)


def _count_nan(labels: npt.NDArray[Any]) -> int:
    if labels.dtype.kind == "O":
        return sum(isinstance(label, float) and math.isnan(label) for label in labels)
    return int(np.isnan(labels).sum()) if labels.dtype.kind == "f" else 0


def _as_labels(labels: Any) -> npt.NDArray[Any]:
    if not isinstance(labels, list | tuple) or all(isinstance(label, str) for label in labels):
        return np.asarray(labels)
    if any(isinstance(label, str | bytes | tuple) or label is None for label in labels):
        # NumPy would turn [1, "1"] into two equal strings, and tuples into columns.
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array
    return np.asarray(labels)


class _Matching(NamedTuple):
    """Classes and clusters that belong together, at most one to one, and the samples in both."""

    classes: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int64]
    n_samples: int


def _accuracy(table: _Table) -> float:
    return _match(table).n_samples / table.n


def _match(table: _Table) -> _Matching:
    """The matching with the most samples."""
    n_classes, n_clusters = len(table.class_sizes), len(table.cluster_sizes)
    if n_classes * n_clusters > _DENSE_CELLS:
        return _sparse_match(table)
    counts = np.zeros((n_classes, n_clusters), dtype=np.int64)
    counts[table.classes, table.clusters] = table.counts
    # A rectangular table needs no padding: the solver leaves the surplus side unmatched.
    rows, columns = linear_sum_assignment(counts, maximize=True)
    found = counts[rows, columns] > 0
    return _Matching(rows[found], columns[found], int(counts[rows, columns].sum()))


def _sparse_match(table: _Table) -> _Matching:
    """The same by the assignment problem on the cells that hold any samples."""
    rows, columns = table.classes, table.clusters
    n_rows, n_columns = len(table.class_sizes), len(table.cluster_sizes)
    is_turned = n_rows > n_columns
    if is_turned:
        rows, columns, n_rows, n_columns = columns, rows, n_columns, n_rows
    # A column of its own for every row makes "left unmatched" possible; its cost stands for
    # zero samples. Costs are positive, because a stored zero would mean no edge.
    free = int(table.counts.max()) + 1
    cells = ((free - table.counts).astype(np.float64), (rows, columns))
    cost = sparse.hstack(
        [sparse.csr_array(cells, shape=(n_rows, n_columns)), free * sparse.eye_array(n_rows)], "csr"
    )
    first, second = min_weight_full_bipartite_matching(cost)
    n_samples = int(n_rows * free - cost[first, second].sum())
    first, second = first[second < n_columns], second[second < n_columns]
    return _Matching(*((second, first) if is_turned else (first, second)), n_samples)


def _nmi(table: _Table, average: str) -> float:
    h_classes, h_clusters = _entropy(table.class_sizes), _entropy(table.cluster_sizes)
    if h_classes == 0 or h_clusters == 0:
        return float(h_classes == h_clusters)
    information = h_classes + h_clusters - _entropy(table.counts)
    return min(max(information / _AVERAGES[average](h_classes, h_clusters), 0.0), 1.0)


def _entropy(sizes: npt.NDArray[np.int64]) -> float:
    # Sorted, so that renaming clusters does not change the last bits of the sum.
    share = np.sort(sizes) / sizes.sum()
    return float(-(share * np.log(share)).sum())


def _majority_share(table: _Table, groups: npt.NDArray[np.int64]) -> float:
    """Share of samples in the largest cell of their group, the class or the cluster of each cell."""
    largest = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    np.maximum.at(largest, groups, table.counts)
    return int(largest.sum()) / table.n


def _pairs(sizes: npt.NDArray[np.int64]) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def _ari(table: _Table) -> float:
    # Python's integers: the products below exceed 64 bits from about 100 000 samples.
    both = _pairs(table.counts)
    class_only = _pairs(table.class_sizes) - both
    cluster_only = _pairs(table.cluster_sizes) - both
    if class_only == 0 and cluster_only == 0:
        return 1.0
    neither = table.n * (table.n - 1) // 2 - both - class_only - cluster_only
    chance = (both + class_only) * (class_only + neither)
    chance += (both + cluster_only) * (cluster_only + neither)
    return 2 * (both * neither - class_only * cluster_only) / chance


def _f_score(table: _Table) -> float:
    both = _pairs(table.counts)
    in_class, in_cluster = _pairs(table.class_sizes), _pairs(table.cluster_sizes)
    if in_class + in_cluster == 0:
        return 1.0
    return 2 * both / (in_class + in_cluster)
