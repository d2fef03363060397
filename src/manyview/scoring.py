"""Criteria that need no labels, and scorers made of them for scikit-learn's search.

A scorer is a function of an estimator and rows, ``scorer(estimator, X, y=None)``: pass it as
``scoring=`` to ``GridSearchCV`` or ``cross_val_score``. Larger is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse
from sklearn.metrics import silhouette_score
from sklearn.pipeline import Pipeline

from manyview.model import FittedModel
from manyview.stages.n_clusters import modularity
from manyview.views import Views

__all__ = ["excess_cut", "label_free_score", "n_clusters_score", "sampled_silhouette"]

Labels = npt.NDArray[np.int32]

LARGEST_SHARE = 0.8
"""A clustering with a larger cluster has collapsed, however good its other figures."""

_SILHOUETTE_ROWS = 3000
_SCORED_ROWS = 20_000


def label_free_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Score settings for the same number of clusters, without labels.

    It is minus the excess cut of the rows' clusters, see :func:`excess_cut`; lower by one where a
    single cluster holds more than four fifths of the rows. To compare numbers of clusters use
    :func:`n_clusters_score`.

    Parameters
    ----------
    estimator : LMVSC, or a pipeline that ends with one
        Fitted.
    X : what the estimator takes
        Rows to judge it by, as a rule not those that it was fitted to; of more than 20 000 some.
    y : ignored
        For scikit-learn's conventions.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from manyview import LMVSC, datasets
    >>> from manyview.scoring import label_free_score
    >>> views = datasets.make_views(200, 3, (4, 5), random_state=0)
    >>> search = GridSearchCV(
    ...     LMVSC(3, n_repeats=1, random_state=0), {"alpha": [0.01, 10.0]},
    ...     scoring=label_free_score, cv=2,
    ... )
    >>> search.fit(views).best_params_
    {'alpha': 0.01}
    """
    model, rows = _model_and_rows(estimator, X)
    labels = np.asarray(model.predict(rows))
    collapsed = np.bincount(labels).max() > LARGEST_SHARE * len(labels)
    n_clusters = len(model.cluster_centers_)
    cut = excess_cut(model._model, rows, labels, n_clusters)
    return -cut - float(collapsed and n_clusters > 1)


def n_clusters_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Score numbers of clusters, without labels: silhouette times modularity.

    The silhouette alone prefers few clusters and modularity many. ``n_clusters="auto"`` goes by the
    same product.

    Parameters
    ----------
    estimator, X, y
        As in :func:`label_free_score`.
    """
    model, rows = _model_and_rows(estimator, X)
    labels = np.asarray(model.predict(rows))
    embedding = model._model.embed(list(rows.arrays), 0)
    inside = [modularity(graph, labels) for graph in model._model.fused_graphs(rows.arrays)]
    return max(sampled_silhouette(embedding, labels), 0.0) * max(float(np.mean(inside)), 0.0)


def _model_and_rows(estimator: Any, X: Any) -> tuple[Any, Views]:
    """Give the LMVSC at the end of a pipeline, and the rows as it sees them."""
    if isinstance(estimator, Pipeline):
        if len(estimator) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator[-1]
    if not hasattr(estimator, "_read_rows"):
        raise TypeError(
            f"This scorer needs an LMVSC, or a pipeline that ends with one; got "
            f"{type(estimator).__name__}."
        )
    views = estimator._read_rows(X)
    numbers = np.linspace(0, views.n_rows - 1, min(views.n_rows, _SCORED_ROWS)).astype(np.int64)
    rows: Views = views[np.unique(numbers)]
    return estimator, rows


def excess_cut(model: FittedModel, rows: Views, labels: Labels, n_clusters: int) -> float:
    """How much more of the graph labels cut, per cluster, than the best that any k vectors could.

    The mean over anchor seeds of (sum of the k largest eigenvalues - what labels keep) / k; 0 is the
    best there can be.

    Parameters
    ----------
    model : FittedModel
        Makes the graph.
    rows : Views
        n rows.
    labels : ndarray of shape (n,)
        Their clusters.
    n_clusters : int
        Number of clusters, empty ones too.
    """
    counts = np.bincount(labels, minlength=n_clusters).astype(np.float64)
    members = sparse.csr_array(
        (np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels))
    )
    cuts = []
    for graph in model.fused_graphs(rows.arrays):
        gram = (graph.T @ graph).toarray()
        size = min(n_clusters, len(gram))
        bound = linalg.eigvalsh(gram, subset_by_index=(len(gram) - size, len(gram) - 1)).sum()
        inside = np.asarray((members @ graph).power(2).sum(axis=1)).ravel()
        cuts.append(float(bound - (inside / np.maximum(counts, 1.0)).sum()) / n_clusters)
    return float(np.mean(cuts))


def sampled_silhouette(embedding: npt.NDArray[np.float64], labels: Labels) -> float:
    """Silhouette of some of the rows; 0 where it is not defined."""
    shown = slice(None, None, max(1, len(labels) // _SILHOUETTE_ROWS))
    if not 1 < len(np.unique(labels[shown])) < len(labels[shown]):
        return 0.0
    return float(silhouette_score(embedding[shown], labels[shown]))
