"""Views as a user meets them: what is one view, what is several, and what is refused."""

import copy
import pickle
from types import SimpleNamespace

import anndata
import mudata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, KFold

from manyview import Views
from manyview.views.container import as_views

X = np.arange(12.0).reshape(4, 3)
Y = np.arange(8, dtype=np.float32).reshape(4, 2)


def two_views():
    return Views({"colour": X, "shape": sparse.csr_array(Y)}, target=["a", "b", "a", "b"])


class TestOneView:
    def test_an_array_is_one_view(self):
        views = Views(X)
        assert (views.n_views, views.n_rows, views.n_features) == (1, 4, (3,))
        assert views.names == ("view_0",)

    def test_a_list_of_lists_is_one_view(self):
        assert np.array_equal(Views([[1, 2], [3, 4], [5, 6]]).arrays[0], [[1, 2], [3, 4], [5, 6]])

    def test_a_list_of_rows_as_arrays_is_one_view(self):
        assert Views([np.arange(3), np.arange(3)]).shape == (2, 3)

    def test_a_list_of_tuples_is_one_view(self):
        assert Views([(1, 2), (3, 4)]).shape == (2, 2)

    @pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
    def test_a_table_is_one_view_with_feature_names(self, table):
        views = Views(table({"height": [1.0, 2.0], "width": [3, 4]}))
        assert views.shape == (2, 2)
        assert views.feature_names == (("height", "width"),)

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dok", "lil", "bsr", "dia"])
    def test_any_sparse_array_is_one_view_in_csr(self, kind):
        views = Views(sparse.csr_array(X).asformat(kind))
        assert views.n_views == 1
        assert isinstance(views.arrays[0], sparse.csr_array)
        assert np.array_equal(views.arrays[0].toarray(), X)

    def test_an_old_sparse_matrix_becomes_an_array(self):
        assert isinstance(Views(sparse.csc_matrix(X)).arrays[0], sparse.csr_array)

    @pytest.mark.filterwarnings("ignore:the matrix subclass")
    def test_a_numpy_matrix_becomes_an_array(self):
        assert type(Views(np.matrix(X)).arrays[0]) is np.ndarray

    @pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "?"])
    def test_numeric_types_are_kept(self, dtype):
        assert Views(X.astype(dtype)).arrays[0].dtype == dtype
        assert Views(sparse.csr_array(X.astype(dtype))).arrays[0].dtype == dtype

    def test_dense_and_csr_are_not_copied(self):
        csr = sparse.csr_array(X)
        assert Views(X).arrays[0] is X
        assert np.shares_memory(Views(csr).arrays[0].data, csr.data)

    def test_a_memory_map_is_not_loaded(self, tmp_path):
        mapped = np.memmap(tmp_path / "x", dtype="f4", mode="w+", shape=(4, 3))
        views = Views(mapped)
        assert not views.is_in_memory
        assert views.arrays[0].memory_map is mapped

    def test_missing_values_pass(self):
        assert np.isnan(Views([[1.0, np.nan]]).arrays[0][0, 1])


class TestSeveralViews:
    @pytest.mark.parametrize("container", [list, tuple])
    def test_a_sequence_of_arrays(self, container):
        views = Views(container([X, Y]))
        assert views.names == ("view_0", "view_1")
        assert views.n_features == (3, 2)
        assert views.shape == (4, 5)

    def test_a_dict_gives_names(self):
        assert Views({"colour": X, "shape": Y}).names == ("colour", "shape")

    def test_a_dict_of_sparse_arrays(self):
        views = Views({"a": sparse.dok_array(sparse.csr_array(X)), "b": sparse.coo_array(Y)})
        assert [type(array) for array in views.arrays] == [sparse.csr_array] * 2

    def test_a_list_of_nested_lists(self):
        assert Views([[[1.0, 2.0]], [[3.0]]]).n_features == (2, 1)

    def test_tables_arrays_and_sparse_mixed(self):
        views = Views(
            [pd.DataFrame(X, columns=list("abc")), Y, pl.DataFrame(Y), sparse.csr_array(X)]
        )
        assert views.n_features == (3, 2, 2, 3)
        assert views.feature_names == (("a", "b", "c"), None, ("column_0", "column_1"), None)

    def test_numbers_as_keys_become_names(self):
        assert Views({0: X, 1: Y}).names == ("0", "1")

    def test_given_names_win(self):
        assert Views({"a": X, "b": Y}, names=["p", "q"]).names == ("p", "q")

    def test_views_of_views_keep_names_and_target(self):
        again = Views(two_views())
        assert again.names == ("colour", "shape")
        assert again.target.tolist() == ["a", "b", "a", "b"]

    def test_views_of_views_take_a_new_target(self):
        assert Views(two_views(), target=[1, 2, 3, 4]).target.tolist() == [1, 2, 3, 4]

    def test_as_views_passes_views_through(self):
        views = two_views()
        assert as_views(views) is views
        assert as_views([X, Y]).n_views == 2


