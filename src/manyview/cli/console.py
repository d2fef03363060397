"""What every command shares: --quiet, --verbose, --json and --seed, ways to speak to the user, errors.

The options may stand before or after a command's name.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from manyview.cli import how_to_install
from manyview.errors import (
    CautionWarning,
    DatasetNotFoundError,
    ParameterError,
    ReadError,
    RemediableError,
)
from manyview.wording import align, visible

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Shared:
    """What the user said that concerns every command, and which of it was said at all."""

    quiet: bool = False
    verbose: int = 0
    as_json: bool = False
    seed: int = 0
    given: set[str] = field(default_factory=set)


def current() -> Shared:
    """The shared options of the running command."""
    return click.get_current_context().find_root().ensure_object(Shared)


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    name, shared = str(param.name), ctx.find_root().ensure_object(Shared)
    source = ctx.get_parameter_source(name)
    # A run file does not override what stands before the command's name.
    is_given = source is ParameterSource.COMMANDLINE or name not in shared.given
    if source is not ParameterSource.DEFAULT and is_given:
        setattr(shared, name, value)
        shared.given.add(name)
        if name == "verbose":
            _log(ctx, value)


_option = partial(click.option, expose_value=False, callback=_remember)
_SEED: dict[str, Any] = {"type": click.IntRange(0, 2**31 - 1), "metavar": "NUMBER"}
_OPTIONS: dict[str, Callable[..., Any]] = {
    "quiet": _option(
        "-q", "--quiet", is_flag=True, help="Print results only, no progress or remarks."
    ),
    "verbose": _option(
        "-v", "--verbose", count=True, help="Log what happens; -vv logs everything."
    ),
    "as_json": _option("--json", "as_json", is_flag=True, help="Print results as JSON."),
    "seed": _option("--seed", help="Random seed.  [default: 0]", **_SEED),
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
        echo(f"{record.levelname.lower()}: {record.getMessage()}", err=True)


def _log(ctx: click.Context, level: int) -> None:
    logger = logging.getLogger("manyview")
    handler, before = _ToStderr(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if level > 1 else logging.INFO)

    def stop() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    ctx.find_root().call_on_close(stop)


def echo(text: str = "", *, err: bool = False) -> None:
    """Print text, of which nothing but text reaches a terminal; there it replaces a line of progress."""
    wipe = "\r\x1b[K" if err and sys.stderr.isatty() else ""
    click.echo(wipe + visible(text), err=err)


def say(text: str) -> None:
    """Tell the user something that is no result: on stderr, unless --quiet."""
    if not current().quiet:
        echo(text, err=True)


@contextmanager
def remarks() -> Iterator[list[str]]:
    """Collect warnings of the library as text; each is told once when this is left."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("ignore", category=CautionWarning)  # the command tells them itself
        try:
            yield found
        finally:
            found += dict.fromkeys(str(warning.message) for warning in caught)
    for text in found:
        say(f"manyview: warning: {text}")


def print_result(facts: Any, show: Callable[[], None], *, indent: int | None = 2) -> None:
    """Print facts as JSON if --json was given, else what ``show`` prints for people."""
    if current().as_json:
        echo(json.dumps(facts, indent=indent))
    else:
        show()


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()
) -> None:
    """Print lines with aligned columns, some to the right; whole words whatever the terminal's width."""
    for line in align([header, *rows], right=right):
        echo(line)


_GET_IT = (
    "To use it, get the file and convert it with 'manyview datasets convert NAME --path FILE -o "
    "FOLDER', or put it into a folder and name that folder in $MANYVIEW_DATA."
)
_REMEDIES = {
    "memory_limit": "Raise --memory-limit to that, or use fewer threads with --n-jobs.",
    "engine": "Leave out --engine memory: rows are then read block by block.",
    "checkpoint": "Make room there and run the same command again to go on, or choose another "
    "folder with -o.",
    "output": "Make room there, or choose another folder with -o. What was there before is as it was.",
    "folder": "Make room there, or set TMPDIR to another folder.",
    "missing values": "Fill in such values first, or leave out their rows or columns.",
    "mistakes": "Correct them, leave the column out with --drop, or encode it with --encode.",
    "other fit": "Use the same, choose another folder with -o, or remove that one to start again.",
    "path": _GET_IT,
    "unverified": f"{_GET_IT} 'manyview datasets get NAME --unverified' takes it without a checksum.",
}
"""What to do here about errors of which the library gives a remedy in Python."""


class Failure(click.ClickException):
    """Something went wrong (exit code 1), or the user gave something that cannot work (2)."""

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(message)
        self.code = exit_code


def as_failure(error: Exception, command: click.Command | None = None) -> Failure:
    """The failure that tells of an error in a command."""
    if isinstance(error, ModuleNotFoundError) and (advice := how_to_install(error)):
        return Failure(advice)
    if isinstance(error, ImportError) and "pip install" in str(error):
        return Failure(str(error))
    if isinstance(error, ValueError | DatasetNotFoundError | ReadError):
        return Failure(in_words(error, command))
    if isinstance(error, MemoryError):
        return Failure(f"out of memory: {error or 'no more can be had'}", exit_code=1)
    if isinstance(error, OSError):
        return Failure(in_words(error, command), exit_code=1)
    return Failure(
        f"unexpected {type(error).__name__}: {error} (run 'manyview --traceback ...' for the "
        "whole story, and please report it)",
        exit_code=1,
    )


def in_words(error: Exception, command: click.Command | None = None) -> str:
    """What an error says, in the options of the command where the library speaks of parameters."""
    flags = {str(param.name): param.opts[0] for param in (command.params if command else ())}
    flags["random_state"] = "--seed"
    if isinstance(error, RemediableError):
        names = [flags.get(name, name.replace("_", " ")) for name in error.named]
        return error.tell(_REMEDIES.get(error.parameter, ""), names)
    if isinstance(error, ParameterError) and error.parameter in flags:
        return f"{flags[error.parameter]} {error.problem}"
    return str(error)
