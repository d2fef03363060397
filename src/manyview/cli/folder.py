"""The folder a command writes into: its own files are replaced, other people's are not."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import click

from manyview.cli.failures import Failure
from manyview.machine import whole_file


def claim_folder(
    folder: Path, files: Collection[str], *, record: str | None = None, force: bool
) -> None:
    """Make ``folder`` if need be, and refuse to replace files that no earlier run wrote.

    Parameters
    ----------
    folder : Path
        Where results go.
    files : collection of str
        Names that will be written. Nothing else in the folder is touched.
    record : str, optional
        The one of ``files`` by which a run recognises the output of an earlier one, which it may
        replace.
    force : bool
        Replace them whoever wrote them.
    """
    _make_folder(folder)
    found = [name for name in files if (folder / name).exists()]
    if found and not force and not (record is not None and _wrote(folder / record)):
        whose = ", not written by this command" if record is not None else ""
        raise Failure(
            f"{folder} holds {', '.join(found)}{whose}. Choose another folder with -o, or replace "
            "them with --force."
        )


def claim_file(path: Path, *, force: bool) -> None:
    """Refuse to replace a file, unless asked to; make its folder if need be."""
    if path.exists() and not force:
        raise Failure(f"{path} exists. Choose another file with -o, or replace it with --force.")
    _make_folder(path.parent)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot make the folder {folder}: {error.strerror}.") from error
    if not os.access(folder, os.W_OK):
        raise Failure(f"cannot write to the folder {folder}.")


def write_record(path: Path, content: dict[str, Any]) -> dict[str, Any]:
    """Write facts as JSON, signed so that the next run knows the folder; give them signed."""
    signed = {"made_by": _signature(), **content}
    with whole_file(path) as unfinished:
        unfinished.write_text(json.dumps(signed, indent=2) + "\n", encoding="utf-8")
    return signed


def _signature() -> str:
    return f"manyview {click.get_current_context().info_name}"


def _wrote(record: Path) -> bool:
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("made_by") == _signature()


def print_files(folder: Path, files: Mapping[str, str]) -> None:
    """List which of some files are in the folder, and what each holds."""
    found = {str(folder / name): words for name, words in files.items() if (folder / name).exists()}
    width = max(map(len, found))
    for path, words in found.items():
        click.echo(f"  {path:<{width}}  {words}")
