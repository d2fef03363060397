"""Why a fitted model groups rows as it does."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyview.explain import explanation, features

__all__ = ["explanation", "features"]


def __getattr__(name: str) -> Any:
    # Loaded on first use, like the parts of the pipeline.
    if name in __all__:
        return importlib.import_module(f"manyview.explain.{name}")
    raise AttributeError(f"module 'manyview.explain' has no attribute {name!r}")
