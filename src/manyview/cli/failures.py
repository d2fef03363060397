"""Errors as the command line tells them: one line, an exit code, and advice in its own options."""

from __future__ import annotations

import click

from manyview.cli import how_to_install
from manyview.errors import DatasetNotFoundError, ReadError, RemediableError

_REMEDIES = {
    "memory_limit": "Raise --memory-limit to that, or use fewer threads with --n-jobs.",
    "checkpoint": "Make room there and run the same command again to go on, or choose another "
    "folder with -o.",
    "folder": "Make room there, or set TMPDIR to another folder.",
}
"""What to do here about an error that names a parameter of the library."""


class Failure(click.ClickException):
    """Something went wrong (exit code 1), or the user gave something that cannot work (2)."""

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(message)
        self.code = exit_code


def as_failure(error: Exception) -> Failure:
    """The failure that tells of an error."""
    if isinstance(error, ModuleNotFoundError) and (advice := how_to_install(error)):
        return Failure(advice)
    if isinstance(error, ImportError) and "pip install" in str(error):
        return Failure(str(error))
    if isinstance(error, ValueError | DatasetNotFoundError | ReadError):
        return Failure(in_words(error))
    if isinstance(error, MemoryError):
        return Failure(f"out of memory: {error or 'no more can be had'}", exit_code=1)
    if isinstance(error, OSError):
        return Failure(in_words(error), exit_code=1)
    return Failure(
        f"unexpected {type(error).__name__}: {error} (run 'manyview --traceback ...' for the "
        "whole story, and please report it)",
        exit_code=1,
    )


def in_words(error: Exception) -> str:
    """What an error says, with the remedy in options where the library's is in parameters."""
    if isinstance(error, RemediableError) and error.parameter in _REMEDIES:
        return f"{error.problem} {_REMEDIES[error.parameter]}"
    return str(error)
