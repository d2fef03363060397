"""Options of several commands: kinds of values, -k, -o, --force, and LMVSC's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    _Kind = click.ParamType[Any]
else:
    _Kind = click.ParamType  # older versions of click take no type argument


class Numbers(_Kind):
    """A number, several with commas, or one of a few words; "none" is nothing."""

    name = "numbers"

    def __init__(
        self, kind: Callable[[str], Any], *, words: Sequence[str] = (), several: bool = False
    ) -> None:
        self._kind, self._words, self._several = kind, words, several

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word, the number, or the list of numbers."""
        if value in self._words:
            return None if value == "none" else value
        try:
            numbers = [self._kind(part) for part in str(value).split(",")]
        except ValueError:
            numbers = []
        if not numbers or (len(numbers) > 1 and not self._several):
            words = "a whole number" if self._kind is int else "a number"
            words += ", several with commas" if self._several else ""
            words += "".join(f", or {word!r}" for word in self._words)
            self.fail(f"{value!r} is not {words}.", param, ctx)
        return numbers if len(numbers) > 1 else numbers[0]


class Words(_Kind):
    """One of a few words, or several with commas (one for each view); "none" is nothing."""

    name = "words"

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word, or the list of words."""
        parts = str(value).split(",")
        for part in parts:
            if part not in self._words:
                self.fail(f"{part!r} is not one of {', '.join(self._words)}.", param, ctx)
        found = [None if part == "none" else part for part in parts]
        return found[0] if len(found) == 1 else found


class Size(_Kind):
    """A number of bytes: 500MB, 4GB, 1.5GiB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        from manyview.engines.disk import memory_limit

        try:
            return memory_limit(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a size such as 500MB or 4GB.", param, ctx)


def output_option(kind: str, words: str, **more: Any) -> Callable[[F], F]:
    """Add -o to a command: ``kind`` "FOLDER", or the ``metavar`` of a file, with the help's words."""
    is_folder = kind == "FOLDER"
    path: Any = click.Path(file_okay=not is_folder, dir_okay=is_folder, path_type=Path)
    return click.option("-o", "--output", metavar=kind, type=path, help=words, **more)


PICTURES = (".png", ".svg", ".pdf")
"""Endings of pictures that can be drawn."""


def check_ending(path: Path, endings: Sequence[str], *, flag: str) -> None:
    """Refuse a path that does not end as the files that can be written."""
    if path.suffix not in endings:
        raise click.BadParameter(f"{path} must end in {' or '.join(endings)}.", param_hint=flag)


def force_option(words: str) -> Callable[[F], F]:
    """Add --force to a command, with the help's words."""
    return click.option("--force", is_flag=True, help=words)


def clusters_option(words: str, **more: Any) -> Callable[[F], F]:
    """Add -k to a command, with the help's words."""
    return click.option("-k", "--n-clusters", type=_COUNT, metavar="K|auto", help=words, **more)


_SCALINGS = (
    "auto", "standard", "normal-scores", "mixed", "hellinger", "unit", "energy", "log", "clr", "lognorm",
    "tf-idf", "none",
)  # fmt: skip
_COUNT = Numbers(int, words=["auto"])
_COUNT_OR_NONE = Numbers(int, words=["auto", "none"])
_WEIGHTS = ("auto", "equal", "agreement", "amgl")
_PARAMETERS: dict[str, tuple[Any, str, str]] = {
    "n_anchors": (
        Numbers(int, words=["auto"], several=True),
        "M[,M]",
        "Anchors per view; several numbers make several graphs.",
    ),
    "alpha": (Numbers(float, words=["auto"], several=True), "A[,A]", "Ridge on the graph weights."),
    "locality": (Numbers(float, words=["auto"]), "G", "Penalty on distant anchors."),
    "scaling": (
        Words(_SCALINGS),
        "KIND[,KIND]",
        f"How columns are scaled, for all views or one each: {', '.join(_SCALINGS)}.",
    ),
    "fusion": (
        click.Choice(["auto", "late", "early", "both"]),
        "KIND",
        "One graph per view (late), one of all views (early), or both.",
    ),
    "n_repeats": (_COUNT, "N", "Number of anchor seeds to combine."),
    "view_weights": (
        Numbers(float, words=_WEIGHTS, several=True),
        "W[,W]",
        f"Weight of each view, or {', '.join(_WEIGHTS)}.",
    ),
    "n_components": (_COUNT, "C", "Number of singular vectors to keep."),
    "anchor_method": (
        click.Choice(["kmeans", "kmeans-all", "random"]),
        "KIND",
        "How anchors are found: kmeans (on a sample), kmeans-all (on all rows) or random.",
    ),
    "n_neighbors": (
        _COUNT_OR_NONE,
        "R",
        "How many of its nearest anchors a row may use; none means all.",
    ),
    "n_axes": (
        _COUNT_OR_NONE,
        "P",
        "Principal axes to keep of each view; none keeps the columns as they are.",
    ),
    "max_iter": (click.IntRange(min=1), "N", "Maximum iterations of the final k-means."),
    "tol": (Numbers(float), "T", "Tolerance of the final k-means."),
    "outliers": (
        click.Choice(["keep", "mark"]),
        "KIND",
        "Give outliers a cluster like all other rows (keep), or the label -1 (mark).",
    ),
    "n_jobs": (click.INT, "N", "Threads; all cores by default."),
}

PARAMETERS = tuple(_PARAMETERS)
"""All parameters of LMVSC that are options, named as they are in Python."""


def parameter_options(command: F) -> F:
    """Add LMVSC's parameters to a command; those that are not given keep the library's default."""
    for name, (kind, metavar, words) in reversed(_PARAMETERS.items()):
        flag = f"--{name.replace('_', '-')}"
        command = click.option(flag, name, type=kind, metavar=metavar, help=words)(command)
    return command


def take_parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Take the parameters that were given out of all options of a command."""
    ctx = click.get_current_context()
    taken = {name: options.pop(name) for name in PARAMETERS}
    # None is a value of its own for some.
    return {
        n: v for n, v in taken.items() if ctx.get_parameter_source(n) is not ParameterSource.DEFAULT
    }
