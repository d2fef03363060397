"""What a fit chose by itself, and why; and how its solver went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyview.checks import is_auto
from manyview.errors import RankWarning, warn_user
from manyview.pipeline.model import FittedModel
from manyview.pipeline.outcome import Outcome, Result
from manyview.pipeline.pilot import LEAD, Decision
from manyview.pipeline.settings import MANY_CLUSTERS, Settings
from manyview.stages.scaling import Scaler
from manyview.views.container import Views
from manyview.wording import count as in_words

Choice = dict[str, Any]
"""``parameter``, ``value`` and ``why``, all fit for JSON."""


class Choices(list[Choice]):
    """Choices, shown as a short table."""

    def __repr__(self) -> str:
        lines = [(c["parameter"], _short(c["value"], 40), _short(c["why"], 90)) for c in self]
        widths = [max((len(line[i]) for line in lines), default=0) for i in (0, 1)]
        return "\n".join(f"{n:<{widths[0]}}  {v:<{widths[1]}}  {why}" for n, v, why in lines)


def _short(value: Any, width: int) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def explain(params: Mapping[str, Any], names: Sequence[str], result: Result) -> list[Choice]:
    """The choices behind every parameter in ``params`` that is, or contains, "auto".

    ``names`` are the views' names, and ``result`` is what the fit found. Fewer anchors than were asked
    for are told, too.
    """
    return [
        {"parameter": parameter, "value": value, "why": why}
        for parameter, value, why in _reasons(names, result)
        if _is_left_open(params[parameter], names)
        or (parameter == "n_anchors" and _n_missing(result))
    ]


def _n_missing(result: Result) -> int:
    """How many anchors of those that were asked for the largest graph does not have."""
    wanted = result.settings.n_anchors
    if wanted is None or result.decision.evident is not None:
        return 0
    return max(max(wanted) - max(len(graph.anchors) for graph in result.model.graphs), 0)


def _is_left_open(value: Any, names: Sequence[str]) -> bool:
    if isinstance(value, Mapping):  # views that it does not name are open
        return any(is_auto(value.get(name, "auto")) for name in names)
    return any(map(is_auto, value)) if isinstance(value, list | tuple) else is_auto(value)


def _reasons(names: Sequence[str], result: Result) -> Iterator[tuple[str, Any, str]]:
    """Parameters that can be left open, what each became, and why."""
    suggestion = result.suggestion
    if suggestion is not None:
        k, why = result.settings.known_clusters, suggestion.why()
        if k > suggestion.n_clusters:
            why = f"partial_labels has {k} numbers; {suggestion.n_clusters} suggested: {why}"
        yield "n_clusters", k, why
    yield from _of_scaling(names, result)
    if result.decision.evident is not None:
        yield from _of_evident(names, result)
    else:
        yield from _of_graphs(names, result)


def _of_scaling(names: Sequence[str], result: Result) -> Iterator[tuple[str, Any, str]]:
    settings, is_evident = result.settings, result.decision.evident is not None
    counts = settings.counts or ("",) * len(names)
    if result.groups is not None:  # rows were scaled before what is common to a group was taken off
        for scaler, count in zip(result.groups.scalers, counts, strict=True):
            yield "scaling", {scaler.name: scaler.kind}, count or scaler.why
        return
    each = zip(names, result.model.scalers, settings.scaling, counts, strict=True)
    for name, scaler, kind, count in each:
        if count and not (is_evident and scaler.kind != kind):
            yield "scaling", {name: kind}, count
        if kind == "mixed":
            why = "some columns are levels, which count alike however rare; numbers become normal scores"
            yield "scaling", {name: kind}, why
        if kind == "auto" or (count and is_evident and scaler.kind != kind):
            yield "scaling", {name: scaler.kind}, _why_kind(scaler, result.decision)


def _of_evident(names: Sequence[str], result: Result) -> Iterator[tuple[str, Any, str]]:
    """The same where a graph of nearest anchors was enough."""
    (graph,) = result.model.graphs
    why = "clusters are evident: each row has that of its nearest anchor"
    used = {
        "view_weights": _weights_of(names, result),
        "fusion": "early" if len(graph.views) > 1 else "late",
        "n_anchors": len(graph.anchors),
        "alpha": graph.alpha,
        "locality": graph.locality,
        "n_neighbors": graph.n_neighbors,
        "n_axes": _count_axes(result),
        "n_repeats": 1,
        "n_components": result.settings.known_clusters,
    }
    for parameter, value in used.items():
        yield parameter, value, why


def _of_graphs(names: Sequence[str], result: Result) -> Iterator[tuple[str, Any, str]]:
    settings = result.settings
    weights = _weights_of(names, result)
    yield "view_weights", weights, _why_weights(weights)
    yield "fusion", settings.fusion, _why_fusion(settings, len(names))
    graphs = result.model.graphs
    n_anchors = max(len(graph.anchors) for graph in graphs)
    yield "n_anchors", n_anchors, _why_anchors(n_anchors, result)
    is_local = any(graph.n_neighbors is not None for graph in graphs)
    chosen = settings.for_graph(1 << 62, is_like_text=not is_local)
    why = "a tenth of a view's energy" if is_local else "a hundredth of a view's energy"
    yield "alpha", chosen.alpha[0], f"{why} keeps graph rows stable"
    why = "enough to prefer near anchors, too little to cut the graph apart"
    yield "locality", chosen.locality, "only near anchors are used" if is_local else why
    yield "n_neighbors", chosen.n_neighbors, _why_neighbors(is_local=is_local)
    n_axes = _count_axes(result)
    why = (
        "text and levels say little in few directions"
        if n_axes is None
        else "the strongest say most"
    )
    yield "n_axes", n_axes, why
    n_repeats, by_gap = graphs[-1].repeat + 1, result.decision.by_gap
    if n_repeats < settings.n_repeats and not by_gap:
        why = "all find the clusters of a sample; the other rows go through the graphs of the first"
        yield "n_repeats", settings.n_repeats, why
    else:
        yield "n_repeats", n_repeats, _why_repeats(settings, by_gap=by_gap)
    n_components = max(transform.shape[1] for transform in result.model.embedding.transforms)
    yield "n_components", n_components, _why_components(result.decision)


def _why_components(decision: Decision) -> str:
    if decision.by_gap:
        return "as many as clusters: the spectrum falls clearly after them"
    return (
        "half as many vectors again as clusters, without those that sit on a handful of rows, "
        "weighted by their strength"
    )


def _weights_of(names: Sequence[str], result: Result) -> dict[str, float]:
    weights = zip(names, result.view_weights, strict=True)
    return {name: round(float(weight), 4) for name, weight in weights}


def _count_axes(result: Result) -> int | None:
    axes = [scaler.axes for scaler in result.model.scalers]
    return max((len(each.variances) for each in axes if each is not None), default=None)


def _why_neighbors(*, is_local: bool) -> str:
    if is_local:
        return "with many rows, the nearest of many anchors follow the shape of clusters"
    return "few rows, or text: all anchors together place them best"


def _why_kind(scaler: Scaler, decision: Decision) -> str:
    """The figures of the kinds that were tried, or what the view looks like."""
    evident = decision.evident
    if evident is not None and evident.apart is not None:
        return (
            f"rows fall into so many pieces, {evident.apart:.2f} times as far apart as neighbours "
            "within them, so they are the answer"
        )
    if evident is not None and evident.bound is not None:
        return (
            f"rows are bound into so many pieces: to cut one more would lose {evident.bound:.1f} "
            "times as much, so they are the answer"
        )
    if evident is not None:
        return (
            f"k-means' clusters are evident: each is {evident.clearness:.2f} clear of the next "
            "in the mean, so they are the answer"
        )
    if len(decision.trials) < 2:
        return scaler.why
    word = "gap" if decision.by_gap else "modularity"
    tried = ", ".join(f"{kind} {getattr(t, word):.2f}" for kind, t in decision.trials.items())
    about = "" if decision.by_gap else f'; kinds other than "auto" may be up to {LEAD:g} behind'
    has_none = scaler.kind == "standard" and "standard" not in decision.trials
    own = "; this view has no logarithm, so it is standardised" if has_none else ""
    return f"of the kinds tried on a few rows, the largest {word}: {tried}{about}{own}"


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
    if n_missing := _n_missing(result):
        why = "not so many rows differ, count, and have all views"
        return f"{count + n_missing} were asked for: {why}"
    if any(graph.n_neighbors is not None for graph in result.model.graphs):
        return "many, as rows use the nearest only, but a sixth of the rows at most"
    if count < 300 and all(scaler.is_like_text for scaler in result.model.scalers):
        return (
            "a tenth of the rows, as nearly all is zero, but two a cluster: means of fewer are odd"
        )
    if count < 300:
        return "a third of the rows, fewer if rows repeat, but as many as clusters at least"
    return "as many as clusters" if count > 300 else "more than 300 hardly help"


def _why_repeats(settings: Settings, *, by_gap: bool) -> str:
    if not isinstance(settings.anchor_method, str):
        return "given anchors are the same every time"
    if by_gap:
        return "clusters stand apart in the spectrum, whatever the anchors"
    if settings.known_clusters >= MANY_CLUSTERS and settings.n_repeats < 3:
        return "of so many clusters vectors cost much, and more seeds gain little"
    if settings.n_repeats < 3:
        return "of so many rows a third changes little; of very wide views it would fill a gigabyte"
    why = "embeddings from several anchor seeds side by side vary less"
    return f"{why}; few rows vary more, and cost little" if settings.n_repeats > 3 else why


def describe_encodings(views: Views) -> list[Choice]:
    """What became of columns that are no numbers, for each view that has some."""
    return [
        {
            "parameter": "categories",
            "value": {name: encoding.summary()},
            "why": "columns that are no numbers become numbers, or are left out",
        }
        for name, encoding in zip(views.names, views.encodings, strict=True)
        if encoding is not None
    ]


def describe_update(n_rows: int, n_clusters: int, model: FittedModel) -> Choice:
    """What new rows changed in a model of ``n_clusters``."""
    n_new = len(model.centers) - n_clusters
    return {
        "parameter": "update",
        "value": in_words(n_new, "new cluster"),
        "why": f"{in_words(n_rows, 'row')} more, "
        + ("some of which nothing known explains" if n_new else "none of which open a cluster"),
    }


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
