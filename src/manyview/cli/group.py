"""The group of commands: finds them, and turns every error into one line and an exit code.

Exit codes: 0 done, 1 failed, 2 bad input or something is not installed, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

import manyview as package
from manyview.cli.console import Failure, as_failure, echo, shared_options

COMMANDS = (
    "fit", "predict", "evaluate", "compare", "report", "inspect", "datasets", "demo", "bench",
    "reproduce", "doctor",
)  # fmt: skip
"""Commands, and modules beside this one that import nothing slow before the command runs."""


class CommandGroup(click.Group):
    """Commands that are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the registry."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"manyview.cli.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what goes wrong becomes a :class:`Failure`, unless it is to be traced."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt as stopped:
            # A command that keeps something says so in the exception.
            raise Failure(f"stopped. {stopped}".strip(), exit_code=130) from stopped
        except Exception as error:
            if ctx.params["traceback"]:
                raise
            name = ctx.invoked_subcommand
            raise as_failure(error, self.get_command(ctx, name) if name else None) from error

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the command line and exit."""
        kwargs["standalone_mode"] = False
        try:
            with _patient_with_ctrl_c():
                result = super().main(*args, **kwargs)
        except click.Abort:
            _stop("stopped.", 130)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "manyview"
            _stop(f"{error.format_message()} See '{path} --help'.", 2)
        except click.ClickException as error:
            _stop(error.format_message(), error.code if isinstance(error, Failure) else 1)
        sys.exit(result if isinstance(result, int) else 0)


@contextmanager
def _patient_with_ctrl_c() -> Iterator[None]:
    """Ctrl-C stops a command, which then tidies up: a second does not stop that, a third does."""
    usual, n_presses = signal.getsignal(signal.SIGINT), 0
    is_main = threading.current_thread() is threading.main_thread()
    if usual is not signal.default_int_handler or not is_main:
        yield
        return

    def press(*_: Any) -> None:
        nonlocal n_presses
        n_presses += 1
        if n_presses == 1:
            raise KeyboardInterrupt
        if n_presses == 2:
            os.write(2, b"\nmanyview: is stopping. Press Ctrl-C once more to end it at once.\n")
        else:
            os._exit(130)  # files are as safe from it as from a kill

    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        if n_presses == 0:  # else the process ends, and a second press may still come
            signal.signal(signal.SIGINT, usual)


def _stop(message: str, exit_code: int) -> NoReturn:
    echo(f"manyview: {' '.join(message.split())}", err=True)
    sys.exit(exit_code)


@click.group(cls=CommandGroup, invoke_without_command=True)
@click.version_option(package.__version__, prog_name="manyview", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="Show the full traceback of an unexpected error.")
@shared_options("quiet", "verbose", "as_json", "seed")
@click.pass_context
def manyview(ctx: click.Context, traceback: bool) -> None:
    """Cluster data that is described in several ways at once.

    Start with 'manyview demo', then 'manyview fit --help'.
    """
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())
