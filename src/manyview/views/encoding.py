"""Tables with columns that are no numbers -> numbers, the same way in a fit and ever after.

A category becomes one column of zeros and ones a level. Two rows that differ in it are one apart,
whichever levels they have, beside numbers of variance one: this is Hellinger's distance, in which rare
levels count no more than others. So such columns are never scaled one by one: their view is scaled as
"mixed".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import ParameterError
from manyview.sources import Part, is_source
from manyview.sources.table import Table
from manyview.views import kinds
from manyview.views.kinds import Code, Treatment
from manyview.views.naming import refuse_other_orders
from manyview.views.selection import PartialView, held
from manyview.wording import count, first_few, lacks_columns

Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become numbers: plain values, fit for JSON.

    Examples
    --------
    >>> table = Table({"kind": np.array(["a", "b", "a", "b"]), "size": np.array([1.0, 2, 3, 4])})
    >>> encoding = learn_encoding(table, "things")
    >>> encoding.feature_names
    ('kind=a', 'kind=b', 'size')
    >>> new = Table({"kind": np.array(["b", "c"]), "size": np.array([5.0, 6.0])})
    >>> encoding.encode(new, "things").tolist()
    [[0.0, 1.0, 5.0], [0.0, 0.0, 6.0]]
    """

    codes: tuple[Code, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns that come out: ``kind=a`` for a level, else the column's own."""
        return tuple(name for code in self.codes for name in code.feature_names)

    @property
    def used(self) -> tuple[str, ...]:
        """Columns of the table that are features."""
        return tuple(code.name for code in self.codes if code.is_used)

    @property
    def likely_ids(self) -> list[str]:
        """Columns of numbers that are used, but are likely ids."""
        return [code.name for code in self.codes if code.why.endswith("likely an id")]

    def summary(self) -> dict[str, str]:
        """What becomes of every column that is not simply numbers, in words."""
        plain = (code for code in self.codes if code.kind != "number" or code.why)
        return {code.name: f"{code.kind} ({code.why})" if code.why else code.kind for code in plain}

    def note(self, name: str) -> str:
        """All of it in one sentence about the view ``name``; likely ids are told apart."""
        told = {c: what for c, what in self.summary().items() if c not in self.likely_ids}
        words = [f"{column!r} {what}" for column, what in told.items()]
        return f"View {name!r}, what becomes of its columns: {'; '.join(words)}."

    def encode(self, rows: Any, name: str, columns: Sequence[str] | None = None) -> Any:
        """Rows as numbers, shape (n, number of feature names).

        ``rows`` is a table, or an array whose ``columns`` have names; it may lack what is left out. A
        level that was not there in the fit is like rare ones, if these have a column, else it is none
        of the levels, and ``predict`` warns of it. A row of which every column is missing is a row of
        NaN: it lacks the view.
        """
        if isinstance(rows, PartialView):
            return PartialView(self.encode(rows.rows, name, columns), rows.places)
        found = _columns_of(rows, columns, name)
        if missing := [column for column in self.used if column not in found]:
            raise ValueError(lacks_columns(f"View {name!r}", missing))
        known = {code.name for code in self.codes}
        if unknown := [column for column in found if column not in known]:
            raise ValueError(
                f"View {name!r} has {count(len(unknown), 'column')} that it did not have in the fit: "
                f"{first_few(unknown)}. Leave them out; if one names the rows, pass "
                f"Views(..., ids={unknown[0]!r})."
            )
        used = [code for code in self.codes if code.is_used]
        blocks = [_encode(code, found[code.name], name) for code in used]
        made = np.concatenate([block for block, _ in blocks], axis=1)
        absent = np.logical_and.reduce([missing for _, missing in blocks])
        if len(used) > 1 and absent.any():
            made[absent] = np.nan
        return made


def unknown_levels(part: Part, encoding: Encoding, name: str) -> dict[str, list[str]]:
    """Levels in new rows that no column stands for, by the column of the table that has them."""
    columns, found = _columns_of(held(part.rows), part.columns, name), {}
    for code in encoding.codes:
        if code.kind in ("category", "order") and not code.has_rare and code.name in columns:
            values = columns[code.name]
            values = values if code.kind == "order" else kinds.plain(values)
            texts = np.unique(_levels_in(values[~kinds.find_missing(values)], code))
            found[code.name] = [text for text in texts.tolist() if text not in code.levels]
    return {column: levels for column, levels in found.items() if levels}


def learn_encoding(
    rows: Any,
    name: str,
    treatment: Treatment | None = None,
    columns: Sequence[str] | None = None,
) -> Encoding:
    """The encoding of a view called ``name``, by all rows of a table.

    ``rows`` may be an array whose ``columns`` have names, and ``treatment`` say what is wanted.
    """
    treatment = Treatment() if treatment is None else treatment
    if isinstance(rows, PartialView):
        rows = rows.rows[rows.places[rows.present]]
    orders = rows.orders if isinstance(rows, Table) else {}
    codes = tuple(
        kinds.look_at(column, values, orders.get(column), treatment.for_column(column))
        for column, values in _columns_of(rows, columns, name).items()
    )
    unasked = [c for c in codes if not c.is_used and treatment.for_column(c.name) is None]
    if unasked and treatment.mode == "strict":
        words = "; ".join(f"{code.name!r} ({code.why})" for code in unasked)
        raise ParameterError(
            "categories",
            f"is strict, and view {name!r} has columns that could not be used: {words}. Say what to do "
            "with each: 'drop', 'encode' or 'keep'.",
        )
    if not any(code.is_used for code in codes):
        words = "; ".join(f"{code.name!r} is left out ({code.why})" for code in codes)
        raise ValueError(f"View {name!r} has no column that could be a feature: {words}.")
    return Encoding(codes)


def encode_parts(parts: Iterable[Part], categories: Any) -> list[Part]:
    """Parts with numbers only; tables, and arrays of which columns are asked for, are encoded.

    ``categories`` is the parameter of :class:`~manyview.LMVSC`.
    """
    treatment, parts = Treatment.of(categories), list(parts)
    refuse_unknown(parts, dict(treatment.asked), "categories")
    encoded = list(_encode_each(parts, treatment))
    refuse_other_orders(parts, treatment.is_asked)
    return encoded


def _encode_each(parts: Iterable[Part], treatment: Treatment) -> Iterator[Part]:
    for part in parts:
        if part.encoding is not None or not (is_table(part.rows) or _is_asked(part, treatment)):
            yield part
            continue
        if treatment.mode == "refuse":
            refuse_table(part.rows, part.name)
        encoding = learn_encoding(part.rows, part.name, treatment, part.columns)
        yield encode_part(part, encoding, part.name)


def names_of_rows(encodings: Iterable[Encoding | None]) -> set[str]:
    """Columns that were left out because they likely name rows."""
    codes = [code for encoding in encodings if encoding is not None for code in encoding.codes]
    return {code.name for code in codes if code.why.startswith(kinds.IDENTIFIERS)}


def encode_part(part: Part, encoding: Encoding, name: str) -> Part:
    """A part with its rows encoded; ``name`` is that of its view in messages."""
    rows = encoding.encode(part.rows, name, part.columns)
    return replace(part, rows=rows, columns=encoding.feature_names, encoding=encoding)


def refuse_unknown(parts: Iterable[Part], asked: Iterable[str], parameter: str) -> None:
    """Raise ParameterError if a name or pattern is that of no column."""
    names = [name for part in parts for name in _names_of(part)]
    for pattern in asked:
        if pattern not in names and not any(fnmatchcase(name, pattern) for name in names):
            known = f"they have {first_few(names)}" if names else "they have no names"
            raise ParameterError(
                parameter, f"must name columns of the views; got {pattern!r}, and {known}."
            )


def _names_of(part: Part) -> Sequence[str]:
    if part.encoding is None:
        return part.columns or ()
    return [code.name for code in part.encoding.codes]


def is_table(rows: Any) -> bool:
    """Whether these rows are no numbers yet."""
    return isinstance(held(rows), Table)


def refuse_table(rows: Any, name: str) -> None:
    """Raise ValueError if some columns of a view are no numbers, and say which."""
    table = held(rows)
    if not isinstance(table, Table):
        return
    wrong = [column for column, values in table.columns.items() if values.dtype.kind not in "biuf"]
    example = table.columns[wrong[0]]
    words = f" (for example {str(example[0])!r})" if len(example) else ""
    raise ValueError(
        f"View {name!r} has non-numeric column(s) {first_few(wrong)}{words}. LMVSC encodes them, and "
        "so does Views(...).encoded(); or leave them out. If one names the rows, pass "
        f"Views(..., ids={wrong[0]!r})."
    )


def likely_ids(part: Part, treatment: Treatment) -> list[str]:
    """Columns of a view that are likely ids, whole numbers in order, of which nothing was asked."""
    if part.encoding is not None:
        return list(part.encoding.likely_ids)
    if part.columns is None or not isinstance(part.rows, np.ndarray):
        return []
    each = zip(part.columns, part.rows.T, strict=True)
    return [
        name
        for name, values in each
        if treatment.for_column(name) is None and kinds.counts_rows(values)
    ]


def _is_asked(part: Part, treatment: Treatment) -> bool:
    """Whether columns of an array with names are to be levels, or left out."""
    asked = [
        name for name in part.columns or () if treatment.for_column(name) in ("encode", "drop")
    ]
    if asked and (is_source(part.rows) or not isinstance(part.rows, np.ndarray | PartialView)):
        raise ParameterError(
            "categories",
            f"names {first_few(asked)} of view {part.name!r}, whose rows are not an array in memory. "
            "Load them first, Views(...)[:].",
        )
    return bool(asked)


def _columns_of(rows: Any, names: Sequence[str] | None, view: str) -> Mapping[str, Column]:
    if isinstance(rows, Table):
        return rows.columns
    if names is None:
        raise ValueError(
            f"View {view!r} was fitted as a table whose columns have names; got "
            f"{type(rows).__name__} without. Pass a data frame, or a file."
        )
    if is_source(rows):
        rows = rows.read(0, rows.shape[0])
    if sparse.issparse(rows):
        raise TypeError(f"View {view!r} was fitted as a table; got a sparse array.")
    return dict(zip(names, np.asarray(rows).T, strict=True))


def _numbers_in(values: Column, code: Code, view: str) -> npt.NDArray[np.float64]:
    """Values of which none is missing as numbers; ValueError if they are not what was fitted."""
    is_date, texts = values.dtype.kind in "Mm", kinds.level_texts(values)
    wrong = np.full(len(texts), is_date != (code.kind == "date"))
    if values.dtype.kind in "OUST" and not wrong.any():
        numbers = np.array([kinds.to_number(text) for text in texts.tolist()], dtype=np.float64)
        wrong = np.isnan(numbers)
    elif not wrong.any():
        numbers = kinds.as_numbers(values)
    if wrong.any():
        raise ValueError(
            f"Column {code.name!r} of view {view!r} was fitted as a {code.kind}; it now holds "
            f"{str(texts[wrong][0])!r}."
        )
    return numbers


def _levels_in(values: Column, code: Code) -> npt.NDArray[np.str_]:
    """Levels of values of which none is missing; truth values beside numbers are numbers by now."""
    if values.dtype.kind in "iuf" and {*code.levels} <= {"False", "True"}:
        values = np.where(np.isin(values, (0, 1)), values == 1, values.astype(object))
    return kinds.level_texts(values)


def _encode(code: Code, values: Column, view: str) -> tuple[npt.NDArray[np.float64], Column]:
    """The columns that one becomes, and which rows lack it."""
    values = values if code.kind == "order" else kinds.plain(values)
    missing = kinds.find_missing(values)
    made = np.zeros((len(values), len(code.feature_names)))
    if code.kind == "category":
        places = {level: place for place, level in enumerate(code.levels)}
        other = len(code.levels) if code.has_rare else -1
        texts, inverse = np.unique(_levels_in(values[~missing], code), return_inverse=True)
        found = np.array([places.get(text, other) for text in texts.tolist()], dtype=np.int64)
        place = np.full(len(values), made.shape[1] - 1 if code.has_missing else -1)
        place[~missing] = found[inverse]
        made[np.flatnonzero(place >= 0), place[place >= 0]] = 1.0
        return made, missing
    numbers = np.full(len(values), np.nan)
    if code.kind == "order":
        numbers[~missing] = kinds.rank(kinds.level_texts(values[~missing]), code.levels)
    else:
        numbers[~missing] = _numbers_in(values[~missing], code, view)
    lacks = np.isnan(numbers)
    made[:, 0] = np.where(lacks, code.fill, numbers)
    if code.has_missing:
        made[lacks, 1] = 1.0
    return made, lacks
