"""Named, row-aligned inputs: the same samples, described in several ways.

Everything public that takes data goes through :func:`as_views`, so there is one rule about what
is one view and what is several, and one set of error messages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview import presence
from manyview.errors import ReadError
from manyview.ids import as_ids, find_places, match_ids
from manyview.sources import as_source, is_source, open_source

Block = Any
"""One view: a 2-D ndarray, a CSR array, a partial view of such, or a source; or some rows of it."""

_ALL_COLUMNS = (str(Ellipsis), str(slice(None)))  # as text: comparing arrays would be ambiguous

_ONE_VIEW_HELP = (
    "One 2-D array is one view; pass several views as a list or a dict of 2-D arrays, "
    "one row per sample."
)


class Views:
    """Several views of the same samples, with names, indexed by rows.

    ``views[rows]`` selects samples from every view at once, and ``len(views)`` counts samples, so a
    ``Views`` passes through scikit-learn's cross-validation where a plain list of views cannot.

    Parameters
    ----------
    views : array, table, sequence or mapping of them, or Views
        One 2-D array or table is one view. A list, tuple or dict of 2-D things is several. All
        views describe the same samples in the same order. A path (inside a list or dict also as
        text), an array opened as a memory map, an ``h5py.Dataset``, a ``zarr.Array`` or a
        :class:`~manyview.sources.Source` stays where it is: no rows are read here.
    names : sequence of str, optional
        A name for each view; a mapping's keys, or ``view_0``, ``view_1``, ... by default.
    target : array-like of shape (n_rows,), optional
        True labels, where they are known. Never used for fitting.
    present : array-like of bool of shape (n_rows, n_views), or mapping of names to masks, optional
        Which samples have which views; what stands in the rows of others is never looked at. Without
        it a dense row that is all NaN is a missing one. See also :meth:`from_tables`.

    Attributes
    ----------
    arrays : tuple of (ndarray, csr_array, PartialView, Source or dask.array.Array)
        The views. Dense ones keep their numeric type; sparse ones are CSR; those that are not in
        memory are sources or Dask arrays. Selecting rows reads those of sources into memory. One that
        is known to lack samples is a :class:`~manyview.presence.PartialView`: rows, and whose they are.
    names : tuple of str
        Their names.
    feature_names : tuple of (tuple of str, or None)
        Column names of each view that came as a table.
    target : ndarray or None
        True labels.
    ids : ndarray of str, or None
        What identifies the samples, where they were matched by it.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import Views
    >>> views = Views({"colour": np.zeros((5, 3)), "shape": np.ones((5, 8))}, target=[0, 0, 1, 1, 1])
    >>> len(views), views.names, views.n_features
    (5, ('colour', 'shape'), (3, 8))
    >>> views[:2].shape
    (2, 11)
    >>> views["shape"].shape
    (5, 8)
    """

    def __init__(
        self,
        views: Any,
        *,
        names: Sequence[str] | None = None,
        target: npt.ArrayLike | None = None,
        present: Any = None,
    ) -> None:
        found_names, items = _split(views)
        if isinstance(views, Views) and target is None:
            target = views.target
        if names is None:
            names = found_names
        elif isinstance(names, str) or len(names) != len(items):
            raise ValueError(f"names must be a sequence of {len(items)} names; got {names!r}.")
        self.names: tuple[str, ...] = tuple(str(name) for name in names)
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"View names must be unique; got {list(self.names)}.")
        self.arrays: tuple[Block, ...] = tuple(
            _as_block(item, name) for item, name in zip(items, self.names, strict=True)
        )
        self.feature_names = tuple(map(_column_names, items, self.arrays))
        if isinstance(views, Views):
            self.feature_names = views.feature_names
        self._check_same_rows()
        if present is not None:
            masks = _masks(present, self)
            self.arrays = tuple(map(presence.restrict, self.arrays, masks.T))
        self.ids: npt.NDArray[np.str_] | None = views.ids if isinstance(views, Views) else None
        self.target: npt.NDArray[Any] | None = None if target is None else np.asarray(target)
        if self.target is not None and self.target.shape != (len(self),):
            raise ValueError(
                f"target has shape {self.target.shape} but the views have {len(self)} rows."
            )

    @classmethod
    def from_tables(
        cls, tables: Mapping[str, Any], *, how: str = "exact", target: npt.ArrayLike | None = None
    ) -> Views:
        """Views of tables whose rows are matched by their ids.

        Parameters
        ----------
        tables : mapping of str to (ids, array), data frame or AnnData
            A pair holds the ids of the rows, and the rows; a pandas data frame has its index as ids,
            AnnData the names of its observations.
        how : {"exact", "inner", "outer"}, default="exact"
            All tables must have the same ids, in any order; or those that all have are kept; or those
            that any has: then samples lack views, which takes no memory.
        target : array-like, optional
            True labels, in the order of the result's ``ids``.

        Returns
        -------
        Views
            In the order of the first table, then of what others add; ``ids`` tells which is which.

        Examples
        --------
        >>> import numpy as np
        >>> from manyview import Views
        >>> rna = (["cell 1", "cell 2"], np.zeros((2, 5)))
        >>> protein = (["cell 2", "cell 3"], np.ones((2, 3)))
        >>> views = Views.from_tables({"rna": rna, "protein": protein}, how="outer")
        >>> views.ids.tolist(), views.present.tolist()
        (['cell 1', 'cell 2', 'cell 3'], [[True, False], [True, True], [False, True]])
        """
        if how not in ("exact", "inner", "outer"):
            raise ValueError(f"how must be 'exact', 'inner' or 'outer'; got {how!r}.")
        names = [str(name) for name in tables]
        found = [
            _ids_and_rows(table, name) for name, table in zip(names, tables.values(), strict=True)
        ]
        try:
            ids, orders, _ = match_ids([each for each, _ in found], [repr(n) for n in names], how)
        except ReadError as error:
            raise ValueError(str(error)) from None
        arrays = {
            name: _in_order(_as_block(rows, name), order)
            for name, (_, rows), order in zip(names, found, orders, strict=True)
        }
        views = cls(arrays, target=target)
        views.feature_names = tuple(
            _column_names(rows, array) for (_, rows), array in zip(found, views.arrays, strict=True)
        )
        views.ids = ids
        return views

    def _check_same_rows(self) -> None:
        first, n_rows = self.names[0], self.arrays[0].shape[0]
        for name, array in zip(self.names, self.arrays, strict=True):
            if array.shape[0] != n_rows:
                raise ValueError(
                    f"View {name!r} has {array.shape[0]} rows but {first!r} has {n_rows}. "
                    "All views must describe the same samples in the same order."
                )

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.arrays[0].shape[0])

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.arrays)

    @property
    def n_features(self) -> tuple[int, ...]:
        """Number of columns of each view."""
        return tuple(int(array.shape[1]) for array in self.arrays)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of columns of all views together."""
        return self.n_rows, sum(self.n_features)

    @property
    def present(self) -> npt.NDArray[np.bool_] | None:
        """Which samples have which views, shape (n_rows, n_views); None if all have all.

        A row of NaN in a file or a Dask array is noticed only when it is read.
        """
        return presence.side_by_side(self.arrays)

    @property
    def is_in_memory(self) -> bool:
        """Whether every view is an array here, none a source or a Dask array."""
        return all(map(_is_in_memory, self.arrays))

    def select(self, names: Sequence[str]) -> Views:
        """Give some of the views, in this order."""
        chosen = Views({name: self[name] for name in names}, target=self.target)
        known = dict(zip(self.names, self.feature_names, strict=True))
        chosen.feature_names, chosen.ids = tuple(known[name] for name in names), self.ids
        return chosen

    def items(self) -> Iterator[tuple[str, Block]]:
        """Give each name with its array."""
        return zip(self.names, self.arrays, strict=True)

    def __len__(self) -> int:
        return self.n_rows

    # Iterating could mean views or rows; ask for .arrays, .items() or rows by index instead.
    __iter__ = None

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"No view {key!r}; the views are {list(self.names)}.")
            return self.arrays[self.names.index(key)]
        if isinstance(key, tuple) and len(key) == 2 and str(key[1]) in _ALL_COLUMNS:
            key = key[0]  # scikit-learn selects rows as X[rows, ...]
        if not isinstance(key, slice):
            is_pair = isinstance(key, tuple)
            key = np.asarray(key)
            key = key.astype(np.int64) if key.shape == (0,) else key
            if is_pair or key.ndim != 1 or key.dtype.kind not in "biu":
                raise TypeError(
                    "Index Views by a view's name, or by rows: a slice, a boolean mask or a "
                    "1-D array of row numbers."
                )
        rows = object.__new__(Views)
        rows.names, rows.feature_names = self.names, self.feature_names
        rows.arrays = tuple(_select_rows(array, key) for array in self.arrays)
        rows.target = None if self.target is None else self.target[key]
        rows.ids = None if self.ids is None else self.ids[key]
        return rows

    def __repr__(self) -> str:
        views = ", ".join(
            f"{name}: {array.shape[1]}{' sparse' if is_sparse(array) else ''}"
            f"{f' in {array.where}' if is_source(array) else ''}"
            for name, array in self.items()
        )
        return f"Views({self.n_rows} rows; {views})"


