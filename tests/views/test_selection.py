"""Rows and columns of a view in any order, and samples that have no row."""

import json
import pickle

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers import read_view
from manyview.sources import is_source
from manyview.sources.csr_groups import CsrGroupSource
from manyview.views.selection import (
    PartialView,
    Selection,
    empty_view,
    find_present,
    is_partial,
    number_present,
    read_rows,
    refuse_samples_without_views,
    restrict,
    select_columns,
    select_rows,
    side_by_side,
    split_rows,
    stack,
    transpose,
)

X = np.arange(120.0).reshape(30, 4)


@pytest.fixture(params=["dense", "sparse"])
def source(request, tmp_path):
    if request.param == "dense":
        np.save(tmp_path / "x.npy", X)
        return read_view(str(tmp_path / "x.npy")).parts[0].rows
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("x")
        rows = sparse.csr_array(X)
        group.attrs["shape"] = rows.shape
        group["data"], group["indices"], group["indptr"] = rows.data, rows.indices, rows.indptr
    return CsrGroupSource(h5py.File(tmp_path / "x.h5")["x"], path=tmp_path / "x.h5")


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def filled(places, columns=slice(None)):
    rows = X[places][:, columns].copy()
    rows[places < 0] = np.nan
    return rows


def spread(view):
    """A view of either kind as an array, NaN where samples lack it."""
    if not isinstance(view, PartialView):
        return dense(view)
    return np.asarray(PartialView(dense(view.rows), view.places))


class TestPartialView:
    @given(
        places=st.lists(st.integers(-1, 4), min_size=1, max_size=12),
        keys=st.lists(st.integers(0, 11), max_size=8),
    )
    @settings(max_examples=50)
    def test_selecting_samples_is_selecting_rows_of_the_filled_array(self, places, keys):
        rows = np.arange(10.0).reshape(5, 2)
        view = PartialView(rows, np.array(places))
        filled = np.asarray(view)
        chosen = np.array([key % len(places) for key in keys], dtype=np.int64)
        assert np.array_equal(np.asarray(view[chosen]), filled[chosen], equal_nan=True)
        some = view[chosen]
        there = (np.array(places)[chosen] >= 0).sum()
        assert len(some.rows if isinstance(some, PartialView) else some) == there
        assert np.array_equal(np.asarray(view[1:5:2]), filled[1:5:2], equal_nan=True)

    def test_rows_that_follow_each_other_are_not_copied(self):
        rows = np.zeros((6, 2))
        assert np.shares_memory(PartialView(rows, np.array([-1, 0, 1, 2, -1]))[1:3], rows)
        assert np.shares_memory(PartialView(rows, np.array([-1, 0, 1, 2, -1]))[:3].rows, rows)

    def test_only_rows_that_are_all_nan_are_missing(self):
        X = np.array([[1.0, 2.0], [np.nan, np.nan], [np.nan, 3.0], [4.0, np.nan]])
        rows, present = split_rows(X)
        assert present.tolist() == [True, False, True, True]
        assert len(rows) == 3

    def test_what_is_complete_is_not_touched(self):
        X = np.zeros((3, 2))
        assert split_rows(X) == (X, None) or split_rows(X)[0] is X
        assert find_present(sparse.csr_array(X)) is None

    def test_parts_are_stacked(self):
        part = PartialView(sparse.csr_array([[1.0, 0.0]]), np.array([-1, 0]))
        joined = stack([part, sparse.csr_array([[0.0, 2.0]])])
        assert joined.present.tolist() == [False, True, True]
        assert joined.rows.toarray().tolist() == [[1.0, 0.0], [0.0, 2.0]]

    def test_sparse_rows_are_not_made_dense(self):
        with pytest.raises(TypeError, match="silently"):
            np.asarray(PartialView(sparse.csr_array((1, 2)), np.array([0])))

    def test_where_all_chosen_samples_have_a_row_they_are_plain(self):
        view = PartialView(np.arange(4.0).reshape(2, 2), np.array([1, -1, 0]))
        assert isinstance(view[[2, 0]], np.ndarray)
        assert isinstance(view[:2], PartialView)


ORDERS = {
    "reversed": np.arange(30)[::-1],
    "some": np.array([3, 4, 5, 29, 0]),
    "repeated": np.array([7, 7, 2]),
    "with holes": np.array([5, -1, 4, 28, -1, 0]),
    "nobody": np.full(3, -1),
}


