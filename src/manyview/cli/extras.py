"""What to install when an optional library is missing."""

from __future__ import annotations

_LIBRARIES = ("click", "rich", "jinja2", "matplotlib")


def how_to_install(error: ModuleNotFoundError) -> str | None:
    """Give one line of advice if the missing module is one of the command line's own.

    Examples
    --------
    >>> how_to_install(ModuleNotFoundError("No module named 'rich.table'", name="rich.table"))
    "the command line needs rich, which is not installed: pip install 'manyview[cli,report]'"
    >>> how_to_install(ModuleNotFoundError("No module named 'x'", name="x")) is None
    True
    """
    library = (error.name or "").partition(".")[0]
    if library not in _LIBRARIES:
        return None
    return (
        f"the command line needs {library}, which is not installed: "
        "pip install 'manyview[cli,report]'"
    )
