"""One cell: a method on some data with settings and a seed; and the file that keeps what it gave."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from manyview.bench.provenance import code_and_machine
from manyview.errors import ParameterError

Line = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """What is fitted; it has one line in the results, found by its ``id``.

    ``data`` is a dataclass that says which rows of what; ``method`` may be a figure's computation too;
    ``view`` is the one view it sees, None being all.
    """

    data: Any
    method: str
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    view: int | None = None

    @property
    def content(self) -> dict[str, Any]:
        """All that decides the result, as JSON."""
        data = {name: value for name, value in asdict(self.data).items() if value is not None}
        others = {name: getattr(self, name) for name in ("method", "settings", "seed", "view")}
        return {"data": data, **others}

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
        self._seeds: dict[str, dict[int, str]] = {}
        if path is not None and path.exists():
            content = path.read_text(encoding="utf-8", errors="replace")
            _refuse_other(content, path)
            if content and not content.endswith("\n"):  # cut off; the next line starts anew
                with path.open("a", encoding="utf-8") as file:
                    file.write("\n")
            for line in filter(None, map(_parse, content.splitlines())):
                self._keep(line)

    def _keep(self, line: Line) -> None:
        self._lines[line["id"]] = line
        self._seeds.setdefault(_without_seed(line), {})[line["seed"]] = line["id"]

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
        self._keep(line)
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

    def seeds(self, cell: Cell) -> list[Line]:
        """The finished lines of a cell and of those that differ from it in the seed alone."""
        found = sorted(self._seeds.get(_without_seed(cell.content), {}).items())
        lines = [self._lines[name] for _, name in found]
        return [line for line in lines if line["status"] == "done"]

    def missing(self, cells: Sequence[Cell], limit: float = math.inf) -> list[Cell]:
        """The cells still to be computed within a limit of seconds.

        A cell that was stopped is tried again only where its job now has more seconds than then. One
        that failed, whose data did not load, or that was refused is always tried again: memory
        may be free by now.
        """
        return [cell for cell in dict.fromkeys(cells) if not self._is_settled(cell, limit)]

    def _is_settled(self, cell: Cell, limit: float) -> bool:
        line = self.get(cell)
        if line is None or line["status"] in ("failed", "refused"):
            return False
        if line["status"] == "stopped":
            had = line["limit_seconds"]
            return had is not None and limit <= had
        return True

    def all_lines(self) -> list[Line]:
        """Every line."""
        return list(self._lines.values())

    def __len__(self) -> int:
        return len(self._lines)


def _without_seed(content: dict[str, Any]) -> str:
    return json.dumps([content[name] for name in ("data", "method", "settings", "view")])


def _refuse_other(content: str, path: Path) -> None:
    """Raise ParameterError if nothing in a file is a result, so that nothing is added to other files."""
    is_cut = content.startswith('{"id": ')  # killed in the first line
    if content.strip() and not is_cut and not any(map(_parse, content.splitlines())):
        raise ParameterError("results", f"must be a file of results, or a new one; got {path}.")


def _parse(text: str) -> Line | None:
    """A line, or None for one that was cut off when a run was killed."""
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and "id" in line and "status" in line else None
