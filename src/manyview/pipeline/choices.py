"""What a fit chose by itself, and why; and how its solver went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyview.checks import is_auto
from manyview.errors import RankWarning, warn_user
from manyview.pipeline.fit import Outcome, Result
from manyview.pipeline.settings import Settings
from manyview.views.container import Views

Choice = dict[str, Any]
"""``parameter``, ``value`` and ``why``, all fit for JSON."""


def explain(params: Mapping[str, Any], names: Sequence[str], result: Result) -> list[Choice]:
    """The choices behind every parameter in ``params`` that is, or contains, "auto".

    ``names`` are the views' names, and ``result`` is what the fit found.
    """
    return [
        {"parameter": parameter, "value": value, "why": why}
        for parameter, value, why in _reasons(names, result)
        if _is_left_open(params[parameter])
    ]


def _is_left_open(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_left_open, value))
    return is_auto(value)


def _reasons(names: Sequence[str], result: Result) -> Iterator[tuple[str, Any, str]]:
    """Parameters that can be left open, what each became, and why."""
    settings, suggestion = result.settings, result.suggestion
    if suggestion is not None:
        yield "n_clusters", suggestion.n_clusters, suggestion.why()
    for name, scaler, kind in zip(names, result.model.scalers, settings.scaling, strict=True):
        if kind == "auto":
            yield "scaling", {name: scaler.kind}, scaler.why
    weights = {name: round(float(w), 4) for name, w in zip(names, result.view_weights, strict=True)}
    yield "view_weights", weights, _why_weights(weights)
    yield "fusion", settings.fusion, _why_fusion(settings, len(names))
    n_anchors = max(len(graph.anchors) for graph in result.model.graphs)
    yield "n_anchors", n_anchors, _why_anchors(n_anchors, result)
    why = "a hundredth of a view's energy keeps graph rows sparse and stable"
    yield "alpha", settings.alpha[0], why
    why = "enough to prefer near anchors, too little to cut the graph apart"
    yield "locality", settings.locality, why
    yield "n_repeats", settings.n_repeats, _why_repeats(settings)
    n_components = max(len(basis.singular_values) for basis in result.bases)
    why = (
        "half as many vectors again as clusters, without those that sit on a handful of rows, "
        "weighted by their strength"
    )
    yield "n_components", n_components, why


def _why_weights(weights: Mapping[str, float]) -> str:
    if len(weights) < 3:
        return "which of two views is the odd one cannot be told, so they count alike"
    low = [name for name, w in weights.items() if w < 0.5 * max(weights.values())]
    if low:
        return f"{', '.join(low)}: agrees with the other views by little or not at all"
    return "every view agrees with the others about as much as the best does"


def _why_fusion(settings: Settings, n_views: int) -> str:
    if n_views == 1:
        return "there is one view"
    if settings.fusion == "late":
        return "anchors were given for each view"
    return "what only some views see is averaged away in one graph a view, and kept in one of all"


def _why_anchors(count: int, result: Result) -> str:
    if not isinstance(result.settings.anchor_method, str):
        return "as many as were given"
    if count > result.settings.n_anchors[0]:
        return "more than usual, because samples that lack views are placed by fewer of them"
    if count < 300 and all(scaler.is_like_text for scaler in result.model.scalers):
        return (
            "a tenth of the rows, as nearly all is zero, but two a cluster: means of fewer are odd"
        )
    if count < 300:
        return "a third of the rows, but as many as clusters at least"
    return "as many as clusters" if count > 300 else "more than 300 hardly help"


def _why_repeats(settings: Settings) -> str:
    if not isinstance(settings.anchor_method, str):
        return "given anchors are the same every time"
    if settings.n_repeats < 3:
        return "more sets of anchors would fill a gigabyte: views are very wide"
    why = "embeddings from several anchor seeds side by side vary less"
    return f"{why}; few rows vary more, and cost little" if settings.n_repeats > 3 else why


def describe_solver(views: Views, result: Result) -> dict[str, Any]:
    """The rows solved, and for each graph what it was made with and the anchors a row uses."""
    graphs = result.model.graphs
    ends = np.cumsum([len(graph.anchors) for graph in graphs])
    entries = [int(part.sum()) for part in np.split(result.n_entries, ends[:-1])]
    return {
        "n_rows": views.n_rows,
        "n_failed": result.n_failed,
        "graphs": [
            {
                "views": [views.names[v] for v in graph.views],
                "n_anchors": len(graph.anchors),
                "alpha": graph.alpha,
                "locality": graph.locality,
                "weight": graph.weight,
                "repeat": graph.repeat,
                "method": graph.method,
                "n_rows": int(n_solved),
                "mean_support": count / max(int(n_solved), 1),
            }
            for graph, count, n_solved in zip(graphs, entries, result.n_solved, strict=True)
        ],
    }


def warn_of_doubts(outcome: Outcome) -> None:
    """Warn of graph rows that were not solved, and of fewer singular vectors than asked for."""
    if outcome.n_failed:
        warn_user(
            f"{outcome.n_failed} graph rows were not solved to tolerance; a larger alpha makes "
            "the problems better conditioned.",
            ConvergenceWarning,
        )
    n_wanted = outcome.settings.n_components or outcome.settings.known_clusters
    if outcome.rank < n_wanted:
        warn_user(
            f"The fused graph has only {outcome.rank} useful singular vectors of the "
            f"{n_wanted} asked for (few distinct rows or anchors); those are used. "
            "More anchors or fewer clusters would help.",
            RankWarning,
        )
