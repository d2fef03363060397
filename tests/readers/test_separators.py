"""What separates fields, and in which encoding."""

from pathlib import Path

import pytest

from manyview.readers import read_view
from manyview.readers.separators import find_separator


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        (["a,b", "1,2"], ","),
        (["a;b", "1,5;2,5"], ";"),
        (["1,5;2,5", "3,5;4,5"], ";"),
        (["a|b", "1|2"], "|"),
        (["a b", "1 2"], " "),
        (["1   2", " 3 4"], " "),
        (["hello world", "good morning"], ","),
        (['"a;b",c', "1,2"], ","),
        (["a"], ","),
    ],
)
def test_what_all_lines_have_as_often_separates_them(lines, separator):
    assert find_separator(lines, Path("t.csv")) == separator


@pytest.mark.parametrize("separator", ["|", ";", "\t", " ", "   "])
def test_tables_with_any_separator_are_read(tmp_path, separator):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(separator.join(row) for row in (["a", "b"], ["1", "2"], ["3", "4"])))
    (part,) = read_view(str(path)).parts
    assert (part.columns, part.rows.tolist()) == (("a", "b"), [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_other_encodings_are_read_and_told(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,b\n1,2\n3,4\n".encode(encoding))
    contents = read_view(str(path))
    assert contents.parts[0].columns == ("größe", "b")
    assert ("not in UTF-8" in contents.note) == (encoding in ("cp1252", "utf-16"))


def test_an_encoding_is_taken_if_it_is_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("ж,b\n1,2\n".encode("cp1251"))
    assert read_view(str(path), encoding="cp1251").parts[0].columns == ("ж", "b")
    with pytest.raises(ValueError, match="encoding must be one that Python knows"):
        read_view(str(path), encoding="nonsense")
