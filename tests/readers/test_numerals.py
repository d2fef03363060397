"""Numbers as people write them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyview import Views
from manyview.readers import parse, read_file, read_view
from manyview.readers.numerals import convert_columns, read_numerals


@pytest.mark.parametrize(
    ("texts", "values", "decimal"),
    [
        (["1,5", "2"], [1.5, 2], ","),
        (["1.234,5", "-3"], [1234.5, -3], ","),
        (["1,234.5", "7"], [1234.5, 7], "."),
        (["1 234,5", "1\u00a0000"], [1234.5, 1000], ","),
        (["1'000.5"], [1000.5], "."),
        (["1,234", "1,5"], [1.234, 1.5], ","),
        (["0,125", "-0,250"], [0.125, -0.25], ","),
        (["1,5e3", ""], [1500, np.nan], ","),
    ],
)
def test_marks_are_found(texts, values, decimal):
    found = read_numerals(np.array(texts))
    assert np.array_equal(found.values, values, equal_nan=True)
    assert (found.decimal, found.is_doubtful) == (decimal, False)


def test_thousands_that_could_be_fractions_are_doubtful():
    texts = np.array(["1,234", "2,500"])
    assert read_numerals(texts).is_doubtful
    assert read_numerals(texts).values.tolist() == [1234, 2500]
    assert read_numerals(texts, usual=",").values.tolist() == [1.234, 2.5]
    assert read_numerals(texts, ",").values.tolist() == [1.234, 2.5]


@pytest.mark.parametrize(
    "texts",
    [
        ["a", "1,5"],
        ["1-2"],
        ["12,34,5"],
        ["1.5", "2,5"],
        ["+", "-"],
        [""],
        ["E1", "E2"],
        ["01234", "12345"],
    ],
)
def test_what_is_no_number_stays_text(texts):
    assert read_numerals(np.array(texts)) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_numbers_written_with_commas_are_the_same_numbers(numbers):
    texts = np.array([f"{number:_.3f}".replace(".", ",").replace("_", ".") for number in numbers])
    found = read_numerals(texts, ",")
    assert np.allclose(found.values, numbers, rtol=0, atol=5.1e-4)


class TestFiles:
    def write(self, folder, text):
        path = folder / "t.csv"
        path.write_text(text)
        return path

    def test_decimal_commas_are_found_and_told(self, tmp_path):
        contents = read_view(str(self.write(tmp_path, "a;b\n1,5;x\n2,25;y\n")))
        assert contents.parts[0].rows.columns["a"].tolist() == [1.5, 2.25]
        assert "decimal commas in 'a'" in contents.note

    def test_a_mark_that_is_given_is_used_in_all_columns(self, tmp_path):
        path = self.write(tmp_path, "id;a;b\nx;1.234;1,5\ny;2.000;NA\n")
        contents = read_view(str(path), decimal=",", id_column="id")
        assert contents.parts[0].rows[:, 0].tolist() == [1234, 2000]
        assert np.isnan(contents.parts[0].rows[1, 1]) and contents.ids.tolist() == ["x", "y"]

    def test_python_reads_them_as_the_command_line_does(self, tmp_path):
        views = Views({"c": str(self.write(tmp_path, "a|b\n1,5|True\n2,5|False\n"))})
        assert views["c"].tolist() == [[1.5, 1.0], [2.5, 0.0]]

    def test_a_file_has_one_mark_where_columns_allow_both(self, tmp_path):
        contents = read_view(
            str(self.write(tmp_path, "a\tb\tc\n1,5\t1.234\t0.5\n2,5\t2.000\t01\n"))
        )
        assert contents.parts[0].rows.tolist() == [[1.5, 1234, 0.5], [2.5, 2000, 1]]
        assert (
            "decimal commas in 'a'; thousands marks in 'b'; fractions and thousands look alike in 'b'"
            in contents.note
        )
        assert contents.decimal == ","

    def test_only_what_has_marks_is_told_to_have_them(self, tmp_path):
        contents = read_view(str(self.write(tmp_path, "a|b|c\n1 500|5|x\n20|6|y\n")))
        assert "thousands marks in 'a'." in contents.note

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [({"usual": ","}, [1.234, 2.5]), ({"levels": ["a"]}, ["1,234", "2,500"])],
    )
    def test_what_is_known_of_a_table_is_used(self, tmp_path, asked, expected):
        request = replace(parse(str(self.write(tmp_path, "a\tb\n1,234\tx\n2,500\ty\n"))), **asked)
        assert read_file(request).parts[0].rows.columns["a"].tolist() == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["12%", "3.5 %", ""], [12, 3.5, np.nan]),
        (["$1,200.50", "-$3", "$0"], [1200.5, -3, 0]),
        (["1.234,50 €", "2,00 €"], [1234.5, 2]),
        (["£ 5", "£ 6"], [5, 6]),
    ],
)
def test_a_sign_that_all_have_is_left_out(texts, expected):
    found = convert_columns({"a": np.array(texts)}, ["a"], None)
    np.testing.assert_array_equal(found.table["a"], expected)
    assert "left out of 'a'" in found.remark


@pytest.mark.parametrize(
    "texts", [["12%", "3"], ["$5", "€5"], ["%", "$"], ["5%", "%"], ["$5%", "$6%"]]
)
def test_signs_that_differ_are_no_numbers(texts):
    assert read_numerals(np.array(texts)) is None
