"""LMVSC's parameters as options, named as they are in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from manyview.cli.values import Numbers, Words

F = TypeVar("F", bound=Callable[..., Any])

_SCALINGS = ("auto", "standard", "normal-scores", "hellinger", "unit", "energy", "none")
_OPTIONS: dict[str, tuple[Any, str, str]] = {
    "n_anchors": (
        Numbers(int, words=["auto"], several=True),
        "M[,M]",
        "Anchors of each view; several numbers make several graphs.",
    ),
    "alpha": (
        Numbers(float, words=["auto"], several=True),
        "A[,A]",
        "Ridge on the graph weights.",
    ),
    "locality": (Numbers(float, words=["auto"]), "G", "Penalty on far anchors."),
    "scaling": (
        Words(_SCALINGS),
        "KIND[,KIND]",
        f"How columns are scaled, for all views or one each: {', '.join(_SCALINGS)}.",
    ),
    "fusion": (
        click.Choice(["auto", "late", "early", "both"]),
        "KIND",
        "One graph a view (late), one of all (early), or both.",
    ),
    "n_repeats": (Numbers(int, words=["auto"]), "N", "Anchor seeds that are joined."),
    "view_weights": (
        Numbers(float, words=["auto", "equal", "agreement", "amgl"], several=True),
        "W[,W]",
        "Weight of each view, or auto, equal, agreement, amgl.",
    ),
    "n_components": (Numbers(int, words=["auto"]), "C", "Singular vectors kept."),
    "anchor_method": (
        click.Choice(["kmeans", "kmeans-all", "random"]),
        "KIND",
        "kmeans (on a sample), kmeans-all (as published) or random.",
    ),
    "n_init": (click.IntRange(min=1), "N", "Starts of the final k-means."),
    "max_iter": (click.IntRange(min=1), "N", "Most iterations of the final k-means."),
    "tol": (Numbers(float), "T", "Tolerance of the final k-means."),
    "n_jobs": (click.INT, "N", "Threads; all cores by default."),
}

NAMES = tuple(_OPTIONS)
"""All parameters that are options."""


def parameter_options(command: F) -> F:
    """Add LMVSC's parameters to a command; those that are not given keep the library's default."""
    for name, (kind, metavar, words) in reversed(_OPTIONS.items()):
        option = click.option(
            f"--{name.replace('_', '-')}", name, type=kind, metavar=metavar, help=words
        )
        command = option(command)
    return command


def take_parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Take the parameters that were given out of all options of a command."""
    ctx = click.get_current_context()
    taken = {name: options.pop(name) for name in NAMES}
    default = click.core.ParameterSource.DEFAULT
    # None is a value of its own for scaling.
    return {n: v for n, v in taken.items() if ctx.get_parameter_source(n) is not default}
