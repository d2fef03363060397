"""Result lines: what was measured, by which code, on which machine, beside its target."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"

_LIBRARIES = ("manyview", "numpy", "scipy", "scikit-learn", "numba", "daqp", "quadprog")


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
            "threads": n_cores() if threads is None else threads,
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


def n_cores() -> int:
    """Number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@cache
def code_and_machine() -> dict[str, Any]:
    """What else a figure depends on. No host name: results are public."""
    # Results themselves are not code: writing them does not make it differ from the commit.
    changed = _git("status", "--porcelain", "--", ".", ":!benchmarks/results")
    return {
        "commit": _git("rev-parse", "HEAD"),
        "dirty": None if changed is None else bool(changed),
        "cores": n_cores(),
        "cpu": _cpu_model(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    found = {}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _cpu_model() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
