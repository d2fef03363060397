"""What a view looks like, what could go wrong with it, and what a fit would do and cost."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview import LMVSC, Views
from manyview.engines.base import TILE_ROWS
from manyview.machine import count_jobs
from manyview.pipeline.settings import Settings, resolve
from manyview.report.summary import count_repeated
from manyview.sources import is_source
from manyview.stages.sampling import size_of_sample
from manyview.views.selection import split_rows
from manyview.wording import first_few

_SAMPLE_ROWS = 20_000
_ENTRY_BYTES = 12  # a value and a column number of a sparse row
_KEPT_BYTES = 256 << 20  # graph rows that are always kept
_OWN_BYTES = 300 << 20  # the program and its libraries
_MOST_PROBED = 8 * TILE_ROWS
_COMPILING_ROWS = 512
_STRETCHES = 8


def describe_view(name: str, data: Any, columns: Sequence[str] | None) -> dict[str, Any]:
    """Facts and likely problems of one view (array, csr_array or source), from a sample of rows."""
    rows, present = split_rows(_sample_rows(data))
    floats = np.asarray(rows.data if sparse.issparse(rows) else rows, dtype=np.float64)
    finite, deviation = floats[np.isfinite(floats)], _deviations(rows)
    spread = deviation[(deviation > 0) & np.isfinite(deviation)]
    n_cells = rows.shape[0] * rows.shape[1]
    facts: dict[str, Any] = {
        "name": name,
        "n_rows": int(data.shape[0]),
        "n_columns": int(data.shape[1]),
        "dtype": str(data.dtype),
        "is_sparse": bool(sparse.issparse(rows)),
        "is_on_disk": bool(is_source(data)),
        "bytes": _count_bytes(data),
        "sampled_rows": int(rows.shape[0]),
        "zeros": 1 - float(np.count_nonzero(floats)) / n_cells if n_cells else 0.0,
        "missing": int(np.isnan(floats).sum()),
        "missing_rows": 0 if present is None else int((~present).sum()),
        "infinite": int(np.isinf(floats).sum()),
        "constant_columns": int((deviation == 0).sum()),
        "least": float(finite.min()) if finite.size else None,
        "greatest": float(finite.max()) if finite.size else None,
        "smallest_deviation": float(spread.min()) if len(spread) else 0.0,
        "largest_deviation": float(spread.max()) if len(spread) else 0.0,
        "repeated_rows": count_repeated([rows]) / max(rows.shape[0], 1),
    }
    names = np.asarray(columns or range(data.shape[1]))
    facts["problems"] = _find_problems(facts, names[deviation == 0].tolist())
    return facts


def _sample_rows(data: Any) -> Any:
    """Rows spread evenly over a view, in memory."""
    n = data.shape[0]
    if n <= _SAMPLE_ROWS:
        return data.read(0, n) if is_source(data) else data
    numbers = np.linspace(0, n - 1, _SAMPLE_ROWS).astype(np.int64)
    return data.take(numbers) if is_source(data) else data[numbers]


def _count_bytes(data: Any) -> int:
    """The memory that a view takes, or would take, in its own type."""
    if is_source(data):
        return int(data.row_bytes * data.shape[0])
    parts = (data.data, data.indices, data.indptr) if sparse.issparse(data) else (data,)
    return sum(part.nbytes for part in parts)


def _deviations(rows: Any) -> npt.NDArray[np.float64]:
    """The deviation of each column, missing and infinite values left out."""
    if rows.shape[0] == 0:
        return np.full(rows.shape[1], np.nan)
    if sparse.issparse(rows):
        rows = rows.astype(np.float64)
        mean = np.asarray(rows.mean(axis=0)).ravel()
        square = np.asarray(rows.multiply(rows).mean(axis=0)).ravel()
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
    table = np.where(np.isfinite(rows), rows, np.nan).astype(np.float64)
    known = np.isfinite(table).any(axis=0)
    deviation = np.zeros(table.shape[1])
    deviation[known] = np.nanstd(table[:, known], axis=0)
    # What is left of rounding is no spread.
    deviation[known] *= deviation[known] > 1e-12 * np.abs(np.nanmean(table[:, known], axis=0))
    return deviation


def _find_problems(facts: dict[str, Any], constant: list[Any]) -> list[str]:
    n_lacking, n_looked_at = facts["missing_rows"], facts["sampled_rows"] + facts["missing_rows"]
    if n_lacking == n_looked_at:
        return [f"no {'sampled ' if n_looked_at < facts['n_rows'] else ''}row has this view"]
    found = []
    if n_lacking:
        found.append(f"{n_lacking} of {n_looked_at} sampled rows lack this view")
    if facts["missing"]:
        found.append(f"{facts['missing']} missing values: fit refuses them, so fill them in first")
    if facts["infinite"]:
        found.append(f"{facts['infinite']} infinite values: fit refuses them")
    if constant:
        found.append(f"{len(constant)} constant column(s) say nothing: {first_few(constant, 3)}")
    if facts["repeated_rows"] > 0.01:
        found.append(f"{facts['repeated_rows']:.0%} of the rows repeat another row")
    if facts["largest_deviation"] > 1e3 * facts["smallest_deviation"]:
        found.append("columns of very different scale: do not fit with --scaling none")
    if facts["n_columns"] == 1:
        found.append("a single column: clusters will be ranges of it")
    return found


def plan_fit(views: Views, n_clusters: Any) -> dict[str, Any]:
    """The settings that a fit would use, as JSON."""
    settings = resolve(LMVSC(n_clusters).get_params(), views)
    of_graph = settings.for_graph(views.n_rows, is_like_text=False)
    return {
        "n_clusters": n_clusters,
        "n_anchors": list(of_graph.n_anchors),
        "alpha": list(of_graph.alpha),
        "fusion": settings.fusion,
        "n_repeats": settings.n_repeats,
        "view_weights": settings.view_weights,
        "engine": "memory" if views.is_in_memory else "disk",
    }


def measure_cost(views: Views, n_clusters: Any) -> dict[str, Any]:
    """The seconds and bytes that a fit would take, from one of some of the rows.

    Stages whose work grows with the rows are scaled by their number, those that look at a sample by
    its size. Good to a factor of about two.
    """
    n_rows = min(views.n_rows, _MOST_PROBED, TILE_ROWS * max(2, 2 * count_jobs()))
    part = _stretches(views, n_rows)
    model = LMVSC(n_clusters, random_state=0)
    settings = resolve(model.get_params(), views)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LMVSC(min(2, n_rows), random_state=0).fit(part[:_COMPILING_ROWS])
        model.fit(part)
    n_sampled = size_of_sample(views.n_rows, settings.most_anchors, settings.n_clusters)
    grown = dict.fromkeys(("sample", "anchors", "clusters"), n_sampled / min(n_rows, n_sampled))
    # Of the anchors, and of a few rows.
    grown |= dict.fromkeys(("pilot", "spectrum", "number of clusters"), 1.0)
    seconds = {
        stage: taken * grown.get(stage, views.n_rows / n_rows)
        for stage, taken in model.stage_seconds_.items()
        if stage != "compiling"
    }
    graphs = model.solver_report_["graphs"]
    return {
        "seconds": seconds,
        "total_seconds": sum(seconds.values()),
        "bytes": _foretell_bytes(model, views, settings),
        "probed_rows": n_rows,
        # Of single views: fewer for text, or where few samples have a view.
        "n_anchors": sorted({g["n_anchors"] for g in graphs if len(g["views"]) == 1}),
        "scaling": dict(zip(model.view_names_, model.scaling_, strict=True)),
    }


def _stretches(views: Views, n_rows: int) -> Views:
    """Rows from the whole file, in whole stretches: a file is often sorted."""
    if views.n_rows <= n_rows:
        return views.load()
    length = n_rows // _STRETCHES
    starts = np.linspace(0, views.n_rows - length, _STRETCHES).astype(np.int64)
    picked: Views = views[np.unique((starts[:, None] + np.arange(length)).ravel())]
    return picked


def _foretell_bytes(model: LMVSC, views: Views, settings: Settings) -> int:
    """The most memory that a fit takes, all it holds at once added up."""
    n = views.n_rows
    n_sampled = size_of_sample(n, settings.most_anchors, settings.n_clusters)
    stored = sum(_count_bytes(array) for array in views.arrays)
    graphs = model.solver_report_["graphs"]
    support = sum(graph["mean_support"] for graph in graphs)
    embedding = n * (8 * model.cluster_centers_.shape[1] + 4)
    graph_rows = min(n * support * _ENTRY_BYTES, max(_KEPT_BYTES, stored / 4))
    sampled = n_sampled * sum(views.n_features) * 12  # scaled once, in single precision, and raw
    gram = 3 * 8 * sum(graph["n_anchors"] for graph in graphs) ** 2
    data = stored if views.is_in_memory else 0
    return int(_OWN_BYTES + data + embedding + graph_rows + sampled + gram)
