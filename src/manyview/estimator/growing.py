"""Models that go on: streams batch by batch, and new rows for a model that is there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from sklearn.exceptions import NotFittedError

from manyview import pipeline
from manyview.engines.dask_graphs import append_rows
from manyview.estimator.answers import Answers
from manyview.explain.cautions import cautions_of_labels, warn_of_cautions
from manyview.views.ids import append_ids

if TYPE_CHECKING:
    from manyview.pipeline.groups import Groups
    from manyview.pipeline.model import FittedModel
    from manyview.pipeline.outcome import Outcome
    from manyview.pipeline.stream import StreamStart

_OF_A_STREAM = (
    "model_", "hierarchy_", "cluster_centers_", "anchors_", "scaling_", "n_clusters_",
    "view_weights_", "inertia_", "singular_values_", "_n_features_out",
)  # fmt: skip


class Growing(Answers):
    """Methods that add rows to a model, or make one of rows that come in batches."""

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a batch of rows of a stream; memory does not grow with the number of batches.

        Scaling and anchors come from the first rows: 256 for each anchor, 10 000 at least. Later rows
        are added to sums, and some of them kept in a reservoir of bounded size, on which centres are
        found. The model may be used at any time, also before there are so many; it is that of the rows
        seen so far, worked out when it is first asked for. There are no ``labels_`` and no
        ``embedding_``, because rows are not kept. ``fit`` starts anew, and so does ``partial_fit`` of a
        model that was loaded from a file: sums are not saved.

        Parameters
        ----------
        X : array, table, list or dict of them, or Views
            The same views in every batch; any number of rows.
        y : ignored
            For scikit-learn's conventions.

        Returns
        -------
        LMVSC
            This estimator.

        Examples
        --------
        >>> from manyview import LMVSC, datasets, metrics
        >>> views = datasets.make_views(900, 3, (5, 8), random_state=0)
        >>> model = LMVSC(3, n_anchors=20, random_state=0)
        >>> for start in range(0, 900, 100):
        ...     model = model.partial_fit(views[start : start + 100])
        >>> model.n_samples_seen_, model.predict(views).shape
        (900, (900,))
        """
        params, stream = self._parameters(), self.__dict__.get("_stream")
        if stream is not None:
            stream.add(self.read_rows(X)[:], params)
        else:
            views, columns = self._read_new(X)
            stream = pipeline.stream.StreamStart(params, views, seed=self._draw_seed())
            stream.add(views[:], params)
            stale = {n for n in vars(self) if n.endswith("_")} | set(_OF_A_STREAM)
            for name in stale - {"n_features_in_", "feature_names_in_"}:
                self.__dict__.pop(name, None)
            self._record_columns(X, views, columns)
        self._stream = stream
        self.n_samples_seen_ = stream.n_seen
        return self

    def update(self, X: Any, *, groups: Any = None) -> Self:
        """Add new rows: clusters keep their numbers, and rows that nothing explains open new ones.

        A group of ten rows or more opens a cluster if anchors made from some of them explain the others
        much better than all known anchors do; of large inputs, 4000 rows are looked at. Other rows join
        the cluster that they are nearest to, and move its centre: centres are means of all rows, old and
        new. The old rows are not needed, so a model may come from a file. ``labels_``, ``confidence_``,
        ``outlier_score_``, ``leaves_`` and ``ids_`` keep what they had, and go on with the new rows.
        :meth:`predict` gives the new rows' ``labels_``; as centres move, it may say another cluster of a
        few rows that were there before. ``embedding_`` goes: use :meth:`transform`. The published method
        and streams cannot be updated.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.

        Returns
        -------
        LMVSC
            This estimator.

        Examples
        --------
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(600, 4, (6, 8), random_state=0)
        >>> known, new = views.target < 3, views.target == 3
        >>> model = LMVSC(3, random_state=0).fit(views[known]).update(views[new])
        >>> model.n_clusters_, len(model.labels_)
        (4, 600)
        """
        views, n_before = self.prepare_rows(X, groups), len(self.cluster_centers_)
        what = partial(pipeline.update.update, self.model_, view_weights=self.view_weights_)
        found = self._compute(what, views, is_lazy=False)
        known = getattr(self, "groups_", None)
        self.__dict__.update(attributes_of_model(found.model, known))
        for name in ("batch_mixing_", "embedding_", "cuts_", "feature_importances_"):
            self.__dict__.pop(name, None)
        for name in ("labels_", "confidence_", "outlier_score_", "leaves_"):
            if hasattr(self, name):
                setattr(self, name, append_rows(getattr(self, name), getattr(found, name[:-1])))
        self.ids_ = append_ids(self.ids_, views.ids)
        self.inertia_ += found.inertia
        added = pipeline.choices.describe_update(views.n_rows, n_before, found.model)
        self.choices_ = pipeline.choices.Choices([*self.choices_, added])
        self.cautions_ = cautions_of_labels(self.labels_, self.n_clusters_)
        warn_of_cautions(self.cautions_)
        return self

    def __getattr__(self, name: str) -> Any:
        """Fitted attributes of a stream: of the rows seen so far, whenever they are asked for."""
        stream: StreamStart | None = self.__dict__.get("_stream")
        if stream is None or name not in _OF_A_STREAM:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            return attributes_of(stream.outcome())[name]
        except ValueError as error:  # too few rows so far; hasattr asks for an AttributeError
            raise NotFittedError(str(error)) from error


def attributes_of(outcome: Outcome, groups: Groups | None = None) -> dict[str, Any]:
    """Fitted attributes that a fit gives besides those of each row, by name."""
    return {
        **attributes_of_model(outcome.model, groups),
        "view_weights_": outcome.view_weights,
        "inertia_": outcome.inertia,
        "singular_values_": outcome.bases[0].singular_values,
    }


def attributes_of_model(model: FittedModel, groups: Groups | None = None) -> dict[str, Any]:
    """Fitted attributes that a model alone gives, and what is taken off rows before it, by name."""
    scalers = model.scalers if groups is None else groups.scalers
    return {
        **({} if groups is None else {"groups_": groups}),
        "model_": model,
        "n_clusters_": len(model.centers),
        "cluster_centers_": model.centers,
        "hierarchy_": None if model.hierarchy is None else model.hierarchy.tree,
        "anchors_": [model.anchors_in_units(graph) for graph in model.graphs],
        "scaling_": [scaler.kind for scaler in scalers],
        "_n_features_out": model.centers.shape[1],  # for get_feature_names_out
    }