def as_views(data: Any, *, in_memory: bool = False) -> Views:
    """Give ``data`` as :class:`Views`; Views pass through unchanged.

    With ``in_memory``, views that would have to be loaded are refused.

    Examples
    --------
    >>> as_views([[1.0, 2.0], [3.0, 4.0]]).n_views
    1
    >>> as_views([[[1.0, 2.0]], [[3.0]]]).n_features
    (2, 1)
    """
    views = data if isinstance(data, Views) else Views(data)
    if in_memory:
        _refuse_partial(views)
    if not in_memory or views.is_in_memory:
        return views
    for name, array in views.items():
        if is_source(array) and getattr(array, "memory_map", None) is None:
            raise TypeError(
                f"View {name!r} is in {array.where}; all rows are needed in memory here, and are not "
                "loaded silently. Pass Views(...)[:] if they fit."
            )
        if (
            not is_source(array)
            and not isinstance(array, np.ndarray)
            and not sparse.issparse(array)
        ):
            raise TypeError(
                f"View {name!r} is a {type(array).__module__.split('.')[0]} array, which is not "
                "loaded into memory silently. Pass numpy.asarray(view) if it fits in memory."
            )
    loaded: Views = views[:]  # memory maps are arrays already
    return loaded


def _refuse_partial(views: Views) -> None:
    for name, array in views.items():
        if presence.is_partial(array):
            n_missing = int((~array.present).sum())
            raise ValueError(
                f"{n_missing} of {views.n_rows} samples lack view {name!r}; all views of all samples "
                "are needed here. Leave those samples out, or fit LMVSC, which does without."
            )


