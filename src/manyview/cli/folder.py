"""The folder a command writes into: its own files are replaced, other people's are not."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from manyview.cli.failure import Failure
from manyview.machine import whole_file


def claim_folder(folder: Path, files: Sequence[str], *, record: str | None, force: bool) -> None:
    """Make ``folder`` if need be, and refuse to replace files that no earlier run wrote.

    Parameters
    ----------
    folder : Path
        Where results go.
    files : sequence of str
        Names that will be written. Nothing else in the folder is touched.
    record : str or None
        The one of ``files`` by which a run recognises the output of an earlier one, which it may
        replace; None if it may not.
    force : bool
        Replace them whoever wrote them.
    """
    _make_folder(folder)
    found = [name for name in files if (folder / name).exists()]
    if found and not force and not (record is not None and _wrote(folder / record)):
        whose = ", not written by this command" if record is not None else ""
        raise Failure(
            f"{folder} holds {', '.join(found)}{whose}. Choose another folder with -o, or replace "
            "them with --force.",
            is_bad_input=True,
        )


def claim_file(path: Path, *, force: bool) -> None:
    """Refuse to replace a file, unless asked to; make its folder if need be."""
    if path.exists() and not force:
        raise Failure(
            f"{path} exists. Choose another file with -o, or replace it with --force.",
            is_bad_input=True,
        )
    _make_folder(path.parent)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(
            f"cannot make the folder {folder}: {error.strerror}.", is_bad_input=True
        ) from error
    if not os.access(folder, os.W_OK):
        raise Failure(f"cannot write to the folder {folder}.", is_bad_input=True)


def write_record(path: Path, content: dict[str, Any]) -> None:
    """Write facts as JSON, signed so that the next run knows the folder."""
    text = json.dumps({"made_by": _signature(), **content}, indent=2)
    with whole_file(path) as unfinished:
        unfinished.write_text(text + "\n", encoding="utf-8")


def _signature() -> str:
    return f"manyview {click.get_current_context().info_name}"


def _wrote(record: Path) -> bool:
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("made_by") == _signature()
