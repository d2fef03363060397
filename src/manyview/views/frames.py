"""Data frames of any library, by way of narwhals: tables in, tables with ids out."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.sources import join_levels
from manyview.sources.table import Table
from manyview.views.kinds import level_texts
from manyview.wording import first_few, repeated


def is_frame(item: Any) -> bool:
    """Whether this is a data frame in memory: of pandas, Polars, pyarrow or their relatives."""
    # Asked of the class: a lazy frame would work out its columns.
    if not hasattr(type(item), "columns"):
        return False
    return bool(_narwhals().dependencies.is_into_dataframe(item))


def is_lazy_frame(item: Any) -> bool:
    """Whether this is a data frame that is not computed yet."""
    return hasattr(type(item), "columns") and hasattr(type(item), "collect") and not is_frame(item)


def _narwhals() -> Any:
    try:
        import narwhals
    except ImportError as error:
        raise ImportError(
            "Data frames are read by way of narwhals: pip install 'manyview[frames]', or pass "
            "frame.to_numpy()."
        ) from error
    return narwhals


def _opened(frame: Any) -> Any:
    """A frame as narwhals sees it; columns are known by place, whatever their names."""
    if _is_like_pandas(frame):  # its names may repeat, and need not be text
        frame = frame.set_axis(range(frame.shape[1]), axis=1)
    return _narwhals().from_native(frame, eager_only=True)


def _is_like_pandas(frame: Any) -> bool:
    return hasattr(frame, "set_axis")


def column_labels(frame: Any) -> list[Any]:
    """The columns' labels, as the frame has them."""
    if _is_like_pandas(frame):
        return list(frame.columns)
    return list(_narwhals().from_native(frame, eager_only=True).columns)


def column_names(frame: Any) -> tuple[str, ...]:
    """The columns' labels as text; parts of labels with several levels are joined by " / "."""
    return tuple(
        " / ".join(map(str, label)) if isinstance(label, tuple) else str(label)
        for label in column_labels(frame)
    )


def row_ids(frame: Any, *, also_counts: bool = False) -> npt.NDArray[Any] | None:
    """The rows' names: the index of pandas, unless it merely counts rows from 0.

    With ``also_counts``, numbers that count rows are names too.
    """
    if not _is_like_pandas(frame):
        return None
    index = frame.index
    is_count = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    if is_count and not also_counts:
        return None
    if getattr(index, "nlevels", 1) > 1:
        return join_levels([index.get_level_values(level) for level in range(index.nlevels)])
    return np.asarray(index)


def take_column(frame: Any, name: str) -> tuple[Any, npt.NDArray[Any] | None]:
    """The frame without a column, and that column or the index of that name; None if it has none."""
    labels = column_labels(frame)
    places = [place for place, label in enumerate(labels) if label == name]
    if not places:
        is_index = _is_like_pandas(frame) and frame.index.name == name
        return frame, row_ids(frame, also_counts=True) if is_index else None
    if len(places) > 1:
        raise ValueError(
            f"Several columns are called {name!r}, so it is not clear which of them names the rows."
        )
    others = [place for place in range(len(labels)) if place != places[0]]
    return select_columns(frame, others), np.asarray(_opened(frame)[:, places[0]].to_numpy())


def select_columns(frame: Any, columns: list[int]) -> Any:
    """Some columns as a frame of the same kind, by their numbers."""
    if _is_like_pandas(frame):
        return frame.iloc[:, columns]
    return _narwhals().from_native(frame, eager_only=True)[:, columns].to_native()


def split_levels(frame: Any) -> dict[str, Any] | None:
    """One frame for each label of the first level; None if columns have a single level."""
    if not _is_like_pandas(frame) or getattr(frame.columns, "nlevels", 1) == 1:
        return None
    firsts = [label[0] for label in frame.columns]
    if len(set(map(str, firsts))) < len(set(firsts)):
        raise ValueError(
            "The first level names the views, and some of its labels read the same as text: "
            f"{list(dict.fromkeys(firsts))}. Rename them."
        )
    parts = {}
    for first in dict.fromkeys(firsts):
        part = frame.iloc[:, [place for place, label in enumerate(firsts) if label == first]]
        parts[str(first)] = part.set_axis(part.columns.droplevel(0), axis=1)
    return parts


def read_frame(frame: Any, name: str) -> Any:
    """A frame's values as an ndarray, or as CSR if pandas stores only what is not zero.

    Missing values become NaN. With columns that hold no numbers, it is a :class:`Table`; ``name`` is
    that of the view, in messages.
    """
    if _is_like_pandas(frame) and frame.shape[1] and _is_sparse(frame):
        return sparse.csr_array(frame.sparse.to_coo())
    opened = _opened(frame)
    if not _all_hold_numbers(opened):
        return _read_table(frame, opened, name)
    values = np.asarray(opened.to_numpy())
    if values.dtype.kind not in "biuf":  # decimals, objects
        columns = [_as_floats(opened[:, place].to_numpy()) for place in range(opened.shape[1])]
        values = np.column_stack(columns)
    return values


