"""Spreadsheets."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from manyview import Views
from manyview.errors import ReadError
from manyview.readers import read_labels, read_view

FRAME = pd.DataFrame(
    {
        "id": ["a", "b", "c"],
        "size": [1.5, 2.0, None],
        "kind": ["x", None, "y"],
        "on": [True, False, True],
        "day": [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3)],
    }
)


@pytest.fixture
def book(tmp_path):
    """Two sheets that hold something, and an empty one."""
    with pd.ExcelWriter(tmp_path / "book.xlsx") as writer:
        FRAME.to_excel(writer, sheet_name="people", index=False)
        FRAME[["size"]].to_excel(writer, sheet_name="sizes", index=False)
        pd.DataFrame().to_excel(writer, sheet_name="empty", index=False)
    return str(tmp_path / "book.xlsx")


def test_a_sheet_is_a_table_with_its_types(book):
    contents = read_view(f"{book}::people", id_column="id")
    (part,) = contents.parts
    columns = part.rows.columns
    assert part.name == "people" and contents.ids.tolist() == ["a", "b", "c"]
    assert np.array_equal(columns["size"], [1.5, 2.0, np.nan], equal_nan=True)
    assert columns["kind"].tolist() == ["x", "", "y"] and columns["on"].dtype == bool
    assert columns["day"].dtype.kind == "M"
    assert "sheet 'people'" in contents.note and "'people': 4 columns" in contents.note


def test_one_of_several_sheets_must_be_named(book):
    with pytest.raises(ReadError, match=r"several sheets: there are 'people', 'sizes'.*::people"):
        read_view(book)
    with pytest.raises(ReadError, match="no sheet 'nope'"):
        read_view(f"{book}::nope")


def test_the_only_sheet_needs_no_name(tmp_path):
    FRAME.to_excel(tmp_path / "one.xlsx", index=False)
    views = Views({"a": tmp_path / "one.xlsx"}, ids="id")
    assert views.ids.tolist() == ["a", "b", "c"] and views.n_features == (4,)
    assert Views(tmp_path / "one.xlsx", ids="id").shape == (3, 4)


def test_decimal_commas_in_cells_of_text_are_numbers(tmp_path):
    pd.DataFrame({"a": ["1,5", "2"], "b": [1, 2]}).to_excel(tmp_path / "t.xlsx", index=False)
    contents = read_view(str(tmp_path / "t.xlsx"))
    assert contents.parts[0].rows.tolist() == [[1.5, 1.0], [2.0, 2.0]]
    assert "decimal commas in 'a'" in contents.note


def test_numbers_alone_have_no_line_of_names(tmp_path):
    pd.DataFrame([[1, 2], [3, 4]]).to_excel(tmp_path / "t.xlsx", index=False, header=False)
    (part,) = read_view(str(tmp_path / "t.xlsx")).parts
    assert part.columns == ("column_0", "column_1") and part.rows.tolist() == [[1, 2], [3, 4]]


def test_labels_are_read_from_a_sheet(tmp_path):
    pd.DataFrame({"id": ["a", "b"], "label": ["x", "y"]}).to_excel(tmp_path / "l.xlsx", index=False)
    found = read_labels(str(tmp_path / "l.xlsx"))
    assert (found.ids.tolist(), found.labels.tolist()) == (["a", "b"], ["x", "y"])


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "t.xlsx").write_text("hello")
    with pytest.raises(ReadError, match=r"t\.xlsx is damaged, cut short or no Excel file"):
        read_view(str(tmp_path / "t.xlsx"))


def test_codes_with_leading_zeros_stay_text(tmp_path):
    frame = pd.DataFrame({"zip": ["01234", "12345"], "size": ["1 500", "20"]})
    frame.to_excel(tmp_path / "codes.xlsx", index=False)
    contents = read_view(str(tmp_path / "codes.xlsx"))
    assert contents.parts[0].rows.columns["zip"].tolist() == ["01234", "12345"]
    assert "thousands marks in 'size'." in contents.note


def test_years_as_names_are_whole_numbers(tmp_path):
    pd.DataFrame({"id": ["a"], 2019: [1.0], 2020: [2.0]}).to_excel(tmp_path / "y.xlsx", index=False)
    contents = read_view(str(tmp_path / "y.xlsx"), id_column="id")
    assert contents.parts[0].columns == ("2019", "2020")
