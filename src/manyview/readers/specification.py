"""How a view in a file is written: ``PATH``, ``NAME=PATH``, ``PATH::KEY``, ``NAME=PATH::KEY``."""

from __future__ import annotations

from pathlib import Path

from manyview.errors import ReadError
from manyview.readers.contents import Request


def parse(text: str, *, folder: Path | None = None) -> Request:
    """The file, the key inside it and the name that a text means.

    What exists as a file is a path, whole, whatever its name contains; so ``./a=b.npy`` and
    ``odd::name.csv`` work. Else the part before the first ``=`` is a name, unless it holds a path
    separator, and the part after the last ``::`` that follows a file is a key.

    Parameters
    ----------
    text : str
        For example ``colour=colour.csv`` or ``all.h5::group/colour``.
    folder : Path, optional
        Where relative paths start; the working folder by default.

    Raises
    ------
    ReadError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manyview.readers import parse
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "all.h5").write_bytes(b"")
    >>> found = parse("colour=all.h5::group/colour", folder=folder)
    >>> found.name, found.path.name, found.key
    ('colour', 'all.h5', 'group/colour')
    """
    start = folder or Path()
    whole = _find(text, start)
    if whole is not None:
        return Request(*whole, text=text)
    name, equals, rest = text.partition("=")
    text_path = text
    if equals and name and rest and not {"/", "\\"} & set(name):
        named = _find(rest, start)
        if named is not None:
            return Request(*named, name, text)
        text_path = rest
    if not text_path.strip("= ") or (equals and not rest.strip()):
        raise ReadError(f"{text!r} holds no path. Write PATH, NAME=PATH or PATH::KEY.")
    raise ReadError(_not_found(text_path.partition("::")[0] or text_path, start))


def _find(text: str, start: Path) -> tuple[Path, str | None] | None:
    """Path and key of the longest beginning that exists."""
    beginning, key = text, None
    while True:
        path = start / Path(beginning).expanduser()
        if beginning and path.exists():
            if key == "":
                raise ReadError(
                    f"{text} ends in '::', but says nothing of what is inside the file. Write "
                    f"{text}KEY, or leave '::' out."
                )
            return path, key
        beginning, separator, last = beginning.rpartition("::")
        if not separator:
            return None
        key = last if key is None else f"{last}::{key}"


def _not_found(path: str, start: Path) -> str:
    parent = (start / path).parent
    if not parent.is_dir():
        return f"There is no file {path}: there is no folder {parent}."
    near = sorted(
        entry.name
        for entry in parent.iterdir()
        if entry.name.lower().startswith(Path(path).stem.lower()[:3] or " ")
    )
    hint = f" Beside it there is {', '.join(near[:3])}." if near else ""
    return f"There is no file {path}.{hint}"
