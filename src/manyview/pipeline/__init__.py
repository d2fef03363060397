"""The algorithm in order: settings, graphs, sums, embedding, labels, and the model they make."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyview.pipeline import (
        choices,
        fit,
        groups,
        known_rows,
        label_free,
        model_fields,
        persistence,
        predict,
        settings,
        stream,
        sureness,
        update,
    )

__all__ = [
    "choices", "fit", "groups", "known_rows", "label_free", "model_fields", "persistence", "predict",
    "settings", "stream", "sureness", "update",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Loaded on first use: the estimator is imported far more often than it is fitted at once.
    if name in __all__:
        return importlib.import_module(f"manyview.pipeline.{name}")
    raise AttributeError(f"module 'manyview.pipeline' has no attribute {name!r}")
