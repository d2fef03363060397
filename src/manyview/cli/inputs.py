"""Files named on the command line: their options, and reading them. All use of readers is here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from manyview.cli.console import Failure, say

if TYPE_CHECKING:
    from manyview import LMVSC, Views
    from manyview.readers import Vocabulary
    from manyview.views.files import Assembled

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, dict[str, Any]] = {
    "--labels": {
        "metavar": "FILE",
        "help": "True labels (FILE or FILE::COLUMN), for scores only; never used to fit.",
    },
    "--id-column": {
        "metavar": "NAME",
        "multiple": True,
        "help": "Column that identifies rows; files are joined on it. Repeat it, in the files' order, "
        "where they call it differently.",
    },
    "--label-column": {
        "metavar": "NAME",
        "help": "Column of a view's file that holds the true labels.",
    },
    "--columns": {
        "metavar": "NAME=A,B,...",
        "multiple": True,
        "help": "Make a view NAME of these columns (or patterns such as px_*) of a table. Repeatable.",
    },
    "--drop": {
        "metavar": "A,B,...",
        "multiple": True,
        "help": "Columns (or patterns) to leave out. Repeatable.",
    },
    "--encode": {
        "metavar": "A,B,...",
        "multiple": True,
        "help": "Columns (or patterns) to treat as categories, even if they are numbers. Repeatable.",
    },
    "--keep": {
        "metavar": "A,B,...",
        "multiple": True,
        "help": "Columns (or patterns) to use even if they look like ids or free text. Repeatable.",
    },
    "--categories": {
        "type": click.Choice(["auto", "strict", "refuse"]),
        "default": "auto",
        "show_default": True,
        "help": "Columns that are not numbers: encode them, but leave out ids, free text and constants "
        "(auto); refuse what would be left out (strict); or refuse them all (refuse).",
    },
    "--decimal": {
        "type": click.Choice([".", ","]),
        "help": "Decimal mark of numbers in text files; detected by default.",
    },
    "--encoding": {
        "metavar": "NAME",
        "help": "Encoding of text files, such as cp1251; detected by default.",
    },
    "--transpose": {
        "metavar": "NAME",
        "multiple": True,
        "help": "View that has samples in columns instead of rows. Repeatable.",
    },
    "--join": {
        "type": click.Choice(["exact", "inner", "outer", "order"]),
        "default": "exact",
        "show_default": True,
        "help": "Match rows by id: all files must have the same (exact), keep the common ones "
        "(inner), or keep all, some without all views (outer). Or match by position (order).",
    },
}


_OF_NEW_DATA = ("--labels", "--encode", "--keep", "--categories")  # else as in the fit


def input_options(*, is_new: bool) -> Callable[[F], F]:
    """Add VIEW... and the options about files to a command; not all are of use for a model's rows."""

    def add(command: F) -> F:
        for name, kind in reversed(_OPTIONS.items()):
            if is_new or name not in _OF_NEW_DATA:
                command = click.option(name, **kind)(command)
        return click.argument("texts", metavar="VIEW...", nargs=-1)(command)

    return add


