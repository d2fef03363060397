"""Names of rows: as text, missing, repeated, and where they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyview.errors import ReadError
from manyview.sources import as_ids
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


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, ""])
def test_a_missing_id_is_named_by_its_row(missing):
    with pytest.raises(ValueError, match=r"T has 1 row without an id: row 1\. Leave"):
        refuse_missing(np.array(["p", missing], dtype=object), "T")


@pytest.mark.parametrize("ids", [["p", "q"], [1, 2], [1.0, 2.0], pd.date_range("2020", periods=2)])
def test_ids_that_are_all_there_pass(ids):
    assert refuse_missing(ids, "T") is None  # it raises where one is missing


def test_missing_numbers_and_times():
    for ids in (np.array([1.0, np.nan]), np.array(["2020-01-01", "NaT"], dtype="M8[D]")):
        with pytest.raises(ValueError, match="without an id"):
            refuse_missing(ids, "T")


def test_repeated_ids_are_counted_and_named():
    refuse_repeated(as_ids(["p", "q"]), "T")
    with pytest.raises(ReadError, match=r"T has 2 ids more than once: 'p', 'q'\. An id must tell"):
        refuse_repeated(as_ids(["q", "p", "q", "p", "r"]), "T")
