"""What a fitted model makes of new rows, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from manyview.engines.base import Engine, Run, one_thread_per_product
from manyview.engines.dask_graphs import is_dask
from manyview.pipeline.model import FittedModel


def map_rows(
    arrays: Sequence[Any], *, engine: Engine, run: Run, function: Callable[..., Any], stage: str
) -> Any:
    """What a function of tiles, such as a method of the model, finds for each of the new rows."""
    with one_thread_per_product():
        return engine.open(arrays, run).map_rows(function, stage=stage)


def cut_known(model: FittedModel, n_clusters: int, leaves: Any) -> Any:
    """Labels of rows of these leaves when there are so many clusters instead; lazy for Dask arrays."""
    groups = model.groups(n_clusters)
    if is_dask(leaves):
        return leaves.map_blocks(groups.__getitem__, dtype=np.int32)
    return groups[leaves]
