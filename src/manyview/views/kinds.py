"""What a column of a table is: numbers, days, levels, or nothing that could tell clusters apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.checks import check_option
from manyview.errors import InputError, ParameterTypeError
from manyview.readers.numerals import is_code
from manyview.sources import are_missing, as_ids
from manyview.wording import count, first_few

Column = npt.NDArray[Any]

MODES = ("auto", "strict", "refuse")
TREATMENTS = ("encode", "drop", "keep")
CODES = ("number", "order", "date", "category", "left out")
IDENTIFIERS = "identifiers"
"""How it is told why a column is left out that likely names rows: so it begins."""

_MOST_LEVELS = 50
_LEAST_SHARE = 1 / 200  # of the rows that a level of its own must have
_LEAST_COVERED = 0.1  # of the rows that must have a level of their own, else it is no category
_MANY_WORDS = 3
_MOSTLY = 0.8  # of a column's texts that are numbers, for the others to look like mistakes
_LEAST_ROWS = 30  # for numbers in order to be remarkable
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([+-]\d{2}(:?\d{2})?)?)?Z?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)")  # the day first, wherever dots are used


@dataclass(frozen=True)
class Code:
    """What becomes of one column.

    By its kind, numbers stay as they are, levels of an order become their place, days are counted from
    1970, and each level of a category becomes a column of zeros and ones.
    """

    name: str  # the column's
    kind: str  # one of CODES
    levels: tuple[str, ...] = ()  # of a category those with a column, the most frequent first
    has_rare: bool = False  # there is a column for all other levels
    has_missing: bool = False  # there is one for missing values
    fill: float = 0.0  # what stands for a missing number
    why: str = ""  # in words

    @property
    def is_used(self) -> bool:
        """Whether the column is a feature."""
        return self.kind != "left out"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns that it becomes."""
        own = [f"{self.name}={level}" for level in self.levels]
        found = own if self.kind == "category" else [self.name] * self.is_used
        found += [f"{self.name}={self._own_word('rare')}"] * self.has_rare
        return tuple(found + [f"{self.name}={self._own_word('missing')}"] * self.has_missing)

    def _own_word(self, word: str) -> str:
        """The word in as many brackets as tell it from the levels."""
        word = f"({word})"
        while word in self.levels:
            word = f"({word})"
        return word


@dataclass(frozen=True)
class Treatment:
    """What a user wants done with columns: a mode, and exceptions by name or pattern."""

    mode: str = "auto"
    asked: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, categories: Any) -> Treatment:
        """From the parameter ``categories``: a mode, or a mapping of columns to treatments.

        Examples
        --------
        >>> Treatment.of({"zip": "encode", "*": "strict"})
        Treatment(mode='strict', asked=(('zip', 'encode'),))
        """
        if not isinstance(categories, Mapping):
            check_option("categories", categories, MODES)
            return cls(str(categories))
        if not all(isinstance(pattern, str) for pattern in categories):
            raise ParameterTypeError("categories", f"must name columns; got {categories!r}.")
        rest = dict(categories)
        mode = rest.pop("*") if rest.get("*") in MODES else "auto"
        for pattern, treatment in rest.items():
            check_option(f"categories[{pattern!r}]", treatment, TREATMENTS)
        return cls(mode, tuple(rest.items()))

    def for_column(self, name: str) -> str | None:
        """One of :data:`TREATMENTS`, if it was asked for."""
        by_name = dict(self.asked)
        if name in by_name:
            return by_name[name]
        return next((how for pattern, how in self.asked if fnmatchcase(name, pattern)), None)

    def is_asked(self, name: str) -> bool:
        """Whether something was asked for."""
        return self.for_column(name) is not None


