"""Why rows are where they are: features, anchors, and what each view contributes to each row."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import gen_batches

from manyview.explain.features import find_features
from manyview.explain.margins import GraphPart, Margins, graph_parts, margins_by_graph
from manyview.pipeline.model import FittedModel
from manyview.stages.graph import GraphTile
from manyview.stages.mapping import unit_rows
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import Array
from manyview.views import frames
from manyview.views.container import Views

TOGETHER = "all views"
"""What the graph of all views side by side is called beside the views."""

Table = dict[str, Any]
"""Columns by name: lists and arrays of the same length."""

_ROWS = 4096
_FEATURES = (
    "cluster", "view", "column", "effect", "inside", "outside", "present_inside", "present_outside",
)  # fmt: skip
_OF_SAMPLES = ("row", "id", "cluster", "second", "margin", "supported_by", "opposed_by")
_ANCHORS = ("cluster", "views", "graph", "anchor", "closeness", "share")


@dataclass(frozen=True, repr=False)
class Explanation:
    r"""Tables that say what clusters are made of; ``pandas.DataFrame(table)`` takes each as it is.

    Attributes
    ----------
    features : dict
        One entry for each cluster and each feature that sets it apart: ``cluster``, ``view``,
        ``column``, ``effect`` (mean inside less mean of the others, in standard deviations),
        ``inside`` and ``outside`` (the means), ``present_inside`` and ``present_outside`` (shares of
        values that are not zero). Empty without rows.
    anchors : dict
        One entry for each cluster and each anchor that carries it: ``cluster``, ``views`` (what the
        anchor's graph sees), ``graph`` and ``anchor`` (it is ``model.anchors_[graph][anchor]``),
        ``closeness`` (cosine between its direction in the embedding and the cluster's), ``share`` (of
        the weight that the cluster's rows put on anchors of that graph; NaN without rows).
    samples : dict
        One entry a row: ``row``, ``id``, ``cluster``, ``second`` (the next cluster, -1 if there is
        none), ``margin`` (squared distance to its centre less that to the own; small is doubtful), the
        share of the margin that each view contributes and, if they are also fused side by side,
        ``all_views`` (that alone, if clusters are evident); the shares sum to the margin.
        ``supported_by`` is the view that contributes most, ``opposed_by`` the one that takes most away,
        "" if none does. A view whose name cannot be an attribute, or is one of these columns', has the
        column ``margin_NAME``, with underscores. Empty without rows.
    view_names : tuple of str
        Names of the views.
    n_rows : int
        Number of rows explained; ``samples`` holds only some of them if there are many.

    See Also
    --------
    manyview.LMVSC.explain : makes it.
    manyview.report.write_report : shows it on a page.

    Notes
    -----
    ``effect`` is (inside - outside) / s, with s the standard deviation of the column over all rows.
    A row of the embedding is a sum of one part from each graph, :math:`q = \sum_g q_g`. So the
    margin between a row's own centre c and the next one, c', is a sum over graphs, too, whose parts are
    the shares of the views:

    .. math::

        \|q - c'\|^2 - \|q - c\|^2 = 2 q^T (c - c') + \|c'\|^2 - \|c\|^2

    The last two terms are shared among the graphs in proportion to their weights.

    Examples
    --------
    >>> from manyview import LMVSC, datasets
    >>> views = datasets.make_views(60, 2, (3, 4), random_state=0)
    >>> why = LMVSC(2, random_state=0).fit(views).explain(views)
    >>> why.to_frame("samples").shape[0]
    60
    """

    features: Table
    anchors: Table
    samples: Table
    view_names: tuple[str, ...]
    n_rows: int

    def to_dict(self) -> dict[str, Table]:
        """All tables as lists of plain values, ready for ``json.dump``."""
        return {
            name: {column: np.asarray(values).tolist() for column, values in table.items()}
            for name, table in self._tables().items()
        }

    def to_frame(self, table: str = "features", *, kind: str = "pandas") -> Any:
        """One table as a data frame.

        Parameters
        ----------
        table : {"features", "anchors", "samples"}
            Which table.
        kind : {"pandas", "polars", "pyarrow"}
            The library whose data frame is made.
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
                "model.explain(X), for features and for what each view contributes."
            )
        shown = len(self.samples["row"])
        of_all = "" if shown == self.n_rows else f" of {self.n_rows}"
        return "\n".join([f"Explanation of {shown}{of_all} rows", *self._describe_clusters()])

    def _describe_clusters(self) -> Iterator[str]:
        clusters, supporters = (
            np.asarray(self.samples["cluster"]),
            np.asarray(self.samples["supported_by"]),
        )
        is_opposed = np.asarray(self.samples["opposed_by"]) != ""
        columns = ("cluster", "view", "column", "effect")
        features = list(zip(*(self.features[name] for name in columns), strict=True))
        for cluster in np.unique(clusters):
            inside = clusters == cluster
            names, counts = np.unique(supporters[inside], return_counts=True)
            yield (
                f"  cluster {cluster}: {inside.sum()} rows, supported most by "
                f"{names[counts.argmax()]} ({counts.max() / inside.sum():.0%} of them), opposed by "
                f"some view in {is_opposed[inside].mean():.0%}"
            )
            listed = [
                f"{view} {name} {effect:+.1f} sd"
                for own, view, name, effect in features
                if own == cluster
            ]
            yield f"    {'; '.join(listed[:3]) or 'no feature sets it apart'}"


