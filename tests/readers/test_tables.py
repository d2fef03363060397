"""Tables: names, ids, labels, columns that make views, and what is refused."""

import tracemalloc

import numpy as np
import pytest

from manyview.errors import ParameterError, ReadError
from manyview.readers import read_labels, read_view


def put(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def values(contents, number=0):
    return np.asarray(contents.parts[number].rows).tolist()


def test_a_table_without_names_is_numbered_and_says_so(tmp_path):
    found = read_view(put(tmp_path, "1,2\n3,4\n"))
    assert found.parts[0].columns == ("column_0", "column_1")
    assert values(found) == [[1, 2], [3, 4]]
    assert "no line of names" in found.note


@pytest.mark.parametrize(
    ("head", "row", "names"),
    [
        ("0,1,2", "5,6,7", ("0", "1", "2")),
        ("0,1", "0.5,1.5", ("0", "1")),
        (",0,1", "0,0.5,1.5", ("unnamed_0", "0", "1")),
    ],
)
def test_a_first_line_that_numbers_the_columns_is_no_row(tmp_path, head, row, names):
    contents = read_view(put(tmp_path, f"{head}\n{row}\n{row}\n"))
    assert contents.parts[0].columns == names
    assert values(contents) == [[float(v) for v in row.split(",")]] * 2
    assert "the first line numbers the columns" in contents.note


@pytest.mark.parametrize("text", ["0,1\n1,0\n", "0\n1\n", "0,1,3\n4,5,6\n", "0.0,1.0,2.0\n1,2,3\n"])
def test_a_first_row_of_numbers_is_a_row(tmp_path, text):
    assert len(values(read_view(put(tmp_path, text)))) == 2


@pytest.mark.parametrize(
    ("text", "names", "n_skipped"),
    [
        ("# made by R\n# 2 lines, with commas, in them\nk,x\na,1\nb,2\n", ("k", "x"), 2),
        ("# k, x\nid,v\na,1\nb,2\n", ("id", "v"), 1),
        ("# a\n\n# b\n\nk,x\na,1\nb,2\n", ("k", "x"), 3),
        ("# made\n1,2\n3,4\n", ("column_0", "column_1"), 1),
        ("##made=1\n#chrom\tpos\nc1\t1\nc2\t2\n", ("chrom", "pos"), 1),
        ("#chrom,pos\nc1,1\nc2,2\n", ("chrom", "pos"), 0),
        ("# x y\n1 2\n3 4\n", ("x", "y"), 0),
        ("#,x\n1,0.5\n2,0.5\n", ("#", "x"), 0),
        ("colour,x\n#f00,1\n#0f0,2\n", ("colour", "x"), 0),
    ],
)
def test_lines_of_comments_before_a_table_are_skipped_with_a_remark(
    tmp_path, text, names, n_skipped
):
    found = read_view(put(tmp_path, text))
    assert found.parts[0].columns == names and found.n_rows == 2
    assert (f"comments before it are skipped ({n_skipped} line" in found.note) == (n_skipped > 0)
    has_marked_names = text.splitlines()[n_skipped].startswith("#") and names[0] != "#"
    assert ("its names are in the line that begins with #" in found.note) == has_marked_names


def test_lines_are_numbered_with_the_comments(tmp_path):
    with pytest.raises(ReadError, match="line 4 has 3 fields"):
        read_view(put(tmp_path, "# made by R\nk,x\na,1\nb,2,3\n"))


def test_labels_may_stand_below_comments(tmp_path):
    found = read_labels(put(tmp_path, "# made by R\nid,cluster\na,1\nb,0\n"))
    assert (found.ids.tolist(), found.labels.tolist()) == (["a", "b"], [1, 0])


def test_a_row_of_empty_fields_is_a_row(tmp_path):
    contents = read_view(put(tmp_path, "a\tb\tc\n1\t2\t3\n\t\t\n4\t5\t6\n\n", "t.tsv"))
    assert np.isnan(np.array(values(contents))).sum(axis=1).tolist() == [0, 3, 0]


def test_missing_values_in_any_spelling(tmp_path):
    found = read_view(put(tmp_path, "a,b\n1,NA\n,2\nnull, nan \n?,N/A\nn/a,#N/A\n<NA>,NAN\n"))
    assert np.isnan(found.parts[0].rows).tolist() == [
        [False, True], [True, False], [True, True], [True, True], [True, True], [True, True],
    ]  # fmt: skip


def test_quoted_fields_may_hold_separators_and_lines(tmp_path):
    text = 'id,"a, b"\n"x, 1",2\n"y\nz",3\n'
    found = read_view(put(tmp_path, text), id_column="id")
    assert found.ids.tolist() == ["x, 1", "y\nz"]
    assert found.parts[0].columns == ("a, b",)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_every_line_ending(tmp_path, end):
    path = tmp_path / "t.csv"
    path.write_bytes(f"id,a{end}x,1{end}y,2{end}{end}".encode())
    found = read_view(str(path), id_column="id")
    assert found.ids.tolist() == ["x", "y"]
    assert values(found) == [[1], [2]]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfid,a\nx,1\n")
    assert read_view(str(tmp_path / "t.csv"), id_column="id").ids.tolist() == ["x"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["3", "-1", "20"], [3, -1, 20]),
        (["3", "x", "20"], ["3", "x", "20"]),
        (["3", "07", "20"], ["3", "07", "20"]),
        (["3", "1_0", "+2"], ["3", "1_0", "+2"]),
        (["3.0", "4.0"], ["3.0", "4.0"]),
        (["1", "12345678901234567891"], ["1", "12345678901234567891"]),
    ],
)
def test_ids_are_integers_where_they_can_be_written_again_as_they_were(tmp_path, written, expected):
    text = "id,a\n" + "".join(f"{i},1\n" for i in written)
    assert read_view(put(tmp_path, text), id_column="id").ids.tolist() == expected