@dataclass(frozen=True)
class Inputs:
    """Files, and how they are to be read; the parameters of ``manyview.views.files.read_views``.

    ``marks`` are those before fractions that a fit found, by view.
    """

    texts: tuple[str, ...]
    labels: str | None = None
    id_column: tuple[str, ...] = ()
    label_column: str | None = None
    columns: dict[str, list[str]] | None = None
    drop: tuple[str, ...] = ()
    encode: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categories: str = "auto"
    decimal: str | None = None
    encoding: str | None = None
    transpose: tuple[str, ...] = ()
    join: str = "exact"
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def id_name(self) -> str | None:
        """What results call the ids."""
        return next(iter(self.id_column), None)

    @property
    def treatment(self) -> dict[str, str]:
        """What LMVSC's ``categories`` is."""
        asked = {**dict.fromkeys(self.keep, "keep"), **dict.fromkeys(self.encode, "encode")}
        return {**asked, "*": self.categories}

    @classmethod
    def take(cls, options: dict[str, Any]) -> Inputs:
        """Take the options of :func:`input_options` out of all options of a command."""
        names = [each.name for each in fields(cls) if each.name in options]
        taken = {name: options.pop(name) for name in names}
        if not taken["texts"]:
            raise click.UsageError("Missing argument 'VIEW...'.", click.get_current_context())
        for name in _LISTS:
            if name in taken:
                taken[name] = tuple(part for text in taken[name] for part in split_names(text))
        return cls(**{**taken, "columns": parse_columns(taken["columns"]) or None})

    def paths(self) -> list[Path]:
        """The files that are read, of those that are there."""
        from manyview.readers import parse

        given = [*self.texts, *([] if self.labels is None else [self.labels])]
        found = []
        for text in given:
            with suppress(OSError):  # said when they are read
                found.append(parse(text).path)
        return found

    def read(self, *, memory_limit: int | None = None) -> Assembled:
        """Read the files; say what was taken as rows, and what becomes of columns without numbers."""
        from manyview.views.encoding import refuse_unknown
        from manyview.views.files import read_views

        others = ("encode", "keep", "categories", "marks")
        asked = {n: v for n, v in vars(self).items() if n not in others}
        data = _said(read_views(**asked, memory_limit=memory_limit, vocabulary=words()))
        for name in ("encode", "keep"):
            refuse_unknown(data.views.parts().values(), getattr(self, name), name)
        views = data.views.encoded(self.treatment)
        notes = _notes_on_columns(views, self.treatment)
        for note in notes:
            say(note)
        return replace(data, views=views, notes=(*data.notes, *notes))

    def read_like(self, model: LMVSC, fitted: Inputs | None) -> Assembled:
        """Read new rows of a model's views: by name, or in the model's order.

        What is not asked for is done as in the fit, if it is known how its files were read.
        """
        from manyview.readers import parse
        from manyview.views.files import assemble

        asked = self if fitted is None else self._filled_from(fitted)
        requests = [
            asked._request(parse(text), place, model) for place, text in enumerate(asked.texts)
        ]
        data = assemble(
            requests,
            id_columns=asked.id_column,
            needs=(*self.id_column, self.label_column, *self.drop),
            transpose=asked.transpose,
            join=asked.join,
            memory_limit=memory_for_views(),
        )
        is_named = any(request.name is not None for request in requests)
        return replace(_said(data), views=_as_fitted(data.views, model, is_named=is_named))

    def _filled_from(self, fitted: Inputs) -> Inputs:
        is_split = self.columns is None and len(self.texts) == 1
        return replace(
            self,
            columns=fitted.columns if is_split else self.columns,
            id_column=self.id_column or (() if self.join == "order" else fitted.id_column),
            decimal=self.decimal or fitted.decimal,
            encoding=self.encoding or fitted.encoding,
            marks=fitted.marks,
        )

    def _request(self, request: Any, place: int, model: LMVSC) -> Any:
        """What is wanted of a file: the fitted view with its name, else the one at its place."""
        from manyview.views.matching import text_columns

        request = replace(
            request,
            label_column=self.label_column,
            columns=self.columns or {},
            drop=self.drop,
            decimal=self.decimal,
            encoding=self.encoding,
            usual=next(
                (self.marks[view] for view in self.columns or () if view in self.marks), None
            ),
            levels=text_columns(model.encodings_),
            vocabulary=words(),
        )
        names, own = list(model.view_names_), request.name or request.key or request.stem
        if len(names) == len(self.texts) and own not in names:
            names[place] = own
        # What lies on its side has known columns only once it is transposed.
        if own not in names or own in self.transpose:
            return request
        number = names.index(own)
        return replace(
            request,
            n_features=int(model.n_features_per_view_[number]),
            features=None if self.columns else _fitted_columns(model, number),
            levels=text_columns([model.encodings_[number]]),
            usual=self.marks.get(model.view_names_[number], request.usual),
        )

    def record(self, marks: dict[str, str]) -> dict[str, Any]:
        """All of it with whole paths, and the marks found, as JSON: to be read again from anywhere."""
        whole = asdict(replace(self, texts=tuple(map(whole_text, self.texts)), marks=marks))
        if self.labels is not None:
            whole["labels"] = whole_text(self.labels)
        return whole

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Inputs:
        """What :meth:`record` recorded."""
        lists = {n: tuple(record.get(n, ())) for n in ("texts", "transpose", *_LISTS)}
        ids = record.get("id_column") or ()  # one name or none, in records of earlier versions
        lists["id_column"] = (ids,) if isinstance(ids, str) else tuple(ids)
        return cls(**{**record, **lists})