def _split(data: Any) -> tuple[list[str], list[Any]]:
    """Give the names and the parts of whatever a user calls views."""
    if isinstance(data, Views):
        return list(data.names), list(data.arrays)
    if hasattr(data, "mod") and hasattr(data, "obs_names"):
        return _modalities(data)
    if _is_annotated(data):
        return ["view_0"], [data.X]
    # SciPy's dok_array is a Mapping, and a data frame iterates over its columns: test them first.
    is_one = hasattr(data, "shape") or hasattr(data, "__array__") or isinstance(data, os.PathLike)
    if sparse.issparse(data) or is_one:
        return ["view_0"], [data]
    if isinstance(data, Mapping):
        if not data:
            raise ValueError(f"Got no views: the mapping is empty. {_ONE_VIEW_HELP}")
        return [str(name) for name in data], list(data.values())
    if isinstance(data, str | bytes) or not isinstance(data, Sequence):
        raise TypeError(f"Cannot use {type(data).__name__} as views. {_ONE_VIEW_HELP}")
    if len(data) == 0:
        raise ValueError(f"Got no views: the list is empty. {_ONE_VIEW_HELP}")
    if _is_two_dimensional(data[0]):
        return [f"view_{i}" for i in range(len(data))], list(data)
    return ["view_0"], [data]


def _ids_and_rows(table: Any, name: str) -> tuple[npt.NDArray[np.str_], Any]:
    """Give the ids of a table's rows, and the rows."""
    if isinstance(table, tuple) and len(table) == 2:
        ids, rows = as_ids(table[0]), table[1]
    elif _is_annotated(table):
        ids, rows = as_ids(table.obs_names), table.X
    elif _is_table(table) and hasattr(table, "index") and not callable(table.index):
        ids, rows = as_ids(table.index), table
    else:
        raise TypeError(
            f"Table {name!r} is {type(table).__name__}, which has no ids. Pass a pair (ids, array), a "
            "pandas data frame or AnnData."
        )
    if hasattr(rows, "shape") and len(ids) != rows.shape[0]:
        raise ValueError(f"Table {name!r} has {rows.shape[0]} rows but {len(ids)} ids.")
    return ids, rows


