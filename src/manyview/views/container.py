"""Named, row-aligned inputs: the same samples, described in several ways.

Everything public that takes data goes through :func:`as_views`; what is one view, and what several,
is said in :mod:`manyview.views.parts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.checks import check_option
from manyview.errors import ReadError, warn_user
from manyview.readers import Vocabulary
from manyview.sources import Part, is_source
from manyview.views import frames, selection
from manyview.views.blocks import Block, is_sparse, with_short_indices
from manyview.views.columns import Columns, find_columns, split_columns
from manyview.views.encoding import Encoding, encode_parts, is_table, refuse_table
from manyview.views.joining import join_parts
from manyview.views.naming import refuse_other_orders_beside
from manyview.views.parts import (
    check_unique,
    check_views_known,
    column_of,
    read_masks,
    read_parts,
    read_table,
    refuse_column_of_ids,
    settle_ids,
    split_parts,
)

__all__ = ["Block", "Views", "as_views", "is_sparse", "with_short_indices"]

_WORDS = Vocabulary(id_column="ids='NAME'", inner="how='inner'", outer="how='outer'")
_ALL_COLUMNS = (str(Ellipsis), str(slice(None)))  # as text: comparing arrays would be ambiguous


class Views:
    """Several views of the same samples, with names, indexed by rows.

    ``views[rows]`` selects samples from every view at once, and ``len(views)`` counts samples, so a
    ``Views`` passes through scikit-learn's cross-validation where a plain list of views cannot.

    Parameters
    ----------
    views : array, data frame, AnnData, sequence or mapping of them, MuData, or Views
        One 2-D array or data frame is one view. A list, tuple or dict of 2-D things is several, and
        so are a MuData (one per modality) and a pandas frame whose columns have several levels (the
        first names the view). All views describe the same samples in the same order. A path, inside
        a list or dict also as text, is a file of any format that :mod:`manyview.readers` knows, or
        ``PATH::KEY`` what is inside it; given alone, as a ``pathlib.Path``, it may hold several views.
        A file that can be read by rows, an array opened as a memory map, an ``h5py.Dataset``, a
        ``zarr.Array``, a backed AnnData or a :class:`~manyview.sources.Source` stays where it is: no
        rows are read here.
    names : sequence of str, optional
        A name for each view; a mapping's keys, or ``view_0``, ``view_1``, ... by default.
    target : array-like of shape (n_rows,), optional
        True labels, where they are known. Never used for fitting.
    ids : array-like of shape (n_rows,), str or mapping of str to str, optional
        Names of the rows, or the column of the data frames and files that holds them, which is then
        no feature; where views call it differently, a column for each view's name. By default
        what the views bring: the index of pandas, also in a file that pandas wrote, unless it merely
        counts rows; the names of an AnnData's cells. Ids keep their type; those of a CSV file are
        integers if all are written as such, else text. Views that bring different ones, and rows without
        one, are refused.
    present : array-like of bool of shape (n_rows, n_views), or mapping of names to masks, optional
        Which samples have which views; what stands in the rows of others is never looked at. Without
        it a dense row that is all NaN is a missing one. See also :meth:`from_tables`.

    Attributes
    ----------
    arrays : tuple of (ndarray, csr_array, PartialView, Source, dask.array.Array or Table)
        The views. One with columns that are no numbers is a table; LMVSC encodes it. Dense ones keep
        their numeric type; sparse ones are CSR; those that are not in memory are sources or Dask
        arrays. Selecting rows reads those of sources into memory. One that is known to lack samples is
        a :class:`~manyview.views.selection.PartialView`: rows, and whose they are.
    names : tuple of str
        Their names.
    feature_names : tuple of (tuple of str, or None)
        Column names of each view that has them.
    encodings : tuple of (Encoding or None)
        What made numbers of the columns of a table; see :meth:`encoded`.
    target : ndarray or None
        True labels.
    ids : ndarray or None
        Names of the rows.

    See Also
    --------
    manyview.datasets.load : known data sets as views.
    LMVSC : clusters views.

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
        ids: npt.ArrayLike | str | Mapping[str, str] | None = None,
        present: Any = None,
    ) -> None:
        column = ids if isinstance(ids, str | Mapping) else None
        if isinstance(views, Views):
            if column is not None:
                refuse_column_of_ids(column if isinstance(column, str) else str(dict(column)))
            target = views.target if target is None else target
            items: dict[str, Any] = views.parts()
        else:
            items = split_parts(views, column if isinstance(column, str) else None)
        self.names: tuple[str, ...] = _check_names(list(items) if names is None else names, items)
        parts = read_parts(items, self.names, column)
        self.arrays: tuple[Block, ...] = tuple(part.rows for part in parts)
        self.feature_names = tuple(part.columns for part in parts)
        self.encodings: tuple[Encoding | None, ...] = tuple(part.encoding for part in parts)
        self._check_same_rows()
        self.ids: npt.NDArray[Any] | None = settle_ids(
            parts, ids if column is None else None, self.n_rows
        )
        if self.ids is None:
            refuse_other_orders_beside(parts)
        if present is not None:
            masks = read_masks(present, self.names, self.n_rows)
            self.arrays = tuple(map(selection.restrict, self.arrays, masks.T))
        self.target: npt.NDArray[Any] | None = None if target is None else np.asarray(target)
        if self.target is not None and self.target.shape != (len(self),):
            raise ValueError(
                f"target has shape {self.target.shape} but the views have {len(self)} rows."
            )

    @classmethod
    def from_columns(
        cls,
        X: Any,
        views: Mapping[str, Columns],
        *,
        target: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | str | None = None,
    ) -> Views:
        """Views from the columns of one wide array or data frame.

        Parameters
        ----------
        X : 2-D array, sparse array or data frame
            All columns.
        views : mapping of str to columns
            Names, places, a slice, a mask, or a callable that is given ``X`` and says which.
        target, ids
            As in the constructor; ``ids`` may be a column that is part of no view.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"name": ["p", "q"], "h": [1, 2], "w": [3, 4], "red": [0.1, 0.2]})
        >>> views = Views.from_columns(table, {"size": ["h", "w"], "colour": "red"}, ids="name")
        >>> views.n_features, views.ids.tolist()
        ((2, 1), ['p', 'q'])
        """
        if isinstance(ids, str):
            found = frames.take_column(X, ids)[1] if frames.is_frame(X) else None
            ids = refuse_column_of_ids(ids) if found is None else found
        return cls(split_columns(X, find_columns(X, views)), target=target, ids=ids)

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[str, Any],
        *,
        how: str = "exact",
        target: npt.ArrayLike | None = None,
        ids: str | Mapping[str, str] | None = None,
    ) -> Views:
        """Views of tables whose rows are matched by their ids.

        Parameters
        ----------
        tables : mapping of str to (ids, array), data frame, AnnData or path
            A pair holds the ids of the rows, and the rows; a pandas data frame, and a file that pandas
            wrote, has its index as ids, AnnData its names of cells, any other what ``ids`` names.
        how : {"exact", "inner", "outer"}, default="exact"
            All tables must have the same ids, in any order; or those that all have are kept; or those
            that any has: then samples lack views, which takes no memory. A table that then shares no
            id with another is warned about.
        target : array-like, optional
            True labels, in the order of the result's ``ids``.
        ids : str or mapping of str to str, optional
            The column of the data frames and files that holds the ids, instead of an index; where tables
            call it differently, a column for each table's name.

        Returns
        -------
        Views
            In the order of the first table, then of what others add; ``ids`` tells which is which.
            Ids are compared as text, so that 7, 7.0 and "7" are the same; they keep their type if it is
            the same in all tables, and are text otherwise.

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
        check_option("how", how, ("exact", "inner", "outer"))
        if not isinstance(tables, Mapping):
            raise TypeError(
                f"tables must be a mapping of names to tables; got {type(tables).__name__}."
            )
        if not tables:
            raise ValueError("Got no tables: the mapping is empty.")
        check_views_known(ids, [*map(str, tables)])
        parts = [
            [read_table(table, str(name), column_of(ids, str(name)))]
            for name, table in tables.items()
        ]
        names = [repr(part.name) for (part,) in parts]
        try:
            joined, match = join_parts(parts, names, how, _WORDS)
        except ReadError as error:
            raise ValueError(str(error)) from None
        for doubt in match.doubts:
            warn_user(doubt, UserWarning)
        return cls({part.name: part for part in joined}, target=target)

    def parts(self) -> dict[str, Part]:
        """One record a view, by name."""
        each = zip(self.names, self.arrays, self.feature_names, self.encodings, strict=True)
        return {
            name: Part(name, rows, columns, self.ids, encoding)
            for name, rows, columns, encoding in each
        }

    def select(self, names: Sequence[str]) -> Views:
        """The views with these names, in this order."""
        parts = self.parts()
        return Views({name: parts[name] for name in names}, target=self.target)

    def encoded(self, categories: Any = "auto") -> Views:
        """The same with numbers only: columns of tables that hold none become columns of 0 and 1.

        Parameters
        ----------
        categories : {"auto", "strict", "refuse"} or mapping, default="auto"
            As in :class:`~manyview.LMVSC`, which does this by itself.

        Returns
        -------
        Views
            Its ``encodings`` say what became of each column.

        Examples
        --------
        >>> import pandas as pd
        >>> from manyview import Views
        >>> table = pd.DataFrame({"kind": ["a", "b", "a", "b"], "size": [1, 2, 3, 4]})
        >>> Views(table).encoded().feature_names
        (('kind=a', 'kind=b', 'size'),)
        """
        parts = encode_parts(self.parts().values(), categories)
        return Views({part.name: part for part in parts}, target=self.target, ids=self.ids)

    def load(self) -> Views:
        """The same views in memory: reads those in files, and computes Dask arrays."""
        loaded = self[:]
        loaded.arrays = tuple(map(_computed, loaded.arrays))
        return loaded  # type: ignore[no-any-return]

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
        return selection.side_by_side(self.arrays)

    @property
    def is_in_memory(self) -> bool:
        """Whether every view is an array here, none a source or a Dask array."""
        return all(map(_is_in_memory, self.arrays))

    def items(self) -> Iterator[tuple[str, Block]]:
        """Each name with its array."""
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
        rows.encodings = self.encodings
        rows.arrays = tuple(selection.read_rows(array, key) for array in self.arrays)
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


def as_views(data: Any, *, in_memory: bool = False, may_lack: bool = False) -> Views:
    """Whatever a user calls views as :class:`Views`; Views pass through unchanged.

    With ``in_memory``, views that would have to be loaded are refused, and samples that lack views,
    unless they ``may_lack`` some.

    Examples
    --------
    >>> as_views([[1.0, 2.0], [3.0, 4.0]]).n_views
    1
    >>> as_views([[[1.0, 2.0]], [[3.0]]]).n_features
    (2, 1)
    """
    views = data if isinstance(data, Views) else Views(data)
    if in_memory and not may_lack:
        _refuse_partial(views)
        for name, array in views.items():
            refuse_table(array, name)
    if not in_memory or views.is_in_memory:
        return views
    for name, array in views.items():
        if _is_in_memory(array) or getattr(array, "memory_map", None) is not None:
            continue
        if is_source(array):
            raise TypeError(
                f"View {name!r} is in {array.where}; all rows are needed in memory here, and are not "
                "loaded silently. Pass Views(...)[:] if they fit."
            )
        raise TypeError(
            f"View {name!r} is a {type(array).__module__.split('.')[0]} array, which is not loaded "
            "into memory silently. Pass numpy.asarray(view) if it fits in memory."
        )
    loaded: Views = views[:]  # memory maps are arrays already
    return loaded


def _refuse_partial(views: Views) -> None:
    for name, array in views.items():
        if selection.is_partial(array):
            n_missing = int((~array.present).sum())
            raise ValueError(
                f"{n_missing} of {views.n_rows} samples lack view {name!r}; all views of all samples "
                "are needed here. Leave those samples out, or fit LMVSC, which does without."
            )


def _check_names(names: Sequence[str], items: Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(names, str) or len(names) != len(items):
        raise ValueError(f"names must be a sequence of {len(items)} names; got {names!r}.")
    found = tuple(str(name) for name in names)
    check_unique(found)
    return found


def _computed(array: Block) -> Block:
    if isinstance(array, selection.PartialView):
        return selection.PartialView(_computed(array.rows), array.places)
    return array.compute() if hasattr(array, "compute") else array


def _is_in_memory(array: Block) -> bool:
    rows = selection.held(array)
    return isinstance(rows, np.ndarray) or bool(sparse.issparse(rows)) or is_table(rows)