_LISTS = ("drop", "encode", "keep")


def split_names(text: str) -> list[str]:
    """Names with commas between, without those that are empty.

    Examples
    --------
    >>> split_names("a, b,c")
    ['a', 'b', 'c']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def likely_ids(views: Views, categories: dict[str, str]) -> list[tuple[str, str]]:
    """View and column of numbers that are likely ids, and that nothing was said about."""
    from manyview.views import encoding
    from manyview.views.kinds import Treatment

    treatment = Treatment.of(categories)
    return [
        (name, column)
        for name, part in views.parts().items()
        for column in encoding.likely_ids(part, treatment)
    ]


def _notes_on_columns(views: Views, categories: dict[str, str]) -> list[str]:
    encodings = zip(views.names, views.encodings, strict=True)
    notes = [encoding.note(name) for name, encoding in encodings if encoding is not None]
    return notes + [
        f"Column {column!r} of {name!r} holds whole numbers in order, none twice: likely an id. Name it "
        "with --id-column, leave it out with --drop, or say --keep."
        for name, column in likely_ids(views, categories)
    ]


def _fitted_columns(model: LMVSC, view: int) -> Sequence[str] | None:
    """Names of the columns of a file that a view of the model was fitted to."""
    encoding = model.encodings_[view]
    columns: Sequence[str] | None = model.feature_names_per_view_[view]
    return columns if encoding is None else encoding.used


def _said(data: Assembled) -> Assembled:
    for note in data.notes:
        say(note)
    return data


def words() -> Vocabulary:
    """What advice in messages of the readers is to call the options."""
    from manyview.readers import Vocabulary

    return Vocabulary(
        id_column="--id-column",
        label_column="--label-column",
        labels="--labels",
        inner="--join inner",
        outer="--join outer",
        order="--join order",
    )


def _as_fitted(views: Views, model: LMVSC, *, is_named: bool) -> Views:
    """The same views under the names that were fitted, without columns that were not."""
    from manyview import Views
    from manyview.views.selection import select_columns

    fitted, parts = list(model.view_names_), views.parts()
    if set(parts) - set(fitted):
        places = list(zip(parts, fitted, strict=False))
        is_elsewhere = any(new in fitted and new != old for new, old in places)
        if is_named or is_elsewhere or len(parts) != len(fitted):
            raise Failure(
                f"the views are called {', '.join(parts)}, but the model was fitted to "
                f"{', '.join(fitted)}. Use the same names, NAME=PATH."
            )
        pairs = ", ".join(f"{new} as {old}" for new, old in places)
        say(f"Views are taken in the model's order: {pairs}.")
        parts = dict(zip(fitted, parts.values(), strict=True))
    widths = model.n_features_per_view_
    each = zip(fitted, model.feature_names_per_view_, widths, model.encodings_, strict=True)
    for name, columns, width, encoding in each:
        if name not in parts or encoding is not None:
            continue
        found, n_columns = parts[name].columns, parts[name].rows.shape[1]
        if columns is not None and found is not None and set(columns) < set(found):
            rows = select_columns(parts[name].rows, [found.index(column) for column in columns])
            parts[name] = replace(parts[name], rows=rows, columns=tuple(columns))
        elif n_columns != width and not (columns and found):
            raise Failure(
                f"view {name} has {n_columns} columns, but the model was fitted to {width}."
            )
    return Views(parts)


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
        found.setdefault(name, []).extend(split_names(columns))
    return found


def memory_for_views() -> int:
    """How many bytes of views are loaded; beyond that they are read from disk by blocks."""
    from manyview.engines.disk import memory_limit

    return max(memory_limit(None), 256 << 20)
