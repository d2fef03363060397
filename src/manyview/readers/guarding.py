"""Texts in CSV files that a spreadsheet would run as formulas: an apostrophe before them stops that."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.readers.text import is_number

_STARTS = ("=", "+", "-", "@", "\t", "\r")


def guard(text: str) -> str:
    """The text with an apostrophe before it, if a spreadsheet would take it as a formula.

    Numbers stay as they are. So that nothing is undone that was not done, a text that looks guarded
    already gets one more.

    Examples
    --------
    >>> guard("=1+1"), guard("-5"), guard("cell-1"), guard("'=x")
    ("'=1+1", '-5', 'cell-1', "''=x")
    """
    is_formula = text.startswith(_STARTS) and not is_number(text)
    return f"'{text}" if is_formula or _is_guarded(text) else text


def unguard(texts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Texts without the apostrophes that :func:`guard` puts before them.

    Examples
    --------
    >>> unguard(np.array(["'=1+1", "-5", "'tis"])).tolist()
    ['=1+1', '-5', "'tis"]
    """
    if texts.dtype.kind != "U":
        return texts
    return np.array([t[1:] if _is_guarded(t) else t for t in texts.tolist()], dtype=np.str_)


def _is_guarded(text: str) -> bool:
    return text.startswith("'") and text[1:].startswith((*_STARTS, "'"))