def test_many_rows_come_in_batches(tmp_path):
    n = 45_001
    lines = "\n".join(f"r{i},{i},{i / 2}" for i in range(n))
    found = read_view(put(tmp_path, f"id,a,b\n{lines}\n"), id_column="id")
    assert found.parts[0].rows.shape == (n, 2)
    assert found.ids[-1] == "r45000"
    assert found.parts[0].rows[:, 1].tolist() == (np.arange(n) / 2).tolist()


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_long_field_takes_no_room_in_other_columns(tmp_path, quote):
    row, names = ",1" * 100, "".join(f",c{i}" for i in range(100))
    notes = [f"{quote}{'x' * (2000 if i == 5 else 1)}{quote}" for i in range(1000)]
    text = f"note{names}\n" + "".join(f"{note}{row}\n" for note in notes)
    path = put(tmp_path, text)
    tracemalloc.start()
    found = read_view(path, label_column="note")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.parts[0].rows.shape == (1000, 100)
    assert len(found.labels[5]) == 2000
    assert peak < 60e6  # 800 MB if all fields were as long


def test_wide_tables_come_in_batches_of_fewer_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("manyview.readers.csv._BATCH_FIELDS", 6)
    lines = [f"{i},NA,{i}.5" for i in range(7)]
    found = read_view(put(tmp_path, "a,b,c\n" + "\n".join(lines))).parts[0].rows
    expected = [[i, np.nan, i + 0.5] for i in range(7)]
    np.testing.assert_array_equal(found, expected)


def test_text_far_down_a_column_is_found(tmp_path):
    lines = "\n".join(str(i) for i in range(30_000))
    (part,) = read_view(put(tmp_path, f"a\n{lines}\noops\n")).parts
    assert part.rows.columns["a"][[0, 29_999, 30_000]].tolist() == ["0", "29999", "oops"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["1234567", "01", "NA", "oops"], ["1234567", "01", "", "oops"]),
        (["1234567", "7654321", "1 234 567"], [1234567, 7654321, 1234567]),
        (["true", "NA", "true", "x"], ["true", "", "true", "x"]),
        (["true", "NA", "False", "true"], ["True", "", "False", "True"]),
    ],
)
def test_a_column_is_the_same_whatever_its_batches_hold(tmp_path, monkeypatch, fields, expected):
    monkeypatch.setattr("manyview.readers.csv._BATCH_ROWS", 2)
    path = put(tmp_path, "a,b\n" + "".join(f"{field},x\n" for field in fields))
    assert read_view(path).parts[0].rows.columns["a"].tolist() == expected


