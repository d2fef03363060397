"""The one compile decorator, and the only import of numba.

Kernels are serial, release the GIL and are compiled once per machine. Where no cache folder can be
written (a read-only install without a home), they are compiled once per process instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Sums may be reordered (it is what lets them vectorise) and inputs are finite by the time they get
# here; infinities keep their meaning. The order is fixed when compiling, so results repeat.
_FASTMATH = {"reassoc", "contract", "nsz", "nnan", "arcp"}


def jit(function: _Function) -> _Function:
    """Compile ``function`` when it is first called; keep the machine code for the next process."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FASTMATH}
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba: "cannot cache function: no locator available"
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