class TestRefused:
    @pytest.mark.parametrize(
        ("data", "error", "message"),
        [
            ([], ValueError, "Got no views: the list is empty"),
            ({}, ValueError, "Got no views: the mapping is empty"),
            ((x for x in [X]), TypeError, "Cannot use generator as views"),
            ({"a": X}.values(), TypeError, "Cannot use dict_values as views"),
            (b"file.npy", TypeError, "Cannot use bytes as views"),
            (None, TypeError, "Cannot use NoneType as views"),
            (3, TypeError, "Cannot use int as views"),
            (np.zeros(3), ValueError, "Expected 2D array, got 1D array"),
            (pd.Series([1, 2]), ValueError, "Expected 2D array, got 1D array"),
            (np.zeros((2, 3, 4)), ValueError, "Expected 2D array, got 3D array"),
            ([np.zeros((2, 3, 4))], ValueError, "Expected 2D array, got 3D array"),
            ({"a": [1, 2, 3]}, ValueError, "view 'a' .*Reshape your data"),
            ([X, None], TypeError, "View 'view_1' is NoneType"),
            (sparse.coo_array(np.arange(3)), ValueError, "has 1 dimension"),
            ([[1, 2], [3]], ValueError, "ragged"),
            ([X, [[1, 2], [3]]], ValueError, "View 'view_1' is ragged"),
            (X * 1j, ValueError, "Complex data not supported"),
            (sparse.csr_array(X * 1j), ValueError, "Complex data not supported"),
            ([["a", "b"], ["c", "d"]], ValueError, "values that are not numbers"),
            (
                np.array([["2020-01-01"]], dtype="M8[D]"),
                ValueError,
                r"datetime64\[D\], not numbers",
            ),
            (X[:0], ValueError, "empty: found array with 0 sample"),
            ([X, X[:, :0]], ValueError, "View 'view_1' has 0 feature"),
            ([[], []], ValueError, "0 feature"),
            (pl.DataFrame({"a": [1]}).lazy(), TypeError, "Cannot use LazyFrame"),
        ],
    )
    def test_what_is_no_view(self, data, error, message):
        with pytest.raises(error, match=message):
            Views(data)

    def test_different_numbers_of_rows(self):
        with pytest.raises(ValueError, match="View 'gist' has 3 rows but 'hog' has 4"):
            Views({"hog": X, "gist": Y[:3]})

    @pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
    def test_text_columns_are_named_where_numbers_are_needed(self, table):
        views = Views({"p": table({"size": [1, 2], "city": ["x", "y"]})})
        message = r"View 'p' has non-numeric column\(s\) 'city' \(for example 'x'\).*ids='city'"
        with pytest.raises(ValueError, match=message):
            as_views(views, in_memory=True)
        with pytest.raises(ValueError, match=message):
            views.encoded("refuse")

    def test_dask_arrays_are_not_loaded(self):
        da = pytest.importorskip("dask.array")
        views = Views({"a": X, "b": da.zeros((len(X), 2))})
        assert isinstance(views["b"], da.Array)
        with pytest.raises(TypeError, match=r"View 'b' is a dask array.*not loaded"):
            as_views(views, in_memory=True)

    @pytest.mark.parametrize(
        ("names", "message"),
        [(["a"], "names must be a sequence of 2 names"), (["a", "a"], "must be unique")],
    )
    def test_bad_names(self, names, message):
        with pytest.raises(ValueError, match=message):
            Views([X, Y], names=names)

    def test_keys_that_read_the_same(self):
        with pytest.raises(ValueError, match="must be unique"):
            Views({0: X, "0": Y})

    @pytest.mark.parametrize("target", [[0, 1], [[0], [1], [0], [1]]])
    def test_a_target_of_the_wrong_shape(self, target):
        with pytest.raises(ValueError, match=r"target has shape .* but the views have 4 rows"):
            Views(X, target=target)


