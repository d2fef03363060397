"""What a fit would do, and cost: settled by the library itself, timed on a few of the rows."""

from __future__ import annotations

import os
import warnings
from typing import Any

from manyview import LMVSC, Views
from manyview.engines.base import TILE_ROWS
from manyview.pipeline.settings import Settings, resolve
from manyview.stages.sampling import count_sample_rows

_ENTRY_BYTES = 12  # a value and a column number of a sparse row
_KEPT_BYTES = 256 << 20  # graph rows that are always kept
_OWN_BYTES = 300 << 20  # the program and its libraries
_MOST_PROBED = 8 * TILE_ROWS
_COMPILING_ROWS = 512


def plan_fit(views: Views, n_clusters: Any) -> dict[str, Any]:
    """Give the settings that a fit would use, as JSON."""
    settings = resolve(LMVSC(n_clusters).get_params(), views)
    return {
        "n_clusters": n_clusters,
        "n_anchors": list(settings.n_anchors),
        "alpha": list(settings.alpha),
        "fusion": settings.fusion,
        "n_repeats": settings.n_repeats,
        "view_weights": settings.view_weights,
        "engine": "memory" if views.is_in_memory else "disk",
    }


def measure_cost(views: Views, n_clusters: Any) -> dict[str, Any]:
    """Give the seconds and bytes that a fit would take, from one of some of the rows.

    Stages whose work grows with the rows are scaled by their number, choosing anchors by the size of
    its sample. Good to a factor of about two.
    """
    n_rows = min(views.n_rows, _MOST_PROBED, TILE_ROWS * max(2, 2 * _cores()))
    # Rows from the whole file, in whole stretches: a file is often sorted.
    part = _stretches(views, n_rows)
    settings = resolve(LMVSC(n_clusters).get_params(), views)
    model = LMVSC(n_clusters, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LMVSC(min(2, n_rows), random_state=0).fit(part[:_COMPILING_ROWS])
        model.fit(part)
    seconds = _scale(model.stage_seconds_, views.n_rows, n_rows, settings)
    return {
        "seconds": seconds,
        "total_seconds": sum(seconds.values()),
        "bytes": _count_bytes(model, views, settings),
        "probed_rows": n_rows,
        "n_anchors": _count_anchors(model),
        "scaling": dict(zip(model.view_names_, model.scaling_, strict=True)),
    }


def _count_anchors(model: LMVSC) -> list[int]:
    """Give the numbers of anchors of single views: fewer for text, or where few samples have a view."""
    graphs = model.solver_report_["graphs"]
    return sorted({graph["n_anchors"] for graph in graphs if len(graph["views"]) == 1})


def _cores() -> int:
    return os.cpu_count() or 1


def _stretches(views: Views, n_rows: int) -> Views:
    import numpy as np

    if views.n_rows <= n_rows:
        whole: Views = views[:]
        return whole
    n_parts = 8
    length = n_rows // n_parts
    starts = np.linspace(0, views.n_rows - length, n_parts).astype(np.int64)
    picked: Views = views[np.unique((starts[:, None] + np.arange(length)).ravel())]
    return picked


def _scale(
    measured: dict[str, float], n_rows: int, n_probed: int, settings: Settings
) -> dict[str, float]:
    sampled = min(n_rows, count_sample_rows(max(settings.n_anchors))) / n_probed
    grown = {"anchors": sampled, "sample": sampled}
    fixed = ("spectrum", "number of clusters")  # of the anchors, and of a small sample
    return {
        stage: seconds * (1.0 if stage in fixed else grown.get(stage, n_rows / n_probed))
        for stage, seconds in measured.items()
    }


def _count_bytes(model: LMVSC, views: Views, settings: Settings) -> int:
    """Give the most memory that a fit takes, all it holds at once added up."""
    from manyview.cli.diagnosis import count_bytes

    n = views.n_rows
    stored = sum(count_bytes(array) for array in views.arrays)
    graphs = model.solver_report_["graphs"]
    support = sum(graph["mean_support"] for graph in graphs)
    anchors = sum(graph["n_anchors"] for graph in graphs)
    width = model.cluster_centers_.shape[1]
    embedding = n * (8 * width + 4)
    graph_rows = min(n * support * _ENTRY_BYTES, max(_KEPT_BYTES, stored / 4))
    sample = min(n, count_sample_rows(max(settings.n_anchors)))
    sampled = sample * sum(views.n_features) * 12  # scaled once, in single precision, and raw
    gram = 3 * 8 * anchors**2
    data = stored if views.is_in_memory else 0
    return int(_OWN_BYTES + data + embedding + graph_rows + sampled + gram)
