"""Cluster things described in several ways at once, in time linear in their number.

files, frames, arrays -> views -> sample -> scaling -> anchors -> graph rows (simplex QP) -> sums
-> spectral basis -> embedding -> labels -> metrics, report
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from manyview import baselines, compose, datasets, engines, metrics, sc, select
    from manyview.estimator import LMVSC, load
    from manyview.views.container import Views

__all__ = [
    "LMVSC", "Views", "baselines", "compose", "datasets", "engines", "load", "metrics", "sc", "select",
]  # fmt: skip

_MODULES = {"baselines", "compose", "datasets", "engines", "metrics", "sc", "select"}
_NAMES = {
    "LMVSC": "manyview.estimator",
    "Views": "manyview.views.container",
    "load": "manyview.estimator",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use, so that importing the package does no work.
    if name in _MODULES:
        return importlib.import_module(f"manyview.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'manyview' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
