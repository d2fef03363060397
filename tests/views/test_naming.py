"""Columns that name rows, under the same name or another."""

import numpy as np
import pandas as pd
import pytest

from manyview import LMVSC, Views
from manyview.views import naming

SETTINGS = {"n_clusters": 3, "n_anchors": 12, "n_repeats": 1, "random_state": 0, "n_jobs": 1}
N = 40
IDS = {
    "text": [f"p{i}" for i in range(N)],
    "numbers": np.random.default_rng(1).permutation(1000)[:N],
    "counts": np.arange(1, N + 1),
    "days": pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d").tolist(),
}


def tables(ids, names=("patient_id", "pid"), *, is_turned=True):
    """Two tables of the same things, each with a column of ids; the second from the last row on."""
    rng = np.random.default_rng(0)
    first, second = (pd.DataFrame(rng.normal(size=(N, 2)), columns=list("xy")) for _ in range(2))
    first, second = first.assign(**{names[0]: ids}), second.assign(**{names[1]: ids})
    return first, second[::-1].reset_index(drop=True) if is_turned else second


WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "feather": lambda frame, path: frame.to_feather(path),
    "xlsx": lambda frame, path: frame.to_excel(path, index=False),
}


class TestRowsInAnotherOrder:
    """Two tables that name the same rows must not be paired by place without a word."""

    @pytest.fixture(params=["text", "numbers"])
    def tables(self, request):
        rng = np.random.default_rng(0)
        ids = np.arange(100, 200)
        names = [f"r{number}" for number in ids] if request.param == "text" else ids
        frames = [pd.DataFrame(rng.normal(size=(100, 3)), columns=list("xyz")) for _ in range(2)]
        return [frame.assign(id=names) for frame in frames]

    def test_they_are_refused(self, tables):
        first, second = tables
        with pytest.raises(ValueError, match=r"'id' names rows of views .*row 0 is '.*' and '.*'"):
            Views({"a": first, "b": second[::-1].reset_index(drop=True)}).encoded()

    def test_the_same_order_other_names_and_what_is_asked_for_are_not(self, tables):
        first, second = tables
        other = second[::-1].reset_index(drop=True)
        foreign = second.assign(id=[f"other {number}" for number in range(100)])
        for view in (second, foreign):
            assert Views({"a": first, "b": view}).encoded().n_rows == 100
        dropped = Views({"a": first, "b": other}).encoded({"id": "drop"})
        assert dropped.feature_names == (("x", "y", "z"), ("x", "y", "z"))

    def test_codes_that_recur_name_no_rows(self):
        rng = np.random.default_rng(0)
        frames = [pd.DataFrame({"x": rng.normal(size=2000)}) for _ in range(2)]
        visits = [f.assign(code=[f"c{i}" for i in rng.integers(400, size=2000)]) for f in frames]
        encoded = Views({"a": visits[0], "b": visits[1]}).encoded()
        assert encoded.feature_names == (("x",), ("x",))

    @pytest.mark.filterwarnings("ignore:View")
    def test_new_rows_are_refused_too(self):
        rng = np.random.default_rng(0)
        names = [f"r{number}" for number in range(60)]
        first, second = (pd.DataFrame(rng.normal(size=(60, 3))).add_prefix("c") for _ in range(2))
        first, second = first.assign(id=names), second.assign(id=names)
        model = LMVSC(**SETTINGS).fit({"a": first, "b": second})
        with pytest.raises(
            ValueError, match="'id' names rows of views 'a' and 'b', but not in the"
        ):
            model.predict({"a": first, "b": second[::-1].reset_index(drop=True)})
        one = model.predict({"a": first[:1], "b": second[:1]})
        assert one[0] == model.labels_[0]

    def test_ids_of_which_some_are_missing_are_compared(self, tables):
        first, second = (table.astype({"id": object}) for table in tables)
        first.loc[3, "id"] = second.loc[3, "id"] = None
        assert Views({"a": first, "b": second}).encoded().n_rows == 100
        with pytest.raises(ValueError, match="'id' names rows of views 'a' and 'b'"):
            Views({"a": first, "b": second[::-1].reset_index(drop=True)}).encoded()

    def test_matched_by_it_they_are_right(self, tables):
        first, second = tables
        views = Views.from_tables({"a": first, "b": second[::-1]}, ids="id")
        np.testing.assert_array_equal(views["b"], second[["x", "y", "z"]])


