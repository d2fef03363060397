"""What tests share: real data where it is present, made views, and how Hypothesis runs."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

# Tests run side by side: libraries that start a thread per core would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Examples are drawn from a fixed seed, and no test is judged by the clock: compiling takes seconds.
settings.register_profile(
    "manyview", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("manyview")


@pytest.fixture(scope="session")
def data():
    """Give a function: the name of a real data set -> its views; skips where they are absent."""
    folder = os.environ.get("MANYVIEW_DATA")

    @cache
    def load(name):
        from manyview import datasets

        if not folder:
            pytest.skip("MANYVIEW_DATA names no folder of real data")
        if not (Path(folder) / f"{name}.npz").exists():
            pytest.skip(f"{name}.npz is not in the folder named by MANYVIEW_DATA")
        return datasets.load(name, download=False)

    return load


@pytest.fixture(scope="session")
def blobs():
    """Give a function: rows of k clear groups, seen in views of the given widths."""

    def make(n=90, k=3, widths=(4, 6), *, spread=0.3, seed=0):
        rng = np.random.default_rng(seed)
        groups = np.arange(n) % k
        return [
            3.0 * rng.normal(size=(k, width))[groups] + spread * rng.normal(size=(n, width))
            for width in widths
        ]

    return make