def look_at(name: str, values: Column, order: tuple[str, ...] | None, asked: str | None) -> Code:
    """What becomes of a column, by all its values (n,)."""
    if asked == "drop":
        return Code(name, "left out", why="as asked")
    missing = find_missing(values)
    has_missing, known = bool(missing.any()), values[~missing]
    if len(known) == 0:
        return Code(name, "left out", why="all values are missing")
    if order is not None and asked != "encode":
        ranks = rank(level_texts(known), order)
        why = f"ordered: {' < '.join(order)}"
        return Code(name, "order", order, has_missing=has_missing, fill=middle(ranks), why=why)
    values = plain(values)
    known = values[~missing]
    if values.dtype.kind in "iufMm" and asked != "encode":
        return _look_at_numbers(name, as_numbers(values), has_missing, asked, values.dtype.kind)
    texts = level_texts(known)
    if asked is None and values.dtype.kind != "b":
        numbers = _numbers_in(texts)
        if not np.isnan(numbers).any() and not any(map(is_code, texts.tolist())):
            code = _look_at_numbers(name, numbers, has_missing, "keep", "f")
            return replace(code, why=f"numbers written as text; {code.why}".removesuffix("; "))
        _refuse_mistakes(name, texts, numbers)
    return _look_at_levels(name, texts, has_missing, asked)


def _numbers_in(texts: npt.NDArray[np.str_]) -> npt.NDArray[np.float64]:
    """The numbers that texts tell; NaN for those that tell none."""
    distinct, places = np.unique(texts, return_inverse=True)
    return np.array([to_number(text) for text in distinct.tolist()], dtype=np.float64)[places]


