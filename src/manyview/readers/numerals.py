"""Numbers as people write them: 1,5 and 1.234,56, 1,234.56 and 1 234.5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.wording import first_few

DECIMALS = (".", ",")
"""Marks before the fraction of a number."""

_SPACES = " \u00a0\u202f'"
_MARKS = {
    mark: re.compile(
        rf"[+-]?(\d{{1,3}}([{other}{_SPACES}]\d{{3}})+|\d*)({mark}\d*)?([eE][+-]?\d+)?"
    )
    for mark, other in ((r"\.", ","), (",", "."))
}
_GROUPS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")  # a thousand, or a fraction of three digits


@dataclass(frozen=True)
class Numerals:
    """Numbers of one column, and how they were written.

    Attributes
    ----------
    values : ndarray of shape (n,)
        NaN where the text was empty.
    decimal : {".", ","}
        The mark before fractions.
    is_doubtful : bool
        Whether the other mark would have made numbers of all of them, too.
    """

    values: npt.NDArray[np.float64]
    decimal: str
    is_doubtful: bool = False


def read_numerals(
    texts: npt.NDArray[np.str_], decimal: str | None = None, *, usual: str = "."
) -> Numerals | None:
    """Numbers in a column of text, if all of it are; None if not, or if they are plain.

    ``decimal`` is the mark before fractions; without it what all texts allow, and ``usual`` if they
    allow both.

    Examples
    --------
    >>> read_numerals(np.array(["1,5", "1.234,0", ""])).values.tolist()
    [1.5, 1234.0, nan]
    >>> read_numerals(np.array(["1,234", "2,500"])).values
    array([1234., 2500.])
    """
    distinct, places = np.unique(np.char.strip(texts), return_inverse=True)
    known = [text for text in distinct.tolist() if text]
    if not known or not all(any(map(str.isdigit, text)) for text in known):
        return None
    marks = [mark for mark in DECIMALS if decimal in (mark, None) and _can_be(known, mark)]
    if not marks:
        return None
    mark = usual if usual in marks else marks[0]
    # Digits in groups of three after a comma can be thousands.
    with_comma = [text for text in known if "," in text]
    is_doubtful = len(marks) > 1 and bool(with_comma) and all(map(_GROUPS.fullmatch, with_comma))
    numbers = [_to_float(text, mark) if text else np.nan for text in distinct.tolist()]
    return Numerals(np.array(numbers, dtype=np.float64)[places], mark, is_doubtful)


def _can_be(texts: Sequence[str], mark: str) -> bool:
    pattern = _MARKS["," if mark == "," else r"\."]
    return all(pattern.fullmatch(text) for text in texts)


def _to_float(text: str, mark: str) -> float:
    other = "," if mark == "." else "."
    kept = "".join(c for c in text if c not in _SPACES and c != other)
    return float(kept.replace(mark, "."))


def convert_columns(
    table: dict[str, npt.NDArray[Any]],
    names: Sequence[str],
    decimal: str | None,
    *,
    usual: str = ".",
) -> tuple[dict[str, npt.NDArray[Any]], str]:
    """A table with these columns of text as numbers, where they are; and a remark about it.

    Examples
    --------
    >>> convert_columns({"a": np.array(["1,5", "2"]), "b": np.array(["x", "y"])}, ["a", "b"], None)[1]
    "decimal commas in 'a'"
    """
    read = {name: read_numerals(table[name], decimal, usual=usual) for name in names}
    found = {name: numerals for name, numerals in read.items() if numerals is not None}
    commas = [name for name, numerals in found.items() if numerals.decimal == ","]
    points = [name for name, numerals in found.items() if numerals.decimal == "."]
    doubtful = [name for name, numerals in found.items() if numerals.is_doubtful]
    words = [f"decimal commas in {first_few(commas)}"] * bool(commas)
    words += [f"thousands marks in {first_few(points)}"] * bool(points)
    other = "thousands marks" if usual == "," else "decimal commas"
    words += [f"they could be {other} in {first_few(doubtful)}"] * bool(doubtful)
    return {**table, **{name: numerals.values for name, numerals in found.items()}}, "; ".join(
        words
    )