class TestRows:
    @pytest.mark.parametrize(
        "rows",
        [
            slice(0, 3, 2),
            [0, 2],
            np.array([0, 2]),
            np.array([0, 2], dtype=np.int32),
            np.array([0, 2], dtype=np.uint8),
            [True, False, True, False],
            np.array([True, False, True, False]),
            [-4, -2],
            range(0, 3, 2),
            pd.Series([0, 2]),
            (np.array([0, 2]), Ellipsis),
            (slice(0, 3, 2), slice(None)),
        ],
    )
    def test_select_samples_from_every_view(self, rows):
        part = two_views()[rows]
        assert len(part) == 2
        assert part.names == ("colour", "shape")
        assert np.array_equal(part["colour"], X[[0, 2]])
        assert np.array_equal(part["shape"].toarray(), Y[[0, 2]])
        assert part.target.tolist() == ["a", "a"]

    def test_may_repeat_and_reorder(self):
        assert np.array_equal(two_views()[[3, 3, 0]]["colour"], X[[3, 3, 0]])

    def test_selection_without_target(self):
        assert Views([X, Y])[:2].target is None

    def test_selection_keeps_feature_names(self):
        assert Views(pd.DataFrame({"a": [1, 2]}))[:1].feature_names == (("a",),)

    def test_the_original_is_unchanged(self):
        views = two_views()
        views[:1]["colour"].sum()
        assert len(views) == 4

    @pytest.mark.parametrize(
        "key", [0, 1.5, None, [0.5], [[0], [1]], np.int64(2), (1, 2), ([0, 1], [0, 1])]
    )
    def test_other_keys_are_refused(self, key):
        with pytest.raises(TypeError, match="Index Views by a view's name, or by rows"):
            two_views()[key]

    def test_an_unknown_name(self):
        with pytest.raises(KeyError, match=r"No view 'size'; the views are \['colour', 'shape'\]"):
            two_views()["size"]

    @pytest.mark.parametrize("rows", [[4], [-5], [True, False]])
    def test_rows_out_of_range(self, rows):
        with pytest.raises(IndexError):
            two_views()[rows]

    def test_grid_search_splits_samples(self):
        search = GridSearchCV(_Rows(), {"n": [1, 2]}, cv=KFold(2), refit=False, error_score="raise")
        search.fit(two_views())
        assert search.cv_results_["mean_test_score"].tolist() == [1, 2]


class _Rows(BaseEstimator):
    """Scores its parameter, after checking that it was given half of the samples."""

    def __init__(self, n=1):
        self.n = n

    def fit(self, X, y=None):
        assert X.n_views == 2
        assert len(X) == 2
        return self

    def score(self, X, y=None):
        return self.n


class TestAsAnObject:
    def test_len_counts_samples(self):
        assert len(two_views()) == two_views().n_rows == 4

    def test_iteration_is_refused_as_ambiguous(self):
        with pytest.raises(TypeError, match="not iterable"):
            iter(two_views())

    def test_items_give_names_and_arrays(self):
        assert [(name, array.shape) for name, array in two_views().items()] == [
            ("colour", (4, 3)),
            ("shape", (4, 2)),
        ]

    def test_repr_says_what_is_inside(self):
        assert repr(two_views()) == "Views(4 rows; colour: 3, shape: 2 sparse)"

    def test_target_may_be_any_labels(self):
        assert Views(X, target=pd.Series(list("aabb"))).target.tolist() == list("aabb")

    @pytest.mark.parametrize(
        "duplicate", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
    )
    def test_can_be_copied_and_pickled(self, duplicate):
        again = duplicate(two_views())
        assert again.names == ("colour", "shape")
        assert np.array_equal(again[[1]]["colour"], X[[1]])


class TestTables:
    def test_mixed_numeric_columns_become_floats(self):
        views = Views(pd.DataFrame({"a": [True, False], "b": [1.5, 2.0]}))
        assert np.array_equal(views.arrays[0], [[1, 1.5], [0, 2]])
        assert views.arrays[0].dtype == np.float64

    def test_object_columns_of_numbers_pass(self):
        views = Views(pd.DataFrame({"a": np.array([1, 2.5], dtype=object)}))
        assert views.arrays[0].dtype == np.float64

    def test_null_in_polars_is_missing(self):
        assert np.isnan(Views(pl.DataFrame({"a": [1.5, None]})).arrays[0][1, 0])

    def test_columns_of_the_same_name(self):
        assert Views(pd.DataFrame(Y, columns=["a", "a"])).shape == (4, 2)


