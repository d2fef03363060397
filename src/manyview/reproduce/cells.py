"""One cell: a method on some data with settings and a seed; and the file that keeps what it gave."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from manyview.reproduce.problems import Data
from manyview.reproduce.provenance import code_and_machine

Line = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """What is fitted; it has one line in the results, found by its ``id``.

    ``method`` may be a figure's computation too; ``view`` is the one view it sees, None being all.
    """

    data: Data
    method: str
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    view: int | None = None

    @property
    def content(self) -> dict[str, Any]:
        """All that decides the result, as JSON."""
        data = {
            name: value for name, value in asdict(self.data).items() if value not in (None, False)
        }
        others = {name: getattr(self, name) for name in ("method", "settings", "seed", "view")}
        return {"data": json.loads(json.dumps(data)), **others}

    @property
    def id(self) -> str:
        """Ten letters that stand for the content."""
        text = json.dumps(self.content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    def __hash__(self) -> int:
        return hash(self.id)


class Store:
    """Result lines in a file, one JSON object each, or in memory: finished cells are not run again."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lines: dict[str, Line] = {}
        if path is not None and path.exists():
            content = path.read_text(encoding="utf-8")
            if content and not content.endswith("\n"):  # cut off; the next line starts anew
                with path.open("a", encoding="utf-8") as file:
                    file.write("\n")
            self._lines = {line["id"]: line for line in map(_parse, content.splitlines()) if line}

    def add(self, cell: Cell, result: Line, *, limit: float | None = None) -> Line:
        """Keep what a cell gave."""
        line = {
            "id": cell.id,
            **cell.content,
            **result,
            "limit_seconds": limit,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            **code_and_machine(),
        }
        self._lines[cell.id] = line
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, default=float) + "\n")
        return line

    def get(self, cell: Cell) -> Line | None:
        """A cell's line, if there is one."""
        return self._lines.get(cell.id)

    def lines(self, cells: Iterable[Cell]) -> list[Line]:
        """The lines of those cells that have one."""
        found = (self.get(cell) for cell in cells)
        return [line for line in found if line is not None]

    def done(self, cells: Iterable[Cell]) -> list[Line]:
        """The lines of those cells that were finished."""
        return [line for line in self.lines(cells) if line["status"] == "done"]

    def missing(self, cells: Sequence[Cell], *, limit: float | None) -> list[Cell]:
        """The cells still to be computed within a limit of seconds.

        A cell that was stopped is tried again only where its job now has more seconds than then. One
        that failed, whose data did not load, or that was refused is always tried again: memory
        may be free by now.
        """
        return [cell for cell in dict.fromkeys(cells) if not self._is_settled(cell, limit)]

    def _is_settled(self, cell: Cell, limit: float | None) -> bool:
        line = self.get(cell)
        if line is None or line["status"] == "failed":
            return False
        if line["status"] == "refused":
            return cell.method == "refusal"  # to say what is needed was its task
        if line["status"] == "stopped":
            had = line["limit_seconds"]
            return limit is not None and had is not None and limit <= had
        return True

    def all_lines(self) -> list[Line]:
        """Every line."""
        return list(self._lines.values())

    def __len__(self) -> int:
        return len(self._lines)


def _parse(text: str) -> Line | None:
    """A line, or None for one that was cut off when a run was killed."""
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and "id" in line and "status" in line else None
