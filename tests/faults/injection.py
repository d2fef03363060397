"""A library in C, loaded before the C library, that fails one operation on files below a folder."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODES = ("no space", "disk error", "half of it", "killed")
_LIBRARY = "MANYVIEW_FAULTS"


def preload(program):
    """Start this program again with the library, if it is not there yet."""
    if _LIBRARY in os.environ:
        return
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        print("no C compiler, or no Linux: nothing was injected")
        sys.exit(0)
    library = Path(tempfile.mkdtemp(prefix="manyview-faults-")) / "injection.so"
    source = Path(__file__).with_name("injection.c")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", library, source, "-ldl"], check=True
    )
    os.environ |= {"LD_PRELOAD": str(library), _LIBRARY: str(library)}
    os.execv(sys.executable, [sys.executable, "-m", program, *sys.argv[1:]])


def arm(folder, number, how):
    """From now on, operations below a folder are counted, and the one with this number fails."""
    library = ctypes.CDLL(os.environ[_LIBRARY])
    library.fault_arm(os.fsencode(folder), ctypes.c_long(number), MODES.index(how))
    return library.fault_count  # and the counting ends
