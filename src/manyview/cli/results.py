"""Results: the folder they go to, labels, facts and reports in files, and scores in words.

A command replaces its own files, not those of other people.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from manyview.cli.console import Failure, echo, say
from manyview.cli.staging import settle, writing
from manyview.errors import InUseError
from manyview.machine import Lock, whole_file
from manyview.wording import count, seconds_in_words, visible

SCORES = {
    "accuracy": "accuracy",
    "nmi": "NMI (max)",
    "ari": "ARI",
    "f_score": "F-score",
    "purity": "purity",
    "inverse_purity": "inverse purity",
}
"""Scores that are shown, and their names."""


def claim_folder(
    folder: Path, files: Collection[str], *, record: str | None = None, force: bool
) -> None:
    """Make ``folder`` if need be, and refuse to replace these files in it, unless asked to.

    A command may replace what an earlier run wrote, if ``record`` is the file by which to know that. The
    folder is this command's until it ends: another one is refused.
    """
    _make_folder(folder)
    _lock(folder)
    settle(folder)
    found = [name for name in files if (folder / name).exists()]
    if found and not force and not (record is not None and _wrote(folder / record)):
        whose = ", not written by this command" if record is not None else ""
        raise Failure(
            f"{folder} holds {', '.join(found)}{whose}. Choose another folder with -o, or replace "
            "them with --force."
        )


def _lock(folder: Path) -> None:
    """Keep other commands out of a folder until this one ends."""
    try:
        lock = Lock(folder / ".lock")
    except InUseError as error:
        who = ""
        if error.process is not None and error.seconds is not None:  # else it has only just begun
            who = f" (process {error.process}, for {seconds_in_words(error.seconds)})"
        raise Failure(
            f"another manyview writes to {folder}{who}. Wait for it, or "
            "choose another folder with -o.",
            exit_code=1,
        ) from error
    except OSError as error:
        name = f" ({error.filename})" if isinstance(error, FileExistsError) else ""
        raise Failure(f"cannot write to the folder {folder}: {error.strerror}{name}.") from error
    click.get_current_context().call_on_close(lock.close)


def refuse_inputs(outputs: Collection[Path], inputs: Iterable[Path], *, flag: str = "-o") -> None:
    """Refuse to write over what is read, whatever was asked for."""
    for given in inputs:
        own = given.resolve()
        for path in outputs:
            if path.resolve() == own or (own.is_dir() and own in path.resolve().parents):
                raise Failure(
                    f"{path} is read by this command, or in a folder that is. Choose another with "
                    f"{flag}."
                )


def claim_file(path: Path, *, force: bool, flag: str = "-o") -> None:
    """Refuse to replace a file, unless asked to; make its folder if need be."""
    if path.exists() and not force:
        raise Failure(
            f"{path} exists. Choose another file with {flag}, or replace it with --force."
        )
    _make_folder(path.parent)


def _make_folder(folder: Path) -> None:
    """Make a folder, and those around it; what is still empty when the command ends is removed."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    click.get_current_context().call_on_close(lambda: _remove_empty(new))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(
            f"cannot make the folder {folder}: {error.strerror}. Choose another with -o."
        ) from error
    if not os.access(folder, os.W_OK):
        raise Failure(f"cannot write to the folder {folder}. Choose another with -o.")


def ready(path: Path) -> Path:
    """The same path; its folder is made again, should another command have removed it while empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes ``path`` at the end: whole, or not at all, and why not."""
    with writing(path), whole_file(ready(path)) as unfinished:
        yield unfinished


def _remove_empty(folders: list[Path]) -> None:
    with suppress(OSError):  # one that holds something, and so do those around it
        for folder in folders:
            folder.rmdir()


def _wrote(record: Path) -> bool:
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("made_by") == _signature()


def _signature() -> str:
    return f"manyview {click.get_current_context().info_name}"


def write_record(path: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """Write facts as JSON, signed so that the next run knows the folder; return them signed."""
    signed = {"made_by": _signature(), **facts}
    with new_file(path) as unfinished:
        unfinished.write_text(json.dumps(signed, indent=2) + "\n", encoding="utf-8")
    return signed


def print_files(folder: Path, files: Mapping[str, str]) -> None:
    """List which of some files are in the folder, and what each holds."""
    found = {str(folder / name): words for name, words in files.items() if (folder / name).exists()}
    width = max(map(len, found))
    for path, words in found.items():
        echo(f"  {path:<{width}}  {words}")


def write_array(path: Path, array: Any) -> None:
    """Write an npy file, whole or not at all."""
    import numpy as np

    with new_file(path) as part, part.open("wb") as file:
        np.save(file, array)


def write_labels(
    path: Path, labels: Any, ids: Any, id_column: str | None, *, confidence: Any
) -> None:
    """Write the clusters as an array (.npy), or with the ids or numbers of the rows (.csv)."""
    if path.suffix == ".npy":
        write_array(path, labels)
        return
    with new_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        write_label_lines(file, labels, ids, id_column, confidence=confidence)


def write_label_lines(
    file: Any, labels: Any, ids: Any, id_column: str | None, *, confidence: Any
) -> None:
    """Write lines with the id (or the number) and the cluster of every row, and how probable it is.

    Ids that a spreadsheet would run as formulas are guarded; on a terminal, nothing but text is shown.
    """
    from manyview.readers.guarding import guard
    from manyview.sources import as_ids

    writer = csv.writer(file, lineterminator="\n")
    names: Any = range(len(labels))
    if ids is not None:
        names = map(guard, as_ids(ids).tolist())  # as they will be compared
        names = map(visible, names) if file.isatty() else names
    columns = {
        "row" if ids is None else guard(id_column or "id"): names,
        "cluster": labels,
        "confidence": (f"{value:.4f}" for value in confidence),
    }
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def describe_views(views: Any) -> str:
    """Names and widths of views in words."""
    return ", ".join(
        f"{name} {width}" for name, width in zip(views.names, views.n_features, strict=True)
    )


def known_rows(labels: Any) -> Any:
    """Which rows have a label, as a mask; ``None``, NaN and empty text are none."""
    from manyview.report.classes import encode_classes

    known = encode_classes(labels, len(labels)).codes >= 0
    if not known.any():
        raise Failure("No row has a label: all of them are empty or NaN.")
    return known


def say_unlabelled(known: Any) -> None:
    """Tell how many rows have no label, if there are any."""
    if not known.all():
        say(f"{count(int((~known).sum()), 'row')} without a label, left out of the scores.")
