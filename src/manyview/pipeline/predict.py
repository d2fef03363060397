"""What a fitted model makes of new rows, wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from manyview.engines.base import Engine, Run, one_thread_per_product
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
