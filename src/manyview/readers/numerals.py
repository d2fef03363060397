"""Numbers as people write them: 1,5 and 1.234,56, 1,234.56 and 1 234.5, 12 % and $3.50."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manyview.wording import first_few

DECIMALS = (".", ",")
"""Marks before the fraction of a number."""

_SPACES = " \u00a0\u202f'"
_ALL = (*DECIMALS, *_SPACES)
_SIGNED = re.compile(
    r"(?P<minus>[+-]?)\s*(?P<before>[$€£¥]?)\s*(?P<number>.*?)\s*(?P<after>[%$€£¥]?)"
)
_MARKS = {
    mark: re.compile(
        rf"[+-]?(?=\d|{mark}\d)([1-9]\d{{0,2}}([{other}{_SPACES}]\d{{3}})+|\d*)({mark}\d*)?([eE][+-]?\d+)?"
    )
    for mark, other in ((r"\.", ","), (",", "."))
}


@dataclass(frozen=True)
class Numerals:
    """Numbers of one column, and how they were written."""

    values: npt.NDArray[np.float64]  # (n,), NaN where the text was empty
    decimal: str  # the mark before fractions, "." or ","
    is_certain: bool = False  # the other mark would not have made numbers of all of them
    is_doubtful: bool = False  # it would have made other numbers of them
    has_fractions: bool = False  # there is a mark before a fraction
    has_groups: bool = False  # there are marks between thousands
    sign: str = ""  # of percent or a currency, which all of them had


class Conversion(NamedTuple):
    """A table with numbers, a remark about it, and the mark that its columns show, if it is one."""

    table: dict[str, npt.NDArray[Any]]
    remark: str
    decimal: str | None


def read_numerals(
    texts: npt.NDArray[np.str_], decimal: str | None = None, *, usual: str = "."
) -> Numerals | None:
    """Numbers in a column of text; None if some of it is none, or if it is codes, as 01234.

    ``decimal`` is the mark before fractions; without it what all texts allow, and ``usual`` if they
    allow both. A sign of percent or of a currency that all of them have is left out: 12 % is 12.

    Examples
    --------
    >>> read_numerals(np.array(["1,5", "1.234,0", ""])).values.tolist()
    [1.5, 1234.0, nan]
    >>> read_numerals(np.array(["1,234", "2,500"])).values
    array([1234., 2500.])
    """
    distinct, places = np.unique(np.char.strip(texts), return_inverse=True)
    sign, bare = _without_sign(distinct.tolist())
    known = [text for text in bare if text]
    if not known or not all(any(map(str.isdigit, text)) for text in known):
        return None
    if not any(mark in text for text in known for mark in _ALL) and any(map(is_code, known)):
        return None
    marks = [mark for mark in DECIMALS if decimal in (mark, None) and _can_be(known, mark)]
    if not marks:
        return None
    mark = usual if usual in marks else marks[0]
    numbers = [_to_float(text, mark) if text else np.nan for text in bare]
    return Numerals(
        np.array(numbers, dtype=np.float64)[places],
        mark,
        is_certain=len(marks) == 1,
        is_doubtful=len(marks) > 1 and any(each in text for text in known for each in DECIMALS),
        has_fractions=any(mark in text for text in known),
        has_groups=any(each in text for text in known for each in _ALL if each != mark),
        sign=sign,
    )


def _without_sign(texts: list[str]) -> tuple[str, list[str]]:
    """The sign that all texts but empty ones have before or after a number, and what is left of them."""
    parts = [found for text in texts if (found := _SIGNED.fullmatch(text))]
    signs = {part["before"] + part["after"] for part in parts if part["number"]}
    if any(text and not part["number"] for part, text in zip(parts, texts, strict=False)):
        return "", texts
    if len(parts) != len(texts) or len(signs) != 1 or len(sign := signs.pop()) != 1:
        return "", texts
    return sign, [part["minus"] + part["number"] for part in parts]


def is_code(text: str) -> bool:
    """Whether digits begin with a zero that says nothing, as in 01234."""
    return len(text) > 1 and text[0] == "0" and text.isdigit()


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
) -> Conversion:
    """A table with these columns of text as numbers, where they are.

    Where columns allow both marks before fractions, it is the one that others show, else ``usual``.

    Examples
    --------
    >>> columns = {"a": np.array(["1,5", "2"]), "b": np.array(["x", "y"]), "c": np.array(["1.234", ""])}
    >>> found = convert_columns(columns, ["a", "b", "c"], None)
    >>> found.table["c"].tolist(), found.decimal
    ([1234.0, nan], ',')
    >>> found.remark
    "decimal commas in 'a'; thousands marks in 'c'; fractions and thousands look alike in 'c'"
    """
    found = _read_all(table, names, decimal, usual)
    shown = {numerals.decimal for numerals in found.values() if numerals.is_certain}
    mark = shown.pop() if len(shown) == 1 else None
    if mark not in (None, usual):
        found = _read_all(table, names, decimal, str(mark))
    commas = [name for name, each in found.items() if each.decimal == "," and each.has_fractions]
    groups = [name for name, each in found.items() if each.has_groups]
    doubtful = [name for name, each in found.items() if each.is_doubtful]
    words = [f"decimal commas in {first_few(commas)}"] * bool(commas)
    words += [f"thousands marks in {first_few(groups)}"] * bool(groups)
    doubt = f"fractions and thousands look alike in {first_few(doubtful)}"
    words += [doubt] * bool(doubtful)
    signs = {name: each.sign for name, each in found.items() if each.sign}
    words += [f"{sign!r} left out of {name!r}" for name, sign in signs.items()]
    numbers = {name: numerals.values for name, numerals in found.items()}
    return Conversion({**table, **numbers}, "; ".join(words), mark)


def _read_all(
    table: dict[str, npt.NDArray[Any]], names: Sequence[str], decimal: str | None, usual: str
) -> dict[str, Numerals]:
    read = {name: read_numerals(table[name], decimal, usual=usual) for name in names}
    return {name: numerals for name, numerals in read.items() if numerals is not None}
