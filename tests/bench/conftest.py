"""What tests of the bench share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def results_file(tmp_path) -> Path:
    return tmp_path / "results.jsonl"
