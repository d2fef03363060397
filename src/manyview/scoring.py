"""Criteria that need no labels, and a scorer for scikit-learn's search made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from manyview.graphs import spread_evenly
from manyview.model import FittedModel
from manyview.stages.labels import label_rows
from manyview.stages.n_clusters import kept_inside, modularity, silhouette
from manyview.views import Views

__all__ = ["excess_cut", "label_free_score", "sampled_silhouette"]

Labels = npt.NDArray[np.int32]

_SILHOUETTE_ROWS = 3000
_SCORED_ROWS = 20_000


def label_free_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Score a fitted model by rows without labels: silhouette times modularity.

    The silhouette says how far clusters are apart in the embedding, modularity how much more of the
    graph lies inside them than chance would put there. The silhouette alone prefers few clusters and
    modularity many; a graph that holds nothing has no modularity, however it is cut. What
    ``n_clusters="auto"`` goes by is the same product.

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
    embedding = model._model.embed(list(rows.arrays), 0)
    labels = label_rows(embedding, model._model.centers)
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
    check_is_fitted(estimator)
    estimator._settle()
    views = estimator._read_rows(X)
    rows: Views = views[spread_evenly(views.n_rows, _SCORED_ROWS)].load()
    return estimator, rows


def excess_cut(model: FittedModel, rows: Views, labels: Labels, n_clusters: int) -> float:
    """How much more of the graph labels cut, per cluster, than the best that any k vectors could.

    The mean over anchor seeds of (sum of the k largest eigenvalues - what labels keep) / k; 0 is the
    best there can be. It compares graphs that hold something: one that is the same for all rows
    (a very large alpha) has none to cut.

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
    cuts = []
    for graph in model.fused_graphs(rows.arrays):
        gram = (graph.T @ graph).toarray()
        size = min(n_clusters, len(gram))
        bound = linalg.eigvalsh(gram, subset_by_index=(len(gram) - size, len(gram) - 1)).sum()
        kept = kept_inside(graph, labels, n_clusters) / np.maximum(counts, 1.0)
        cuts.append(float(bound - kept.sum()) / n_clusters)
    return float(np.mean(cuts))


def sampled_silhouette(embedding: npt.NDArray[np.float64], labels: Labels) -> float:
    """Silhouette of some of the rows; 0 where it is not defined."""
    shown = slice(None, None, max(1, len(labels) // _SILHOUETTE_ROWS))
    return silhouette(embedding[shown], labels[shown])
