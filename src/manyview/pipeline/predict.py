"""What a fitted model makes of new rows, wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from manyview.engines.base import Engine, Run, one_thread_per_product
from manyview.engines.dask_graphs import is_dask
from manyview.pipeline.model import FittedModel


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
    function = partial(_cut, model=model, groups=model.groups(n_clusters))
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


def cut_known(model: FittedModel, n_clusters: int, *, labels: Any, leaves: Any) -> Any:
    """Labels of known rows when there are so many clusters instead; lazily of Dask arrays.

    Leaves are None in files of earlier versions; merging does not need them.
    """
    groups = model.groups(n_clusters)
    if leaves is None:
        if n_clusters > len(model.centers):
            raise ValueError(
                "This model is of an earlier version, which did not keep where in the tree rows are: "
                "pass the rows, X, to split its clusters."
            )
        leaves = model.tree.first_leaf(np.asarray(labels))
    if is_dask(leaves):
        return leaves.map_blocks(groups.__getitem__, dtype=np.int32)
    return groups[leaves]


def _cut(tile: Any, first_row: int, *, model: FittedModel, groups: Any) -> Any:
    return groups[model.leaves(tile, first_row)]
