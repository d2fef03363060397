"""The group of commands: finds them, and turns every error into one line and an exit code.

Exit codes: 0 done, 1 failed, 2 bad input or something is not installed, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, NoReturn

import click

import manyview as package
from manyview.cli.extras import how_to_install
from manyview.cli.failure import Failure
from manyview.cli.shared import shared_options
from manyview.errors import DatasetNotFoundError, ReadError

COMMANDS = {
    "fit": "manyview.cli.fit",
    "predict": "manyview.cli.predict",
    "evaluate": "manyview.cli.evaluate",
    "report": "manyview.cli.report",
    "inspect": "manyview.cli.inspect",
    "datasets": "manyview.cli.datasets",
    "demo": "manyview.cli.demo",
    "bench": "manyview.cli.bench",
    "reproduce": "manyview.cli.reproduce",
    "completion": "manyview.cli.completion",
}
"""Where each command is; its module imports nothing slow before the command runs."""

_OPTIONS = {
    "Disk(memory_limit=...)": "--memory-limit",
    "or n_jobs to": "or --n-jobs to",
    "Disk(checkpoint=...)": "-o FOLDER",
    "give another folder: Disk(folder=...)": "set TMPDIR to another folder",
}
"""What the library advises in Python, and what it is here."""


class CommandGroup(click.Group):
    """Commands that are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names in the order of the registry."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
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
            raise _as_failure(error) from error

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the command line and exit."""
        kwargs["standalone_mode"] = False
        try:
            result = super().main(*args, **kwargs)
        except click.Abort:
            _stop("stopped.", 130)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "manyview"
            _stop(f"{error.format_message()} See '{path} --help'.", 2)
        except Failure as failure:
            _stop(failure.format_message(), failure.code)
        except click.ClickException as error:
            _stop(error.format_message(), 1)
        sys.exit(result if isinstance(result, int) else 0)


def _as_failure(error: Exception) -> Failure:
    if isinstance(error, ModuleNotFoundError) and (advice := how_to_install(error)):
        return Failure(advice, is_bad_input=True)
    if isinstance(error, ImportError) and "pip install" in str(error):
        return Failure(str(error), is_bad_input=True)
    if isinstance(error, ValueError | DatasetNotFoundError | ReadError):
        return Failure(_in_options(str(error)), is_bad_input=True)
    if isinstance(error, MemoryError):
        return Failure(f"out of memory: {error or 'no more can be had'}")
    if isinstance(error, OSError):
        return Failure(_in_options(str(error)))
    return Failure(
        f"unexpected {type(error).__name__}: {error} (run 'manyview --traceback ...' for the "
        "whole story, and please report it)"
    )


def _in_options(text: str) -> str:
    """Put options where the library names parameters."""
    for parameter, option in _OPTIONS.items():
        text = text.replace(parameter, option)
    return text


def _stop(message: str, exit_code: int) -> NoReturn:
    click.echo(f"manyview: {' '.join(message.split())}", err=True)
    sys.exit(exit_code)


@click.group(cls=CommandGroup, invoke_without_command=True)
@click.version_option(package.__version__, prog_name="manyview", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="Show where an unexpected error comes from.")
@shared_options("quiet", "verbose", "as_json", "seed")
@click.pass_context
def manyview(ctx: click.Context, traceback: bool) -> None:
    """Cluster things that are described in several ways at once."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
