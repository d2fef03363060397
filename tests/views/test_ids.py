"""Names of rows: as text, missing, repeated, and where they are."""

from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyview.errors import ReadError
from manyview.sources import as_ids, join_levels
from manyview.views.ids import as_given, find_places, refuse_missing, refuse_repeated


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7.0, 8.0], ["7", "8"]),
        ([7.5, 8.0], ["7.5", "8"]),
        (np.array([b"p", b"q"]), ["p", "q"]),
        (np.array([b"p", "q", 3], dtype=object), ["p", "q", "3"]),
        (np.uint8([[1], [2]]), ["1", "2"]),
        (np.array(["2020-01-01", "2020-01-02T05"], "M8[ns]"), ["2020-01-01", "2020-01-02T05:00"]),
        (np.array(["2020-01-01"], "M8[D]"), ["2020-01-01"]),
        ([datetime(2020, 1, 1), datetime(2020, 1, 1, 5)], ["2020-01-01", "2020-01-01T05:00"]),
        (pd.date_range("2020-01-01T01", periods=1, tz="Europe/Berlin"), ["2020-01-01"]),
        (np.float32([0.1, 7.0]), ["0.1", "7"]),
        (np.array(["p", "q"], dtype=np.dtypes.StringDType()), ["p", "q"]),
    ],
)
def test_ids_are_compared_as_text(values, expected):
    assert as_ids(values).tolist() == expected


@given(
    ids=st.lists(st.text("abc", max_size=3), unique=True, min_size=1),
    wanted=st.lists(st.text("abcd", max_size=3)),
)
def test_places_are_those_of_a_search_one_by_one(ids, wanted):
    found = find_places(as_ids(ids), np.array(wanted, dtype=np.str_))
    assert found.tolist() == [ids.index(w) if w in ids else -1 for w in wanted]


def test_ids_are_given_back_in_their_own_type():
    days = pd.date_range("2020-01-01", periods=2).to_numpy()
    assert np.array_equal(as_given(as_ids(days), [days, days[::-1]]), days)
    assert as_given(as_ids([2, 1]), [np.array([1, 2]), np.uint8([2])]).tolist() == [2, 1]
    assert as_given(as_ids([2, 1]), [np.array([1, 2]), np.array(["2"])]).tolist() == ["2", "1"]
    assert as_given(as_ids(["p"]), [np.array(["p"], dtype=object)]).dtype.kind == "U"


def test_whole_numbers_are_the_same_whatever_their_type():
    floats, objects = np.array([2.0, 1.0]), np.array([1, 2.0], dtype=object)
    assert as_ids(objects).tolist() == ["1", "2"]
    assert as_given(as_ids([2, 1]), [np.array([1, 2]), floats]).tolist() == [2, 1]
    assert as_given(as_ids([2, 1]), [floats, floats]).dtype == float
    assert as_given(as_ids([1, 2]), [objects, np.array([1, 2])]).tolist() == [1, 2]


def test_ids_of_mixed_types_are_kept_where_all_tables_have_the_same():
    mixed = np.array([1, 2, "last"], dtype=object)
    assert as_given(as_ids(mixed), [mixed, mixed.copy()]).tolist() == [1, 2, "last"]
    assert as_given(as_ids(mixed), [mixed, np.array(["last"])]).tolist() == ["1", "2", "last"]


@pytest.mark.parametrize("kind", ["i8", "f8", object])
def test_large_whole_numbers_of_several_types_stay_exact(kind):
    large = np.array([2**63 + 1, 2**63 + 2], dtype="u8")
    joined = np.array([str(2**63 + 2), "-7"])
    ids = as_given(joined, [large, np.array([-7], dtype=kind)])
    assert ids.tolist() == [2**63 + 2, -7]
    assert not any(isinstance(number, float) for number in ids.tolist())


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, ""])
def test_a_missing_id_is_named_by_its_row(missing):
    with pytest.raises(ValueError, match=r"T has 1 row without an id: row 1\. Leave"):
        refuse_missing(np.array(["p", missing], dtype=object), "T")


@pytest.mark.parametrize("ids", [["p", "q"], [1, 2], [1.0, 2.0], pd.date_range("2020", periods=2)])
def test_ids_that_are_all_there_pass(ids):
    assert refuse_missing(ids, "T") is None  # it raises where one is missing


def test_an_id_of_several_levels_is_missing_if_one_of_them_is():
    assert join_levels([["p", "q"], pd.DatetimeIndex(["2020-01-01", None])]).tolist() == [
        "p / 2020-01-01", "",
    ]  # fmt: skip


def test_missing_numbers_texts_and_times():
    texts = np.array(["p", ""], dtype=np.dtypes.StringDType())
    for ids in (
        texts,
        np.array([b"p", b""]),
        np.array([1.0, np.nan]),
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    ):
        with pytest.raises(ValueError, match="without an id"):
            refuse_missing(ids, "T")


def test_repeated_ids_are_counted_and_named():
    refuse_repeated(as_ids(["p", "q"]), "T")
    with pytest.raises(ReadError, match=r"T has 2 ids more than once: 'p', 'q'\. An id must tell"):
        refuse_repeated(as_ids(["q", "p", "q", "p", "r"]), "T")
