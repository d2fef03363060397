"""Parquet: tables by columns, their rows left on disk where all features are numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.arrow import arrow_contents, arrow_errors, arrow_vectors, as_array, find_index
from manyview.readers.columns import found_drops, split_columns, table_note, take_ids, take_labels
from manyview.readers.contents import Contents, Request
from manyview.sources import Part
from manyview.sources.parquet import ParquetSource, parquet_files


def read(request: Request) -> Contents:
    """Views of a Parquet file, or of a folder of them.

    Features that are numbers, or lists of one fixed length, stay on disk; a column of lists whose
    length is only found by reading them is read, and so are truth values some of which are missing.
    """
    schema = _schema(request.path)
    index = find_index(schema)
    split = split_columns([name for name in schema.names if name not in index.columns], request)
    wanted = [name for names in split.values() for name in names]

    def column(name: str) -> Any:
        return _read_table(request.path, [name]).column(name)

    kinds = {name: schema.field(name).type for name in wanted}
    gaps = (column(name).null_count for name, kind in kinds.items() if str(kind) == "bool")
    if not all(map(_can_stay, kinds.values())) or any(gaps):
        return arrow_contents(_read_table(request.path), request, kind="Parquet")
    aside = {
        name: as_array(column(name), name, request.path)
        for name in (request.id_column, request.label_column)
        if name is not None and name in schema.names
    }
    sources = {view: ParquetSource(request.path, names) for view, names in split.items()}
    n_rows = next(iter(sources.values())).shape[0]
    if n_rows == 0:
        raise ReadError(f"{request.path} has columns but no rows.")
    ids, labels = take_ids(aside, request), take_labels(aside, request)
    if is_indexed := ids is None:
        ids, request = index.ids(column, n_rows, request), replace(request, id_column=None)
    parts = [Part(view, source, source.feature_names, ids) for view, source in sources.items()]
    note = table_note(parts, request, kind="Parquet")
    dropped = found_drops(schema.names, request)
    return Contents(tuple(parts), note, labels, dropped, is_indexed)


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every column by name."""
    return arrow_vectors(_read_table(path), path)


def _schema(path: Path) -> Any:
    first = parquet_files(path)[0]
    with arrow_errors(first, "Parquet"):
        from pyarrow import parquet

        return parquet.read_schema(first)


def _can_stay(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_fixed_size_list(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    )


def _read_table(path: Path, columns: list[str] | None = None) -> Any:
    with arrow_errors(path, "Parquet") as pa:
        from pyarrow import parquet

        return pa.concat_tables(parquet.read_table(f, columns=columns) for f in parquet_files(path))
