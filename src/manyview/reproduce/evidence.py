"""Rows of the tables as findings look them up, and the words they are written with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manyview.reproduce.plan import TUNED, VARIANTS
from manyview.reproduce.tables import Facts
from manyview.wording import count

YES, PARTLY, NO = "reproduced", "reproduced in part", "not reproduced"
SHOWN, UNKNOWN = "measured here", "not measured in this run"
NEAR = 0.03
"""How far below the paper's figure still counts as reaching it."""

STANDARDISED = "LMVSC, released, standardised first"
OURS = "LMVSC, our defaults"


class Results:
    """Rows of the tables, by data set, label and protocol; only those that were measured."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.is_quick = facts["form"] == "quick"
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


def on_rows_of(own: Facts, other: Facts) -> Facts:
    """Give a published row's figures on the rows that another saw, where they were measured."""
    same = [own, *own["elsewhere"]]
    return next((row for row in same if row["n_rows"] == other["n_rows"]), own)


@dataclass(frozen=True)
class Outcome:
    """How a claim fared on one data set.

    Attributes
    ----------
    share : float or None
        1 where it holds, 0 where it does not, between them where it does in part; None where the
        difference is within the spread over seeds, or there is no spread.
    is_whole : bool
        Whether all rows of the data set were seen.
    """

    share: float | None
    is_whole: bool


def make(title: str, claim: str) -> Facts:
    """Give a finding that says nothing yet; ``scope`` says what its verdict rests on."""
    return {
        "title": title,
        "claim": claim,
        "measured": [],
        "verdict": SHOWN,
        "scope": "",
        "lines": [],
    }


def accuracy(row: Facts) -> float:
    """Mean accuracy of a row."""
    value: float = row["scores"]["accuracy"]["mean"]
    return value


def compare(one: Facts, other: Facts) -> float | None:
    """Give 1 if the first mean is larger by more than the larger spread, 0 if smaller, None between.

    One seed has no spread, so nothing is said of it.

    Examples
    --------
    >>> compare({"mean": 0.9, "sd": 0.01}, {"mean": 0.8, "sd": 0.02})
    1.0
    >>> compare({"mean": 0.81, "sd": 0.05}, {"mean": 0.8, "sd": 0.01}) is None
    True
    >>> compare({"mean": 0.9, "sd": 0.01}, {"mean": 0.8, "sd": None}) is None
    True
    """
    gap = one["mean"] - other["mean"]
    if one["sd"] is None or other["sd"] is None or abs(gap) <= max(one["sd"], other["sd"]):
        return None
    return 1.0 if gap > 0 else 0.0


def judge(found: Facts, outcomes: Sequence[Outcome], results: Results) -> None:
    """Give a finding its verdict: only on whole data, beyond the spread, and not in the quick form."""
    if not outcomes:
        return
    if results.is_quick:
        found["scope"] = "shown, not judged: quick form"
        return
    judged = [o.share for o in outcomes if o.is_whole and o.share is not None]
    parts = []
    if judged:
        found["verdict"] = _verdict(judged)
        n_held = sum(share == 1 for share in judged)
        parts.append(f"holds on {n_held} of {count(len(judged), 'data set')} judged")
    n_cut = sum(not o.is_whole for o in outcomes)
    n_close = len(outcomes) - n_cut - len(judged)
    if n_cut:
        parts.append(f"{n_cut} of {len(outcomes)} shown on a part of the rows")
    if n_close:
        parts.append(f"{n_close} of {len(outcomes)} within the spread over seeds, or of one seed")
    found["scope"] = "; ".join(parts)


def _verdict(shares: Sequence[float]) -> str:
    if all(share == 1 for share in shares):
        return YES
    return NO if all(share == 0 for share in shares) else PARTLY


def figure(summary: Facts) -> str:
    """Write a mean with its spread."""
    spread = "" if summary["sd"] is None else f" ± {summary['sd']:.3f}"
    return f"{summary['mean']:.3f}{spread}"


def cut(row: Facts, table: Facts) -> str:
    """Say how many rows a row saw, if not all."""
    if row["n_rows"] == table["n_rows"]:
        return ""
    return f", on {row['n_rows']} of {table['n_rows']} rows"


def effort(row: Facts, table: Facts) -> str:
    """Say what a row's figure rests on: settings tried, seeds and rows, in brackets."""
    if row["is_tuned"]:
        chosen = f"best of {count(row['n_tried'], 'setting')}"
        if row["n_tuning_rows"] != row["n_rows"]:
            chosen += f" on {row['n_tuning_rows']} rows"
    else:
        chosen = "not tuned: its defaults"
    return f"({chosen}, {count(row['n_seeds'], 'seed')}{cut(row, table)})"


def is_whole(table: Facts, *rows: Facts) -> bool:
    """Whether rows saw all of a data set."""
    return all(row["n_rows"] == table["n_rows"] for row in rows)