class TestOtherNames:
    @pytest.mark.parametrize(
        ("ids", "names"),
        [(ids, ("patient_id", "pid")) for ids in IDS.values()]
        + [(IDS[kind], ("foo", "bar")) for kind in ("text", "days")],
    )
    def test_frames_are_refused_and_told_how_to_match(self, ids, names):
        first, second = tables(ids, names)
        with pytest.raises(
            ValueError, match=rf"{names[0]}.*{names[1]}.*name the same rows"
        ) as error:
            Views({"a": first, "b": second}).encoded()
        assert f"ids={ {'a': names[0], 'b': names[1]} }" in str(error.value)
        assert f"--id-column {names[0]} --id-column {names[1]}" in str(error.value)

    @pytest.mark.parametrize("kind", WRITERS)
    @pytest.mark.parametrize("ids", [IDS["text"], IDS["numbers"]], ids=["text", "numbers"])
    def test_files_are_refused_and_matched_if_asked(self, tmp_path, kind, ids):
        paths = {"a": tmp_path / f"a.{kind}", "b": tmp_path / f"b.{kind}"}
        first, second = tables(ids)
        for frame, path in zip((first, second), paths.values(), strict=True):
            WRITERS[kind](frame, path)
        with pytest.raises(ValueError, match="name the same rows, but not in the same order"):
            LMVSC(**SETTINGS).fit(paths)
        views = Views.from_tables(paths, ids={"a": "patient_id", "b": "pid"}).load()
        np.testing.assert_allclose(views["b"], second[["x", "y"]][::-1])

    def test_numbers_in_the_first_columns_are_ids_whatever_they_are_called(self, tmp_path):
        paths = {name: tmp_path / f"{name}.csv" for name in "ab"}
        frames = dict(zip("ab", tables(IDS["numbers"], ("foo", "bar")), strict=True))
        for name, frame in frames.items():
            frame.to_csv(paths[name], index=False)  # the ids come last
        assert Views(paths).n_features == (3, 3)
        for name, frame in frames.items():
            frame[frame.columns[::-1]].to_csv(paths[name], index=False)
        with pytest.raises(
            ValueError, match=r"'foo' of view 'a' and 'bar' of 'b' name the same rows"
        ):
            Views(paths).encoded()
        views = Views.from_tables(paths, ids={"a": "foo", "b": "bar"}).load()
        np.testing.assert_allclose(views["b"], frames["b"][["y", "x"]][::-1])

    @pytest.mark.parametrize(
        "change",
        [{3: 2000}, {3: 7}, {3: np.nan}, {3: 2000.5}],
        ids=["another", "twice the same", "missing", "not whole"],
    )
    def test_numbers_in_the_first_columns_are_none_unless_all_are_whole_and_there_once(
        self, change
    ):
        first, second = (
            pd.DataFrame({name: ids.astype(float), "x": np.linspace(0, 1, N)})
            for name, ids in (("foo", IDS["numbers"]), ("bar", IDS["numbers"][::-1].copy()))
        )
        for row, value in change.items():
            second.loc[row, "bar"] = second.loc[value, "bar"] if value == 7 else value
        assert Views({"a": first, "b": second}).encoded().n_features == (2, 2)

    def test_first_columns_of_long_tables_are_data(self, monkeypatch):
        monkeypatch.setattr(naming, "_MOST_NUMBERED", N - 1)
        frames = dict(zip("ab", tables(IDS["numbers"], ("foo", "bar")), strict=True))
        views = Views({name: frame[frame.columns[::-1]] for name, frame in frames.items()})
        assert views.encoded().n_features == (3, 3)

    def test_an_index_counts_too(self, tmp_path):
        first, second = tables(IDS["text"])
        second.to_csv(tmp_path / "b.csv", index=False)
        with pytest.raises(ValueError, match="'pid' of view 'b' names the rows as their ids do"):
            Views({"a": first.set_index("patient_id"), "b": tmp_path / "b.csv"}).encoded()

    @pytest.mark.parametrize("kind", ["npz", "h5"])
    def test_so_do_arrays_beside_the_views(self, tmp_path, kind):
        for name, key, ids in (("a", "ids", IDS["text"]), ("b", "names", IDS["text"][::-1])):
            arrays = {"X": np.random.default_rng(0).normal(size=(N, 3)), key: np.array(ids, "S")}
            save_arrays(tmp_path / f"{name}.{kind}", arrays)
        paths = {name: tmp_path / f"{name}.{kind}" for name in "ab"}
        with pytest.raises(ValueError, match="'ids' of view 'a' and 'names' of 'b' name the same"):
            Views(paths)
        matched = Views.from_tables(paths, ids={"a": "ids", "b": "names"}).load()
        np.testing.assert_array_equal(matched["b"], matched["a"][::-1])

    def test_the_same_order_and_other_sets_are_none_of_it(self):
        same = tables(IDS["text"], is_turned=False)
        first, second = tables(IDS["numbers"])
        other = (first, second.assign(pid=second["pid"] + 2000))
        for pair in (same, other):
            assert Views(dict(zip("ab", pair, strict=True))).encoded().n_rows == N

    def test_ranks_beside_ids_in_order_name_no_rows(self):
        first, second = tables(IDS["counts"], is_turned=False)
        first["rank"] = np.random.default_rng(3).permutation(N) + 1
        assert Views({"a": first, "b": second}).encoded().n_features == (4, 3)

    @pytest.mark.parametrize("count", [1, 3])
    def test_ranks_name_no_rows(self, count):
        rng = np.random.default_rng(0)
        frames = [
            pd.DataFrame({f"{view}{i}": rng.permutation(N) for i in range(count)}) for view in "uv"
        ]
        for ids in (None, IDS["counts"]):
            views = Views(dict(zip("ab", frames, strict=True)), ids=ids)
            assert views.encoded().n_features == (count, count)

    @pytest.mark.filterwarnings("ignore:View")
    def test_codes_of_few_new_rows_name_none(self):
        rng = np.random.default_rng(0)
        frames = {
            view: pd.DataFrame({"x": rng.normal(size=N), "code": rng.integers(5, size=N)})
            for view in "ab"
        }
        model = LMVSC(**SETTINGS).fit(frames)
        for first in range(N - 3):
            few = {view: frame[first : first + 3] for view, frame in frames.items()}
            assert model.predict(few).tolist() == model.labels_[first : first + 3].tolist()

    def test_what_is_kept_names_no_rows_in_new_data_either(self):
        first, second = tables(IDS["numbers"])
        model = LMVSC(**SETTINGS, categories={"pid": "keep"}).fit({"a": first, "b": second})
        assert model.predict({"a": first, "b": second}).tolist() == model.labels_.tolist()

    def test_new_rows_are_refused_too(self):
        first, second = tables(IDS["numbers"], is_turned=False)
        model = LMVSC(**SETTINGS).fit({"a": first, "b": second})
        with pytest.raises(ValueError, match="name the same rows, but not in the same order"):
            model.predict({"a": first, "b": second[::-1].reset_index(drop=True)})
        few = {"a": first[:4], "b": second[:4]}
        assert model.predict(few).tolist() == model.labels_[:4].tolist()

    def test_a_column_of_ids_for_each_view(self):
        first, second = tables(IDS["text"], is_turned=False)
        views = Views({"a": first, "b": second}, ids={"a": "patient_id", "b": "pid"})
        assert views.ids.tolist() == IDS["text"] and views.n_features == (2, 2)
        for wrong, message in (({"c": "pid"}, "the views are"), ({"b": "no"}, "view 'b' is not")):
            with pytest.raises(ValueError, match=message):
                Views({"a": first, "b": second}, ids=wrong)


def save_arrays(path, arrays):
    if path.suffix == ".npz":
        np.savez(path, **arrays)
        return
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array
