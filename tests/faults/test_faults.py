"""A small part of what ``make faults`` does: nothing crashes, hangs, is lost or is silently wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("program", "n"),
    [
        ("fuzz_estimator", 50),
        ("fuzz_readers", 78),
        ("fuzz_models", 120),
        ("kill_fits", 4),
        ("inject", 16),
    ],
)
def test_a_part_of_the_faults(program, n):
    done = subprocess.run(
        [sys.executable, "-m", f"tests.faults.{program}", "--n", str(n), "--seed", "7"],
        capture_output=True, text=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
