"""What a finding rests on: rows of the tables to look up, one way to write them, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from manyview.reproduce import methods
from manyview.reproduce.plan import TUNED, VARIANTS
from manyview.reproduce.tables import Facts
from manyview.wording import count

YES, PARTLY, NO = "reproduced", "reproduced in part", "not reproduced"
SHOWN, UNKNOWN = "measured here", "not measured in this run"

CUT = "shown on a part of the rows"
CLOSE = "within the spread over seeds, or of one seed"
"""Why a data set is not judged."""


class Results:
    """Rows of the tables, by data set, label and protocol; only those that were measured."""

    def __init__(self, facts: Facts) -> None:
        self.facts, self.is_quick = facts, facts["form"] == "quick"
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

    def judge(self, outcomes: Sequence[float | str]) -> tuple[str, str]:
        """Verdict and scope, from the outcomes of data sets; the quick form is not judged."""
        if not outcomes:
            return SHOWN, ""
        if self.is_quick:
            return SHOWN, "shown, not judged: quick form"
        judged = [outcome for outcome in outcomes if not isinstance(outcome, str)]
        verdict, parts = SHOWN, []
        if judged:
            n_held = judged.count(1)
            verdict = YES if n_held == len(judged) else PARTLY if any(judged) else NO
            parts.append(f"holds on {n_held} of {count(len(judged), 'data set')} judged")
        reasons = Counter(outcome for outcome in outcomes if isinstance(outcome, str))
        parts += [f"{n} of {len(outcomes)} {reason}" for reason, n in sorted(reasons.items())]
        return verdict, "; ".join(parts)

    def in_words(self, outcome: float | str | None) -> str:
        """The outcome of one data set, to follow its sentence."""
        if outcome is None or self.is_quick:
            return ""
        if isinstance(outcome, str):
            return f" Not judged: {outcome}."
        return {1.0: " The claim holds.", 0.0: " It does not hold."}.get(
            outcome, " It holds in part."
        )


@dataclass(frozen=True)
class Measured:
    """One sentence of a finding, the lines it rests on, and how the claim fared, if it is to be judged.

    The outcome is 1 where it holds, 0 where it does not, between them where it does in part; or why
    nothing can be said.
    """

    text: str
    lines: Sequence[str] = field(default_factory=list)
    outcome: float | str | None = None


def accuracy(row: Facts) -> float:
    """Mean accuracy of a row."""
    return float(row["scores"]["accuracy"]["mean"])


def compare(one: Facts, other: Facts, *, is_whole: bool = True) -> float | str:
    """1 if the first mean is larger by more than the larger spread, 0 if smaller; or why neither.

    One seed has no spread, so nothing is said of it; nor is anything judged on a part of the rows.
    """
    if not is_whole:
        return CUT
    gap = one["mean"] - other["mean"]
    if one["sd"] is None or other["sd"] is None or abs(gap) <= max(one["sd"], other["sd"]):
        return CLOSE
    return float(gap > 0)


def is_whole(table: Facts, *rows: Facts) -> bool:
    """Whether rows saw all of a data set."""
    return all(row["n_rows"] == table["n_rows"] for row in rows)


def figure(summary: Facts | None, digits: int = 3) -> str:
    """A mean with its spread, as text."""
    if summary is None:
        return "–"
    spread = "" if summary["sd"] is None else f" ± {summary['sd']:.{digits}f}"
    return f"{summary['mean']:.{digits}f}{spread}"


def describe(row: Facts, table: Facts, *names: str, printed: dict[str, float] | None = None) -> str:
    """A row as every sentence has it: scores (accuracy by default), and what they rest on.

    With ``printed``, the paper's figures stand beside, and how many seeds reach them.
    """
    texts = []
    for name in printed or names or ["accuracy"]:
        word = "NMI" if name == "nmi" else name.replace("_", " ")
        text = f"{word} {figure(row['scores'][name])}"
        if printed is not None:
            n_above = sum(each[name] >= printed[name] for each in row["each"])
            text += f" [paper {printed[name]:.4f}; {n_above} of {len(row['each'])} seeds reach it]"
        texts.append(text)
    note = f" ({row['note']})" if row["note"] else ""
    cut = "" if is_whole(table, row) else f"; on {row['n_rows']} of {table['n_rows']} rows"
    return f"{row['label']}{note}: {', '.join(texts)} ({row['how']}{cut})"


def beside(
    table: Facts,
    rows: Sequence[Facts | None],
    *names: str,
    printed: dict[str, float] | None = None,
    before: str = "",
    outcome: float | str | None = None,
) -> Measured:
    """The sentence that most findings are made of: rows of a table beside each other."""
    shown = [row for row in rows if row is not None]
    texts = "; ".join(describe(row, table, *names, printed=printed) for row in shown)
    lines = [line for row in shown for line in row["lines"]]
    return Measured(f"{table['title']}: {before}{texts}.", lines, outcome)