def to_number(text: str) -> float:
    """The number that a text tells, or NaN."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _refuse_mistakes(
    name: str, texts: npt.NDArray[np.str_], numbers: npt.NDArray[np.float64]
) -> None:
    """Raise InputError if nearly all of some text are numbers: the rest are no levels but mistakes."""
    wrong = np.isnan(numbers)
    if 0 < wrong.mean() < 1 - _MOSTLY:
        raise InputError(
            f"Column {name!r} holds numbers, but for {first_few(np.unique(texts[wrong]), 3)} in "
            f"{count(int(wrong.sum()), 'row')}.",
            remedy="Correct them, leave the column out, or encode it: "
            f"categories={{{name!r}: 'drop'}}, or 'encode'.",
            parameter="mistakes",
        )


def _look_at_numbers(
    name: str, numbers: Column, has_missing: bool, asked: str | None, kind: str
) -> Code:
    known = numbers[~np.isnan(numbers)]
    if (known == known[0]).all() and not has_missing and asked is None:
        return Code(name, "left out", why=f"constant: always {known[0]:g}")
    is_date = kind in "Mm"
    why = "days since 1970" if kind == "M" else "days" if kind == "m" else ""
    if has_missing:
        why = f"{why}; missing ones as the median, and marked".removeprefix("; ")
    if not is_date and asked is None and not has_missing and counts_rows(numbers):
        why = "whole numbers in order, none twice: likely an id"
    return Code(
        name,
        "date" if is_date else "number",
        has_missing=has_missing,
        fill=middle(known),
        why=why,
    )


def _look_at_levels(
    name: str, texts: npt.NDArray[np.str_], has_missing: bool, asked: str | None
) -> Code:
    levels, counts = np.unique(texts, return_counts=True)
    if len(levels) == 1 and not has_missing:
        return Code(name, "left out", why=f"constant: always {str(levels[0])!r}")
    order = np.argsort(-counts, kind="stable")
    least = max(2, int(np.ceil(_LEAST_SHARE * len(texts))))
    kept = [i for i in order[:_MOST_LEVELS] if counts[i] >= least]
    if asked is None and counts[kept].sum() < _LEAST_COVERED * len(texts):
        n_words = np.mean([len(text.split()) for text in texts[:1000]])
        what = "free text" if n_words > _MANY_WORDS else IDENTIFIERS
        why = f"{what}: {count(len(levels), 'value')} in {count(len(texts), 'row')}"
        return Code(name, "left out", why=f"{why}, such as {str(levels[0])!r}")
    if not kept or len(levels) in (len(kept) + 1, 2):  # a single one shares with nobody
        kept = list(order[:_MOST_LEVELS])
    has_rare = len(kept) < len(levels)
    why = count(len(levels), "level")
    if has_rare:
        why += f", {len(levels) - len(kept)} of them, which are rare, as one"
    why += ", missing as one more" if has_missing else ""
    return Code(name, "category", tuple(map(str, levels[kept])), has_rare, has_missing, why=why)


def plain(values: Column) -> Column:
    """A column in the simplest type: objects that are all numbers or days as such, text that is days."""
    if values.dtype.kind == "O":
        known = values[~find_missing(values)].tolist()
        if known and all(isinstance(value, bool | np.bool_) for value in known):
            return values
        if known and all(isinstance(value, Real) for value in known):
            missing = find_missing(values)
            return np.array(
                [np.nan if m else v for m, v in zip(missing, values, strict=True)], float
            )
        if known and all(isinstance(value, date | np.datetime64) for value in known):
            return np.array([_day(value) for value in values], dtype="datetime64[us]")
    if values.dtype.kind in "OUT":
        return _days_if_all(values)
    return values


def _day(value: Any) -> np.datetime64:
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    # A time of pandas may be no time at all.
    return np.datetime64("NaT") if value is None or value != value else np.datetime64(value, "us")


def _days_if_all(values: Column) -> Column:
    """Text as days, if all of it is written as ISO writes days and times, or as 28.1.2020."""
    missing = find_missing(values)
    if missing.all() or not _ISO.fullmatch(_as_iso(str(values[int(np.argmin(missing))]))):
        return values
    texts = ["NaT" if m else _as_iso(str(v)) for m, v in zip(missing, values, strict=True)]
    if not all(text == "NaT" or _ISO.fullmatch(text) for text in texts):
        return values
    try:
        return np.array([_in_utc(text) for text in texts], dtype="datetime64[us]")
    except (ValueError, OverflowError):  # such as the 31st of February
        return values


def _as_iso(text: str) -> str:
    """A day written with dots as ISO writes it; other text as it is."""
    found = _DOTTED.fullmatch(text.strip())
    if found is None:
        return text.strip()
    day, month, year, time = found.groups()
    return f"{year}-{month:0>2}-{day:0>2}{time}"


def _in_utc(text: str) -> str:
    """A day or time as ISO writes it, without its zone."""
    if re.search(r":\d.*[+-]", text):
        return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None).isoformat()
    return text.removesuffix("Z")


def find_missing(values: Column) -> npt.NDArray[np.bool_]:
    """Which values of a column are missing: NaN, NaT, None, empty text."""
    if values.dtype.kind in "biu":
        return np.zeros(len(values), bool)
    if values.dtype.kind == "U":
        return np.asarray(np.char.strip(values) == "")
    return are_missing(values)


def level_texts(values: Column) -> npt.NDArray[np.str_]:
    """Values that are not missing as text: 7, 7.0 and "7" are the same level."""
    return np.char.strip(as_ids(values)) if len(values) else np.zeros(0, np.str_)


def are_numbers(levels: tuple[str, ...]) -> bool:
    """Whether levels are numbers, each written as :func:`level_texts` writes it.

    Examples
    --------
    >>> are_numbers(("1", "2.5")), are_numbers(("01", "02")), are_numbers(("1", "x"))
    (True, False, False)
    """
    numbers = np.array([to_number(level) for level in levels])
    return bool(level_texts(numbers).tolist() == list(levels))


def as_numbers(values: Column) -> npt.NDArray[np.float64]:
    """Numbers, or days since 1970, as floats; missing is NaN."""
    if values.dtype.kind == "M":
        values = values - np.datetime64("1970-01-01")
    if values.dtype.kind == "m":
        return np.asarray(values / np.timedelta64(1, "D"), dtype=np.float64)
    return values.astype(np.float64)


def rank(texts: npt.NDArray[np.str_], order: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """The place of each level in an order; NaN for those that are none of it."""
    places = {level: float(place) for place, level in enumerate(order)}
    return np.array([places.get(text, np.nan) for text in texts.tolist()], dtype=np.float64)


def middle(numbers: npt.NDArray[np.float64]) -> float:
    """The median of what is finite."""
    finite = numbers[np.isfinite(numbers)]
    return float(np.median(finite)) if len(finite) else 0.0


def counts_rows(values: Column) -> bool:
    """Whether numbers are whole, each greater than the one before or each less: likely ids.

    Examples
    --------
    >>> counts_rows(np.arange(100, 200)), counts_rows(np.linspace(0, 1, 100))
    (True, False)
    """
    if len(values) < _LEAST_ROWS:
        return False
    few = np.diff(values[:_LEAST_ROWS].astype(np.float64))
    if not ((few > 0).all() or (few < 0).all()):
        return False
    numbers = values.astype(np.float64)
    steps = np.diff(numbers)
    return bool(((steps > 0).all() or (steps < 0).all()) and (numbers == np.floor(numbers)).all())
