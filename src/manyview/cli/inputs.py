"""Options about files, and reading them: what fit, predict and inspect share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from manyview.cli.shared import say
from manyview.cli.values import parse_columns

if TYPE_CHECKING:
    from manyview.readers import Assembled

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Inputs:
    """Files, and how they are to be read; the fields are those of ``manyview.readers.read_views``."""

    texts: tuple[str, ...]
    labels: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    columns: dict[str, list[str]] | None = None
    drop: tuple[str, ...] = ()
    transpose: tuple[str, ...] = ()
    join: str = "exact"

    def read(self, *, memory_limit: int | None = None) -> Assembled:
        """Read the files; say what was taken as rows."""
        from manyview.readers import read_views

        if not self.texts:
            raise click.UsageError("Missing argument 'VIEW...'.", click.get_current_context())
        options = {name: value for name, value in vars(self).items() if name != "texts"}
        found = read_views(self.texts, **options, memory_limit=memory_limit)
        for note in found.notes:
            say(note)
        return found

    def record(self) -> dict[str, Any]:
        """Give all of it with whole paths, as JSON, so that it can be read again from anywhere."""
        from manyview.readers import parse

        whole = []
        for text in self.texts:
            found = parse(text)
            path = str(found.path.resolve()) + (f"::{found.key}" if found.key else "")
            whole.append(f"{found.name}={path}" if found.name else path)
        fields = asdict(replace(self, texts=tuple(whole)))
        if self.labels is not None:
            labels = parse(self.labels)
            key = f"::{labels.key}" if labels.key else ""
            fields["labels"] = f"{labels.path.resolve()}{key}"
        return fields

    @classmethod
    def from_record(cls, fields: dict[str, Any]) -> Inputs:
        """Give what :meth:`record` recorded."""
        lists = {name: tuple(fields[name]) for name in ("texts", "drop", "transpose")}
        return cls(**{**fields, **lists})


def input_options(*, labels: bool) -> Callable[[F], F]:
    """Add VIEW... and the options about files to a command.

    Parameters
    ----------
    labels : bool
        Whether true labels are of use.
    """

    def add(command: F) -> F:
        options = [
            click.argument("texts", metavar="VIEW...", nargs=-1),
            click.option(
                "--id-column",
                metavar="NAME",
                help="Column that identifies rows; files are joined by it.",
            ),
            click.option(
                "--label-column", metavar="NAME", help="Column of true labels in a file of views."
            ),
            click.option(
                "--columns",
                metavar="NAME=A,B,...",
                multiple=True,
                help="Make view NAME of these columns (or patterns, as px_*) of one table. Repeat.",
            ),
            click.option(
                "--drop",
                metavar="COLUMN",
                multiple=True,
                help="Column (or pattern) of tables that is no feature. Repeat.",
            ),
            click.option(
                "--transpose",
                metavar="NAME",
                multiple=True,
                help="View whose columns are the samples. Repeat.",
            ),
            click.option(
                "--join",
                type=click.Choice(["exact", "inner", "outer", "order"]),
                default="exact",
                show_default=True,
                help="By id: the same in all files, the common ones, or all of them (some rows then "
                "lack views); or by place.",
            ),
        ]
        if labels:
            options.insert(
                1,
                click.option(
                    "--labels",
                    metavar="FILE",
                    help="True labels (FILE or FILE::COLUMN), to score by; never used to fit.",
                ),
            )
        for option in reversed(options):
            command = option(command)
        return command

    return add


def take_inputs(options: dict[str, Any]) -> Inputs:
    """Take the options of :func:`input_options` out of all options of a command."""
    taken = {
        name: options.pop(name)
        for name in (
            "texts",
            "labels",
            "id_column",
            "label_column",
            "columns",
            "drop",
            "transpose",
            "join",
        )
        if name in options
    }
    taken["columns"] = parse_columns(taken.get("columns") or ()) or None
    return Inputs(**taken)


def memory_for_views() -> int:
    """Give how many bytes of views are loaded; beyond that they are read from disk by blocks."""
    from manyview.engines.disk import memory_limit

    return max(memory_limit(None), 256 << 20)


def describe_views(views: Any) -> str:
    """Give names and widths of views in words."""
    return ", ".join(
        f"{name} {width}" for name, width in zip(views.names, views.n_features, strict=True)
    )