def explain_rows(
    model: FittedModel,
    views: Views | None,
    *,
    prepare: Callable[[Views, npt.NDArray[np.int64]], Views] | None = None,
    n_listed: int = 5,
    max_rows: int = 20_000,
) -> Explanation:
    """Explain rows by a fitted model, or, without ``views``, its anchors only.

    For each cluster, ``n_listed`` features of each view and as many anchors are listed; up to
    ``max_rows`` rows are looked at, at equal distances. ``prepare`` makes of rows, and their numbers,
    what the model takes; features are those of the rows as they come.
    """
    names = tuple(scaler.name for scaler in model.scalers)
    if views is None:
        anchors = _list_anchors(model, None, names, n_listed)
        return Explanation({name: [] for name in _FEATURES}, anchors, {"row": []}, names, 0)
    chosen = spread_evenly(views.n_rows, max_rows)
    rows: Views = views[chosen].load()
    margins, weights = _look_at(model, rows if prepare is None else prepare(rows, chosen))
    samples = {"row": chosen, "id": chosen if rows.ids is None else rows.ids}
    samples |= _list_samples(model, margins, names)
    found = find_features(rows, margins.labels, len(model.centers), n_listed=n_listed)
    listed = [{"cluster": c, **feature} for c, of_one in enumerate(found) for feature in of_one]
    features = {name: [feature[name] for feature in listed] for name in _FEATURES}
    anchors = _list_anchors(model, weights, names, n_listed)
    return Explanation(features, anchors, samples, names, views.n_rows)


def _look_at(model: FittedModel, rows: Views) -> tuple[Margins, list[Array]]:
    """The margins of all rows, and the weight that clusters put on each graph's anchors, (k, m)."""
    k = len(model.centers)
    weights = [np.zeros((k, len(graph.anchors))) for graph in model.graphs]
    found = []
    for block in gen_batches(rows.n_rows, _ROWS):
        tile = model.graph_rows([array[block] for array in rows.arrays], block.start)
        margins = margins_by_graph(model, tile)
        found.append(margins)
        n = len(margins.labels)
        members = sparse.csr_array((np.ones(n), (margins.labels, np.arange(n))), shape=(k, n))
        for total, part in zip(weights, graph_parts(model), strict=True):
            total += (members @ tile.parts[part.graph.repeat][:, part.anchors]).toarray()
    return Margins(*map(np.concatenate, zip(*found, strict=True))), weights


def _list_samples(model: FittedModel, margins: Margins, names: tuple[str, ...]) -> Table:
    # A view may be called as all of them are.
    owners = [
        (len(g.views), names[g.views[0]] if len(g.views) == 1 else TOGETHER) for g in model.graphs
    ]
    shares = {
        owner: margins.by_graph[:, [name == owner for name in owners]].sum(axis=1)
        for owner in dict.fromkeys(owners)
    }
    values, who = (
        np.column_stack(list(shares.values())),
        np.array([*(name for _, name in shares), ""]),
    )
    is_opposed = values.min(axis=1) < 0
    return {
        "cluster": margins.labels,
        "second": margins.second,
        "margin": margins.margin,
        **dict(zip(_columns_for([name for _, name in shares]), shares.values(), strict=True)),
        "supported_by": who[values.argmax(axis=1)],
        "opposed_by": who[np.where(is_opposed, values.argmin(axis=1), len(shares))],
    }


def _columns_for(views: list[str]) -> list[str]:
    """The columns of samples with each view's share of the margin: names that can be attributes.

    Examples
    --------
    >>> _columns_for(["rna", "all views", "2d", "margin", "2 d"])
    ['rna', 'all_views', 'margin_2d', 'margin_margin', 'margin_2_d']
    """
    columns: list[str] = []
    for view in views:
        column = re.sub(r"\W", "_", view)
        if not column.isidentifier() or keyword.iskeyword(column) or column in _OF_SAMPLES:
            column = f"margin_{column}"
        while column in columns:
            column += "_"
        columns.append(column)
    return columns


def _place_anchors(model: FittedModel, part: GraphPart) -> Array:
    """What a row that uses one anchor alone is embedded as, for each anchor of a graph."""
    m, repeats = len(part.graph.anchors), range(len(model.embedding.transforms))
    sizes = [model.embedding.transforms[repeat].shape[0] for repeat in repeats]
    parts = [sparse.csr_array((m, size)) for size in sizes]
    columns = np.arange(part.anchors.start, part.anchors.stop)
    alone = (np.ones(m), (np.arange(m), columns))
    parts[part.graph.repeat] = sparse.csr_array(alone, shape=(m, sizes[part.graph.repeat]))
    places = [(part.graph.repeat, part.anchors)]
    return next(model.embedding.contributions(GraphTile(tuple(parts), 0), places))


def _list_anchors(
    model: FittedModel, weights: list[Array] | None, names: tuple[str, ...], n_listed: int
) -> Table:
    """The anchors that carry each cluster: by the weight on them, or else by their direction."""
    by_cluster: list[list[tuple[float, tuple[Any, ...]]]] = [[] for _ in model.centers]
    for g, part in enumerate(graph_parts(model)):
        closeness = unit_rows(model.centers) @ unit_rows(_place_anchors(model, part)).T
        shares = np.full_like(closeness, np.nan)
        if weights is not None:
            shares = weights[g] / np.maximum(weights[g].sum(axis=1, keepdims=True), 1e-300)
        seen = ", ".join(names[v] for v in part.graph.views)
        rank = closeness if weights is None else shares
        for cluster, listed in enumerate(by_cluster):
            for anchor in np.argsort(-rank[cluster], kind="stable")[:n_listed].tolist():
                at = cluster, anchor
                facts = (cluster, seen, g, anchor, float(closeness[at]), float(shares[at]))
                listed.append((-float(rank[at]), facts))
    kept = [
        facts
        for listed in by_cluster
        for _, facts in sorted(listed, key=lambda item: item[0])[:n_listed]
    ]
    return {name: [facts[i] for facts in kept] for i, name in enumerate(_ANCHORS)}
