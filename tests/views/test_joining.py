"""Tables and files joined by their ids: which rows, in which order, and what is doubtful."""

import numpy as np
import pandas as pd
import pytest

from manyview import Views
from manyview.baselines import KMeans
from manyview.errors import ReadError
from manyview.readers import Vocabulary
from manyview.sources import Part, as_ids
from manyview.views.joining import join_parts, match_ids, tables_sharing_no_id

WORDS = Vocabulary(inner="HOW INNER", outer="HOW OUTER", id_column="THE COLUMN", order="BY PLACE")


def match(*tables, how="exact"):
    return match_ids([as_ids(ids) for ids in tables], "abc"[: len(tables)], how, WORDS)


class TestMatch:
    def test_the_same_order_needs_no_places(self):
        found = match(["p", "q"], ["p", "q"])
        assert found.ids.tolist() == ["p", "q"]
        assert found.places == [None, None]
        assert "same order" in found.note

    def test_one_table_needs_no_words(self):
        assert match(["p"]) == (np.array(["p"]), [None], "", ())

    def test_exact_names_what_does_not_match_and_advises_in_the_callers_words(self):
        with pytest.raises(ReadError, match=r"1 id of a is not in b \('q'\).*HOW INNER.*HOW OUTER"):
            match(["p", "q"], ["p"])

    def test_inner_says_what_is_left_out(self):
        found = match(["p", "q", "r"], ["r", "p"], how="inner")
        assert found.ids.tolist() == ["p", "r"]
        assert [places.tolist() for places in found.places] == [[0, 2], [1, 0]]
        assert "2 rows in all files kept, left out: 1 of a, 0 of b" in found.note

    def test_outer_counts_who_lacks_what(self):
        found = match(["p", "q"], ["r", "p"], how="outer")
        assert [places.tolist() for places in found.places] == [[0, 1, -1], [1, -1, 0]]
        assert found.note == "Rows are matched by id; 3 rows, 1 row without a, 1 row without b."
        assert found.doubts == []

    def test_outer_of_the_same_ids_lacks_nothing(self):
        assert match(["p", "q"], ["q", "p"], how="outer").note == "Rows are matched by id; 2 rows."

    def test_tables_that_share_nothing_are_doubtful(self):
        ids = [as_ids(["p-1"]), as_ids(["p", "q"]), as_ids(["q"])]
        assert tables_sharing_no_id(ids, "abc") == [
            "a shares no id with another table: it has 'p-1', b has 'p', 'q'."
        ]

    def test_no_id_in_common(self):
        with pytest.raises(
            ReadError, match=r"No id is in all of them: a has 'p', b has 'q'.*THE COLUMN.*HOW OUTER"
        ):
            match(["p"], ["q"], how="inner")


class TestParts:
    A = Part("a", np.arange(3.0)[:, None], ids=np.array([1, 2, 3]))
    B = Part("b", np.arange(3.0)[:, None], ids=np.array([3, 2, 1]))

    def test_ids_keep_their_type(self):
        (a, b), _ = join_parts([[self.A], [self.B]], "ab", "exact", WORDS)
        assert a.ids.tolist() == b.ids.tolist() == [1, 2, 3]
        assert b.rows.ravel().tolist() == [2.0, 1.0, 0.0]

    def test_by_place_ids_do_not_matter(self):
        (_, b), found = join_parts([[self.A], [self.B]], "ab", "order", WORDS)
        assert b.rows is self.B.rows
        assert found.note == "Rows are matched by their place in the files."


