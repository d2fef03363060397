"""How a claim becomes a finding: rows of the tables to look up, words for them, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from manyview.reproduce import methods
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
        """A table's measured rows of one protocol."""
        sections = [part for part in table["sections"] if part["protocol"] == protocol]
        return [row for part in sections for row in part["rows"] if row["n_seeds"]]

    def row(self, table: Facts, label: str, protocol: str = TUNED) -> Facts | None:
        """One measured row."""
        return next((row for row in self.rows(table, protocol) if row["label"] == label), None)

    def baselines(self, table: Facts) -> list[Facts]:
        """The tuned rows of the methods that the paper compares with."""
        return [row for row in self.rows(table, TUNED) if row["method"] in methods.BASELINES]

    def published(self, table: Facts) -> Facts | None:
        """The better of the two published variants, by mean accuracy."""
        found = [row for label in VARIANTS if (row := self.row(table, label))]
        return max(found, key=accuracy, default=None)


@dataclass(frozen=True)
class Outcome:
    """How a claim fared on one data set, and whether all rows of it were seen.

    ``share`` is 1 where it holds, 0 where it does not, between them where it does in part; None where
    the difference is within the spread over seeds, or there is no spread.
    """

    share: float | None
    is_whole: bool


@dataclass(frozen=True)
class Measured:
    """One sentence of a finding, the lines it rests on, and the outcome if it is to be judged."""

    text: str
    lines: Sequence[str] = field(default_factory=list)
    outcome: Outcome | None = None


Measurements = Iterator[Measured | Facts]
"""Sentences, and in a dict what replaces the "verdict" and "scope" worked out from their outcomes; or,
by that verdict, the one to give instead."""

Rule = Callable[[Results], Facts]


def finding(title: str, claim: str) -> Callable[[Callable[[Results], Measurements]], Rule]:
    """Make a rule of a function that measures: the finding it gives has its verdict."""

    def decorate(measure: Callable[[Results], Measurements]) -> Rule:
        def rule(results: Results) -> Facts:
            given = list(measure(results))
            sentences = [one for one in given if isinstance(one, Measured)]
            own = {key: one[key] for one in given if isinstance(one, dict) for key in one}
            verdict, scope = _judge([s.outcome for s in sentences if s.outcome], results)
            return {
                "title": title,
                "claim": claim,
                "measured": [sentence.text for sentence in sentences],
                "lines": [line for sentence in sentences for line in sentence.lines],
                "verdict": own.get("verdict", own.get(verdict, verdict)) if sentences else UNKNOWN,
                "scope": own.get("scope", scope),
            }

        return rule

    return decorate


def _judge(outcomes: Sequence[Outcome], results: Results) -> tuple[str, str]:
    """Verdict and scope: judged only on whole data, beyond the spread, and not in the quick form."""
    if not outcomes:
        return SHOWN, ""
    if results.is_quick:
        return SHOWN, "shown, not judged: quick form"
    judged = [o.share for o in outcomes if o.is_whole and o.share is not None]
    verdict, parts = SHOWN, []
    if judged:
        n_held = sum(share == 1 for share in judged)
        verdict = YES if n_held == len(judged) else PARTLY if any(judged) else NO
        parts.append(f"holds on {n_held} of {count(len(judged), 'data set')} judged")
    n_cut = sum(not o.is_whole for o in outcomes)
    n_close = len(outcomes) - n_cut - len(judged)
    if n_cut:
        parts.append(f"{n_cut} of {len(outcomes)} shown on a part of the rows")
    if n_close:
        parts.append(f"{n_close} of {len(outcomes)} within the spread over seeds, or of one seed")
    return verdict, "; ".join(parts)


def accuracy(row: Facts) -> float:
    """Mean accuracy of a row."""
    value: float = row["scores"]["accuracy"]["mean"]
    return value


def on_rows_of(own: Facts, other: Facts) -> Facts:
    """A published row's figures on the rows that another saw, where they were measured."""
    same = [own, *own["elsewhere"]]
    return next((row for row in same if row["n_rows"] == other["n_rows"]), own)


def compare(one: Facts, other: Facts) -> float | None:
    """1 if the first mean is larger by more than the larger spread, 0 if smaller, None between.

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


def compare_accuracy(own: Facts, other: Facts, table: Facts) -> Outcome:
    """Whether one row is more accurate than another, and whether both saw all of the data set."""
    share = compare(own["scores"]["accuracy"], other["scores"]["accuracy"])
    return Outcome(share, is_whole(table, own, other))


def is_whole(table: Facts, *rows: Facts) -> bool:
    """Whether rows saw all of a data set."""
    return all(row["n_rows"] == table["n_rows"] for row in rows)


def figure(summary: Facts | None, digits: int = 3) -> str:
    """Write a mean with its spread."""
    if summary is None:
        return "–"
    spread = "" if summary["sd"] is None else f" ± {summary['sd']:.{digits}f}"
    return f"{summary['mean']:.{digits}f}{spread}"


def scores(row: Facts, *names: str) -> str:
    """Write some scores of a row, accuracy by default."""
    texts = [figure(row["scores"][name]) for name in names or ("accuracy",)]
    return ", NMI ".join(texts)


def cut(row: Facts, table: Facts) -> str:
    """Say how many rows a row saw, if not all."""
    return "" if is_whole(table, row) else f", on {row['n_rows']} of {table['n_rows']} rows"


def effort(row: Facts, table: Facts) -> str:
    """Say what a row's figure rests on: settings tried, seeds and rows, in brackets."""
    if row["is_tuned"]:
        chosen = f"best of {count(row['n_tried'], 'setting')}"
        if row["n_tuning_rows"] != row["n_rows"]:
            chosen += f" on {row['n_tuning_rows']} rows"
    else:
        chosen = "not tuned: its defaults"
    return f"({chosen}, {count(row['n_seeds'], 'seed')}{cut(row, table)})"
