"""Compiled kernels give the same bits in the process that compiled them and in those that load them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SOLVE = """
import hashlib
import numpy as np
from manyview.simplex import solve_simplex_qp
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 20))
for method in {methods}:
    Z = solve_simplex_qp(X, X[:40], alpha=1.0, method=method)
    print(method, hashlib.sha256(Z.data.tobytes()).hexdigest())
"""


def solve_in_new_process(cache, methods):
    done = subprocess.run(
        [sys.executable, "-c", SOLVE.format(methods=methods)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines())


@pytest.mark.slow
def test_bits_depend_neither_on_the_cache_nor_on_what_was_loaded_first(tmp_path):
    methods = ["exchange", "complement"]
    compiled = solve_in_new_process(tmp_path, methods)
    assert len(compiled) == 2
    assert solve_in_new_process(tmp_path, methods[::-1]) == compiled


def test_compiling_is_told_and_counted_once():
    import numpy as np

    from manyview.simplex.jit import inner, jit, watched

    @inner
    def twice(x):
        return 2 * x

    @jit
    def kernel(x):
        return twice(x) + 1

    told = []
    with watched(told.append) as compiling:
        assert kernel(np.float64(1.5)) == 4.0
        taken = compiling.seconds
        kernel(np.float64(2.5))
    assert told == ["compiling, once, about 10 s", ""]
    assert 0 < taken == compiling.seconds
