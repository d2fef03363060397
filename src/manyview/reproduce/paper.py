"""What the LMVSC paper prints: its tables as data, its settings, and its terms of cost.

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
    """The numbers of anchors that the paper tries: k, 50 and 100.

    Examples
    --------
    >>> anchor_numbers(10)
    (10, 50, 100)
    """
    return tuple(sorted({n_clusters, 50, 100}))


class PaperData(NamedTuple):
    """A column of the two descriptions of data sets, each view with its number of columns."""

    title: str
    views: tuple[tuple[str, int], ...]
    n_classes: int
    n_samples: int


_CALTECH = (
    ("Gabor", 48), ("Wavelet moments", 40), ("CENTRIST", 254),
    ("HOG", 1984), ("GIST", 512), ("LBP", 928),
)  # fmt: skip

DATA: dict[str, PaperData] = {
    "handwritten": PaperData(
        "Handwritten",
        (("Profile correlations", 216), ("Fourier coefficients", 76), ("Karhunen coefficients", 64),
         ("Morphological", 6), ("Pixel averages", 240), ("Zernike moments", 47)),
        10, 2000,
    ),
    "caltech7": PaperData("Caltech7", _CALTECH, 7, 1474),
    "caltech20": PaperData("Caltech20", _CALTECH, 20, 2386),
    "reuters": PaperData(
        "Reuters",
        (("English", 21531), ("French", 24892), ("German", 34251), ("Italian", 15506),
         ("Spanish", 11547)),
        6, 18758,
    ),
    "nus": PaperData(
        "NUS",
        (("Color Histogram", 65), ("Color moments", 226), ("Color correlation", 145),
         ("Edge distribution", 74), ("Wavelet texture", 129)),
        31, 30000,
    ),
    "rcv1": PaperData("RCV1", (("", 1979),), 103, 193844),
    "covertype": PaperData("CoverType", (("", 54),), 7, 581012),
}  # fmt: skip
"""The descriptions of the multi-view and of the single-view data sets; MNIST is in the text only."""


def _read_rows() -> dict[str, list[PaperRow]]:
    rows: dict[str, list[PaperRow]] = {}
    text = (files("manyview.reproduce") / "paper.csv").read_text(encoding="utf-8")
    for data, method, view, *scores, seconds in list(csv.reader(text.splitlines()))[1:]:
        accuracy, nmi, purity = (float(score) if score else None for score in scores)
        row = PaperRow(method, int(view) if view else None, accuracy, nmi, purity, float(seconds))
        rows.setdefault(data, []).append(row)
    return rows


ROWS = _read_rows()
"""Every row of every results table, by data set."""


def find_row(data: str, method: str, view: int | None = None) -> PaperRow | None:
    """The printed row of a method, or None where the paper has none.

    Examples
    --------
    >>> find_row("handwritten", "LMVSC").accuracy
    0.9165
    """
    rows = ROWS.get(data, ())
    return next((row for row in rows if (row.method, row.view) == (method, view)), None)


class CostTerm(NamedTuple):
    """How the paper says one stage's time grows: its powers of m, d, v and k."""

    stage: str
    text: str
    powers: dict[str, int]


COST_TERMS = (
    CostTerm("anchors", "O(n m t p), p the sum of all d", {"m": 1, "d": 1, "v": 1, "k": 0}),
    CostTerm("graph", "O(n m^3 v)", {"m": 3, "d": 0, "v": 1, "k": 0}),
    CostTerm("embedding", "O(m^3 v^3 + 2 m v n)", {"m": 3, "d": 0, "v": 3, "k": 0}),
    CostTerm("labels", "O(n k^2 t)", {"m": 0, "d": 0, "v": 0, "k": 2}),
)
"""The terms of the paper's complexity analysis, by stage."""
