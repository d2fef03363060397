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
from manyview.sources.bands import Banded
from manyview.sources.base import WatchedFile, reading
from manyview.sources.room import refuse_large
from manyview.wording import first_few


class ParquetSource(Banded):
    """Some columns, numbers or lists of them, of a Parquet file, or of a folder of such files.

    All of these have the same columns; rows come in the order of the files' names.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        import pyarrow.parquet as pq

        self.where, paths = repr(str(path)), parquet_files(path)
        self._files = [WatchedFile(path) for path in paths]
        self._metadata, schemas = [], []
        for path in paths:
            with reading(repr(str(path)), 0, 1), pq.ParquetFile(path) as file:
                self._metadata.append(file.metadata)
                schemas.append(file.schema_arrow)
        _check_same_columns(schemas, paths)
        self._columns = [_size_and_type(schemas[0].field(name)) for name in columns]
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
        largest = max((rows for *_, rows in groups), default=0) * len(self.feature_names)
        refuse_large(largest * self.dtype.itemsize, paths[0], "a group of rows")
        # A decoded group is held twice for a moment: as columns, and as rows.
        self.band_rows = 2 * int(np.diff(edges).max(initial=1))
        super().__init__(edges)

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
            edge, end = self._edges[index : index + 2] - start
            self._fill(rows[edge:end], *self._groups[index])
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


def parquet_files(path: Path) -> list[Path]:
    """The file, or those that a folder holds, in the order in which they are read."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix in (".parquet", ".pq"))


def _check_same_columns(schemas: list[Any], paths: list[Path]) -> None:
    first = {field.name: field.type for field in schemas[0]}
    for schema, path in zip(schemas, paths, strict=True):
        if schema.equals(schemas[0]):
            continue
        here, there = f"{str(path)!r}", f"{str(paths[0])!r}"
        own = {field.name: field.type for field in schema}
        if lacking := [name for name in first if name not in own]:
            words = f"{here} lacks column(s) {first_few(lacking)} that {there} has"
        elif others := [name for name in own if name not in first]:
            words = f"{here} has column(s) {first_few(others)} that {there} lacks"
        elif wrong := [name for name in own if own[name] != first[name]]:
            name = wrong[0]
            words = f"{here} has {own[name]} in column {name!r}, where {there} has {first[name]}"
        else:
            words = f"{here} has the columns of {there} in another order"
        raise ReadError(
            f"{words}. All files of a folder are read as one view, one below the other: write them with "
            "the same columns, or give them as views of their own."
        )


def _size_and_type(field: Any) -> tuple[str, int | None, Any]:
    """Name of a column, length of its lists if it holds lists, and type of its numbers."""
    import pyarrow as pa

    if pa.types.is_fixed_size_list(field.type):
        return field.name, field.type.list_size, field.type.value_type
    return field.name, None, field.type
