"""Why rows are where they are: features, anchors, and what each view says of each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.explain.features import find_features
from manyview.explain.votes import Votes, cast_votes, graph_parts
from manyview.pipeline.model import FittedModel
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import Array, unit_rows
from manyview.views import frames
from manyview.views.container import Views

TOGETHER = "all views"
"""The speaker that is the graph of all views side by side."""

Table = dict[str, Any]
"""Columns by name: lists and arrays of the same length."""

_ROWS = 4096
_FEATURES = (
    "cluster", "view", "column", "effect", "inside", "outside", "present_inside", "present_outside",
)  # fmt: skip
_OF_SAMPLES = ("row", "id", "cluster", "second", "margin", "for", "against")
_ANCHORS = ("cluster", "views", "graph", "anchor", "closeness", "share")


@dataclass(frozen=True, repr=False)
class Explanation:
    """Tables that say what clusters are made of; ``pandas.DataFrame(table)`` takes each as it is.

    Attributes
    ----------
    features : dict
        One entry a cluster and feature, those that set the cluster apart: ``cluster``, ``view``,
        ``column``, ``effect`` (mean inside less mean of the others, in standard deviations),
        ``inside`` and ``outside`` (the means), ``present_inside`` and ``present_outside`` (shares of
        values that are not zero). Empty without rows.
    anchors : dict
        One entry a cluster and anchor, those that carry it: ``cluster``, ``views`` (what the anchor's
        graph sees), ``graph`` and ``anchor`` (it is ``model.anchors_[graph][anchor]``), ``closeness``
        (cosine between its direction in the embedding and the cluster's), ``share`` (of the weight
        that the cluster's rows put on anchors of that graph; NaN without rows).
    samples : dict
        One entry a row: ``row``, ``id``, ``cluster``, ``second`` (the next cluster, -1 if there is
        none), ``margin`` (squared distance to its centre less that to the own; small is doubtful), a
        vote for each view and, if they are also fused side by side, for "all views"; the votes sum to
        the margin. ``for`` is who speaks for the cluster most, ``against`` who speaks against it most,
        "" if no one does. A view whose name is one of these columns' is called "vote: NAME". Empty
        without rows.
    view_names : tuple of str
        Names of the views.
    n_rows : int
        Rows there were; ``samples`` has fewer if they are many.
    """

    features: Table
    anchors: Table
    samples: Table
    view_names: tuple[str, ...]
    n_rows: int

    def to_dict(self) -> dict[str, Table]:
        """Give all tables as lists of plain values, ready for ``json.dump``."""
        return {
            name: {column: np.asarray(values).tolist() for column, values in table.items()}
            for name, table in self._tables().items()
        }

    def to_frame(self, table: str = "features", *, kind: str = "pandas") -> Any:
        """Give one table as a data frame.

        Parameters
        ----------
        table : {"features", "anchors", "samples"}
            Which.
        kind : {"pandas", "polars", "pyarrow"}
            Which library's.
        """
        if table not in self._tables():
            raise ValueError(f"table must be one of {list(self._tables())}; got {table!r}.")
        return frames.make_frame(self._tables()[table], kind)

    def _tables(self) -> dict[str, Table]:
        return {"features": self.features, "anchors": self.anchors, "samples": self.samples}

    def __repr__(self) -> str:
        if not len(self.samples["row"]):
            return (
                f"Explanation of anchors only ({len(self.anchors['anchor'])} listed): pass the rows, "
                "model.explain(X), for features and for what the views say."
            )
        shown = len(self.samples["row"])
        of_all = "" if shown == self.n_rows else f" of {self.n_rows}"
        return "\n".join([f"Explanation of {shown}{of_all} rows", *self._describe_clusters()])

    def _describe_clusters(self) -> Iterator[str]:
        clusters, speakers = np.asarray(self.samples["cluster"]), np.asarray(self.samples["for"])
        opposed = np.asarray(self.samples["against"]) != ""
        for cluster in np.unique(clusters):
            inside = clusters == cluster
            names, counts = np.unique(speakers[inside], return_counts=True)
            against = opposed[inside].mean()
            yield (
                f"  cluster {cluster}: {inside.sum()} rows, spoken for mostly by "
                f"{names[counts.argmax()]} ({counts.max() / inside.sum():.0%}), some view against in "
                f"{against:.0%}"
            )
            listed = [
                f"{view} {column} {effect:+.1f} sd"
                for own, view, column, effect in zip(
                    *(self.features[c] for c in ("cluster", "view", "column", "effect")),
                    strict=True,
                )
                if own == cluster
            ]
            yield f"    {'; '.join(listed[:3]) or 'no feature sets it apart'}"


def explain_rows(
    model: FittedModel, views: Views | None, *, n_listed: int = 5, max_rows: int = 20_000
) -> Explanation:
    """Explain rows by a fitted model; see :class:`Explanation`.

    Parameters
    ----------
    model : FittedModel
        The model.
    views : Views or None
        The rows; None explains anchors only.
    n_listed : int
        Features of each view, and anchors, listed for each cluster.
    max_rows : int
        Rows looked at, at equal distances.
    """
    names = tuple(scaler.name for scaler in model.scalers)
    if views is None:
        anchors = _list_anchors(model, None, names, n_listed)
        return Explanation({name: [] for name in _FEATURES}, anchors, {"row": []}, names, 0)
    n_rows = views.n_rows
    chosen = spread_evenly(n_rows, max_rows)
    rows: Views = views[chosen].load()
    votes, weights = _look_at(model, rows)
    samples = {"row": chosen, "id": chosen if rows.ids is None else rows.ids}
    samples |= _list_samples(model, votes, names)
    features = _list_features(rows, votes.labels, len(model.centers), n_listed)
    anchors = _list_anchors(model, weights, names, n_listed)
    return Explanation(features, anchors, samples, names, n_rows)


def _look_at(model: FittedModel, rows: Views) -> tuple[Votes, list[Array]]:
    """Give the votes on all rows, and the weight that clusters put on each graph's anchors, (k, m)."""
    k = len(model.centers)
    weights = [np.zeros((k, len(graph.anchors))) for graph in model.graphs]
    parts = []
    for start in range(0, rows.n_rows, _ROWS):
        tile = model.graph_rows([array[start : start + _ROWS] for array in rows.arrays], start)
        votes = cast_votes(model, tile)
        parts.append(votes)
        n = len(votes.labels)
        members = sparse.csr_array((np.ones(n), (votes.labels, np.arange(n))), shape=(k, n))
        for total, part in zip(weights, graph_parts(model), strict=True):
            total += (members @ tile.parts[part.graph.repeat][:, part.anchors]).toarray()
    joined = Votes(
        *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Votes))
    )
    return joined, weights


