"""Files named on the command line: their options, and reading them. All use of readers is here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from manyview.cli.console import say
from manyview.cli.failures import Failure

if TYPE_CHECKING:
    from manyview import LMVSC
    from manyview.readers import Assembled, Contents, LabelFile

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, dict[str, Any]] = {
    "--labels": {
        "metavar": "FILE",
        "help": "True labels (FILE or FILE::COLUMN), to score by; never used to fit.",
    },
    "--id-column": {
        "metavar": "NAME",
        "help": "Column that identifies rows; files are joined by it.",
    },
    "--label-column": {"metavar": "NAME", "help": "Column of true labels in a file of views."},
    "--columns": {
        "metavar": "NAME=A,B,...",
        "multiple": True,
        "help": "Make view NAME of these columns (or patterns, as px_*) of one table. Repeat.",
    },
    "--drop": {
        "metavar": "COLUMN",
        "multiple": True,
        "help": "Column (or pattern) of tables that is no feature. Repeat.",
    },
    "--transpose": {
        "metavar": "NAME",
        "multiple": True,
        "help": "View whose columns are the samples. Repeat.",
    },
    "--join": {
        "type": click.Choice(["exact", "inner", "outer", "order"]),
        "default": "exact",
        "show_default": True,
        "help": "By id: the same in all files, the common ones, or all of them (some rows then "
        "lack views); or by place.",
    },
}


def input_options(*, labels: bool) -> Callable[[F], F]:
    """Add VIEW... and the options about files to a command; ``--labels`` where they are of use."""

    def add(command: F) -> F:
        for name, kind in reversed(_OPTIONS.items()):
            if labels or name != "--labels":
                command = click.option(name, **kind)(command)
        return click.argument("texts", metavar="VIEW...", nargs=-1)(command)

    return add


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

    @classmethod
    def take(cls, options: dict[str, Any]) -> Inputs:
        """Take the options of :func:`input_options` out of all options of a command."""
        names = [field.name for field in fields(cls) if field.name in options]
        taken = {name: options.pop(name) for name in names}
        if not taken["texts"]:
            raise click.UsageError("Missing argument 'VIEW...'.", click.get_current_context())
        return cls(**{**taken, "columns": parse_columns(taken["columns"]) or None})

    def read(self, *, memory_limit: int | None = None) -> Assembled:
        """Read the files; say what was taken as rows."""
        from manyview.readers import read_views

        options = {name: value for name, value in vars(self).items() if name != "texts"}
        return _said(read_views(self.texts, **options, memory_limit=memory_limit))

    def read_like(self, model: LMVSC, fitted: Inputs | None) -> Assembled:
        """Read new rows of a model's views: by name, or in the model's order.

        Parameters
        ----------
        model : LMVSC
            Its views, and the names of their columns, are what is looked for.
        fitted : Inputs or None
            How the files of the fit were read, where nothing else is asked for.
        """
        from manyview.readers import assemble, parse
        from manyview.readers.assemble import check_ids_found

        asked = self
        if fitted is not None:
            asked = asked._filled_from(fitted)
        known = dict(zip(model.view_names_, model.feature_names_per_view_, strict=True))
        if asked.columns:
            columns = {name: known.get(name) or columns for name, columns in asked.columns.items()}
            asked = replace(asked, columns=columns)
        parsed = [parse(text) for text in asked.texts]
        parts = [asked._read_part(found, place, model) for place, found in enumerate(parsed)]
        if self.id_column is not None:
            check_ids_found(parts, self.id_column)
        names = _fitted_names(parts, parsed, model.view_names_)
        return _said(
            assemble(
                [_renamed(part, names) for part in parts],
                parsed,
                transpose=[names.get(name, name) for name in asked.transpose],
                join=asked.join,
                memory_limit=memory_for_views(),
            )
        )

    def _filled_from(self, fitted: Inputs) -> Inputs:
        is_split = self.columns is None and len(self.texts) == 1
        return replace(
            self,
            columns=fitted.columns if is_split else self.columns,
            id_column=self.id_column or (None if self.join == "order" else fitted.id_column),
        )

    def _read_part(self, found: Any, place: int, model: LMVSC) -> Contents:
        """Read a file: the fitted view with its name, else the one at its place."""
        from manyview.readers import Request, read_file

        request = Request(
            found.path, found.key, self.id_column, self.label_column, self.columns or {}, self.drop
        )
        names, own = list(model.view_names_), found.name or request.key or request.stem
        if len(names) == len(self.texts) and own not in names:
            names[place] = own
        # What lies on its side has known columns only once it is transposed.
        if own in names and own not in self.transpose:
            number = names.index(own)
            request = replace(
                request,
                n_features=int(model.n_features_per_view_[number]),
                features=None if self.columns else model.feature_names_per_view_[number],
            )
        contents = read_file(request)
        return contents if found.name is None else contents.under(found.name)

    def record(self) -> dict[str, Any]:
        """All of it with whole paths, as JSON, so that it can be read again from anywhere."""
        whole = asdict(replace(self, texts=tuple(map(whole_text, self.texts))))
        if self.labels is not None:
            whole["labels"] = whole_text(self.labels)
        return whole

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Inputs:
        """What :meth:`record` recorded."""
        lists = {name: tuple(record[name]) for name in ("texts", "drop", "transpose")}
        return cls(**{**record, **lists})


def _said(data: Assembled) -> Assembled:
    for note in data.notes:
        say(note)
    return data


def _fitted_names(
    parts: Sequence[Contents], parsed: Sequence[Any], fitted: Sequence[str]
) -> dict[str, str]:
    """The fitted view that each view stands for, if as many as were fitted have other names."""
    names = [view.name for part in parts for view in part.views]
    if set(names) == set(fitted) or len(names) != len(fitted):
        return {}
    if any(found.name is not None for found in parsed):
        raise Failure(
            f"the views are called {', '.join(names)}, but the model was fitted to "
            f"{', '.join(fitted)}. Use the same names, NAME=PATH."
        )
    pairs = dict(zip(names, fitted, strict=True))
    listed = ", ".join(f"{new} as {old}" for new, old in pairs.items())
    say(f"Views are taken in the model's order: {listed}.")
    return pairs


def _renamed(part: Contents, names: dict[str, str]) -> Contents:
    views = tuple(replace(view, name=names.get(view.name, view.name)) for view in part.views)
    return replace(part, views=views)


def whole_text(text: str, folder: Path | None = None) -> str:
    """A view as it is written on the command line, with its whole path."""
    from manyview.readers import parse

    found = parse(text, folder=folder)
    name = f"{found.name}=" if found.name else ""
    return f"{name}{found.path.resolve()}" + (f"::{found.key}" if found.key else "")


def parse_columns(texts: Sequence[str]) -> dict[str, list[str]]:
    """The columns of each view from ``NAME=a,b,c``; the same name again adds more.

    Examples
    --------
    >>> parse_columns(["colour=red,green", "shape=w*", "colour=blue"])
    {'colour': ['red', 'green', 'blue'], 'shape': ['w*']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, columns = text.partition("=")
        if not (name and equals and columns):
            raise click.BadParameter(
                f"{text!r} is not NAME=COLUMN,COLUMN,...", param_hint="'--columns'"
            )
        found.setdefault(name, []).extend(part.strip() for part in columns.split(","))
    return found


def memory_for_views() -> int:
    """How many bytes of views are loaded; beyond that they are read from disk by blocks."""
    from manyview.engines.budget import memory_limit

    return max(memory_limit(None), 256 << 20)


def read_label_pair(
    true: str, predicted: str, *, id_column: str | None, join: str
) -> tuple[Any, Any]:
    """Labels of two files for the same rows, matched by id where both have ids."""
    from manyview.readers import read_labels

    files = [read_labels(text, id_column=id_column) for text in (true, predicted)]
    for file in files:
        say(file.note)
    if id_column is not None and id_column not in [file.ids_name for file in files]:
        raise Failure(f"neither file has a column {id_column!r} to identify rows by.")
    first, second = _same_rows(files, (true, predicted), join)
    return first, second


def _same_rows(files: Sequence[LabelFile], names: Sequence[str], join: str) -> list[Any]:
    from manyview.views.ids import match_ids

    labels, ids = [file.labels for file in files], [f.ids for f in files if f.ids is not None]
    if len(ids) == len(files) and join != "order":
        _, orders, words = match_ids(ids, names, join)
        for text in words:
            say(text)
        return [
            own if order is None else own[order] for own, order in zip(labels, orders, strict=True)
        ]
    if len(labels[0]) != len(labels[1]):
        raise Failure(
            f"{names[0]} has {len(labels[0])} labels but {names[1]} has {len(labels[1])}, and there "
            "are no ids on both sides to match them by."
        )
    if ids and join != "order" and not all(file.are_places for file in files):
        raise Failure(
            f"only {names[0] if files[0].ids is not None else names[1]} has ids. If both files have "
            "their rows in the same order, say --join order."
        )
    say("Rows are matched by their place in the files.")
    return labels
