"""Compiling: kept for the next process where that is possible, done all the same where not."""

from __future__ import annotations

import pytest

from manyview.simplex.jit import jit


@pytest.mark.slow
def test_a_function_without_a_place_for_its_cache_is_compiled_all_the_same():
    namespace = {}
    exec("def add(a, b):\n    return a + b\n", namespace)  # no file, so no cache beside it
    assert jit(namespace["add"])(1.5, 2.0) == 3.5