def test_columns_that_are_no_numbers_stay_as_they_are(tmp_path):
    path = put(tmp_path, "name,size,on,off\nbig,2,True,true\nNA,1,FALSE,\n")
    columns = read_view(path).parts[0].rows.columns
    assert columns["name"].tolist() == ["big", ""] and columns["size"].tolist() == [2.0, 1.0]
    assert columns["on"].tolist() == [True, False] and columns["off"].tolist() == ["True", ""]


@pytest.mark.parametrize("other", ["12_35", "7", "NA", '"7"'])
def test_codes_with_lines_in_them_are_no_numbers(tmp_path, other):
    columns = read_view(put(tmp_path, f"a,b\n12_34,1\n{other},2\n")).parts[0].rows.columns
    assert columns["a"][0] == "12_34"
    assert columns["b"].tolist() == [1.0, 2.0]


def test_a_column_that_is_no_number_can_be_left_out(tmp_path):
    path = put(tmp_path, "name,size\nbig,2\nsmall,1\n")
    assert read_view(path, drop=["name"]).parts[0].columns == ("size",)


def test_a_feature_that_is_called_like_ids_or_labels_is_told(tmp_path):
    note = read_view(put(tmp_path, "id,a,label\n1,5,0\n2,6,1\n")).note
    assert "Column 'id' is taken as any other: if it holds ids, name it" in note
    assert "name it with label_column='NAME'" in note


def test_columns_make_views_by_name_and_pattern(tmp_path):
    path = put(tmp_path, "id,px_0,px_1,w,px[2],extra\nx,1,2,3,4,5\n")
    found = read_view(path, columns={"pixels": ["px_*", "px[2]"], "shape": ["w"]}, id_column="id")
    assert [(p.name, p.columns) for p in found.parts] == [
        ("pixels", ("px_0", "px_1", "px[2]")),
        ("shape", ("w",)),
    ]
    with pytest.raises(ParameterError, match=r"columns must be among .* got 'pz_\*'"):
        read_view(path, columns={"pixels": ["pz_*"]})


def test_a_key_is_a_column_or_a_pattern(tmp_path):
    path = put(tmp_path, "id,px_0,px_1,w\nx,1,2,3\n")
    assert values(read_view(f"{path}::px_*")) == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a\n1,2\n", "several columns called 'a'"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2,3\n", "line 2 has 3 fields, but the first has 2"),
        ("id\nx\n", "no column left"),
    ],
)
def test_other_tables_are_refused(tmp_path, text, message):
    with pytest.raises(ReadError, match=message):
        read_view(put(tmp_path, text), id_column="id")