def _in_order(array: Block, order: npt.NDArray[np.int64] | None) -> Block:
    """Rows of a view in another order, some maybe missing (-1); those of a source are not read."""
    if order is None:
        return array
    if (order < 0).any() or is_source(array):
        return presence.arrange(array, order)
    return array[order]


def _is_annotated(data: Any) -> bool:
    return hasattr(data, "obs_names") and hasattr(data, "X")


def _modalities(data: Any) -> tuple[list[str], list[Any]]:
    """Names and matrices of a MuData; cells that a modality lacks are missing in it."""
    ids, matrices = as_ids(data.obs_names), []
    for name, modality in data.mod.items():
        own = as_ids(modality.obs_names)
        order = None if np.array_equal(own, ids) else find_places(own, ids)
        matrices.append(_in_order(_as_block(modality.X, str(name)), order))
    return [str(name) for name in data.mod], matrices


def _select_rows(array: Block, key: Any) -> Block:
    """Rows of a view, in memory."""
    if not is_source(array):
        return array[key]
    if isinstance(key, slice):
        start, stop, step = key.indices(array.shape[0])
        if step == 1 and start < stop:
            return array.read(start, stop)
    numbers = np.arange(array.shape[0])[key]
    if len(numbers) == 0:
        return array.read(0, 1)[:0]
    distinct, places = np.unique(numbers, return_inverse=True)
    rows = array.take(distinct)
    return rows if len(distinct) == len(numbers) and np.all(np.diff(places) > 0) else rows[places]


def _is_in_memory(array: Block) -> bool:
    rows = array.rows if isinstance(array, presence.PartialView) else array
    return isinstance(rows, np.ndarray) or bool(sparse.issparse(rows))


def is_sparse(array: Block) -> bool:
    """Whether a view's rows are CSR."""
    rows = array.rows if isinstance(array, presence.PartialView) else array
    return bool(rows.is_sparse) if is_source(rows) else bool(sparse.issparse(rows))


def _masks(present: Any, views: Views) -> npt.NDArray[np.bool_]:
    """Give which samples have which views, from an array or from one mask a name."""
    n_rows, n_views = views.n_rows, views.n_views
    if isinstance(present, Mapping):
        if unknown := sorted(set(map(str, present)) - set(views.names)):
            raise ValueError(f"present names {unknown}, but the views are {list(views.names)}.")
        every = np.ones(n_rows, bool)
        present = np.stack([np.asarray(present.get(name, every)) for name in views.names], axis=1)
    masks = np.asarray(present)
    if masks.shape != (n_rows, n_views) or masks.dtype != bool:
        raise ValueError(
            f"present must hold True or False for {n_rows} samples and {n_views} views, shape "
            f"({n_rows}, {n_views}); got {masks.dtype} of shape {masks.shape}."
        )
    return masks


def _is_two_dimensional(item: Any) -> bool:
    if isinstance(item, str | os.PathLike):  # a file
        return True
    if hasattr(item, "shape"):
        return len(item.shape) >= 2
    if isinstance(item, Sequence) and not isinstance(item, str | bytes) and len(item):
        first = item[0]
        return hasattr(first, "__len__") and not isinstance(first, str | bytes)
    return False


def _is_table(item: Any) -> bool:
    return hasattr(item, "columns") and hasattr(item, "to_numpy")


def _column_names(item: Any, block: Block) -> tuple[str, ...] | None:
    if is_source(block):
        names: tuple[str, ...] | None = block.feature_names
        return names
    return tuple(str(c) for c in item.columns) if _is_table(item) else None


