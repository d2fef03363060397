"""Tables as plain text: whole words whatever the width of the terminal, easy to cut and to search."""

from __future__ import annotations

from collections.abc import Sequence

import click


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()
) -> None:
    """Print lines with aligned columns.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequence
        Cells, as many a row as there are columns.
    right : sequence of int
        Numbers of the columns that are aligned to the right.

    Examples
    --------
    >>> print_table(["name", "rows"], [["a", 5], ["long one", 120]], right=[1])
    name      rows
    a            5
    long one   120
    """
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())