class TestOddInput:
    def test_views_of_views_keep_feature_names(self):
        assert Views(Views(pd.DataFrame({"a": [1, 2]}))).feature_names == (("a",),)

    def test_masked_values_are_refused_or_missing(self):
        views = Views(np.ma.masked_array(X, mask=X > 10))
        assert np.isnan(views.arrays[0][-1, -1])

    def test_na_in_pandas_is_missing(self):
        table = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1.0, 2.0]})
        assert np.isnan(Views(table).arrays[0][1, 0])

    def test_sparse_columns_of_pandas_stay_sparse(self):
        table = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X))
        assert sparse.issparse(Views(table).arrays[0])

    def test_no_rows_by_an_empty_list(self):
        assert len(two_views()[[]]) == len(two_views()[:0]) == 0

    def test_views_inside_a_list_are_refused_by_name(self):
        with pytest.raises((TypeError, ValueError), match="view_0"):
            Views([two_views(), X])


class TestMuData:
    def test_modalities_are_views(self):
        rna, protein = anndata.AnnData(X), anndata.AnnData(sparse.csr_matrix(X))
        views = Views(mudata.MuData({"rna": rna, "protein": protein}))
        assert views.names == ("rna", "protein")
        assert sparse.issparse(views["protein"])

    def test_annotated_data_is_one_view(self):
        np.testing.assert_array_equal(Views(anndata.AnnData(X)).arrays[0], X)

    def test_cells_that_a_modality_lacks_are_missing_in_it(self):
        rna, protein = anndata.AnnData(X), anndata.AnnData(X[1:])
        protein.obs_names = rna.obs_names[1:]
        views = Views(mudata.MuData({"rna": rna, "protein": protein}))
        assert views.present[:, 0].all()
        assert views.present[:, 1].tolist() == [False] + [True] * (len(X) - 1)
        np.testing.assert_array_equal(np.asarray(views["protein"])[1:], X[1:])

    @pytest.mark.filterwarnings("ignore")
    def test_names_that_repeat_are_refused(self):
        rna, protein = anndata.AnnData(X), anndata.AnnData(X)
        protein.obs_names = ["0", "1", "1", "2"]
        joined = SimpleNamespace(mod={"rna": rna, "protein": protein}, obs_names=rna.obs_names)
        with pytest.raises(ValueError, match="Modality 'protein' has 1 id more than once: '1'"):
            Views(joined)


class TestRowNames:
    def test_an_index_that_counts_is_compared_with_one_that_does_not(self):
        table = pd.DataFrame(np.zeros((4, 2)))
        with pytest.raises(ValueError, match="Row 0 is '0' in view 'a' and '3' in 'b'"):
            Views({"a": table, "b": table[::-1]})
        assert Views({"a": table, "b": table.loc[[0, 1, 2, 3]]}).n_rows == 4
        assert Views({"a": table.to_numpy(), "b": table[::-1]}).ids.tolist() == [3, 2, 1, 0]

    def test_a_column_of_ids_is_compared_with_an_index(self):
        named = pd.DataFrame({"id": ["p", "q"], "x": [1.0, 2.0]})
        other = pd.DataFrame({"y": [1.0, 2.0]}, index=["q", "p"])
        with pytest.raises(ValueError, match="Row 0 is 'p' in view 'a' and 'q' in 'b'"):
            Views({"a": named, "b": other}, ids="id")
        assert Views({"a": named, "b": other[::-1]}, ids="id").ids.tolist() == ["p", "q"]

    def test_a_short_mask_is_named(self):
        X = np.zeros((4, 2))
        with pytest.raises(ValueError, match=r"present\['b'\] .* 4 samples; its shape is \(3,\)"):
            Views({"a": X, "b": X}, present={"b": [True, False, True]})


def test_loading_computes_partial_views_too():
    dask_array = pytest.importorskip("dask.array")
    X = np.arange(8.0).reshape(4, 2)
    lazy = Views([dask_array.from_array(X, chunks=2), X], present={"view_0": [True, False] * 2})
    loaded = lazy.load()
    assert loaded.is_in_memory and not lazy.is_in_memory
    assert np.array_equal(np.asarray(loaded["view_0"])[[0, 2]], X[[0, 2]])


def test_sparse_columns_that_store_all_but_nan_are_dense():
    kind = pd.SparseDtype(float, np.nan)
    table = pd.DataFrame({"a": [1.0, np.nan], "b": [0.0, 2.0]}).astype(kind)
    assert np.array_equal(Views(table).arrays[0], [[1.0, 0.0], [np.nan, 2.0]], equal_nan=True)


def test_labels_of_levels_that_read_the_same_are_refused():
    columns = pd.MultiIndex.from_tuples([(1, "x"), ("1", "y")])
    with pytest.raises(ValueError, match="read the same as text"):
        Views(pd.DataFrame(np.zeros((2, 2)), columns=columns))
