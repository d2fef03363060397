"""Parquet files, or folders of them: one view, its columns the features.

Values are given as float64, or as float32 if every column is that: a missing value becomes NaN. A
column of lists of one fixed length, as embeddings are often kept, is that many features.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.sources.bands import Banded, Bands
from manyview.sources.base import WatchedFile, reading


class ParquetSource(Banded):
    """Rows of the row groups of one or more Parquet files, in the order of the files' names.

    Parameters
    ----------
    paths : list of Path
        The files; all have the same columns.
    where : str
        What messages call them.
    columns : sequence of str, optional
        The columns that are features; all by default.
    """

    def __init__(
        self, paths: list[Path], where: str, *, columns: Sequence[str] | None = None
    ) -> None:
        import pyarrow.parquet as pq

        self.where = where
        self._files = [WatchedFile(path) for path in paths]
        self._metadata, schemas = [], []
        for path in paths:
            with reading(repr(str(path)), 0, 1), pq.ParquetFile(path) as file:
                self._metadata.append(file.metadata)
                schemas.append(file.schema_arrow)
        _check_same_columns(schemas, paths)
        self._columns = _numeric_columns(_select(schemas[0], columns, where), where)
        is_single = all(str(kind) == "float" for _, _, kind in self._columns)
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if is_single else np.float64)
        self.feature_names: tuple[str, ...] = tuple(
            name if width is None else f"{name}_{i}"
            for name, width, _ in self._columns
            for i in range(width or 1)
        )
        groups = [
            (file, group, metadata.row_group(group).num_rows)
            for file, metadata in enumerate(self._metadata)
            for group in range(metadata.num_row_groups)
            if metadata.row_group(group).num_rows > 0
        ]
        self._groups = [(file, group) for file, group, _ in groups]
        edges = np.cumsum([0, *(rows for *_, rows in groups)], dtype=np.int64)
        self.shape = int(edges[-1]), len(self.feature_names)
        # A decoded group is held twice for a moment: as columns, and as rows.
        self.band_rows = 2 * int(np.diff(edges).max(initial=1))
        self._edges, self._rows = edges, Bands(self._decode, edges)

    def fingerprint(self) -> dict[str, Any]:
        """Of every file."""
        return {
            "kind": "parquet", "shape": list(self.shape), "columns": list(self.feature_names),
            "files": [file.fingerprint() for file in self._files],
        }  # fmt: skip

    def _decode(self, start: int, stop: int) -> npt.NDArray[Any]:
        first, last = np.searchsorted(self._edges, (start, stop))
        rows = np.empty((stop - start, self.shape[1]), self.dtype)
        for index in range(int(first), int(last)):
            edge = int(self._edges[index]) - start
            self._fill(rows[edge : int(self._edges[index + 1]) - start], *self._groups[index])
        return rows

    def _fill(self, rows: npt.NDArray[Any], file: int, group: int) -> None:
        import pyarrow.parquet as pq

        watched = self._files[file]
        watched.check()
        with pq.ParquetFile(watched.path, metadata=self._metadata[file]) as parquet:
            names = [name for name, *_ in self._columns]
            table = parquet.read_row_group(group, columns=names, use_threads=False)
        place = 0
        for name, width, _ in self._columns:
            column = table.column(name)
            if width is None:
                rows[:, place] = column.to_numpy()
            else:
                if column.null_count:
                    raise ValueError(f"column {name!r} has rows without a list")
                parts = [chunk.flatten() for chunk in column.chunks]
                values = np.concatenate([part.to_numpy(zero_copy_only=False) for part in parts])
                rows[:, place : place + width] = values.reshape(len(rows), width)
            place += width or 1


def open_parquet(path: Path, *, columns: Sequence[str] | None = None) -> ParquetSource:
    """The source of a Parquet file, or of a folder of them; of some columns, if named."""
    return ParquetSource(parquet_files(path), repr(str(path)), columns=columns)


def parquet_files(path: Path) -> list[Path]:
    """The file, or the files of a folder, in the order in which they are read."""
    if not path.is_dir():
        return [path]
    paths = sorted(file for file in path.rglob("*") if file.suffix in (".parquet", ".pq"))
    if not paths:
        raise ValueError(f"The folder {str(path)!r} holds no Parquet files.")
    return paths


def _select(schema: Any, columns: Sequence[str] | None, where: str) -> Any:
    """Fields of a schema with these names, in this order."""
    if columns is None:
        return schema
    missing = [name for name in columns if name not in schema.names]
    if missing:
        raise ValueError(f"{where} has no column(s) {missing[:5]}; it has {schema.names[:5]}.")
    return [schema.field(name) for name in columns]


def _check_same_columns(schemas: list[Any], paths: list[Path]) -> None:
    for schema, path in zip(schemas, paths, strict=True):
        if not schema.equals(schemas[0]):
            raise ReadError(
                f"{str(path)!r} does not have the columns of {str(paths[0])!r}, which lies in the "
                "same folder. All files of a folder are read as one view."
            )


def _numeric_columns(schema: Any, where: str) -> list[tuple[str, int | None, Any]]:
    """Name, length of its lists if it holds lists, and type of each column."""
    import pyarrow as pa

    def is_number(kind: Any) -> bool:
        checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
        return any(check(kind) for check in checks)

    columns: list[tuple[str, int | None, Any]] = []
    wrong: list[str] = []
    for field in schema:
        if is_number(field.type):
            columns.append((field.name, None, field.type))
        elif pa.types.is_fixed_size_list(field.type) and is_number(field.type.value_type):
            columns.append((field.name, field.type.list_size, field.type.value_type))
        else:
            wrong.append(f"{field.name} ({field.type})")
    if wrong:
        raise ValueError(
            f"{where} has non-numeric column(s) {wrong[:5]}{' ...' if wrong[5:] else ''}. "
            "Write a file without them, or with lists of one fixed length."
        )
    return columns