def _as_block(item: Any, name: str) -> Block:
    """Check one view and give it as a numeric 2-D ndarray or CSR array, copied only if it must be.

    What is not in memory becomes a source, and no row of it is read.
    """
    source = open_source(item) if isinstance(item, str) else as_source(item)
    if source is not None or isinstance(item, presence.PartialView):
        block: Block = item if source is None else source
    elif sparse.issparse(item):
        if item.ndim != 2:
            raise ValueError(f"View {name!r} has {item.ndim} dimension(s). {_ONE_VIEW_HELP}")
        block = sparse.csr_array(item)
        if not block.has_canonical_format:  # entries stored in parts would be scaled in parts
            block = block.copy()  # the arrays may still be the caller's
            block.sum_duplicates()
    elif isinstance(item, Views) or item is None:
        raise TypeError(
            f"View {name!r} is {type(item).__name__}, not a 2-D array. {_ONE_VIEW_HELP}"
        )
    elif type(item).__module__.startswith("dask."):
        _check_chunks(item, name)
        block = item
    elif _is_table(item):
        block = _table_to_block(item, name)
    elif _is_lazy(item):
        raise TypeError(
            f"View {name!r} is a {type(item).__module__.split('.')[0]} array, which is not loaded "
            "into memory silently. Pass numpy.asarray(view) if it fits in memory."
        )
    else:
        block = _to_array(item, name)
    if len(block.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(block.shape)}D array instead for view {name!r} (shape "
            f"{block.shape}). Reshape your data: one row per sample. {_ONE_VIEW_HELP}"
        )
    _check_numeric(block, name)
    n_rows, n_columns = block.shape
    if n_rows == 0:
        raise ValueError(
            f"View {name!r} is empty: found array with 0 sample(s) (shape={block.shape}) while a "
            "minimum of 1 is required."
        )
    if n_columns == 0:
        raise ValueError(
            f"View {name!r} has 0 feature(s) (shape={block.shape}) while a minimum of 1 is "
            "required. Leave the view out, or check how its columns were selected."
        )
    return block


def _is_lazy(item: Any) -> bool:
    # Those of them that can be read by rows are sources already.
    return type(item).__module__.split(".")[0] in ("zarr", "h5py")


def _check_chunks(item: Any, name: str) -> None:
    """Refuse Dask collections whose rows are not whole or not countable; compute nothing."""
    if not hasattr(item, "chunks"):
        raise TypeError(
            f"View {name!r} is a Dask {type(item).__name__}, not a Dask array. Pass "
            "view.to_dask_array(lengths=True) for a data frame."
        )
    if any(map(np.isnan, item.shape)):
        raise ValueError(
            f"View {name!r} has chunks of unknown size (shape {item.shape}), as selecting rows by "
            "value leaves behind. Call view.compute_chunk_sizes() first, which counts them."
        )
    if item.ndim == 2 and item.numblocks[1] > 1:
        raise ValueError(
            f"View {name!r} is split along its columns, into chunks of {item.chunks[1]}; rows must "
            'be whole. Pass view.rechunk({0: "auto", 1: -1}).'
        )


def _to_array(item: Any, name: str) -> npt.NDArray[Any]:
    if isinstance(item, np.ma.MaskedArray):
        return np.ma.filled(item.astype(np.float64), np.nan)
    try:
        array = np.asarray(item)
    except ValueError as error:
        raise ValueError(
            f"View {name!r} is ragged: its rows have different lengths. {_ONE_VIEW_HELP}"
        ) from error
    if array.dtype.kind in "OUS":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"View {name!r} has values that are not numbers ({error}). "
                "Encode or leave out non-numeric columns."
            ) from error
    return array


def _table_to_block(table: Any, name: str) -> Block:
    wrong = [str(c) for c in table.columns if not _holds_numbers(np.asarray(table[c]))]
    if wrong:
        raise ValueError(
            f"View {name!r} has non-numeric column(s) {wrong[:5]}{' ...' if wrong[5:] else ''}. "
            "Encode or leave out non-numeric columns."
        )
    types = list(getattr(table, "dtypes", ()))
    if types and all(hasattr(kind, "fill_value") for kind in types):  # pandas' sparse columns
        return sparse.csr_array(table.sparse.to_coo())
    if any(hasattr(kind, "na_value") for kind in types):  # pandas' own types: NA becomes NaN
        return np.asarray(table.to_numpy(dtype=np.float64, na_value=np.nan))
    return _to_array(table.to_numpy(), name)


def _holds_numbers(column: npt.NDArray[Any]) -> bool:
    if column.dtype.kind != "O":
        return column.dtype.kind in "biufc"
    # Text that looks like a number is still text; a missing value (None, pandas.NA) is none.
    missing = (None.__class__, type(np.nan))
    return all(
        isinstance(value, (Real, *missing)) or type(value).__name__ == "NAType" for value in column
    )


def _check_numeric(block: Block, name: str) -> None:
    kind = block.dtype.kind
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: view {name!r} is {block.dtype}. "
            "Pass real and imaginary parts as columns."
        )
    if kind not in "biuf":
        raise ValueError(
            f"View {name!r} has type {block.dtype}, not numbers. "
            "Encode or leave out non-numeric columns."
        )
