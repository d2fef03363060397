"""What a measured figure depends on besides its settings: code, libraries and machine."""

from __future__ import annotations

import platform
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from manyview.machine import count_jobs

ROOT = Path(__file__).resolve().parents[3]
"""The checkout, where this is one."""

LIBRARIES = ("manyview", "numpy", "scipy", "scikit-learn", "numba")


@cache
def code_and_machine(more_libraries: tuple[str, ...] = ()) -> dict[str, Any]:
    """What else a figure depends on. No host name: results are public.

    ``commit`` is None outside a checkout; ``dirty`` says whether files differ from it.
    """
    # Results themselves are not code: writing them does not make it differ from the commit.
    is_checkout = (ROOT / "src" / "manyview").is_dir()
    changed = (
        _git("status", "--porcelain", "--", ".", ":!benchmarks/results") if is_checkout else None
    )
    return {
        "commit": _git("rev-parse", "HEAD") if is_checkout else None,
        "dirty": None if changed is None else bool(changed),
        "cores": count_jobs(None),
        "cpu": _cpu_model(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version(), **_versions(LIBRARIES + more_libraries)},
    }


def _versions(libraries: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for library in libraries:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _cpu_model() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
