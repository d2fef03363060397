"""Rows of the tables as findings look them up, and the words they are written with."""

from __future__ import annotations

from collections.abc import Iterable

from manyview.reproduce.plan import RELEASED, TUNED
from manyview.reproduce.tables import Facts

YES, PARTLY, NO = "reproduced", "reproduced in part", "not reproduced"
SHOWN, UNKNOWN = "measured here", "not measured in this run"
NEAR = 0.03
"""How far below the paper's figure still counts as reaching it."""

VARIANTS = ("LMVSC, paper variant", RELEASED)
STANDARDISED = "LMVSC, released, standardised first"
OURS = "LMVSC, our defaults"


class Results:
    """Rows of the tables, by data set, label and protocol; only those that were measured."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.tables = [table for table in facts["tables"] if table["is_present"]]

    def rows(self, table: Facts, protocol: str) -> list[Facts]:
        """Give a table's measured rows of one protocol."""
        sections = [part for part in table["sections"] if part["protocol"] == protocol]
        return [row for part in sections for row in part["rows"] if row["n_seeds"]]

    def row(self, table: Facts, label: str, protocol: str = TUNED) -> Facts | None:
        """Give one measured row."""
        return next((row for row in self.rows(table, protocol) if row["label"] == label), None)

    def published(self, table: Facts) -> Facts | None:
        """Give the better of the two published variants, by mean accuracy."""
        found = [row for label in VARIANTS if (row := self.row(table, label))]
        return max(found, key=accuracy, default=None)


def make(title: str, claim: str) -> Facts:
    """Give a finding that says nothing yet."""
    return {"title": title, "claim": claim, "measured": [], "verdict": SHOWN, "lines": []}


def accuracy(row: Facts) -> float:
    """Mean accuracy of a row."""
    value: float = row["scores"]["accuracy"]["mean"]
    return value


def judge(outcomes: Iterable[bool]) -> str:
    """Give the verdict on a claim that was put to several tests."""
    listed = list(outcomes)
    return YES if all(listed) else PARTLY if any(listed) else NO


def figure(summary: Facts) -> str:
    """Write a mean with its spread."""
    spread = "" if summary["sd"] is None else f" ± {summary['sd']:.3f}"
    return f"{summary['mean']:.3f}{spread}"


def cut(row: Facts, table: Facts) -> str:
    """Say how many rows a row saw, if not all."""
    if row["n_rows"] == table["n_rows"]:
        return ""
    return f", on {row['n_rows']} of {table['n_rows']} rows"
