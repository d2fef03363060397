"""Files that a library may not survive, or not come to an end with: tried in another process first."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from manyview.errors import ReadError

_LIMIT = """
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({0}, {0}))
except (ImportError, ValueError):  # not on every system
    pass
"""


def try_elsewhere(path: Path, code: str, *, seconds: int | None = None) -> None:
    """Raise ReadError if Python code does not survive a file, or takes longer than so much CPU time.

    The code finds the file's name in ``sys.argv[1]``. A file that it survived is not tried again.
    """
    status = path.stat()
    limit = "" if seconds is None else _LIMIT.format(seconds)
    _try(path, limit + code, (status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=16)
def _try(path: Path, code: str, stamp: tuple[int, int]) -> None:
    if not sys.executable:  # as where Python is part of another program
        return
    command = [sys.executable, "-I", "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode < 0:  # by a signal; an error comes again here, with its words
        raise ReadError(
            f"{path} is damaged: its parser did not survive it (signal {-done.returncode}). Copy it "
            "again, or save it again."
        )
