"""Clustering a sample again: from each view alone, and by some of the anchor seeds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview import LMVSC, metrics
from manyview.engines import Memory
from manyview.machine import count_jobs
from manyview.pipeline.label_only import find_labels, find_labels_of_view, graphs_of_view
from manyview.pipeline.settings import resolve
from manyview.stages.labels import find_starts, improve_centers
from manyview.stages.rows import Array
from manyview.views.container import Views
from manyview.views.matching import drop_empty_views

Labels = npt.NDArray[np.integer]
Groups = npt.NDArray[np.str_] | None
"""Where each row is from, if what is common to a group is taken off."""

# Anchor seeds of a view alone, at most, where the fit has more than three, and where it has not.
_OF_MANY, _OF_FEW = 3, 2
SEEN, UNSEEN = 0.6, 0.4


def refit(
    model: LMVSC,
    rows: Views,
    *,
    seed: int,
    view: int | None = None,
    groups: Groups = None,
    **changes: Any,
) -> Labels:
    """The labels of ``rows`` by the model's settings but for changes, and maybe one view alone."""
    known = model.get_params()
    params: dict[str, Any] = {
        "n_clusters": min(len(model.cluster_centers_), len(rows)),
        "random_state": seed,
        "engine": "memory",
        "verbose": 0,
        "categories": "auto",  # rows are encoded
    }
    n_anchors = known["n_anchors"]
    if isinstance(n_anchors, int | np.integer):
        params["n_anchors"] = min(int(n_anchors), len(rows))
    elif not isinstance(n_anchors, str):
        params["n_anchors"] = sorted({min(int(m), len(rows)) for m in n_anchors})
    if view is not None:
        given = known.get("anchor_method", "kmeans")
        if not isinstance(given, str):
            given = [given] if hasattr(given, "shape") else given
            given = list(given.values()) if isinstance(given, dict) else given
            params["anchor_method"] = [given[view]]
        params |= {"scaling": model.scaling_[view], "fusion": "late", "view_weights": "equal"}
        n_fitted = len(model.model_.embedding.transforms)
        params["n_repeats"] = n_repeats = min(_OF_MANY if n_fitted > 3 else _OF_FEW, n_fitted)
        rows = rows.select([rows.names[view]])
    params["outliers"] = "keep"  # those that were marked are not among the rows
    # A subclass may have fixed some of them.
    params = {name: value for name, value in params.items() if name in known}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says what is worth saying
        again = type(model)(**{**known, **params, **changes})
        if groups is None and type(model) is LMVSC:
            some = drop_empty_views(rows)
            settings = resolve(again.get_params(), rows, some)
            n_jobs = count_jobs(again.n_jobs)
            if view is not None and not changes:
                graphs = graphs_of_view(model.model_, view, n_repeats)
                if graphs:
                    return find_labels_of_view(
                        some, settings, model.model_, graphs, view=view, seed=seed, n_jobs=n_jobs
                    )
            return find_labels(some, settings, engine=Memory(), seed=seed, n_jobs=n_jobs)
        given = {} if groups is None else {"groups": _join_small(groups)}
        labels: Labels = again.fit(rows, **given).labels_
    return labels


def _join_small(groups: npt.NDArray[np.str_]) -> npt.NDArray[np.str_]:
    """Groups of which a sample has one row, together with the largest: alone they cannot be fitted."""
    names, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return names[np.where(counts[codes] > 1, codes, counts.argmax())]


def cluster_each_view(
    model: LMVSC, rows: Views, *, seed: int, groups: Groups = None
) -> tuple[list[Labels | None], list[str | None]]:
    """The labels of ``rows`` by each view alone, or None and the reason why there are none.

    A row that lacks the view has label -1.
    """
    present = rows.present
    labels: list[Labels | None] = []
    problems: list[str | None] = []
    for view in range(rows.n_views):
        try:
            there = np.arange(len(rows)) if present is None else np.flatnonzero(present[:, view])
            if len(there) == 0:
                raise ValueError("none of the rows has this view")
            own = np.full(len(rows), -1, np.int32)
            own[there] = refit(
                model, rows[there], seed=seed, view=view,
                groups=None if groups is None else groups[there],
            )  # fmt: skip
            labels.append(own)
            problems.append(None)
        except ValueError as error:  # a sample of one view may be too poor to be clustered
            labels.append(None)
            problems.append(str(error))
    return labels, problems


