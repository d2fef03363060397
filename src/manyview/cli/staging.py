"""Several files that replace those of an earlier run all together, or not at all.

They are written into a folder of their own beside the old ones, ``.unfinished``. When all are on disk
it is renamed to ``.finished``: from then on the new ones are the results, and are moved to their places.
A run that fails or is killed before that leaves the old ones as they were; what a run that is killed
after it has not moved yet, the next command that looks into the folder does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from manyview.errors import ReadError, WriteError
from manyview.machine import sync, write_error

_UNFINISHED, _FINISHED, _LIST = ".unfinished", ".finished", "files.json"


@contextmanager
def replacing(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A folder to write some of these files to; at the end they replace all of these in ``folder``.

    Whoever calls this holds the folder's lock. Files of other names are never touched.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "old.txt").write_text("1")
    >>> with replacing(folder, ["old.txt", "new.txt"]) as unfinished:
    ...     _ = (unfinished / "new.txt").write_text("2")
    >>> [file.name for file in folder.iterdir()]
    ['new.txt']
    """
    unfinished = folder / _UNFINISHED
    with writing(unfinished):
        _remove(unfinished, names)  # what a killed run left
        unfinished.mkdir(parents=True)
    try:
        yield unfinished
        written = [name for name in names if (unfinished / name).exists()]
        with writing(unfinished / _LIST):
            for name in written:
                sync(unfinished / name)
            content = {"written": written, "replaced": list(names)}
            (unfinished / _LIST).write_text(json.dumps(content), encoding="utf-8")
            sync(unfinished / _LIST)
            os.replace(unfinished, folder / _FINISHED)
    except BaseException:
        with suppress(OSError):
            _remove(unfinished, names)
        raise
    settle(folder)


def settle(folder: Path) -> None:
    """Move finished files to their places, if a run that was killed has left some."""
    finished = folder / _FINISHED
    try:
        content = json.loads((finished / _LIST).read_text(encoding="utf-8"))
        written = {Path(name).name for name in content["written"]}
        replaced = [Path(name).name for name in content["replaced"]]
    except (OSError, ValueError, TypeError, KeyError):  # there are none, as a rule
        return
    for name in replaced:
        with writing(folder / name):
            if name not in written:
                (folder / name).unlink(missing_ok=True)
            else:
                with suppress(FileNotFoundError):  # it is moved already
                    os.replace(finished / name, folder / name)
    with writing(finished), suppress(FileNotFoundError):
        _remove(finished, ())


def _remove(folder: Path, names: Sequence[str]) -> None:
    """Remove a folder of ours; it stays if it holds anything else."""
    if not folder.is_dir():
        return
    for name in (*names, _LIST):
        (folder / name).unlink(missing_ok=True)
        for half in folder.glob(f".{name}.*.part"):
            half.unlink()
    folder.rmdir()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write into one error that names the file, and says what would help."""
    try:
        yield
    except (ReadError, WriteError):
        raise
    except OSError as error:
        raise write_error(error, path, str(path), parameter="output") from error
