"""What people ask of a fitted model: clusters, how sure, how odd, at which grain, and why."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from manyview import explain, pipeline
from manyview.checks import check_count
from manyview.estimator.rows import RowReader
from manyview.explain.cautions import cautions_of_advice, warn_of_cautions
from manyview.views import frames
from manyview.views.container import Views

if TYPE_CHECKING:
    from manyview.explain.explanation import Explanation


class Answers(RowReader):
    """Methods of a fitted model that change nothing in it."""

    def predict(self, X: Any, *, groups: Any = None) -> npt.NDArray[np.int32]:
        """The cluster of each row of ``X``, which has the views that were fitted.

        A sample may lack some of them: a row of NaN, ``Views(..., present=...)``, or a dict without a
        view that no sample has.

        Parameters
        ----------
        X : array, data frame, list or dict of them, or Views
            The rows.
        groups : array of shape (n,), optional
            Where each row is from, of a model that was fitted with groups, and of no other. What was
            taken off a group in the fit is taken off its rows here. Rows of groups that were not there
            are scaled as all rows together, with a warning. All that takes rows takes these.

        Returns
        -------
        ndarray of shape (n,), int32
            For Dask arrays, a Dask array that is computed when it is asked for.
        """
        views = self.prepare_rows(X, groups)
        labels: npt.NDArray[np.int32] = self._map(self.model_.label, views, stage="labels")
        return labels

    def predict_with_confidence(self, X: Any, *, groups: Any = None) -> tuple[Any, Any]:
        """The cluster of each row of ``X``, and how probable it is, in one pass over the rows.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.

        Returns
        -------
        labels, confidence
            What :meth:`predict` gives, and the largest number of each row of :meth:`predict_proba`.
        """
        views = self.prepare_rows(X, groups)
        found = self._map(self.model_.label_surely, views, stage="labels")
        return found[:, 0].astype(np.int32), found[:, 1]

    def predict_proba(self, X: Any, *, top: int | None = None, groups: Any = None) -> Any:
        """How probable it is that each row of ``X`` belongs to each cluster.

        Probabilities fall with the squared distance to the cluster's centre in the embedding, so the
        most probable cluster is that of :meth:`predict`. How fast they fall is decided in the fit: as
        clusters that are Gaussian in the scaled columns, all with one covariance, would overlap. Where
        classes are like that, of the rows with confidence .8 eight in ten are right. No model knows
        of classes that its columns do not show.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.
        top : int, optional
            Keep so many of each row's largest probabilities, as a sparse matrix: for very many
            clusters.

        Returns
        -------
        ndarray or csr_array of shape (n, k)
            For Dask arrays, a Dask array that is computed when it is asked for; with ``top``, its
            blocks are sparse. Rows sum to one without ``top``, and to at most one with it.

        Examples
        --------
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(300, 3, (4, 5), random_state=0)
        >>> model = LMVSC(3, random_state=0).fit(views)
        >>> model.predict_proba(views).shape, model.predict_proba(views, top=2).nnz
        ((300, 3), 600)
        """
        views, k = self.prepare_rows(X, groups), len(self.cluster_centers_)
        if top is None:
            return self._map(self.model_.probabilities, views, stage="probabilities")
        n_top = min(check_count("top", top), k)
        packed = self._map(
            partial(self.model_.probabilities, top=n_top), views, stage="probabilities"
        )
        return pipeline.sureness.as_sparse(packed, k)

    def cut(self, n_clusters: int, X: Any = None, *, groups: Any = None) -> Any:
        """The cluster of each row if there were ``n_clusters`` of them, without fitting again.

        Fewer clusters are merged ones, by Ward's criterion in the embedding; more are parts of them.
        All cuts are nested: none divides what a finer one keeps together. ``hierarchy_`` is the tree.

        Parameters
        ----------
        n_clusters : int
            How many; up to about eight times as many as were fitted, fewer where clusters have few
            rows.
        X, groups : optional
            Rows to label, as :meth:`predict` takes them; those that were fitted or added by default.

        Returns
        -------
        ndarray of shape (n,), int32
            ``labels_`` if the number is ``n_clusters_``. For Dask arrays a Dask array.

        Examples
        --------
        >>> import numpy as np
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(400, 4, (4, 5), random_state=0)
        >>> model = LMVSC(4, random_state=0).fit(views)
        >>> [len(np.unique(model.cut(n))) for n in (2, 4, 8)]
        [2, 4, 8]
        """
        check_is_fitted(self)
        n = check_count("n_clusters", n_clusters)
        if X is not None:
            views = self.prepare_rows(X, groups)
            cut = partial(self.model_.cut, groups=self.model_.groups(n))
            return self._map(cut, views, stage="labels")
        if not hasattr(self, "labels_"):
            raise ValueError("A stream keeps no labels of its rows: pass those to label, X.")
        return pipeline.predict.cut_known(self.model_, n, getattr(self, "leaves_", None))

    def outlier_scores(self, X: Any, *, groups: Any = None) -> Any:
        """How odd each row of ``X`` is, from 0 to 1: how badly anchors explain it.

        In each view, a row is written as a mixture of a few anchors that each stand for many rows.
        What is left of it is compared with what is left of rows that use the same anchors: how many
        deviations is the logarithm of the ratio above the middle? The root mean square of its views is
        how far out the row lies. 0 is as usual or better in every view, .5 the limit beyond which rows
        are marked with ``outliers="mark"``, and r / (1 + r) is r times as far out as that.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.

        Returns
        -------
        ndarray of shape (n,)
            For Dask arrays, a Dask array that is computed when it is asked for.

        Examples
        --------
        >>> import numpy as np
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(300, 3, (4, 5), random_state=0)
        >>> model = LMVSC(3, random_state=0).fit(views)
        >>> far = [100.0 + view[:1] for view in views.arrays]
        >>> bool(model.outlier_scores(far)[0] > 0.5)
        True
        """
        views = self.prepare_rows(X, groups)
        return self._map(self.model_.outlier_scores, views, stage="oddness")

    def score(self, X: Any, y: Any = None, *, groups: Any = None) -> float:
        """How good the clusters of ``X`` are, without labels: silhouette times modularity, 0 to 1.

        Larger is better, so that ``GridSearchCV`` works as it is; see
        :func:`manyview.select.label_free_score`.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.
        y : ignored
            For scikit-learn's conventions.
        """
        views = self.prepare_rows(X, groups)
        return pipeline.label_free.score_without_labels(self.model_, views)

    def transform(self, X: Any, *, groups: Any = None) -> Any:
        """The embedding of each row of ``X``, shape (n, c).

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.
        """
        views = self.prepare_rows(X, groups)
        return self._as_output(self._map(self.model_.embed, views, stage="embedding"), views.ids)

    def _as_output(self, rows: Any, ids: Any) -> Any:
        """Rows with their ids where ``set_output`` asks for pandas; scikit-learn does the rest."""
        return frames.with_ids(rows, ids, _get_output_config("transform", self)["dense"])

    def labels_series(self, X: Any = None, *, groups: Any = None) -> Any:
        """The cluster of each row as a pandas Series whose index are the rows' ids.

        Parameters
        ----------
        X, groups : optional
            Rows to label, as :meth:`predict` takes them; those that were fitted by default.

        Examples
        --------
        >>> import pandas as pd
        >>> from manyview import LMVSC
        >>> table = pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1]}, index=["a", "b", "c", "d"])
        >>> clusters = LMVSC(2, random_state=0).fit(table).labels_series()
        >>> bool(clusters["a"] == clusters["b"] != clusters["c"])
        True
        """
        labels, ids = self._labels_and_ids(X, groups)
        return frames.make_series(labels, ids, "cluster")

    def labels_frame(self, X: Any = None, *, groups: Any = None, kind: str = "pandas") -> Any:
        """Ids and clusters as two columns of a data frame.

        Parameters
        ----------
        X, groups : optional
            Rows to label, as :meth:`predict` takes them; those that were fitted by default.
        kind : {"pandas", "polars", "pyarrow"}
            Which library's.
        """
        labels, ids = self._labels_and_ids(X, groups)
        rows = np.arange(len(labels)) if ids is None else ids
        return frames.make_frame({"id": rows, "cluster": labels}, kind)

    def _labels_and_ids(self, X: Any, groups: Any) -> tuple[npt.NDArray[np.int32], Any]:
        check_is_fitted(self)
        if X is None:
            if not hasattr(self, "labels_"):
                raise ValueError("A stream keeps no labels of its rows: pass those to label, X.")
            return np.asarray(self.labels_), self.ids_
        views = self.read_rows(X)
        return np.asarray(self.predict(views, groups=groups)), views.ids

    def explain(
        self, X: Any = None, *, groups: Any = None, n_listed: int = 5, max_rows: int = 20_000
    ) -> Explanation:
        """Reasons: what sets clusters apart, what carries them, and which view says so.

        Parameters
        ----------
        X : array, data frame, list or dict of them, or Views, optional
            Rows to explain: those that were fitted, or new ones. Without them there are anchors only:
            features, and what the views say of each row, need the rows.
        groups : array of shape (n,), optional
            Where each row is from, if the model was fitted with groups. Features are those of the rows
            as they come.
        n_listed : int, default=5
            Features of each view, and anchors, listed for each cluster.
        max_rows : int, default=20000
            Rows looked at, at equal distances; all if there are fewer.

        Returns
        -------
        Explanation
            Tables ``features``, ``anchors`` and ``samples``; shows what matters when printed.

        Examples
        --------
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(200, 3, (4, 5), random_state=0)
        >>> why = LMVSC(3, random_state=0).fit(views).explain(views)
        >>> why.samples["supported_by"][0] in ("view_0", "view_1", "all views")
        True
        """
        check_is_fitted(self)
        views = None if X is None else self.read_rows(X)
        given = (
            None
            if groups is None or views is None
            else pipeline.groups.read_groups(groups, views.n_rows)
        )

        def prepare(rows: Views, numbers: Any) -> Views:
            return self.prepare_rows(rows, None if given is None else given[numbers])

        return explain.explain_rows(
            self.model_, views, prepare=prepare, n_listed=n_listed, max_rows=max_rows
        )

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        ids: Any = None,
        labels: Any = None,
        groups: Any = None,
        static: bool = False,
        force: bool = False,
    ) -> Path:
        """Write what was found as one HTML page that opens anywhere, also offline.

        Parameters
        ----------
        path : path-like
            The file to write.
        X : array, table, list or dict of them, or Views, optional
            The rows that were fitted. Without them the page leaves out what needs their columns: each
            view's own clusters, stability, and the columns that set clusters apart.
        ids : sequence of shape (n,), optional
            A name for each row.
        labels : sequence of shape (n,), optional
            True labels to compare with.
        groups : sequence of shape (n,), optional
            Where each row is from, if the model was fitted with groups and rows are given.
        static : bool, default=False
            Without any script: the map is a picture.
        force : bool, default=False
            Replace the file if it exists.

        Returns
        -------
        Path
            The file.
        """
        from manyview.report import build_summary, write_report

        summary = build_summary(self, X, ids=ids, labels=labels, groups=groups)
        new = [c for c in cautions_of_advice(summary["advice"]) if c not in self.cautions_]
        self.cautions_ = [*self.cautions_, *new]
        warn_of_cautions(new)
        return write_report(summary, path, static=static, force=force)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and JSON, no pickle. Read it with ``load``.

        Everything that predicting needs and the training labels are kept; the training embedding is
        not (``transform`` gives it again).

        Parameters
        ----------
        path : path-like
            The file to write.
        """
        check_is_fitted(self)
        params = self.get_params()
        if "views" in params:
            params["views"] = getattr(self, "view_columns_", None)
        fitted = {
            name: getattr(self, name)
            for name in pipeline.model_fields.FITTED
            if hasattr(self, name)
        }
        pipeline.persistence.write_model(Path(path), self.model_, params=params, fitted=fitted)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show a fitted model in a notebook by what it found, otherwise as scikit-learn does."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._card() or bundle["text/html"]
        return bundle

    def _repr_html_inner(self) -> str:
        return self._card() or str(super()._repr_html_inner())

    def _card(self) -> str | None:
        if not hasattr(self, "labels_"):  # not fitted, or a stream
            return None
        try:
            from manyview.report.render import show_card
        except ModuleNotFoundError:  # the report's libraries are optional
            return None
        return show_card(self)
