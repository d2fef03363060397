"""Options that commands share, and that may stand before or after a command's name."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Shared:
    """What the user said that concerns every command.

    Attributes
    ----------
    quiet : bool
        Results only: no progress, no remarks.
    verbose : int
        1 logs what happens, 2 logs everything.
    as_json : bool
        Results as one JSON object on stdout.
    seed : int
        The same seed gives the same results.
    given : set of str
        Which of these the user gave.
    """

    quiet: bool = False
    verbose: int = 0
    as_json: bool = False
    seed: int = 0
    given: set[str] = field(default_factory=set)


def current() -> Shared:
    """Give the options of the running command."""
    return click.get_current_context().find_root().ensure_object(Shared)


def say(text: str) -> None:
    """Tell the user something that is no result: on stderr, unless --quiet."""
    if not current().quiet:
        click.echo(text, err=True)


@contextmanager
def remarks() -> Iterator[list[str]]:
    """Collect warnings of the library as text; each is told once when this is left."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        try:
            yield found
        finally:
            found += dict.fromkeys(str(warning.message) for warning in caught)
    for text in found:
        say(f"manyview: warning: {text}")


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    if param.name == "seed" and value is not None and not 0 <= value < 2**31:
        raise click.BadParameter(f"{value} is not between 0 and {2**31 - 1}.", ctx, param)
    name, shared = str(param.name), ctx.find_root().ensure_object(Shared)
    source = ctx.get_parameter_source(name)
    # A run file does not override what stands before the command's name.
    is_given = source is click.core.ParameterSource.COMMANDLINE or name not in shared.given
    if source is not click.core.ParameterSource.DEFAULT and is_given:
        setattr(shared, name, value)
        shared.given.add(name)
        if param.name == "verbose":
            _log(ctx, value)
    return value


_OPTIONS: dict[str, Callable[[F], F]] = {
    "quiet": click.option(
        "-q",
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="Results only: no progress, no remarks.",
    ),
    "verbose": click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=_remember,
        help="Log what happens; twice: everything.",
    ),
    "as_json": click.option(
        "--json",
        "as_json",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="Print results as JSON.",
    ),
    "seed": click.option(
        "--seed",
        type=click.INT,
        metavar="NUMBER",
        expose_value=False,
        callback=_remember,
        help="The same seed gives the same results.  [default: 0]",
    ),
}


def shared_options(*names: str) -> Callable[[F], F]:
    """Add the named options to a command, or to the group."""

    def add(command: F) -> F:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return add


class _ToStderr(logging.Handler):
    """Log lines on stderr, wherever it leads at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(f"{record.levelname.lower()}: {record.getMessage()}", err=True)


def _log(ctx: click.Context, level: int) -> None:
    logger = logging.getLogger("manyview")
    handler, before = _ToStderr(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if level > 1 else logging.INFO)

    def stop() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    ctx.find_root().call_on_close(stop)
