"""The road in: files, frames and arrays become one record a view; what is one view, what several."""

import os
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import zarr
from pyarrow import feather, parquet
from scipy.io import savemat

from manyview import LMVSC, Views
from manyview.errors import ReadError
from manyview.sources import Part, is_source
from manyview.views.files import read_views
from manyview.views.parts import read_part, read_table, settle_ids, split_parts

X = np.arange(60.0).reshape(20, 3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of the same rows: x.npy, x.csv with ids, two.npz and two.h5 with several arrays."""
    np.save(tmp_path / "x.npy", X)
    pd.DataFrame(X, columns=list("abc"), index=[f"s{i}" for i in range(20)]).to_csv(
        tmp_path / "x.csv", index_label="id"
    )
    np.savez(tmp_path / "two.npz", first=X, second=X[:, :2])
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["deep/first"], file["second"] = X, X[:, :2]
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestFiles:
    def test_a_table_is_a_view_with_names_and_ids(self, folder):
        views = Views({"c": "x.csv"}, ids="id")
        assert np.array_equal(views["c"], X)
        assert views.feature_names == (("a", "b", "c"),)
        assert views.ids.tolist() == [f"s{i}" for i in range(20)]

    def test_files_of_different_formats_are_fitted(self, folder):
        views = Views(["x.npy", Path("x.csv")], ids="id")
        assert views.names == ("view_0", "view_1")
        assert is_source(views.arrays[0]) and not is_source(views.arrays[1])
        model = LMVSC(2, n_repeats=1, random_state=0).fit(views)
        assert model.labels_series().index[3] == "s3"

    @pytest.mark.parametrize("text", ["two.npz::second", "two.h5::second"])
    def test_a_key_names_what_is_inside(self, folder, text):
        assert np.array_equal(Views({"a": text})[:]["a"], X[:, :2])

    def test_a_file_of_several_views_under_one_name_is_refused(self, folder):
        for given in ({"a": "two.npz"}, {"a": Path("two.npz")}):
            with pytest.raises(
                ValueError, match=r"holds 2: 'first', 'second'\. Say which, 'two.npz::"
            ):
                Views(given)

    @pytest.mark.parametrize("key", ["X2", "X{2}"])
    def test_the_names_that_a_refusal_lists_are_keys(self, folder, key):
        from scipy.io import savemat

        cell = np.empty((1, 2), dtype=object)
        cell[0, :] = [X, X[:, :2]]
        savemat("m.mat", {"X": cell})
        with pytest.raises(ValueError, match="'X1', 'X2'"):
            Views({"a": "m.mat"})
        assert np.array_equal(Views({"a": f"m.mat::{key}"})["a"], X[:, :2])

    def test_a_file_of_several_views_alone_is_all_of_them(self, folder):
        views = Views(Path("two.h5"))
        assert views.names == ("deep/first", "second")
        assert not views.is_in_memory

    def test_text_is_a_path(self, folder):
        assert Views(["x.npy", Path("x.npy")]).n_views == 2
        assert Views({"a": "x.npy"}).names == ("a",)
        assert np.array_equal(Views("x.npy")[:]["view_0"], X)
        model = LMVSC(2, n_repeats=1, random_state=0).fit("x.npy")
        assert np.array_equal(model.predict("x.npy"), model.predict(X))
        with pytest.raises(ReadError, match="There is no file y\\.npy"):
            model.predict("y.npy")

    def test_a_column_of_names_that_was_not_told_is_left_out(self, folder):
        encoded = Views({"a": "x.csv"}).encoded()
        assert encoded.feature_names == (("a", "b", "c"),)
        assert "identifiers" in encoded.encodings[0].summary()["id"]

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("y.npy", r"There is no file y\.npy"),
            ("x.docx", r"Do not know the format of x\.docx"),
            ("x.npy::a", "holds one array without a name; leave out '::a'"),
            ("two.h5::b", "has no array 'b'; it has deep/first 20 x 3, second 20 x 2"),
            (".", "is a folder, but neither"),
        ],
    )
    def test_what_cannot_be_opened(self, folder, path, message):
        (folder / "x.docx").write_text("hello")
        with pytest.raises(ReadError, match=message):
            Views({"a": path})

    @pytest.mark.parametrize("views", [{"a": "x.npy"}, {"a": X}, Path("x.npy"), Views(X)])
    def test_a_column_of_ids_that_is_nowhere(self, folder, views):
        with pytest.raises(ValueError, match="ids='name', but no view is a data frame or a file"):
            Views(views, ids="name")

    def test_stores_need_no_key_for_their_only_array(self, folder):
        zarr.open_group(folder / "g.zarr").create_array("x", data=X)
        with h5py.File(folder / "one.h5", "w") as file:
            file["x"], file["names"] = X, np.arange(20)
        for path in ("g.zarr", "one.h5"):
            assert np.array_equal(Views({"a": path})[:]["a"], X)

    def test_repr_says_where(self, folder):
        assert f"a: 3 in '{folder / 'x.npy'}'" in repr(Views({"a": folder / "x.npy"}))

    def test_nothing_is_read_while_checking(self, folder):
        """A sparse file of a terabyte, as it says: reading any of it would fail or take forever."""
        with (folder / "x.npy").open("wb") as file:
            header = {"descr": "<f8", "fortran_order": False, "shape": (2_000_000_000, 64)}
            np.lib.format.write_array_header_1_0(file, header)
            os.truncate(file.fileno(), file.tell() + 2_000_000_000 * 64 * 8)
        assert Views([folder / "x.npy"]).shape == (2_000_000_000, 64)


class TestIdsOfSomeTables:
    """One table names its rows by a column, another by its index."""

    @pytest.fixture
    def table(self):
        return pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])

    def test_an_index_stands_beside_a_column_of_ids(self, table):
        column = table[::-1].reset_index(names="id")
        views = Views.from_tables({"index": table, "column": column}, ids="id")
        assert views.ids.tolist() == ["a", "b", "c"]
        assert np.array_equal(views["index"], views["column"])

    def test_so_does_the_index_that_parquet_stores(self, table, tmp_path):
        table.to_parquet(tmp_path / "index.parquet")
        table.rename_axis("id").to_csv(tmp_path / "column.csv")
        paths = {"index": tmp_path / "index.parquet", "column": tmp_path / "column.csv"}
        assert Views(paths, ids="id").ids.tolist() == ["a", "b", "c"]
        assert Views.from_tables(paths, ids="id").n_features == (1, 1)

    def test_a_column_that_is_not_there_is_named(self, table, tmp_path):
        table.rename_axis("id").to_csv(tmp_path / "column.csv")
        with pytest.raises(ValueError, match=r"no view is .* with a column 'nope'"):
            Views({"a": tmp_path / "column.csv"}, ids="nope")
        with pytest.raises(TypeError, match="which has no ids, nor a column 'nope'"):
            Views.from_tables({"a": table.reset_index(drop=True)}, ids="nope")

    def test_tables_need_names(self, table):
        with pytest.raises(
            TypeError, match="tables must be a mapping of names to tables; got list"
        ):
            Views.from_tables([table])

    def test_a_name_inside_a_path_is_not_dropped(self, table, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        table.to_csv("c.csv", index=False)
        with pytest.raises(ValueError, match=r"keys of a dict here: \{'colour': 'c.csv'\}"):
            Views(["colour=c.csv"])


class TestRecords:
    def test_a_frame_brings_columns_and_a_column_of_ids(self):
        frame = pd.DataFrame({"id": ["p", "q"], "w": [1, 2]})
        part = read_part(frame, "size", "id")
        assert (part.name, part.columns, part.ids.tolist()) == ("size", ("w",), ["p", "q"])

    def test_a_record_is_taken_under_its_new_name(self):
        part = read_part(Part("old", X, ("a", "b", "c")), "new")
        assert (part.name, part.columns) == ("new", ("a", "b", "c"))
        assert part.rows is X

    def test_an_index_that_counts_names_rows_of_a_table(self):
        assert read_table(pd.DataFrame(X), "a").ids.tolist() == list(range(20))

    def test_parts_by_name(self):
        assert list(split_parts({"p": X, 2: X})) == ["p", "2"]
        assert list(split_parts([X, X])) == ["view_0", "view_1"]
        assert list(split_parts(X)) == ["view_0"]

    def test_ids_that_disagree_are_named_by_the_first_row(self):
        a, b = Part("a", X, ids=np.array(["p", "q"])), Part("b", X, ids=np.array(["p", "r"]))
        with pytest.raises(ValueError, match="Row 1 is 'q' in view 'a' and 'r' in 'b'"):
            settle_ids([a, b], None, 2)
        assert settle_ids([a, b], ["s", "t"], 2).tolist() == ["s", "t"]
        assert settle_ids([Part("a", X)], None, 20) is None
        with pytest.raises(ValueError, match=r"ids has shape \(1,\) but the views have 20 rows"):
            settle_ids([a], ["s"], 20)


class TestIdsOfFilesAndFrames:
    """The same rows and ids, in a file of each kind and in frames."""

    @pytest.fixture(
        params=[
            "csv",
            "parquet",
            "feather",
            "npz",
            "h5",
            "mat",
            "frame",
            "index",
            "floats",
            "polars",
        ]
    )
    def table(self, request, tmp_path):
        frame, kind = pd.DataFrame({"x": [1.0, 2.0, 3.0], "id": [7, 8, 10]}), request.param
        in_memory = {
            "frame": frame,
            "index": frame.set_index("id"),
            "floats": frame.astype({"id": float}).astype({"id": object}),
            "polars": pl.from_pandas(frame),
        }
        if kind in in_memory:
            return in_memory[kind]
        path = tmp_path / f"t.{kind}"
        arrays = {"x": frame[["x"]].to_numpy(), "id": frame["id"].to_numpy()}
        if kind == "csv":
            frame.to_csv(path, index=False)
        elif kind == "npz":
            np.savez(path, **arrays)
        elif kind == "mat":
            savemat(path, {name: array.astype(float) for name, array in arrays.items()})
        elif kind == "h5":
            with h5py.File(path, "w") as file:
                file["x"], file["id"] = arrays["x"], arrays["id"]
        else:
            getattr(frame, f"to_{kind}")(path)
        return path

    def test_they_are_integers(self, table):
        assert Views({"a": table}, ids="id").ids.tolist() == [7, 8, 10]

    def test_they_are_joined_with_another_and_stay_integers(self, table):
        other = pd.DataFrame({"y": [3.0, 2.0, 4.0]}, index=[10, 8, 11])
        views = Views.from_tables({"a": table, "b": other}, ids="id", how="inner")
        assert views.ids.tolist() == [8, 10]
        assert [type(i) for i in views.ids.tolist()] == [int, int]
        assert np.asarray(views[:]["b"]).ravel().tolist() == [2.0, 3.0]

    def test_text_among_the_tables_makes_all_text(self, table):
        other = (["8", "7", "10"], np.ones((3, 1)))
        assert Views.from_tables({"a": table, "b": other}, ids="id").ids.tolist() == [
            "7",
            "8",
            "10",
        ]
        views = Views(
            {"b": pd.DataFrame({"y": [1.0] * 3}, index=["7", "8", "10"]), "a": table}, ids="id"
        )
        assert views.ids.tolist() == ["7", "8", "10"]


class TestMissingIds:
    @pytest.mark.parametrize(
        "ids", [[None] * 5, ["a", np.nan, None, "", "b"], [1.0, np.nan, np.nan, np.nan, 2.0]]
    )
    def test_given_ids_must_be_there(self, ids):
        with pytest.raises(ValueError, match=r"ids has [35] rows without an id: rows \d, \d, \d"):
            Views(np.zeros((5, 1)), ids=ids)

    def test_the_index_of_a_frame_must_name_every_row(self):
        frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=[1, None, 3])
        with pytest.raises(ValueError, match="View 'a' has 1 row without an id: row 1"):
            Views({"a": frame})

    @pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
    @pytest.mark.parametrize("ids", [["p", None, "q"], [1, None, 2]], ids=["text", "numbers"])
    def test_a_file_must_name_every_row(self, tmp_path, kind, ids):
        frame, path = pd.DataFrame({"id": ids, "x": [1.0, 2.0, 3.0]}), tmp_path / f"t.{kind}"
        write = getattr(frame, f"to_{kind}")
        write(path, index=False) if kind == "csv" else write(path)
        with pytest.raises(ValueError, match="View 'a' has 1 row without an id: row 1"):
            Views({"a": path}, ids="id")
        with pytest.raises(ValueError, match="'a' has 1 row without an id: row 1"):
            Views.from_tables({"a": path, "b": ([1, 2, 3], X[:3])}, ids="id")
        with pytest.raises(ValueError, match=f"t.{kind} has 1 row without an id: row 1"):
            read_views([str(path), f"b={path}"], id_column="id")


INDEXES = [
    (pd.RangeIndex(3), None),
    (pd.RangeIndex(5, 8), [5, 6, 7]),
    (pd.RangeIndex(0, 6, 2), [0, 2, 4]),
    (pd.RangeIndex(2, -1, -1), [2, 1, 0]),
    (pd.Index([4, 0, 1]), [4, 0, 1]),
    (pd.Index(["p", "q", "r"], name="leaf"), ["p", "q", "r"]),
    (pd.Index([9, 8, 7], name="x"), [9, 8, 7]),
    (pd.MultiIndex.from_tuples([(0, "p"), (0, "q"), (1, "p")]), ["0 / p", "0 / q", "1 / p"]),
]


class TestIndexOfPandas:
    """One rule for frames and the files that pandas writes of them."""

    @pytest.fixture(params=["frame", "parquet", "feather", "lists"])
    def write(self, request, tmp_path):
        def make(frame):
            table, path = pa.Table.from_pandas(frame), tmp_path / f"t.{request.param}"
            if request.param == "feather":
                feather.write_feather(table, path)
            elif request.param == "parquet":
                parquet.write_table(table, path)
            elif request.param == "lists":  # columns of lists whose length is found by reading
                lists = pa.array([[1.0], [2.0], [3.0]])
                table = table.append_column("list", lists).drop_columns(["a"])
                parquet.write_table(table, path := path.with_suffix(".parquet"))
            return frame if request.param == "frame" else path

        return make

    @pytest.mark.parametrize(("index", "ids"), INDEXES, ids=str)
    def test_names_rows_unless_it_merely_counts_and_is_no_feature(self, write, index, ids):
        views = Views({"a": write(pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=index))})
        assert (None if views.ids is None else views.ids.tolist()) == ids
        assert views.n_features == (1,)

    @pytest.mark.parametrize(("index", "ids"), INDEXES, ids=str)
    def test_names_the_rows_of_tables_also_if_it_counts(self, write, index, ids):
        table = write(pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=index))
        assert Views.from_tables({"a": table}).ids.tolist() == (ids or [0, 1, 2])

    def test_a_column_of_ids_that_is_asked_for_comes_first(self, write):
        frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "id": [3, 2, 1]}, index=[4, 5, 6])
        views = Views({"a": write(frame)}, ids="id")
        assert (views.ids.tolist(), views.n_features) == ([3, 2, 1], (1,))

    def test_the_range_of_one_file_does_not_name_the_rows_of_a_folder(self, tmp_path):
        for start in (5, 8):
            frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=pd.RangeIndex(start, start + 3))
            frame.to_parquet(tmp_path / f"{start}.parquet")
        assert Views(tmp_path).ids is None
