"""What parameters may be, and the words that refuse others."""

import numpy as np
import pytest

from manyview.checks import (
    as_generator,
    check_count,
    check_each,
    check_number,
    check_option,
)
from manyview.errors import ParameterError


@pytest.mark.parametrize("make", [int, np.random.RandomState, np.random.default_rng])
def test_same_random_state_gives_the_same_numbers(make):
    assert as_generator(make(3)).integers(10**9) == as_generator(make(3)).integers(10**9)


def test_random_state_of_a_wrong_kind_is_refused():
    for wrong in ("seed", -1, 1.5, [1, 2], np.random.SeedSequence(1)):
        with pytest.raises(ParameterError, match="random_state must be an integer"):
            as_generator(wrong)


def test_parameters_out_of_range_are_named():
    with pytest.raises(ValueError, match="n_init must be an integer of at least 1; got -1"):
        check_count("n_init", -1)
    with pytest.raises(ValueError, match="tol must be a number greater than 0 and less than 1"):
        check_number("tol", 1.5, above=0, below=1)
    with pytest.raises(TypeError, match="tol must be a number"):
        check_number("tol", "small", above=0)
    with pytest.raises(ValueError, match="greater than 0; got nan"):
        check_number("tol", np.nan, above=0)
    with pytest.raises(ValueError, match="solver must be one of 'a', 'b'; got 'x'"):
        check_option("solver", "x", ("a", "b"))


def test_one_number_or_several_are_checked_each():
    assert check_each("alpha", np.array([0.5, 1.0]), check_number) == (0.5, 1.0)
    with pytest.raises(ValueError, match="alpha must not be empty"):
        check_each("alpha", [], check_number)
    with pytest.raises(TypeError, match="alpha must be a number"):
        check_each("alpha", [1.0, "two"], check_number)
