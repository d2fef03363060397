"""A small part of what ``make faults`` does: nothing crashes, hangs, is lost or is silently wrong."""

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
        ("fuzz_estimator", 25),
        ("fuzz_readers", 39),
        ("fuzz_models", 60),
        ("kill_fits", 2),
        ("inject", 8),
    ],
)
def test_a_part_of_the_faults(program, n):
    done = subprocess.run(
        [sys.executable, "-m", f"tests.faults.{program}", "--n", str(n), "--seed", "7"],
        capture_output=True, text=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
