"""The paper's claims, and the rules of ``claims.csv`` that judge what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from manyview.bench.cells import Line
from manyview.reproduce import paper
from manyview.reproduce.drawings import Curve, Dots, Plot

HOLDS, FAILS, OPEN = "holds", "does not hold", "within the spread"
PARTLY, SHOWN, UNKNOWN = "holds in part", "not judged", "not measured"


@dataclass(frozen=True)
class Case:
    """One line of a section: its cells, the values that claims are judged by, and what they rest on.

    A difference of at most ``spread`` says nothing; ``why_not`` is why a case is not judged.
    """

    cells: Sequence[str]
    values: Mapping[str, float] = field(default_factory=dict)
    spread: float = 0.0
    why_not: str = ""
    lines: Sequence[Line] = ()
    drawn: Sequence[Dots | Curve] = ()


@dataclass(frozen=True)
class Measured:
    """What was measured for a section: the table's columns, its lines, and how they are drawn."""

    head: Sequence[str]
    cases: Sequence[Case]
    plot: Plot


@dataclass(frozen=True)
class Claim:
    """A claim and the rule that judges it: values at least or at most the bar, or within it."""

    section: str
    key: str
    title: str
    paper: str
    sense: str
    bar: float
    shown: str

    def judge(self, case: Case) -> str:
        """The verdict on one case; empty where the claim says nothing of it."""
        value = case.values.get(self.key)
        if value is None:
            return ""
        if case.why_not:
            return case.why_not
        if self.sense == "within":
            return HOLDS if abs(value) <= max(self.bar, case.spread) else FAILS
        if abs(value - self.bar) <= case.spread:
            return OPEN
        return HOLDS if (value > self.bar) == (self.sense == "at least") else FAILS

    def here(self, cases: Sequence[Case]) -> str:
        """What was measured, in short."""
        values = [case.values[self.key] for case in cases if self.key in case.values]
        if not values:
            return "–"
        number, _, rest = self.shown.partition("}")
        low, high = (f"{number}}}".format(value) for value in (min(values), max(values)))
        return (low if low == high else f"{low} to {high}") + rest

    def verdict(self, cases: Sequence[Case], *, is_quick: bool) -> str:
        """The verdict on all cases: of those that are judged, if any."""
        given = Counter(filter(None, (self.judge(case) for case in cases)))
        if not given:
            return UNKNOWN
        n_judged = given[HOLDS] + given[FAILS]
        if is_quick or not n_judged:
            return SHOWN if is_quick else f"{SHOWN}: {given.most_common(1)[0][0]}"
        if given[HOLDS] and given[FAILS]:
            return f"{PARTLY}: {given[HOLDS]} of {n_judged}"
        return HOLDS if given[HOLDS] else FAILS


CLAIMS = [Claim(bar=float(line.pop("bar")), **line) for line in paper.read_table("claims.csv")]
"""The claims, in the order of the page."""
