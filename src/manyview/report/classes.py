"""True labels, where they are known: of any kind, some perhaps missing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from manyview import metrics

N_COLOURED = 100
_TABLE = 60


class Classes(NamedTuple):
    """Numbered classes."""

    codes: npt.NDArray[np.int64]  # (n,), class of each row; -1 where it is missing
    names: list[str]


def encode_classes(labels: Any, n_rows: int) -> Classes:
    """Number labels of any kind; None, NaN and empty text are missing.

    Examples
    --------
    >>> found = encode_classes(["b", "a", None, "b"], 4)
    >>> found.codes.tolist(), found.names
    ([1, 0, -1, 1], ['a', 'b'])
    """
    array = np.asarray(labels)
    if array.dtype.kind not in "OUSbiuf":
        array = array.astype(object)
    if array.shape != (n_rows,):
        raise ValueError(
            f"labels must be one true label a row, {n_rows} in all; their shape is {array.shape}."
        )
    if array.dtype.kind == "f":
        missing = np.isnan(array)
    elif array.dtype.kind == "O":
        missing = np.array([v is None or v != v or str(v) in ("", "<NA>") for v in array], bool)
    else:
        missing = array == "" if array.dtype.kind == "U" else np.zeros(n_rows, bool)
    present = array[~missing]
    if present.dtype.kind == "f" and np.array_equal(present, np.rint(present)):
        present = present.astype(np.int64)
    if present.dtype.kind == "O":
        present = np.array([str(value) for value in present])
    values, numbers = np.unique(present, return_inverse=True)
    codes = np.full(n_rows, -1, dtype=np.int64)
    codes[~missing] = numbers
    return Classes(codes, [str(value) for value in values])


def compare_with_classes(
    classes: Classes, labels: npt.NDArray[np.integer], n_clusters: int
) -> dict[str, Any]:
    """Scores, the cluster-by-class table, and the main classes of each cluster.

    The table's columns are in an order that puts matching classes on the diagonal; it is left out
    above 60 classes or clusters.
    """
    known = (classes.codes >= 0) & (labels >= 0)  # without rows that are marked as outliers
    codes, clusters = classes.codes[known], labels[known].astype(np.int64)
    width = len(classes.names)
    if len(codes) == 0:
        raise ValueError("labels has no label at all: all are None, NaN or empty.")
    cells, sizes = np.unique(clusters * width + codes, return_counts=True)
    per_cluster: list[list[dict[str, Any]]] = [[] for _ in range(n_clusters)]
    totals = np.bincount(clusters, minlength=n_clusters)
    for i in np.argsort(-sizes, kind="stable"):
        cluster, code = divmod(int(cells[i]), width)
        if len(per_cluster[cluster]) < 3:
            share = round(int(sizes[i]) / int(totals[cluster]), 4)
            per_cluster[cluster].append(
                {"class": classes.names[code], "count": int(sizes[i]), "share": share}
            )
    table = None
    if max(width, n_clusters) <= _TABLE:
        counts = np.zeros((n_clusters, width), dtype=np.int64)
        counts[cells // width, cells % width] = sizes
        order = match_columns(counts)
        table = {"classes": [classes.names[j] for j in order], "counts": counts[:, order].tolist()}
    return {
        "n_classes": width,
        "n_labelled": int(known.sum()),
        "scores": {name: float(v) for name, v in metrics.scores(codes, clusters).items()},
        "main": per_cluster,
        "table": table,
    }


def match_columns(counts: npt.NDArray[np.int64]) -> list[int]:
    """Columns in the order of the rows they match best, one to one; the unmatched last.

    Examples
    --------
    >>> match_columns(np.array([[1, 0, 8], [9, 1, 0]]))
    [2, 0, 1]
    """
    _, columns = linear_sum_assignment(counts, maximize=True)
    matched: list[int] = columns.tolist()
    return matched + [j for j in range(counts.shape[1]) if j not in set(matched)]


def merge_rare(classes: Classes) -> Classes:
    """The ninety-nine most frequent classes, and "other" for the rest; all if they are a hundred."""
    if len(classes.names) <= N_COLOURED:
        return classes
    sizes = np.bincount(classes.codes[classes.codes >= 0], minlength=len(classes.names))
    kept = np.sort(np.argsort(-sizes, kind="stable")[: N_COLOURED - 1])
    renumbered = np.full(len(classes.names) + 1, len(kept))
    renumbered[kept] = np.arange(len(kept))
    renumbered[-1] = -1  # missing stays missing
    return Classes(renumbered[classes.codes], [*(classes.names[j] for j in kept), "other"])