def measure_agreement(
    whole: Labels, alone: list[Labels | None], names: list[str]
) -> dict[str, Any]:
    """The agreement of all pairs among the views' own clusterings and the whole's (last)."""
    known = {name: labels for name, labels in zip(names, alone, strict=True) if labels is not None}
    partitions = [*known.values(), whole]

    def table(score: Any) -> list[list[float]]:
        return [[round(_on_common(score, a, b), 4) for b in partitions] for a in partitions]

    return {"names": list(known), "nmi": table(metrics.nmi), "ari": table(metrics.ari)}


def _on_common(score: Any, a: Labels, b: Labels) -> float:
    """Score two clusterings of the rows that both know."""
    both = (a >= 0) & (b >= 0)
    return float(score(a[both], b[both])) if both.any() else 0.0


def best_overlap(labels: Labels, others: Labels, n_clusters: int) -> Array:
    """How well each cluster is found again: its largest Jaccard index with a cluster of ``others``.

    Examples
    --------
    >>> best_overlap(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 7]), 2).round(2).tolist()
    [0.67, 0.5]
    """
    labels, others = labels[others >= 0], others[others >= 0]
    codes = np.unique(others, return_inverse=True)[1]
    shape = (n_clusters, int(codes.max()) + 1)
    both = np.bincount(np.ravel_multi_index((labels, codes), shape), minlength=np.prod(shape))
    both = both.reshape(shape)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    overlap: Array = (both / np.maximum(either, 1)).max(axis=1)
    return overlap


def only_views(overlaps: Array, names: list[str]) -> list[str | None]:
    """Name, for each cluster, the only view that sees it; "" if none does, None if several do.

    A view sees a cluster if its own clustering has one that overlaps it by 0.6 or more, and does not
    if all overlap it by less than 0.4. ``overlaps`` is clusters by views.

    Examples
    --------
    >>> only_views(np.array([[0.9, 0.1], [0.9, 0.8], [0.2, 0.3]]), ["a", "b"])
    ['a', None, '']
    """
    result: list[str | None] = []
    for row in overlaps:
        order = np.argsort(-row, kind="stable")
        if row[order[0]] < UNSEEN:
            result.append("")
        elif len(row) > 1 and row[order[0]] >= SEEN and row[order[1]] < UNSEEN:
            result.append(names[order[0]])
        else:
            result.append(None)
    return result


def measure_stability(
    model: LMVSC,
    rows: Views,
    labels: Labels,
    embedding: Array,
    *,
    seed: int,
    groups: Groups = None,
) -> dict[str, Any] | None:
    """How far clusters by other seeds agree with the labels, and how well each is found again.

    Every other anchor seed of the fit embeds rows by itself, and so do those between: rows are clustered
    by either half of their ``embedding``. Where there is only one seed, they are fitted again with
    another; None if the sample cannot be.
    """
    k = len(model.cluster_centers_)
    parts = model.model_.embedding.split(embedding)
    try:
        if len(parts) > 1:
            again = [_cluster(np.hstack(parts[half::2]), k, seed) for half in (0, 1)]
        else:
            again = [refit(model, rows, seed=seed, groups=groups)]
    except ValueError:
        return None
    overlaps = np.mean([best_overlap(labels, other, k) for other in again], axis=0)
    return {
        "ari": [round(metrics.ari(labels, other), 4) for other in again],
        "nmi": [round(metrics.nmi(labels, other), 4) for other in again],
        "clusters": [round(float(value), 4) for value in overlaps],
    }


def _cluster(embedding: Array, n_clusters: int, seed: int) -> Labels:
    start = find_starts(embedding, None, n_clusters, seed=seed)["ward"]
    return improve_centers(embedding, start)[0]
