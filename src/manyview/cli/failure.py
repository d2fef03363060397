"""An error that the command line tells in one line."""

from __future__ import annotations

import click


class Failure(click.ClickException):
    """Something went wrong that is not about how options were written.

    Parameters
    ----------
    message : str
        What, and what to do about it.
    is_bad_input : bool
        Whether the user gave something that cannot work (exit code 2), or it failed (1).
    exit_code : int, optional
        Another exit code.
    """

    def __init__(
        self, message: str, *, is_bad_input: bool = False, exit_code: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = exit_code if exit_code is not None else 2 if is_bad_input else 1
