"""How good a clustering is, by rows without labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manyview.pipeline.model import FittedModel
from manyview.stages.labels import label_rows
from manyview.stages.n_clusters import modularity, silhouette
from manyview.stages.sampling import spread_evenly
from manyview.views.container import Views

_SILHOUETTE_ROWS = 3000
_SCORED_ROWS = 20_000


def score_without_labels(model: FittedModel, views: Views) -> float:
    """Silhouette times modularity of what a model makes of some rows, from 0 to 1."""
    rows: Views = views[spread_evenly(views.n_rows, _SCORED_ROWS)].load()
    embedding = model.embed(list(rows.arrays), 0)
    labels = label_rows(embedding, model.centers)
    inside = [modularity(graph, labels) for graph in model.fused_graphs(rows.arrays)]
    return max(sampled_silhouette(embedding, labels), 0.0) * max(float(np.mean(inside)), 0.0)


def sampled_silhouette(embedding: npt.NDArray[np.float64], labels: npt.NDArray[np.int32]) -> float:
    """Silhouette of some of the rows; 0 where it is not defined."""
    shown = slice(None, None, max(1, len(labels) // _SILHOUETTE_ROWS))
    return silhouette(embedding[shown], labels[shown])
