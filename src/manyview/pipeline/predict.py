"""What a fitted model makes of new rows, wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from manyview.engines.base import Engine, Run, one_thread_per_product
from manyview.engines.dask_graphs import is_dask
from manyview.pipeline.model import FittedModel
from manyview.stages.rows import Array


def embed(model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run) -> Any:
    """Embedding of new rows."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(model.embed, stage="embedding")


def predict(model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run) -> Any:
    """Labels of new rows."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(model.label, stage="labels")


def predict_surely(model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run) -> Any:
    """Labels of new rows, and how probable they are: (n, 2)."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(model.label_surely, stage="labels")


def cut(
    model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run, n_clusters: int
) -> Any:
    """Labels of new rows when there are so many clusters instead."""
    function = partial(model.cut, n_clusters=n_clusters)
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(function, stage="labels")


def outlier_scores(model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run) -> Any:
    """How odd new rows are."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(model.outlier_scores, stage="oddness")


def probabilities(
    model: FittedModel, arrays: Sequence[Any], *, engine: Engine, run: Run, top: int | None
) -> Any:
    """How probable each cluster is for new rows, (n, k); (n, 2 top) of the largest."""
    function = partial(model.probabilities, top=top)
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(function, stage="probabilities")


def cut_rows(model: FittedModel, rows: Any, labels: Any, n_clusters: int) -> Any:
    """Labels of embedding rows, whose labels are known, for another number of clusters.

    Rows may be None where clusters are only merged. Of Dask arrays, lazily.
    """
    rows = labels[:, None] if rows is None else rows
    cut = partial(_cut, model=model, n_clusters=n_clusters)
    if is_dask(labels):
        return rows.map_blocks(cut, labels[:, None], dtype=np.int32, drop_axis=1)
    return cut(rows, np.asarray(labels)[:, None])


def _cut(rows: Array, labels: Any, *, model: FittedModel, n_clusters: int) -> Any:
    return model.cut_of(rows, labels[:, 0], n_clusters)