def holds_numbers(frame: Any) -> bool:
    """Whether every column of a frame holds numbers."""
    return _all_hold_numbers(_opened(frame))


def _all_hold_numbers(opened: Any) -> bool:
    return all(_holds_numbers(opened[:, place]) for place in range(opened.shape[1]))


def _is_sparse(frame: Any) -> bool:
    return all(getattr(kind, "fill_value", None) == 0 for kind in frame.dtypes)


def _holds_numbers(column: Any) -> bool:
    narwhals = _narwhals()
    kind = column.dtype
    if kind == narwhals.Boolean:  # with gaps, there are three levels
        return not column.is_null().any()
    if kind.is_numeric():
        return True
    if kind not in (narwhals.Object, narwhals.Unknown):
        return False
    values = column.to_numpy()
    if values.dtype.kind != "O":  # sparse columns of pandas
        return values.dtype.kind in "biuf"
    missing = [_is_missing(value) for value in values]
    if any(missing) and any(isinstance(value, bool | np.bool_) for value in values):
        return False
    # Text that looks like a number is still text.
    return all(m or isinstance(value, Real) for m, value in zip(missing, values, strict=True))


def _is_na(value: Any) -> bool:
    return type(value).__name__ == "NAType"


def _as_floats(column: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    if column.dtype.kind != "O":
        return column.astype(np.float64)
    return np.array([np.nan if v is None or _is_na(v) else v for v in column], dtype=np.float64)


def _read_table(frame: Any, opened: Any, name: str) -> Table:
    names = column_names(frame)
    if twice := repeated(names):
        raise ValueError(
            f"View {name!r} has several columns called {first_few(twice)}. Give each a name of its own."
        )
    columns, orders = {}, {}
    for place, column in enumerate(names):
        series = opened[:, place]
        columns[column] = _read_column(series, column, name)
        if levels := _ordered_levels(series):
            orders[column] = levels
    return Table(columns, orders)


def _read_column(series: Any, column: str, name: str) -> npt.NDArray[Any]:
    narwhals, kind = _narwhals(), series.dtype
    if kind in (narwhals.List, narwhals.Array, narwhals.Struct, narwhals.Binary):
        raise _no_category(f"{kind} values", column, name)
    if kind.is_numeric():
        return _as_floats(np.asarray(series.to_numpy()))
    if kind == narwhals.Boolean:
        return np.asarray(series.to_numpy())
    if kind.is_temporal() and kind != narwhals.Time:
        values = np.asarray(series.to_numpy())
        return values if values.dtype.kind in "Mm" else values.astype(object)
    cells = [None if _is_missing(value) else value for value in series.to_list()]
    for cell in cells:
        if _has_parts(cell) or isinstance(cell, complex):
            raise _no_category(f"values such as {cell!r}", column, name)
    return np.array(cells, object)


def _no_category(what: str, column: str, name: str) -> ValueError:
    return ValueError(
        f"Column {column!r} of view {name!r} holds {what}, which are neither numbers nor categories. "
        "Leave it out, or make columns of it."
    )


def _has_parts(value: Any) -> bool:
    """Whether a cell holds a list, an array or the like."""
    return hasattr(type(value), "__len__") and not isinstance(value, str | bytes)


def _is_missing(value: Any) -> bool:
    return value is None or _is_na(value) or (not _has_parts(value) and bool(value != value))


def _ordered_levels(series: Any) -> tuple[str, ...] | None:
    """The levels of a categorical column of pandas that has an order."""
    kind: Any = getattr(series.to_native(), "dtype", None)
    if not getattr(kind, "ordered", False) or not hasattr(kind, "categories"):
        return None
    return tuple(level_texts(np.asarray(kind.categories)).tolist())


def make_frame(columns: Mapping[str, Any], kind: str = "pandas") -> Any:
    """Columns as a data frame of ``kind``: "pandas", "polars" or "pyarrow"."""
    return _narwhals().from_dict(dict(columns), backend=kind).to_native()


def make_series(values: npt.NDArray[Any], ids: npt.NDArray[Any] | None, name: str) -> Any:
    """Values as a pandas Series whose index are the ids, or row numbers from 0."""
    import pandas as pd

    return pd.Series(values, index=ids, name=name)


def with_ids(rows: Any, ids: npt.NDArray[Any] | None, kind: str) -> Any:
    """Rows as a pandas frame with the ids as its index, if a pandas frame is wanted."""
    if ids is None or kind != "pandas":
        return rows
    import pandas as pd

    return pd.DataFrame(rows, index=ids)
