"""Files that a library may not survive, or not come to an end with: tried in another process first."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from manyview.errors import ReadError

_HAS_LIMITS = find_spec("resource") is not None  # not on Windows
_SECONDS = 10  # of CPU for any file,
_BYTES_PER_SECOND = 30 << 20  # and more for a large one
_TIMES_SLOWER = 10  # by the clock, where CPU time cannot be limited
_PREPARE = """
import sys
sys.path[:] = {path!r}  # the same packages are found, wherever they are installed
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, resource.getrlimit(resource.RLIMIT_CPU)[1]))
except (ImportError, ValueError):  # not there, or limited already
    pass
"""
_OUT_OF_TIME = -24  # SIGXCPU


def try_elsewhere(path: Path, code: str) -> str:
    """What Python code raises of a file, in a line; empty if nothing.

    ReadError if the code does not survive it, or takes far too long for its size. The code finds the
    file's name in ``sys.argv[1]``. A file that it survived is not tried again.
    """
    status = path.stat()
    return _try(path, code, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _try(path: Path, code: str, n_bytes: int, changed: int) -> str:
    if not sys.executable:  # as where Python is part of another program
        return ""
    seconds = _SECONDS + n_bytes // _BYTES_PER_SECOND
    prepare = _PREPARE.format(path=sys.path, seconds=seconds)
    ending, words = _run(
        [sys.executable, "-I", "-c", prepare + code, str(path)],
        timeout=None if _HAS_LIMITS else _TIMES_SLOWER * seconds,
    )
    if ending in (0, 1):  # 1 is an error
        return words if ending == 1 else ""
    what = f"did not survive it (signal {-ending})" if ending < 0 else f"ended with code {ending}"
    if ending == _OUT_OF_TIME:
        what = f"did not come to an end within {seconds} s"
    raise ReadError(f"{path} is damaged: its parser {what}. Copy it again, or save it again.")


def _run(command: list[str], timeout: float | None) -> tuple[int, str]:
    """How a command ended, and the last line that it said."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        return _OUT_OF_TIME, ""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return done.returncode, lines[-1] if lines else "an error"
