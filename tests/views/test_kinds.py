"""What a column of a table is."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from manyview.errors import InputError, ParameterError
from manyview.views.kinds import Treatment, counts_rows, look_at


def look(values, asked=None, order=None):
    return look_at("c", np.asarray(values), order, asked)


class TestKinds:
    def test_few_levels_are_a_category_with_the_most_frequent_first(self):
        code = look(["b", "a", "a"] * 10)
        assert (code.kind, code.levels) == ("category", ("a", "b"))
        assert not code.has_rare and not code.has_missing

    def test_rare_levels_share_a_column(self):
        code = look(["a"] * 50 + ["b"] * 50 + ["x", "y", "z"])
        assert code.feature_names == ("c=a", "c=b", "c=(rare)")
        assert "3 of them, which are rare, as one" in code.why

    def test_levels_are_at_most_fifty(self):
        code = look([f"l{i % 80}" for i in range(800)])
        assert len(code.levels) == 50 and code.has_rare

    @pytest.mark.parametrize("missing", [None, float("nan"), ""])
    def test_missing_is_a_level(self, missing):
        code = look(np.array(["a", "b", missing] * 5, dtype=object))
        assert code.feature_names == ("c=a", "c=b", "c=(missing)")

    def test_a_level_called_missing_is_told_from_what_is_missing(self):
        code = look(["a", "(missing)", ""] * 10)
        assert code.feature_names == ("c=(missing)", "c=a", "c=((missing))")

    def test_truth_values_are_a_category(self):
        assert look([True, False, True]).levels == ("True", "False")

    @pytest.mark.parametrize(
        ("values", "why"),
        [
            ([f"user {i}" for i in range(40)], "identifiers: 40 values in 40 rows"),
            ([f"a long remark of number {i}" for i in range(40)], "free text"),
            (["same"] * 40, "constant: always 'same'"),
            ([3.0] * 40, "constant: always 3"),
            (["", "", ""], "all values are missing"),
        ],
    )
    def test_what_says_nothing_is_left_out(self, values, why):
        code = look(values)
        assert not code.is_used and why in code.why and code.feature_names == ()

    def test_what_says_nothing_is_kept_if_asked_for(self):
        assert look([f"user {i}" for i in range(40)], "keep").kind == "category"
        assert look([1, 1, 1], "keep").kind == "number"

    def test_numbers_are_levels_if_asked_for(self):
        assert look([7, 8, 7, 8], "encode").levels == ("7", "8")
        assert look([7.0, 8.5, 7.0], "encode").levels == ("7", "8.5")

    @pytest.mark.parametrize(
        "values",
        [
            np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
            np.array([date(2020, 1, 1), date(2021, 1, 1)], object),
            np.array(["1.1.2020", "01.01.2021"]),
            ["2020-01-01", "2021-01-01"],
            ["2020-01-01 00:00", "2021-01-01T00:00:00Z"],
        ],
    )
    def test_days_are_counted(self, values):
        code = look(values)
        assert code.kind == "date" and code.fill == 18262 + 183

    def test_times_of_a_zone_are_those_of_utc(self):
        code = look(["2020-01-01T01:00+01:00", "2020-01-03 00:00:00.5Z"])
        assert code.kind == "date" and 18262 < code.fill - 1 < 18262.001
        assert look(["2020-01-01T01:00+99:00", "2020-01-03"] * 3).kind == "category"

    def test_days_that_are_none_are_levels(self):
        assert look(["2020-02-31", "2020-02-30"] * 3).kind == "category"

    def test_levels_of_an_order_are_numbers(self):
        code = look(["low", "high"] * 5, order=("low", "mid", "high"))
        assert (code.kind, code.levels, code.fill) == ("order", ("low", "mid", "high"), 1.0)

    def test_objects_that_are_numbers_are_numbers(self):
        code = look(np.array([1, None, 3], object))
        assert (code.kind, code.fill, code.has_missing) == ("number", 2.0, True)
        assert look(np.array([1, Decimal("2.5")], object)).kind == "number"

    def test_text_that_is_numbers_is_numbers_unless_it_is_codes(self):
        assert look(["1.5", "2.5", "3"]).kind == "number"
        assert look(["01", "02"] * 5).kind == "category"

    def test_a_few_texts_among_numbers_are_a_mistake(self):
        with pytest.raises(InputError, match="'c' holds numbers, but for 'oops' in 1 row"):
            look([*map(str, range(40)), "oops"])


class TestCounting:
    def test_numbers_in_order_are_likely_ids(self):
        assert "likely an id" in look(np.arange(1, 51)).why
        assert "likely" not in look(np.arange(1, 51), "keep").why
        assert counts_rows(np.arange(50)[::-1])

    @pytest.mark.parametrize(
        "values", [np.arange(10), np.arange(50) / 2, np.arange(50) % 49, np.full(50, 3)]
    )
    def test_others_are_not(self, values):
        assert not counts_rows(values)


class TestTreatment:
    def test_a_name_goes_before_a_pattern(self):
        treatment = Treatment.of({"a*": "drop", "ab": "keep", "*": "strict"})
        assert [treatment.for_column(c) for c in ("ax", "ab", "b")] == ["drop", "keep", None]
        assert treatment.mode == "strict"

    @pytest.mark.parametrize("wrong", ["x", None, {"a": "x"}, {1: "drop"}, 3])
    def test_nonsense_is_refused(self, wrong):
        with pytest.raises(ParameterError, match="categories"):
            Treatment.of(wrong)
