"""Compiled kernels: the same bits where they are compiled, which is said, and where they are loaded."""

import gc
import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

from manyview.simplex.jit import NOTICE

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
    assert told == ["compiling, once, about 6 s", ""]
    assert 0 < taken == compiling.seconds


KERNELS = """
from manyview.simplex.jit import jit

@jit
def double(values):
    for i in range(values.shape[0]):
        values[i] *= 2.0

@jit
def halve(values):
    for i in range(values.shape[0]):
        values[i] *= 0.5
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Reads the kernels, whose cache is empty at first, as a process would that has not yet."""
    path = tmp_path / "made_kernels.py"
    path.write_text(KERNELS)

    def read():
        monkeypatch.setattr(NOTICE, "is_given", False)
        spec = importlib.util.spec_from_file_location("made_kernels", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return read


def test_compiling_is_told_once_and_loading_is_not(load, caplog):
    caplog.set_level("INFO", logger="manyview")
    kernels, values = load(), np.ones(3)
    kernels.double(values)
    kernels.halve(values)
    assert [record.message[:26] for record in caplog.records] == ["Compiling for this machine"]
    caplog.clear()
    load().double(values)
    assert not caplog.records
    assert values.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("is_on", [True, False])
def test_compiling_leaves_the_search_for_garbage_as_it_was(load, is_on):
    set_back = gc.enable if gc.isenabled() else gc.disable
    try:
        (gc.enable if is_on else gc.disable)()
        load().double(np.ones(3))
        assert gc.isenabled() == is_on
    finally:
        set_back()
