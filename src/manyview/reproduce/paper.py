"""What the LMVSC paper prints: its tables as data, and its settings.

Accuracy and NMI (mutual information divided by the larger entropy) are what they say; what the paper
calls purity is inverse purity, as the authors' routine computes it with its arguments exchanged.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import NamedTuple


class PaperRow(NamedTuple):
    """A row of a table as printed; None where the paper prints "-".

    ``method`` is spelt as in :mod:`manyview.baselines`; ``view`` is the position, from 0, of the view
    that a method for one view was run on.
    """

    method: str
    view: int | None
    accuracy: float | None
    nmi: float | None
    purity: float | None
    seconds: float

    @property
    def label(self) -> str:
        """The row's name as printed: with the number of the view, from 1."""
        return self.method if self.view is None else f"{self.method}({self.view + 1})"


ALPHAS = (0.001, 0.01, 0.1, 1.0, 10.0)
"""The alphas that the paper tries."""


def anchor_numbers(n_clusters: int) -> tuple[int, ...]:
    """The numbers of anchors that the paper tries: k, 50 and 100."""
    return tuple(sorted({n_clusters, 50, 100}))


def read_table(name: str) -> list[dict[str, str]]:
    """The lines of one of this package's CSV files."""
    text = (files("manyview.reproduce") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _read_rows() -> dict[str, list[PaperRow]]:
    rows: dict[str, list[PaperRow]] = {}
    for data, method, view, *scores, seconds in (r.values() for r in read_table("paper.csv")):
        accuracy, nmi, purity = (float(score) if score else None for score in scores)
        row = PaperRow(method, int(view) if view else None, accuracy, nmi, purity, float(seconds))
        rows.setdefault(data, []).append(row)
    return rows


ROWS = _read_rows()
"""Every row of every results table, by data set."""


def find_row(data: str, method: str, view: int | None = None) -> PaperRow | None:
    """The printed row of a method, or None where the paper has none."""
    rows = ROWS.get(data, ())
    return next((row for row in rows if (row.method, row.view) == (method, view)), None)
