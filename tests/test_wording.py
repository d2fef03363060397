"""Bytes, seconds and counts in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyview.wording import bytes_in_words, count, first_few, seconds_in_words

UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


@given(st.floats(min_value=1000, max_value=1e17))
def test_bytes_in_words_are_enough_and_not_far_too_many(number):
    amount, unit = bytes_in_words(number).split()
    told = float(amount) * UNITS[unit]
    # Rounded up to two digits; the rounding itself may lose a millionth.
    assert number * (1 - 1e-6) <= told <= number * 1.1 + UNITS[unit] / 10


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (90_000, "25 h 0 min")],
)
def test_seconds_have_the_unit_that_suits_them(seconds, words):
    assert seconds_in_words(seconds) == words


def test_counts_have_their_nouns_and_lists_their_ends():
    assert [count(n, "row") for n in (0, 1, 2000)] == ["0 rows", "1 row", "2 000 rows"]
    assert first_few(["a", "b"]) == "'a', 'b'"
