"""Data frames in: what is read, what is refused, whose rows; and data frames out."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from manyview import LMVSC, Views
from manyview.views import frames

FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.fixture
def table(blobs):
    X = blobs(n=60, widths=(5,))[0]
    names = [f"x{j}" for j in range(5)]
    return pd.DataFrame(X, columns=names, index=[f"sample {i}" for i in range(60)])


class TestRead:
    @pytest.mark.parametrize("make", FRAMES)
    def test_columns_keep_their_names_and_type(self, make):
        views = Views(make({"a": np.float32([1, 2]), "b": np.float32([3, 4])}))
        assert views.feature_names == (("a", "b"),)
        assert views.arrays[0].dtype == np.float32

    @pytest.mark.parametrize("make", FRAMES)
    def test_truth_values_and_whole_numbers_beside_floats(self, make):
        block = Views(make({"a": [True, False], "b": [1.5, 2.0], "c": [1, 2]})).arrays[0]
        assert block.dtype == np.float64
        assert block.tolist() == [[1.0, 1.5, 1.0], [0.0, 2.0, 2.0]]

    @pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
    @pytest.mark.parametrize("values", [[1, None], [1.5, None]])
    def test_what_is_missing_becomes_nan(self, make, values):
        block = Views(make({"a": values, "b": [1.0, 2.0]})).arrays[0]
        assert np.isnan(block[1, 0]) and block[0, 0] == values[0]

    def test_decimals_are_numbers(self):
        assert Views(pl.DataFrame({"a": [decimal.Decimal("1.5")]})).arrays[0].tolist() == [[1.5]]

    @pytest.mark.parametrize(
        "column",
        [
            pl.Series(["x", "y"]),
            pl.Series(["x", "y"], dtype=pl.Categorical),
            pl.Series([1, 2]).cast(pl.Date),
            pd.Series(["x", "y"]),
            pd.Series(["x", "y"], dtype="category"),
            pd.Series(["1", "2"], dtype="string"),
            pa.array(["x", "y"]),
        ],
        ids=lambda column: (
            f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', '')}"
        ),
    )
    def test_what_is_no_number_becomes_columns_of_numbers(self, column):
        make = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}
        frame = make[type(column).__module__.split(".")[0]]({"kind": column, "size": [1.0, 2.0]})
        views = Views({"v": frame})
        assert views.shape == (2, 2) and views.is_in_memory
        encoded = views.encoded({"kind": "keep"})
        assert np.asarray(encoded["v"])[:, -1].tolist() == [1.0, 2.0]
        assert len(np.unique(np.asarray(encoded["v"])[:, :-1], axis=0)) == 2

    @pytest.mark.parametrize(
        "levels",
        [
            [0.5, 1.0, 2.0],
            [" lo", "mid", "hi "],
            ["2020-01-03T00:00:00", "2020-01-01", "never"],
            list(
                pd.to_datetime(["2021-01-01", "2020-01-01", "2020-05-05T12:00"], format="ISO8601")
            ),
            list(pd.to_datetime(["2021-01-01", "2020-01-01"], utc=True).tz_convert("Asia/Tokyo")),
        ],
        ids=str,
    )
    def test_levels_of_any_type_keep_their_order(self, levels):
        places = [0, -1, *range(len(levels)), 0]
        column = pd.Categorical.from_codes(places, categories=levels, ordered=True)
        views = Views({"v": pd.DataFrame({"o": column, "t": ["a", *"b" * (len(places) - 1)]})})
        made = np.asarray(views.encoded()["v"])[:, 0]
        assert np.delete(made, 1).tolist() == np.delete(places, 1).tolist()

    @pytest.mark.parametrize(
        "cells", [[[1, 2]] * 2, [(1, 2), None], [np.arange(3)] * 2, [{"a": 1}, {}], [1j, 2.0]]
    )
    def test_cells_that_are_no_single_values_are_refused_by_name(self, cells):
        table = pd.DataFrame({"a": [1.0, 2.0], "odd": pd.Series(cells, dtype=object)})
        with pytest.raises(ValueError, match=r"Column 'odd' of view 'view_0' holds .* neither"):
            Views(table)

    def test_a_lazy_frame_is_not_collected(self):
        with pytest.raises(TypeError, match=r"LazyFrame, which is not computed yet. Call .collect"):
            Views({"a": pl.DataFrame({"x": [1.0]}).lazy()})

    def test_frames_without_narwhals_say_what_to_install(self, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "narwhals", None)
        with pytest.raises(ImportError, match=r"manyview\[frames\]"):
            Views(pd.DataFrame({"a": [1.0]}))
        assert Views(np.ones((2, 2))).n_rows == 2


class TestLevels:
    def test_the_first_level_names_the_views(self):
        columns = pd.MultiIndex.from_tuples([("b", "x"), ("a", "x"), ("b", "y")])
        views = Views(pd.DataFrame([[1.0, 2.0, 3.0]], columns=columns))
        assert views.names == ("b", "a")
        assert views.feature_names == (("x", "y"), ("x",))
        assert views["b"].tolist() == [[1.0, 3.0]]

    def test_further_levels_are_joined(self):
        columns = pd.MultiIndex.from_tuples([("a", "x", 1), ("a", "x", 2)])
        assert Views(pd.DataFrame([[1.0, 2.0]], columns=columns)).feature_names == (
            ("x / 1", "x / 2"),
        )


class TestIds:
    def test_the_index_of_pandas_is_kept(self, table):
        views = Views({"a": table, "b": np.ones((60, 2))})
        assert views.ids[:2].tolist() == ["sample 0", "sample 1"]
        assert views[[3, 1]].ids.tolist() == ["sample 3", "sample 1"]
        assert Views(views).ids is views.ids
        assert views.select(["b"]).ids is views.ids

    def test_an_index_that_merely_counts_names_no_rows(self):
        assert Views(pd.DataFrame({"a": [1.0, 2.0]})).ids is None

    @pytest.mark.parametrize("make", FRAMES)
    def test_a_column_can_be_the_ids(self, make):
        frame = make({"name": ["p", "q"], "x": [1.0, 2.0]})
        views = Views({"a": frame, "b": np.ones((2, 1))}, ids="name")
        assert views.ids.tolist() == ["p", "q"]
        assert views.feature_names[0] == ("x",)

    def test_ids_from_one_of_two_columns_of_the_same_name_are_refused(self, table):
        twice = pd.concat([table, table[["x1"]]], axis=1)
        with pytest.raises(ValueError, match="Several columns are called 'x1'"):
            Views(twice, ids="x1")
        assert Views(twice, ids="x0").n_features == (5,)

    def test_ids_can_be_given(self):
        assert Views(np.ones((2, 1)), ids=["p", "q"]).ids.tolist() == ["p", "q"]


class TestOutput:
    def test_labels_as_a_series_with_ids(self, table):
        model = LMVSC(3, random_state=0).fit(table)
        series = model.labels_series()
        assert series.name == "cluster"
        assert series.index.equals(table.index)
        assert np.array_equal(series, model.labels_)
        assert model.labels_series(table[:7]).equals(series[:7])

    def test_labels_without_ids_count_rows(self, table):
        series = LMVSC(3, random_state=0).fit(table.to_numpy()).labels_series()
        assert series.index.tolist() == list(range(60))

    @pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
    def test_labels_as_a_frame_of_any_library(self, table, kind):
        model = LMVSC(3, random_state=0).fit(table)
        frame = model.labels_frame(kind=kind)
        assert type(frame).__module__.split(".")[0] == kind
        assert list(frame["id"])[1] == "sample 1" or frame["id"][1].as_py() == "sample 1"
        assert np.array_equal(np.asarray(frame["cluster"]), model.labels_)

    def test_set_output_gives_pandas_with_the_ids_of_views(self, table):
        model = LMVSC(3, random_state=0).set_output(transform="pandas")
        views = Views({"a": table, "b": table.to_numpy()})
        for rows in (model.fit_transform(views), model.transform(views)):
            assert rows.index.equals(table.index)
            assert list(rows.columns) == list(model.get_feature_names_out())

    def test_set_output_gives_polars(self, table):
        model = clone(LMVSC(3, random_state=0)).set_output(transform="polars").fit(table)
        assert isinstance(model.transform(table), pl.DataFrame)

    def test_a_report_names_rows_by_their_ids(self, table):
        from manyview.report import build_summary

        summary = build_summary(LMVSC(3, random_state=0).fit(table), table)
        assert summary["clusters"][0]["typical"][0]["id"].startswith("sample")

    def test_a_series_is_no_frame(self):
        assert not frames.is_frame(pd.Series([1.0]))


class TestColumnsAtPredict:
    @pytest.fixture
    def parts(self, blobs):
        X, Y = blobs(n=90, widths=(5, 4))
        return pd.DataFrame(X * 10.0 ** np.arange(5), columns=list("abcde")), Y

    @pytest.fixture
    def model(self, parts):
        table, Y = parts
        return LMVSC(3, random_state=0, n_repeats=1, n_jobs=1).fit({"A": table, "B": Y})

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas])
    def test_another_order_of_columns_gives_the_same_labels(self, parts, model, make):
        table, Y = parts
        turned = make(table[list("edcba")])
        assert np.array_equal(model.predict({"B": Y, "A": turned}), model.labels_)
        assert np.array_equal(model.predict({"A": turned}), model.predict({"A": table.to_numpy()}))

    def test_other_names_are_refused(self, parts, model):
        table, Y = parts
        with pytest.raises(ValueError, match=r"View 'A' lacks 1 column .* fitted to: 'e'"):
            model.predict({"A": table.rename(columns={"e": "f"}), "B": Y})
        with pytest.raises(ValueError, match=r"X has 6 features.*expecting 5.*'A'"):
            model.explain({"A": table.assign(f=0.0), "B": Y})

    def test_columns_that_are_merely_counted_have_no_names(self, parts, model):
        table, Y = parts
        counted = pd.DataFrame(table.to_numpy())
        assert np.array_equal(model.predict({"A": counted, "B": Y}), model.labels_)

    def test_names_that_repeat_are_taken_in_their_order_only(self, parts):
        table, Y = parts
        table = table.set_axis(list("aabcd"), axis=1)
        model = LMVSC(3, random_state=0, n_repeats=1, n_jobs=1).fit({"A": table, "B": Y})
        assert np.array_equal(model.predict({"A": table, "B": Y}), model.labels_)
        with pytest.raises(ValueError, match="columns of the same name"):
            model.predict({"A": table.iloc[:, ::-1], "B": Y})

    def test_batches_of_a_stream_are_brought_into_the_order_of_the_first(self, parts):
        table, Y = parts
        settings = {"n_clusters": 3, "random_state": 0, "n_repeats": 1, "n_jobs": 1}
        turned = table[list("edcba")]
        streams = []
        for second in (table, turned):
            stream = LMVSC(**settings).partial_fit({"A": table[:45], "B": Y[:45]})
            streams.append(
                stream.partial_fit({"A": second[45:].reset_index(drop=True), "B": Y[45:]})
            )
        first, other = (stream.predict({"A": table, "B": Y}) for stream in streams)
        assert np.array_equal(first, other)
        with pytest.raises(ValueError, match="stream keeps no labels"):
            streams[0].labels_series()
        assert len(streams[0].labels_series({"A": turned, "B": Y})) == 90
