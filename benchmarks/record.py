"""Result lines: what was measured, by which code, on which machine, beside its target."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from manyview.bench import provenance
from manyview.machine import count_jobs

__all__ = ["RESULTS", "ROOT", "Report", "Target", "code_and_machine"]

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Target:
    """Bounds of a figure; ``stretch`` is worth trying for.

    ``indicative`` says that the target was set for another size than the one measured.
    """

    at_most: float | None = None
    at_least: float | None = None
    stretch: float | None = None
    indicative: bool = False

    def __str__(self) -> str:
        if self.at_least is not None and self.at_most is not None:
            text = f"{self.at_least:g} to {self.at_most:g}"
        else:
            text = f"<= {self.at_most:g}" if self.at_least is None else f">= {self.at_least:g}"
        return text if self.stretch is None else f"{text} ({self.stretch:g})"

    def verdict(self, figure: float) -> str:
        """Give "pass", "pass (stretch)" or "miss", with a question mark where only indicative."""
        low = float("-inf") if self.at_least is None else self.at_least
        high = float("inf") if self.at_most is None else self.at_most
        word = "pass" if low <= figure <= high else "miss"
        if self.stretch is not None and word == "pass":
            reached = figure <= self.stretch if self.at_least is None else figure >= self.stretch
            word += " (stretch)" if reached else ""
        return f"{word}?" if self.indicative else word


@dataclass
class Report:
    """The result lines of one benchmark: appended to ``NAME.jsonl`` as they come, then a table."""

    name: str
    quick: bool = False
    folder: Path = RESULTS
    lines: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        case: str,
        figure: float | None = None,
        target: Target | None = None,
        *,
        seconds: Any = None,
        peak_bytes: Any = None,
        scores: Any = None,
        threads: int | None = None,
        seed: Any = 0,
        **facts: Any,
    ) -> None:
        """Record one figure and what belongs to it; ``facts`` are what only this benchmark knows."""
        line = {
            "benchmark": self.name,
            "case": case,
            "figure": figure,
            "target": None if target is None else str(target),
            "verdict": None if target is None or figure is None else target.verdict(figure),
            "seconds": seconds,
            "peak_bytes": peak_bytes,
            "scores": scores,
            "threads": count_jobs() if threads is None else threads,
            "seed": seed,
            "form": "quick" if self.quick else "full",
            **facts,
            **code_and_machine(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        self.lines.append(line)
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{self.name}.jsonl").open("a") as file:
            file.write(json.dumps(line, default=float) + "\n")
        print(f"  {_row(line)}", flush=True)

    def missed(self) -> list[dict[str, Any]]:
        """Give the lines that miss their target."""
        return [line for line in self.lines if (line["verdict"] or "").startswith("miss")]

    def summary(self) -> str:
        """Give the lines that have a target, as a table."""
        judged = [line for line in self.lines if line["target"] is not None]
        if not judged:
            return f"{self.name}: nothing here has a target"
        counts = f"{len(judged) - len(self.missed())} of {len(judged)} targets met"
        return "\n".join([f"{self.name}: {counts}", *(f"  {_row(line)}" for line in judged)])


def _row(line: dict[str, Any]) -> str:
    figure = "" if line["figure"] is None else f"{line['figure']:.4g}"
    note = line.get("note") or line["verdict"] or ""
    return f"{line['case']:<58} {figure:>10}   {line['target'] or '':<14} {note}".rstrip()


def code_and_machine() -> dict[str, Any]:
    """What else a figure depends on."""
    return provenance.code_and_machine(("daqp", "quadprog"))
