"""A fitted model as one page to open: facts as a dictionary first, then figures, then HTML.

Two calls make a report, and everything else here serves them::

    summary = build_summary(model, views, ids=None, labels=None, command=None, random_state=0)
    write_report(summary, "report.html", static=False, force=False)

``build_summary`` gives plain facts (dicts, lists, numbers and text, ready for ``json.dump``), so a
report can be drawn again later from ``summary.json`` alone. The displays are the same figures for
papers, drawn with matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyview.report.displays import (
        AgreementDisplay,
        EmbeddingDisplay,
        SensitivityDisplay,
        SpectrumDisplay,
    )
    from manyview.report.flows import FlowDisplay
    from manyview.report.render import render_report, write_report
    from manyview.report.summary import build_summary

__all__ = [
    "AgreementDisplay",
    "EmbeddingDisplay",
    "FlowDisplay",
    "SensitivityDisplay",
    "SpectrumDisplay",
    "build_summary",
    "render_report",
    "write_report",
]

_MODULES = {
    "FlowDisplay": "flows",
    "build_summary": "summary",
    "render_report": "render",
    "write_report": "render",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'manyview.report' has no attribute {name!r}")
    module = importlib.import_module(f"manyview.report.{_MODULES.get(name, 'displays')}")
    return getattr(module, name)
