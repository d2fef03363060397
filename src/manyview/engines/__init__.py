"""Where rows live and who computes on them.

A new engine is one file with a class that follows :class:`manyview.engines.base.Engine`, and one
line in ``_ENGINES``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manyview.engines.base import Engine
from manyview.engines.dask import Dask
from manyview.engines.dask_graphs import is_dask
from manyview.engines.disk import Disk
from manyview.engines.memory import Memory
from manyview.errors import ParameterError, ParameterTypeError
from manyview.sources import is_source
from manyview.views.selection import held

__all__ = ["Dask", "Disk", "Memory", "choose_engine"]

_ENGINES: dict[str, Callable[[], Engine]] = {"memory": Memory, "disk": Disk, "dask": Dask}


def choose_engine(engine: str | Engine, arrays: tuple[Any, ...]) -> Engine:
    """The engine of that name, the engine itself, or for "auto" the one that fits the data.

    Examples
    --------
    >>> choose_engine("auto", ())
    Memory()
    """
    if not isinstance(engine, str | type) and hasattr(engine, "open"):
        return engine
    if engine == "auto":
        if any(is_dask(held(a)) for a in arrays):
            return Dask()
        return Disk() if any(map(is_source, arrays)) else Memory()
    if not isinstance(engine, str) or engine not in _ENGINES:
        names = ", ".join(map(repr, sorted(_ENGINES)))
        error = ParameterError if isinstance(engine, str) else ParameterTypeError
        raise error("engine", f"must be 'auto', {names} or an engine object; got {engine!r}.")
    return _ENGINES[engine]()