class TestSelection:
    @pytest.mark.parametrize("order", ORDERS)
    @pytest.mark.parametrize("columns", [None, [2, 0]])
    def test_rows_are_those_selected(self, source, order, columns):
        places = ORDERS[order]
        chosen = Selection(source, places, columns)
        expected = filled(places, slice(None) if columns is None else columns)
        assert is_source(chosen)
        assert chosen.shape == expected.shape
        n = len(places)
        for start, stop in ((0, n), (1, n), (0, 1)):
            assert np.array_equal(
                spread(chosen.read(start, stop)), expected[start:stop], equal_nan=True
            )
        assert np.array_equal(
            spread(chosen.take(np.array([0, n - 1]))), expected[[0, n - 1]], equal_nan=True
        )
        assert is_partial(chosen) == (places < 0).any()
        assert np.array_equal(chosen.present, places >= 0)

    def test_a_view_that_lacks_nobody_is_plain(self, source):
        for places in (np.arange(30)[::-1], np.array([4, 2])):
            assert not isinstance(Selection(source, places).read(0, 2), PartialView)
            assert not isinstance(select_rows(X, places), PartialView)
            assert find_present(Selection(source, places)) is None

    def test_selections_of_selections_read_the_source_itself(self, source):
        once = Selection(source, np.array([5, -1, 4, 28]), [3, 1, 0])
        twice = Selection(once, np.array([3, 1, -1, 0]), [2, 0])
        assert twice.source is source
        assert np.array_equal(
            spread(twice.read(0, 4)), filled(np.array([28, -1, -1, 5]), [0, 3]), True
        )
        assert Selection(once, columns=[0]).shape == (4, 1)
        assert Selection(once, np.array([0])).columns == [3, 1, 0]

    def test_the_fingerprint_tells_orders_and_columns_apart(self, source):
        order = np.array([5, 3, 9])
        chosen = [
            Selection(source, order),
            Selection(source, order[::-1].copy()),
            Selection(source, np.array([5, 3, -1])),
            Selection(source, order, [0, 1]),
            Selection(source, order, [1, 0]),
            Selection(source),
        ]
        prints = [json.dumps(each.fingerprint()) for each in chosen]
        assert len(set(prints)) == len(prints)
        again = pickle.loads(pickle.dumps(chosen[0]))
        assert json.dumps(again.fingerprint()) == prints[0]

    def test_rows_that_are_not_there_are_refused(self, source):
        with pytest.raises(ReadError, match="has only 30 rows"):
            Selection(source, np.array([30]))

    def test_columns_keep_their_names(self, tmp_path):
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({"a": [1.0], "b": [2.0], "c": [3.0]}), tmp_path / "x.parquet")
        source = read_view(str(tmp_path / "x.parquet")).parts[0].rows
        assert select_columns(source, [2, 0]).feature_names == ("c", "a")


class TestSelecting:
    def test_columns_of_every_kind(self, source):
        view = PartialView(X, np.array([3, -1]))
        assert np.array_equal(
            spread(select_columns(view, [1, 0])), filled(view.places, [1, 0]), True
        )
        assert np.array_equal(select_columns(X, [1, 0]), X[:, [1, 0]])
        assert np.array_equal(dense(select_columns(source, [1]).read(0, 30)), X[:, [1]])

    def test_samples_are_left_out_of_every_kind(self, source):
        present = np.arange(30) % 3 > 0
        places = np.where(present, np.arange(30), -1)
        for view in (X, source, PartialView(X, np.arange(30))):
            left = restrict(view, present)
            read = left.read(0, 30) if is_source(left) else left
            assert np.array_equal(spread(read), filled(places), equal_nan=True)
        assert restrict(X, np.ones(30, bool)) is X

    def test_selecting_from_a_partial_view_selects_from_its_rows(self):
        view = PartialView(X, np.array([3, -1, 7]))
        assert select_rows(view, np.array([2, 1, -1])).places.tolist() == [7, -1, -1]
        assert np.array_equal(select_rows(view, np.array([2, 0])), X[[7, 3]])
        assert select_rows(X, None) is X

    @pytest.mark.parametrize("key", [slice(2, 9), slice(None, None, 4), slice(5, 2), [8, 1, 1]])
    def test_rows_are_read_into_memory(self, source, key):
        assert np.array_equal(dense(read_rows(source, key)), X[key])
        assert np.array_equal(read_rows(X, key), X[key])

    def test_rows_and_columns_are_exchanged(self, source):
        assert np.array_equal(dense(transpose(source)), X.T)
        assert transpose(X).flags.c_contiguous


class TestPresence:
    def test_places_of_those_present(self):
        assert number_present(np.array([False, True, True]), 5).tolist() == [-1, 5, 6]

    def test_an_empty_view_describes_nobody(self):
        assert not empty_view(3, 2).present.any()
        assert empty_view(3, 2).shape == (3, 2)

    def test_which_samples_have_which_views(self):
        holes = PartialView(X[:2], np.array([0, -1, 1]))
        assert side_by_side([holes, X[:3]]).tolist() == [[True, True], [False, True], [True, True]]
        assert side_by_side([X, X]) is None

    def test_samples_without_any_view_are_named_by_their_own_numbers(self):
        present = np.array([[True], [False], [False]])
        with pytest.raises(ValueError, match=r"2 sample\(s\) have no view at all.*11, 12"):
            refuse_samples_without_views(present, 10)
        with pytest.raises(ValueError, match=r"row\(s\) 70, 90"):
            refuse_samples_without_views(present, np.array([50, 70, 90]))
