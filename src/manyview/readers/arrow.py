"""Arrow and Feather files: tables by columns, also columns that hold a list in every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.columns import found_drops, table_contents
from manyview.readers.contents import Contents, Request
from manyview.readers.text import need
from manyview.sources import join_levels, stored_ids

_UNNAMED = "__index_level_0__"  # what pandas calls an index without a name


def read(request: Request) -> Contents:
    """Views of an Arrow IPC or Feather file."""
    return arrow_contents(_read_table(request.path), request, kind="Arrow")


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every column by name."""
    return arrow_vectors(_read_table(path), path)


def arrow_contents(table: Any, request: Request, *, kind: str) -> Contents:
    """Views of a pyarrow table."""
    index = find_index(table.schema)
    columns = {
        name: as_array(table.column(name), name, request.path)
        for name in table.column_names
        if name not in index.columns or name in (request.id_column, request.label_column)
    }
    ids = index.ids(table.column, table.num_rows, request)
    contents = table_contents(columns, request, kind=kind, index=ids)
    return replace(contents, dropped=found_drops(table.column_names, request))


def arrow_vectors(table: Any, path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every column of a pyarrow table that holds one value a row, and the index as ``_index``."""
    import pyarrow as pa

    found = {
        name: as_array(table.column(name), name, path)
        for name in table.column_names
        if not pa.types.is_nested(table.schema.field(name).type)
    }
    index = find_index(table.schema)
    ids = index.ids(table.column, table.num_rows, Request(path))
    if ids is None:
        return found
    # A single column is the same array under its own name, by which one may ask for it.
    own = {name: ids for name in index.columns if len(index.columns) == 1}
    return {**found, **own, "_index": ids}


class Index(NamedTuple):
    """The index of pandas in a file: the columns that hold it, or the numbers that it consists of."""

    columns: list[str]
    numbers: range | None

    def ids(
        self, column: Callable[[str], Any], n_rows: int, request: Request
    ) -> npt.NDArray[Any] | None:
        """What it names the rows; None if it merely counts them, or there is none."""
        if self.columns:
            levels = [stored_ids(as_array(column(n), n, request.path)) for n in self.columns]
            return levels[0] if len(levels) == 1 else join_levels(levels)
        if self.numbers is None or len(self.numbers) != n_rows:  # one of several files
            return None
        is_count = (self.numbers.start, self.numbers.step) == (0, 1)
        return None if is_count and not request.also_counts else np.array(self.numbers)


def find_index(schema: Any) -> Index:
    """What a file says of the index of the pandas frame that it was written from."""
    kept = (schema.pandas_metadata or {}).get("index_columns", [_UNNAMED])
    ranges = [range(k["start"], k["stop"], k["step"]) for k in kept if isinstance(k, dict)]
    return Index([name for name in kept if name in schema.names], ranges[0] if ranges else None)


def as_array(column: Any, name: str, path: Path) -> npt.NDArray[Any]:
    """A column as an array: missing numbers as NaN, others as None, lists of one length as rows."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_array(column.cast(kind.value_type), name, path)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _lists(column, name, path)
    if pa.types.is_decimal(kind) or (pa.types.is_integer(kind) and column.null_count):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy())


def _lists(column: Any, name: str, path: Path) -> npt.NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        raise ReadError(f"{path}: column {name!r} has rows without a list.")
    lengths = (
        {column.type.list_size}
        if pa.types.is_fixed_size_list(column.type)
        else {length.as_py() for length in pc.unique(pc.list_value_length(column))}
    )
    if len(lengths) > 1:
        raise ReadError(
            f"{path} is ragged: lists of column {name!r} have between {min(lengths)} and "
            f"{max(lengths)} values."
        )
    flat = as_array(pc.list_flatten(column), name, path)
    return flat.reshape(len(column), -1)


def _read_table(path: Path) -> Any:
    with arrow_errors(path, "Arrow") as pa:
        from pyarrow import feather

        try:
            table = feather.read_table(path, memory_map=True)
        except (pa.ArrowException, OSError, ValueError) as error:
            try:
                with pa.OSFile(str(path)) as file:
                    table = pa.ipc.open_stream(file).read_all()
            except (pa.ArrowException, OSError, ValueError):
                raise error from None
        # Places that point elsewhere would be followed by whoever uses them.
        table.validate(full=True)
        return table


@contextmanager
def arrow_errors(path: Path, kind: str) -> Iterator[Any]:
    """Pyarrow, whose errors become one that names the file."""
    pa = need("pyarrow", path, f"{'an' if kind == 'Arrow' else 'a'} {kind} file")
    try:
        yield pa
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ReadError(f"{path} is cut short, or is no {kind} file ({error}).") from error
