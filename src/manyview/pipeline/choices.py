"""What a fit chose by itself, and why; and how its solver went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyview.checks import is_auto
from manyview.errors import RankWarning, warn_user
from manyview.pipeline.fit import Outcome, Result
from manyview.views.container import Views

Choice = dict[str, Any]
"""``parameter``, ``value`` and ``why``, all fit for JSON."""


def explain(params: Mapping[str, Any], names: Sequence[str], result: Result) -> list[Choice]:
    """The choices behind every parameter in ``params`` that is, or contains, "auto".

    ``names`` are the views' names, and ``result`` is what the fit found.
    """
    reasons = {
        "n_clusters": _n_clusters,
        "scaling": _scaling,
        "view_weights": _view_weights,
        "fusion": _fusion,
        "n_anchors": _n_anchors,
        "alpha": _alpha,
        "locality": _locality,
        "n_repeats": _n_repeats,
        "n_components": _n_components,
    }
    return [
        {"parameter": parameter, "value": value, "why": why}
        for parameter, reason in reasons.items()
        if _is_left_open(params[parameter])
        for value, why in reason(names, result)
    ]


def _is_left_open(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_left_open, value))
    return is_auto(value)


Reasons = Iterator[tuple[Any, str]]


def _n_clusters(names: Sequence[str], result: Result) -> Reasons:
    suggestion = result.suggestion
    assert suggestion is not None
    yield suggestion.n_clusters, suggestion.why()


def _scaling(names: Sequence[str], result: Result) -> Reasons:
    for name, scaler, kind in zip(
        names, result.model.scalers, result.settings.scaling, strict=True
    ):
        if kind == "auto":
            yield {name: scaler.kind}, scaler.why


def _view_weights(names: Sequence[str], result: Result) -> Reasons:
    weights = {name: round(float(w), 4) for name, w in zip(names, result.view_weights, strict=True)}
    if len(names) < 3:
        yield weights, "which of two views is the odd one cannot be told, so they count alike"
        return
    low = [name for name, w in weights.items() if w < 0.5 * max(weights.values())]
    if low:
        yield weights, f"{', '.join(low)}: agrees with the other views by little or not at all"
    else:
        yield weights, "every view agrees with the others about as much as the best does"


def _fusion(names: Sequence[str], result: Result) -> Reasons:
    if len(names) == 1:
        yield result.settings.fusion, "there is one view"
    elif result.settings.fusion == "late":
        yield result.settings.fusion, "anchors were given for each view"
    else:
        why = (
            "what only some views see is averaged away in one graph a view, and kept in one of all"
        )
        yield result.settings.fusion, why


def _n_anchors(names: Sequence[str], result: Result) -> Reasons:
    usual = result.settings.n_anchors[0]
    count = max(len(graph.anchors) for graph in result.model.graphs)
    why = "more than 300 hardly help"
    if not isinstance(result.settings.anchor_method, str):
        why = "as many as were given"
    elif count > usual:
        why = "more than usual, because samples that lack views are placed by fewer of them"
    elif count < 300 and all(scaler.is_like_text for scaler in result.model.scalers):
        why = (
            "a tenth of the rows, as nearly all is zero, but two a cluster: means of fewer are odd"
        )
    elif count < 300:
        why = "a third of the rows, but as many as clusters at least"
    elif count > 300:
        why = "as many as clusters"
    yield count, why


def _alpha(names: Sequence[str], result: Result) -> Reasons:
    yield (
        result.settings.alpha[0],
        "a hundredth of a view's energy keeps graph rows sparse and stable",
    )


def _locality(names: Sequence[str], result: Result) -> Reasons:
    why = "enough to prefer near anchors, too little to cut the graph apart"
    yield result.settings.locality, why


def _n_repeats(names: Sequence[str], result: Result) -> Reasons:
    why = "embeddings from several anchor seeds side by side vary less"
    if not isinstance(result.settings.anchor_method, str):
        why = "given anchors are the same every time"
    elif result.settings.n_repeats < 3:
        why = "more sets of anchors would fill a gigabyte: views are very wide"
    elif result.settings.n_repeats > 3:
        why += "; few rows vary more, and cost little"
    yield result.settings.n_repeats, why


def _n_components(names: Sequence[str], result: Result) -> Reasons:
    counts = [len(basis.singular_values) for basis in result.bases]
    yield (
        int(np.max(counts)),
        (
            "half as many vectors again as clusters, without those that sit on a handful of rows, "
            "weighted by their strength"
        ),
    )


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
