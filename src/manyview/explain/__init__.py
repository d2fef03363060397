"""Why a fitted model groups rows as it does."""

from __future__ import annotations

from manyview.explain.explanation import Explanation, explain_rows

__all__ = ["Explanation", "explain_rows"]
