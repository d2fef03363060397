"""Values of options that are more than one word or number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Kind = click.ParamType[Any]
else:
    _Kind = click.ParamType  # older versions of click take no type argument

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


class Numbers(_Kind):
    """A number, several with commas, or one of a few words.

    Parameters
    ----------
    kind : type
        ``int`` or ``float``.
    words : sequence of str
        Words that are allowed instead.
    several : bool
        Whether commas are allowed.
    """

    name = "numbers"

    def __init__(
        self, kind: Callable[[Any], Any], *, words: Sequence[str] = (), several: bool = False
    ) -> None:
        self._kind, self._words, self._several = kind, tuple(words), several

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the word, the number, or the list of numbers."""
        if value in self._words and not isinstance(value, bool):
            return value
        parts = value if isinstance(value, list) else str(value).split(",")
        try:
            numbers = [self._number(part) for part in parts]
        except (ValueError, TypeError):
            numbers = []
        if not numbers or (len(numbers) > 1 and not self._several):
            self.fail(f"{value!r} is not {self._describe()}.", param, ctx)
        return numbers[0] if len(numbers) == 1 and not isinstance(value, list) else numbers

    def _number(self, part: Any) -> Any:
        if isinstance(part, bool) or (self._kind is int and isinstance(part, float)):
            raise ValueError
        return self._kind(part.strip() if isinstance(part, str) else part)

    def _describe(self) -> str:
        words = "a whole number" if self._kind is int else "a number"
        if self._several:
            words += ", several with commas"
        return words + "".join(f", or {word!r}" for word in self._words)


class Words(_Kind):
    """One of a few words, or several with commas (one for each view); "none" is nothing."""

    name = "words"

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the word, or the list of words."""
        parts = value if isinstance(value, list) else str(value).split(",")
        for part in parts:
            if part not in self._words:
                self.fail(f"{part!r} is not one of {', '.join(self._words)}.", param, ctx)
        found = [None if part == "none" else part for part in parts]
        return found[0] if len(found) == 1 else found


class Size(_Kind):
    """A number of bytes: 500MB, 4GB, 1.5GiB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Give the number of bytes."""
        text = str(value).strip().lower().replace(" ", "")
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
        try:
            size = int(float(digits) * _UNITS[text[len(digits) :]])
        except (ValueError, KeyError, OverflowError):
            size = 0
        if size <= 0:
            self.fail(f"{value!r} is not a size such as 500MB or 4GB.", param, ctx)
        return size


def parse_columns(texts: Sequence[str]) -> dict[str, list[str]]:
    """Give the columns of each view from ``NAME=a,b,c``; the same name again adds more.

    Examples
    --------
    >>> parse_columns(["colour=red,green", "shape=w*", "colour=blue"])
    {'colour': ['red', 'green', 'blue'], 'shape': ['w*']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, columns = text.partition("=")
        if not (name and equals and columns):
            raise click.BadParameter(
                f"{text!r} is not NAME=COLUMN,COLUMN,...", param_hint="'--columns'"
            )
        found.setdefault(name, []).extend(part.strip() for part in columns.split(","))
    return found