def _list_samples(model: FittedModel, votes: Votes, names: tuple[str, ...]) -> Table:
    speakers = [
        _speaker(names[g.views[0]]) if len(g.views) == 1 else TOGETHER for g in model.graphs
    ]
    by_speaker = {
        speaker: votes.by_graph[:, [name == speaker for name in speakers]].sum(axis=1)
        for speaker in dict.fromkeys(speakers)
    }
    all_votes = np.column_stack(list(by_speaker.values()))
    who = np.array([*by_speaker, ""])
    opposes = all_votes.min(axis=1) < 0
    return {
        "cluster": votes.labels,
        "second": votes.second,
        "margin": votes.margin,
        **by_speaker,
        "for": who[all_votes.argmax(axis=1)],
        "against": who[np.where(opposes, all_votes.argmin(axis=1), len(by_speaker))],
    }


def _speaker(name: str) -> str:
    """Give what a view is called among the columns of samples."""
    return f"vote: {name}" if name in (*_OF_SAMPLES, TOGETHER) else name


def _list_features(
    rows: Views, labels: npt.NDArray[np.integer], n_clusters: int, n_listed: int
) -> Table:
    found = find_features(rows, labels, n_clusters, n_listed=n_listed)
    listed = [{"cluster": c, **feature} for c, of_one in enumerate(found) for feature in of_one]
    return {name: [feature[name] for feature in listed] for name in _FEATURES}


def _list_anchors(
    model: FittedModel, weights: list[Array] | None, names: tuple[str, ...], n_listed: int
) -> Table:
    """List the anchors that carry each cluster: by the weight on them, or else by their direction."""
    listed: list[tuple[int, float, dict[str, Any]]] = []
    for g, part in enumerate(graph_parts(model)):
        closeness = unit_rows(model.centers[:, part.columns]) @ unit_rows(part.transform).T
        shares = np.full_like(closeness, np.nan)
        if weights is not None:
            shares = weights[g] / np.maximum(weights[g].sum(axis=1, keepdims=True), 1e-300)
        seen = ", ".join(names[v] for v in part.graph.views)
        rank = closeness if weights is None else shares
        for cluster, row in enumerate(rank):
            for anchor in np.argsort(-row, kind="stable")[:n_listed]:
                facts = {
                    "cluster": cluster,
                    "views": seen,
                    "graph": g,
                    "anchor": int(anchor),
                    "closeness": float(closeness[cluster, anchor]),
                    "share": float(shares[cluster, anchor]),
                }
                listed.append((cluster, -float(row[anchor]), facts))
    listed.sort(key=lambda item: item[:2])
    kept = [
        facts
        for cluster in range(len(model.centers))
        for _, _, facts in [item for item in listed if item[0] == cluster][:n_listed]
    ]
    return {name: [facts[name] for facts in kept] for name in _ANCHORS}