class TestFromTables:
    A = (["x", "y", "z"], np.arange(3.0)[:, None])
    B = (["z", "x"], np.array([[20.0], [0.0]]))

    def test_data_frames_bring_their_index(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"width": [1.0, 2.0]}, index=["z", "w"])
        joined = Views.from_tables({"a": self.A, "frame": frame}, how="outer")
        assert joined.ids.tolist() == ["x", "y", "z", "w"]
        assert joined.feature_names == (None, ("width",))

    def test_files_stay_where_they_are(self, tmp_path):
        np.save(tmp_path / "a.npy", np.arange(6.0).reshape(3, 2))
        table = (["p", "r", "q"], tmp_path / "a.npy")
        joined = Views.from_tables({"b": (list("pqrs"), np.ones((4, 1))), "a": table}, how="outer")
        assert not joined.is_in_memory
        found = np.asarray(joined[:]["a"])
        assert np.array_equal(found, [[0, 1], [4, 5], [2, 3], [np.nan, np.nan]], equal_nan=True)

    def test_files_bring_the_ids_of_a_column(self, tmp_path):
        (tmp_path / "a.csv").write_text("id,width\np,1\nq,2\n")
        (tmp_path / "b.csv").write_text("id,height\nr,3\nq,4\n")
        tables = {"a": tmp_path / "a.csv", "b": str(tmp_path / "b.csv")}
        joined = Views.from_tables(tables, ids="id", how="inner")
        assert joined.ids.tolist() == ["q"]
        assert joined.feature_names == (("width",), ("height",))
        with pytest.raises(ValueError, match="how='inner'"):
            Views.from_tables(tables, ids="id")

    @pytest.mark.parametrize("kind", ["arrays", "memory maps", "read from files"])
    def test_a_complete_outer_join_is_complete(self, tmp_path, kind):
        tables = {}
        for name, order in (("a", "pqr"), ("b", "rpq")):
            np.save(tmp_path / f"{name}.npy", np.array([[float(ord(c))] for c in order]))
            mapped = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
            tables[name] = (list(order), np.array(mapped) if kind == "arrays" else mapped)
        joined = Views.from_tables(tables, how="outer")
        joined = joined.load() if kind == "read from files" else joined
        assert joined.present is None
        assert KMeans(2, random_state=0).fit(joined).labels_.shape == (3,)
        assert joined[:]["b"].ravel().tolist() == [ord(c) for c in "pqr"]

    def test_complete_samples_of_an_outer_join_are_complete(self):
        joined = Views.from_tables({"a": self.A, "b": self.B}, how="outer")
        complete = joined[joined.present.all(axis=1)]
        assert KMeans(1, random_state=0).fit(complete).labels_.tolist() == [0, 0]

    @pytest.mark.parametrize(
        ("tables", "how", "error", "words"),
        [
            ({"a": (["x", "x"], np.ones((2, 1)))}, "outer", ValueError, "more than once"),
            ({"a": (["x"], np.ones((2, 1)))}, "outer", ValueError, "2 rows but 1 ids"),
            ({"a": np.ones((2, 1))}, "outer", TypeError, "no ids"),
            ({"a": A}, "left", ValueError, "'outer'"),
        ],
    )
    def test_what_cannot_be_matched_is_refused(self, tables, how, error, words):
        with pytest.raises(error, match=words):
            Views.from_tables(tables, how=how)

    def test_words_about_frames_do_not_speak_of_files(self):
        tables = {"a": pd.DataFrame({"x": [1.0]}), "b": pd.DataFrame({"y": [1.0]}, index=["p"])}
        for how in ("exact", "inner"):
            with pytest.raises(ValueError, match=r"how='outer'") as caught:
                Views.from_tables(tables, how=how)
            assert "file" not in str(caught.value)

    def test_a_file_without_ids_is_called_by_its_path(self, tmp_path):
        (tmp_path / "a.csv").write_text("id,x\n1,2\n")
        with pytest.raises(TypeError, match=r"is the file '.*a.csv', which has no ids.*ids='NAME'"):
            Views.from_tables({"a": tmp_path / "a.csv"})

    def test_no_tables(self):
        with pytest.raises(ValueError, match="Got no tables"):
            Views.from_tables({})

    def test_ids_keep_their_type_if_it_is_the_same_in_all(self):
        X = np.arange(3.0)[:, None]
        views = Views.from_tables({"a": ([3, 1, 2], X), "b": (np.uint8([1, 2, 3]), X)})
        assert views.ids.tolist() == [3, 1, 2]
        assert views["b"].ravel().tolist() == [2.0, 0.0, 1.0]
        days = pd.date_range("2020-01-01", periods=3)
        tables = {"a": pd.DataFrame(X, index=days), "b": pd.DataFrame(X, index=days[::-1])}
        assert np.array_equal(Views.from_tables(tables).ids, days.to_numpy())
        mixed = Views.from_tables({"a": ([3, 1, 2], X), "b": (["1", "2", "3"], X)})
        assert mixed.ids.tolist() == ["3", "1", "2"]

    @pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT], ids=str)
    def test_missing_ids_are_refused(self, missing):
        X = np.zeros((2, 1))
        ids = np.array(["p", missing], dtype=object)
        with pytest.raises(ValueError, match=r"'a' has 1 row without an id: row 1\."):
            Views.from_tables({"a": (ids, X), "b": (["p", "q"], X)})

    def test_a_table_of_strangers_is_warned_about(self):
        X = np.zeros((2, 1))
        tables = {"rna": (["c-1", "d-1"], X), "protein": (["c", "d"], X), "more": (["d", "e"], X)}
        with pytest.warns(
            UserWarning, match="'rna' shares no id .*'c-1', 'd-1', 'protein' has 'c'"
        ):
            views = Views.from_tables(tables, how="outer")
        assert views.n_rows == 5
