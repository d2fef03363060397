"""The command line: ``manyview COMMAND``.

A new command is one file with a click command named ``command``, and one line in
:data:`manyview.cli.group.COMMANDS`.
"""

from __future__ import annotations

import sys

from manyview.cli.extras import how_to_install


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
