"""``manyview count``: how many rows and columns views have."""

from __future__ import annotations

from typing import Any

import click

from manyview.cli.console import print_result, print_table, shared_options
from manyview.cli.inputs import Inputs, input_options, memory_for_views


@click.command(name="count", short_help="Count the rows and columns of views.")
@input_options(is_new=True)
@shared_options("quiet", "verbose", "as_json")
def command(**options: Any) -> None:
    """Show how many rows and columns each view has.

    VIEW is as in fit.
    """
    data = Inputs.take(options).read(memory_limit=memory_for_views())
    facts = {name: list(array.shape) for name, array in data.views.items()}
    rows = [[name, *shape] for name, shape in facts.items()]
    print_result(facts, lambda: print_table(["view", "rows", "columns"], rows, right=[1, 2]))