class TestArrow:
    @pytest.fixture(params=["parquet", "feather"])
    def write(self, request, tmp_path):
        from pyarrow import feather, parquet

        def save(table):
            path = tmp_path / f"t.{request.param}"
            if request.param == "parquet":
                parquet.write_table(table, path)
            else:
                feather.write_feather(table, path)
            return str(path)

        return save

    def test_lists_of_one_length_are_rows(self, write):
        import pyarrow as pa

        path = write(pa.table({"id": ["x", "y"], "emb": [[1.0, 2.0], [3.0, 4.0]]}))
        found = read_view(path, id_column="id")
        assert found.parts[0].columns == ("emb_0", "emb_1")
        assert values(found) == [[1, 2], [3, 4]]

    def test_lists_of_different_length_are_ragged(self, write):
        import pyarrow as pa

        with pytest.raises(ReadError, match="ragged: lists of column 'emb' have between 1 and 2"):
            read_view(write(pa.table({"emb": [[1.0, 2.0], [3.0]]})))

    def test_the_index_of_pandas_is_taken_as_ids(self, write):
        import pandas as pd
        import pyarrow as pa

        frame = pd.DataFrame({"a": [1.5, 2.5]}, index=["x", "y"])
        found = read_view(write(pa.Table.from_pandas(frame)))
        assert found.ids.tolist() == ["x", "y"]
        assert found.parts[0].columns == ("a",)

    def test_missing_numbers_are_nan(self, write):
        import pyarrow as pa

        found = read_view(write(pa.table({"a": [1, None], "c": [0.5, None]})))
        data = found.parts[0].rows
        rows = data.read(0, 2) if hasattr(data, "read") else data
        assert np.isnan(rows[1].astype(float)).all()

    def test_missing_truth_values_are_none(self, write):
        import pyarrow as pa

        found = read_view(write(pa.table({"a": [1, 2], "b": [True, None]})))
        assert found.parts[0].rows.columns["b"].tolist() == [True, None]

    def test_categories_are_labels(self, write):
        import pyarrow as pa

        kinds = pa.array(["cat", "dog", "cat"]).dictionary_encode()
        path = write(pa.table({"a": [1.0, 2.0, 3.0], "kind": kinds}))
        assert read_view(path, label_column="kind").labels.tolist() == ["cat", "dog", "cat"]
        assert read_labels(f"{path}::kind").labels.tolist() == ["cat", "dog", "cat"]

    def test_a_range_that_does_not_start_at_0_names_labels(self, write):
        import pandas as pd
        import pyarrow as pa

        frame = pd.DataFrame({"label": [1, 0]}, index=pd.RangeIndex(5, 7))
        assert read_labels(write(pa.Table.from_pandas(frame))).ids.tolist() == ["5", "6"]
        assert read_labels(write(pa.Table.from_pandas(frame.reset_index(drop=True)))).ids is None

    def test_an_index_names_labels_whatever_it_is_called(self, write):
        import pandas as pd
        import pyarrow as pa

        frame = pd.DataFrame({"kind": [1, 0]}, index=pd.Index(["x", "y"], name="cell"))
        path = write(pa.Table.from_pandas(frame))
        for found in (read_labels(path), read_labels(path, id_column="cell")):
            assert (found.ids.tolist(), found.labels.tolist()) == (["x", "y"], [1, 0])
        assert read_labels(f"{path}::cell").labels.tolist() == ["x", "y"]
        levels = frame.set_index(pd.Index([1, 2], name="part"), append=True)
        path = write(pa.Table.from_pandas(levels))
        assert read_labels(f"{path}::kind").ids.tolist() == ["x / 1", "y / 2"]

    def test_text_stays_as_it_is(self, write):
        import pyarrow as pa

        (part,) = read_view(write(pa.table({"name": ["x", None], "a": [1.0, 2.0]}))).parts
        assert part.rows.columns["name"].tolist() == ["x", None]
        assert part.rows.columns["a"].tolist() == [1.0, 2.0]

    def test_a_table_without_rows_is_refused(self, write):
        import pyarrow as pa

        with pytest.raises(ReadError, match="no rows"):
            read_view(write(pa.table({"a": pa.array([], pa.float64())})))


class TestLabels:
    def test_ids_are_known_by_name(self, tmp_path):
        found = read_labels(put(tmp_path, "id,cluster\nx,1\ny,0\n"))
        assert (found.ids.tolist(), found.labels.tolist()) == (["x", "y"], [1, 0])

    def test_several_columns_need_a_key(self, tmp_path):
        path = put(tmp_path, "id,kind,colour\nx,1,2\n")
        with pytest.raises(
            ReadError, match=r"labels in 'kind', 'colour'; choose with .+t\.csv::NAME"
        ):
            read_labels(path)
        assert read_labels(f"{path}::colour").labels.tolist() == [2]

    def test_a_usual_name_among_several(self, tmp_path):
        path = put(tmp_path, "id,Label,colour\nx,cat,2\n")
        assert read_labels(path).labels.tolist() == ["cat"]

    def test_ids_alone_are_no_labels(self, tmp_path):
        with pytest.raises(ReadError, match="holds ids, but no labels"):
            read_labels(put(tmp_path, "id\na\nb\n"))

    def test_a_vector_has_no_ids(self, tmp_path):
        np.save(tmp_path / "y.npy", np.array([[2], [1]]))
        found = read_labels(str(tmp_path / "y.npy"))
        assert (found.ids, found.labels.tolist()) == (None, [2, 1])

    def test_a_matrix_is_no_labels(self, tmp_path):
        np.save(tmp_path / "y.npy", np.zeros((3, 2)))
        with pytest.raises(ReadError, match="nothing with one value a row"):
            read_labels(str(tmp_path / "y.npy"))


@pytest.mark.parametrize("line", [b"3,\0004\n", b'"a",\0004\n'])
def test_text_with_a_nul_is_no_table(tmp_path, line):
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n" + line)
    with pytest.raises(ReadError, match=r"a\.csv cannot be read as a table: it holds NUL bytes"):
        read_view(str(tmp_path / "a.csv"))
