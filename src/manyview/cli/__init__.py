"""The command line: ``manyview COMMAND``.

A new command is one file with a click command named ``command``, and its name in
:data:`manyview.cli.group.COMMANDS`.
"""

from __future__ import annotations

import sys

_LIBRARIES = ("click", "jinja2", "matplotlib")


def main() -> None:
    """Run the command line; say what to install if click is missing."""
    try:
        from manyview.cli.group import manyview
    except ModuleNotFoundError as error:
        advice = how_to_install(error)
        if advice is None:
            raise
        sys.stderr.write(f"manyview: {advice}\n")
        sys.exit(2)
    manyview(prog_name="manyview")


def how_to_install(error: ModuleNotFoundError) -> str | None:
    """One line of advice if the missing module is one of the command line's own.

    Examples
    --------
    >>> how_to_install(ModuleNotFoundError("No module named 'click.core'", name="click.core"))
    "the command line needs click, which is not installed: pip install 'manyview[cli,report]'"
    >>> how_to_install(ModuleNotFoundError("No module named 'x'", name="x")) is None
    True
    """
    library = (error.name or "").partition(".")[0]
    if library not in _LIBRARIES:
        return None
    return (
        f"the command line needs {library}, which is not installed: "
        "pip install 'manyview[cli,report]'"
    )
