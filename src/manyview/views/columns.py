"""Columns of one wide array or data frame -> several views."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from manyview.sources import as_source
from manyview.views import frames
from manyview.views.blocks import read_block
from manyview.wording import first_few, repeated

Columns = str | int | slice | Sequence[int] | Sequence[str] | Sequence[bool] | Callable[[Any], Any]
"""Which columns: names, places, a slice of either, a mask, or a function of the data that says."""


def find_columns(X: Any, views: Mapping[str, Columns]) -> dict[str, list[int]]:
    """The places of each view's columns in ``X``, said as to scikit-learn's ColumnTransformer.

    Examples
    --------
    >>> find_columns(np.zeros((4, 5)), {"size": slice(0, 2), "colour": [2, -1]})
    {'size': [0, 1], 'colour': [2, 4]}
    """
    if not isinstance(views, Mapping) or not views:
        raise ValueError(
            "views must be a mapping of names to columns, for example "
            f"{{'size': [0, 1], 'colour': slice(2, 5)}}; got {views!r}."
        )
    labels = frames.column_labels(X) if frames.is_frame(X) else None
    width = count_columns(X)
    found = {}
    for name, columns in views.items():
        chosen = columns(X) if callable(columns) else columns
        found[str(name)] = _places(chosen, width, labels, str(name))
    return found


def count_columns(X: Any) -> int:
    """The number of columns of one wide array or data frame."""
    shape = as_wide(X).shape
    if len(shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(shape)}D array instead: with views={{...}}, X is one wide "
            "array or data frame whose columns are split. Reshape your data."
        )
    if shape[1] == 0:
        raise ValueError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    return int(shape[1])


def refuse_repeated_names(X: Any) -> None:
    """Raise if a data frame has columns of the same name: new rows are known by their names."""
    names = frames.column_names(X) if frames.is_frame(X) else ()
    if twice := repeated(names):
        raise ValueError(
            f"X has several columns called {first_few(twice)}. Give each a name of its own."
        )


def as_wide(X: Any) -> Any:
    """What columns can be selected from; nested lists and tensors become arrays."""
    if sparse.issparse(X) or frames.is_frame(X):  # one of SciPy's sparse arrays is a Mapping
        return X
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        raise TypeError(
            f"X is one wide array or data frame whose columns are split; got the file {path!r}. Read it "
            f"first, or let read_views([{path!r}], columns={{'VIEW': [...]}}) of manyview.views.files "
            "split it."
        )
    if isinstance(X, Mapping):
        raise TypeError(
            f"With views={{...}}, X is one wide array or data frame whose columns are split; got "
            f"{type(X).__name__}. Leave views out to pass several views."
        )
    if as_source(X) is not None and not isinstance(X, np.memmap):
        raise TypeError(
            "With views={...}, X is one wide array in memory, a memory map or a Dask array. Pass "
            "arrays in files as views of their own."
        )
    return X if hasattr(X, "shape") else read_block(X, "X")


def _places(columns: Any, width: int, labels: list[Any] | None, name: str) -> list[int]:
    if isinstance(columns, slice):
        return _places_of_slice(columns, width, labels, name)
    if isinstance(columns, str | Integral):
        columns = [columns]
    chosen = list(columns)
    if not chosen:
        raise ValueError(f"View {name!r} has no columns. Leave it out, or select some.")
    if all(isinstance(c, bool | np.bool_) for c in chosen):
        if len(chosen) != width:
            raise ValueError(
                f"The mask of view {name!r} has {len(chosen)} values for {width} columns."
            )
        places = np.flatnonzero(chosen).tolist()
        return _places(places, width, labels, name)
    return [_place(c, width, labels, name) for c in chosen]


def _place(column: Any, width: int, labels: list[Any] | None, name: str) -> int:
    if isinstance(column, Integral):
        place = int(column)
        if not -width <= place < width:
            raise ValueError(f"View {name!r} asks for column {place}, but there are {width}.")
        return place % width
    if labels is None:
        raise ValueError(
            f"View {name!r} asks for column {column!r}, but X has no names of columns. Pass a data "
            "frame, or say which by their places."
        )
    if column not in labels:
        raise ValueError(f"View {name!r} asks for column {column!r}, which X does not have.")
    return labels.index(column)


def _places_of_slice(columns: slice, width: int, labels: list[Any] | None, name: str) -> list[int]:
    """Places of a slice; with names as its ends, the last one is included, as in pandas."""
    start, stop = columns.start, columns.stop
    if isinstance(start, str):
        start = _place(start, width, labels, name)
    if isinstance(stop, str):
        stop = _place(stop, width, labels, name) + 1
    places = list(range(width))[slice(start, stop, columns.step)]
    if not places:
        raise ValueError(f"View {name!r} has no columns: {columns} of {width}.")
    return places


def split_columns(X: Any, places: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """The columns of each view; frames stay frames, sparse arrays sparse."""
    X = as_wide(X)
    if frames.is_frame(X):
        return {name: frames.select_columns(X, list(each)) for name, each in places.items()}
    if sparse.issparse(X):
        X = sparse.csc_array(read_block(X, "X"))
        return {name: sparse.csr_array(X[:, list(each)]) for name, each in places.items()}
    return {name: X[:, _as_slice(each)] for name, each in places.items()}


def _as_slice(places: Sequence[int]) -> slice | list[int]:
    """Neighbouring columns as a slice, which copies nothing."""
    first, last = places[0], places[-1]
    is_run = list(places) == list(range(first, last + 1))
    return slice(first, last + 1) if is_run else list(places)
