"""The facts of a report, as a plain dictionary."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview import metrics
from manyview.engines.base import one_thread_per_product
from manyview.explain.features import find_features
from manyview.pipeline.groups import read_groups
from manyview.report import provenance, refits, samples
from manyview.report.advice import give_advice
from manyview.report.certainty import describe_certainty, describe_cluster, measure_certainty
from manyview.report.classes import compare_with_classes, encode_classes, merge_rare
from manyview.report.layout import lay_out, quantise
from manyview.report.spectrum import describe_spectrum
from manyview.report.tree import describe_tree
from manyview.sources import as_ids
from manyview.stages.rows import Array
from manyview.views.container import Views, is_sparse
from manyview.views.selection import PartialView

if TYPE_CHECKING:
    from manyview import LMVSC

FORMAT = 2
"""What facts are there; 1 had no confidence."""

_EMBEDDED_ROWS = 20_000  # rows embedded again where the model has no embedding of its own


def build_summary(
    model: LMVSC,
    views: Any = None,
    *,
    ids: Any = None,
    labels: Any = None,
    groups: Any = None,
    command: str | None = None,
    random_state: int = 0,
) -> dict[str, Any]:
    """All facts of a report: dicts, lists, numbers and text, ready for ``json.dump``.

    The cost is bounded, mostly below that of a default fit: about 100 000 rows are shown, 5000 are
    clustered again or looked at column by column, and a fifth, from 350 to 2000, are placed by t-SNE; up
    to twice as many where clusters are many, so that each is among them. ``sampling`` says how many.

    Parameters
    ----------
    model : LMVSC
        Fitted.
    views : array, table, list or dict of them, or Views, optional
        The rows that were fitted, in the same order. Without them, what needs their columns is left
        out: each view's own clusters, stability, features, duplicates.
    ids : sequence of shape (n,), optional
        A name for each row; those of the views, or row numbers from 0, by default.
    labels : sequence of shape (n,), optional
        True labels; ``views.target`` by default. None, NaN and empty text are missing.
    groups : sequence of shape (n,), optional
        Where each row is from, if the model was fitted with groups and rows are given.
    command : str, optional
        The command that made the fit, to be shown as the way to repeat it.
    random_state : int, default=0
        Seed of samples, map and fits of the report.

    Returns
    -------
    dict
        ``clusters``, ``views``, ``agreement``, ``stability``, ``spectrum``, ``labels``, ``map``,
        ``run``, ``advice``, ... The same model and seed give the same facts, but for ``made``: when,
        how long, and the memory of this process.

    Examples
    --------
    >>> from manyview import LMVSC, datasets
    >>> from manyview.report import build_summary
    >>> views = datasets.make_views(200, 3, (4, 5), random_state=0)
    >>> model = LMVSC(3, random_state=0).fit(views)
    >>> facts = build_summary(model, views)
    >>> facts["n_rows"], facts["n_clusters"], [view["name"] for view in facts["views"]]
    (200, 3, ['view_0', 'view_1'])
    """
    started = time.perf_counter()
    samples.check_has_labels(model)
    given = None if views is None else samples.read_fitted_rows(model, views)
    if ids is None:
        ids = getattr(model, "ids_", None) if given is None else given.ids
    if labels is None and given is not None:
        labels = given.target
    if given is not None and groups is not None:
        groups = read_groups(groups, given.n_rows)
    # Products here are small: threads that wait for the next one would cost more than the products.
    with one_thread_per_product():
        facts = Facts(model, given, ids=ids, labels=labels, groups=groups, seed=random_state)
        summary = facts.collect()
    summary["run"] |= provenance.describe_run(model, command=command)
    summary["advice"] = give_advice(summary)
    summary["made"] = {
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "seconds": round(time.perf_counter() - started, 2),
        "peak_memory": provenance.measure_memory(),
    }
    return summary


class Facts:
    """What a fitted model, and maybe its rows, say; holds what several facts need."""

    def __init__(
        self,
        model: LMVSC,
        views: Views | None = None,
        *,
        ids: Any = None,
        labels: Any = None,
        groups: npt.NDArray[np.str_] | None = None,
        seed: int = 0,
        shown_rows: int = samples.SHOWN_ROWS,
    ) -> None:
        n, centers = len(model.labels_), model.cluster_centers_
        self.model, self.views, self.k = model, views, len(centers)
        self.groups = groups
        if ids is not None and np.shape(ids) != (n,):
            raise ValueError(
                f"ids must be one name a row, {n} in all; their shape is {np.shape(ids)}."
            )
        self.ids = None if ids is None else as_ids(ids)  # as labels.csv has them
        self.classes = None if labels is None else encode_classes(labels, n)
        self.all_labels = np.asarray(model.labels_)  # of Dask, computed once
        marked = self.all_labels < 0  # as outliers: they belong to no cluster
        self.n_outliers = int(marked.sum())
        self.sizes = np.bincount(self.all_labels[~marked], minlength=self.k)
        rng = np.random.default_rng(seed)
        self.seed = int(rng.integers(2**31))
        n_columns = 0
        if views is not None:
            n_columns = sum(0 if is_sparse(X) else int(X.shape[1]) for X in views.arrays)
        if not hasattr(model, "embedding_"):
            shown_rows = min(shown_rows, _EMBEDDED_ROWS)
        self.samples = samples.choose_samples(
            self.all_labels, n_columns=n_columns, rng=rng, shown_rows=shown_rows
        )
        self.labels = self.all_labels[self.samples.shown]
        self.embedding, self.certainty = self._embed(), None
        if self.embedding is not None:
            confidence = np.asarray(model.confidence_)[self.samples.shown]
            self.certainty = measure_certainty(
                self.embedding, self.labels, centers, self.sizes, confidence=confidence
            )

    def _embed(self) -> Array | None:
        """Embedding of the shown rows; a model that was read from a file has to compute it again."""
        rows = self.samples.shown
        if hasattr(self.model, "embedding_"):
            return np.asarray(self.model.embedding_[rows], dtype=np.float64)
        if self.views is None:
            return None
        embedding: Array = np.asarray(
            self.model.transform(self.views[rows], groups=self._groups_of(rows))
        )
        return embedding

    def _groups_of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.str_] | None:
        return None if self.groups is None else self.groups[rows]

    def overview(self) -> dict[str, Any]:
        """What is known without looking at the rows again."""
        return {
            "n_rows": len(self.all_labels),
            "n_clusters": self.k,
            "n_outliers": self.n_outliers,
            "n_views": self.model.n_views_,
            "views": self._views(),
            "clusters": [self._cluster(cluster) for cluster in range(self.k)],
            "confidence": None if self.certainty is None else describe_certainty(self.certainty),
            "spectrum": describe_spectrum(self.model.singular_values_, self.k),
            "tree": describe_tree(self.model.model_.hierarchy, self.k),
            "groups": self._describe_groups(),
        }

    def collect(self) -> dict[str, Any]:
        """The overview, what the rows say, and the map."""
        has_rows = self.views is not None
        summary: dict[str, Any] = {
            "format": FORMAT,
            **self.overview(),
            "has_ids": self.ids is not None,
            "agreement": None,
            "stability": None,
            "duplicates": None,
            "has_features": has_rows,
            "labels": None,
            "sampling": {
                "n_shown": len(self.samples.shown),
                "n_studied": len(self.samples.studied) if has_rows else 0,
                "n_placed": 0 if self.embedding is None else len(self.samples.placed),
            },
            "run": {"certificate": None},
        }
        if self.classes is not None:
            summary["labels"] = compare_with_classes(self.classes, self.all_labels, self.k)
        alone: list[Any] = []
        if self.views is not None:
            alone = self._study(summary, self.samples.shown[self.samples.studied])
        summary["map"] = self._map(alone)
        return summary

    def _describe_groups(self) -> dict[str, Any] | None:
        groups = getattr(self.model, "groups_", None)
        mixing = getattr(self.model, "batch_mixing_", None)  # not after an update
        if groups is None or mixing is None:
            return None
        return {"n_groups": len(groups.names), "mixing": round(float(mixing), 4)}

    def _views(self) -> list[dict[str, Any]]:
        model = self.model
        kinds, missing = [False] * model.n_views_, [0.0] * model.n_views_
        if self.views is not None:
            kinds = [is_sparse(X) for X in self.views.arrays]
            present = self.views.present
            missing = missing if present is None else (~present).mean(axis=0).tolist()
        return [
            {"name": name, "n_features": width, "is_sparse": kind, "missing_share": round(lacking, 4),
             "scaling": scaling, "weight": round(float(weight), 4)}
            for name, width, kind, lacking, scaling, weight in zip(
                model.view_names_, model.n_features_per_view_, kinds, missing, model.scaling_,
                model.view_weights_, strict=True,
            )
        ]  # fmt: skip

    def _cluster(self, cluster: int) -> dict[str, Any]:
        size = int(self.sizes[cluster])
        share = round(size / int(self.sizes.sum()), 4)
        facts: dict[str, Any] = {"cluster": cluster, "size": size, "share": share}
        if self.certainty is not None:
            facts |= describe_cluster(np.flatnonzero(self.labels == cluster), self.certainty)
            for kind in ("typical", "borderline"):
                facts[kind] = [self._member(i) for i in facts[kind]]
        return facts

    def _member(self, position: int) -> dict[str, Any]:
        row = int(self.samples.shown[position])
        member: dict[str, Any] = {"row": row, "id": str(row if self.ids is None else self.ids[row])}
        if self.certainty is not None:
            second = int(self.certainty.second[position])
            member["confidence"] = round(float(self.certainty.confidence[position]), 4)
            member["second"] = second if second >= 0 else None
        if self.classes is not None:
            code = int(self.classes.codes[row])
            member["label"] = self.classes.names[code] if code >= 0 else None
        return member

    def _study(self, summary: dict[str, Any], studied: npt.NDArray[np.int64]) -> list[Any]:
        """Add what needs the views' columns; each view's own labels of the studied rows."""
        assert self.views is not None
        model, clusters, rows = self.model, summary["clusters"], self.views[studied].load()
        groups = self._groups_of(studied)
        labels = self.labels[self.samples.studied]
        summary["duplicates"] = {"n_rows": len(rows), "n_repeated": count_repeated(rows.arrays)}
        summary["run"]["certificate"] = provenance.certify_solutions(
            model.model_, model.prepare_rows(rows, groups)
        )
        for facts, features in zip(clusters, find_features(rows, labels, self.k), strict=True):
            facts["features"] = features
        assert self.embedding is not None  # there are rows to embed
        embedding = self.embedding[self.samples.studied]
        stability = refits.measure_stability(
            model, rows, labels, embedding, seed=self.seed, groups=groups
        )
        summary["stability"] = stability
        if stability is not None:
            for facts, value in zip(clusters, stability["clusters"], strict=True):
                facts["stability"] = value if facts["size"] else None
        if rows.n_views == 1:
            return []
        alone, problems = refits.cluster_each_view(model, rows, seed=self.seed, groups=groups)
        agreement = refits.measure_agreement(labels, alone, list(model.view_names_))
        summary["agreement"] = agreement
        for facts, problem in zip(summary["views"], problems, strict=True):
            facts["problem"] = problem
            if problem is None:
                place = agreement["names"].index(facts["name"])
                facts |= {score: agreement[score][place][-1] for score in ("nmi", "ari")}
        known = [part for part in alone if part is not None]
        if known:
            overlaps = np.column_stack([refits.best_overlap(labels, a, self.k) for a in known])
            only = refits.only_views(overlaps, agreement["names"])
            for facts, row, view in zip(clusters, overlaps, only, strict=True):
                facts["overlaps"] = [round(float(value), 4) for value in row]
                facts["only_view"] = view if facts["size"] else None
        return alone

    def _map(self, alone: list[Any]) -> dict[str, Any] | None:
        """Points of the map, in columns."""
        if self.embedding is None or self.certainty is None:
            return None
        shown = self.samples.shown
        points = quantise(lay_out(self.embedding, self.samples.placed, seed=self.seed))
        colours = []
        if self.classes is not None:
            merged = merge_rare(self.classes)
            codes = merged.codes[shown].tolist()
            colours.append(
                {"kind": "label", "name": "true label", "names": merged.names, "codes": codes}
            )
        for name, part in zip(self.model.view_names_, alone, strict=False):
            if part is not None:
                own = np.full(len(shown), -1, dtype=np.int64)
                known = self.samples.studied[part >= 0]
                own[known] = metrics.match_labels(self.labels[known], part[part >= 0])
                names = [str(c) for c in range(int(own.max()) + 1)]
                colours.append(
                    {"kind": "view", "name": name, "names": names, "codes": own.tolist()}
                )
        return {
            "x": points[:, 0].tolist(),
            "y": points[:, 1].tolist(),
            "row": shown.tolist(),
            "id": None if self.ids is None else [str(self.ids[row]) for row in shown],
            "cluster": self.labels.tolist(),
            "second": self.certainty.second.tolist(),
            "confidence": self.certainty.confidence.round(3).tolist(),
            "colours": colours,
        }


def count_repeated(arrays: Sequence[Any]) -> int:
    """How many rows equal an earlier one in every view.

    Examples
    --------
    >>> count_repeated([np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])])
    1
    """
    n_rows = int(arrays[0].shape[0])
    return n_rows - len({tuple(_row_hash(X, i) for X in arrays) for i in range(n_rows)})


def _row_hash(X: Any, i: int) -> int:
    if isinstance(X, PartialView):
        place = int(X.places[i])
        return _row_hash(X.rows, place) if place >= 0 else 0
    if sparse.issparse(X):
        entries = slice(X.indptr[i], X.indptr[i + 1])
        return hash((X.indices[entries].tobytes(), X.data[entries].tobytes()))
    return hash(np.asarray(X[i]).tobytes())
