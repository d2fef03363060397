"""Why a fitted model groups rows as it does."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyview.explain.explanation import Explanation, explain_rows
    from manyview.explain.features import measure_importances

__all__ = ["Explanation", "explain_rows", "measure_importances"]

_NAMES = {
    "Explanation": "manyview.explain.explanation",
    "explain_rows": "manyview.explain.explanation",
    "measure_importances": "manyview.explain.features",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use, like the parts of the pipeline.
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'manyview.explain' has no attribute {name!r}")
