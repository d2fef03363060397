"""What the LMVSC paper prints: its tables as data, its settings, and its terms of cost.

Accuracy and NMI (mutual information divided by the larger entropy) are what they say; what the paper
calls purity is inverse purity, as the authors' routine computes it with its arguments exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperRow:
    """A row of a table as printed; None where the paper prints "-".

    Attributes
    ----------
    method : str
        Name, as :mod:`manyview.baselines` spells it.
    view : int or None
        Position of the view a method for one view was run on, from 0.
    accuracy, nmi, purity, seconds : float or None
        The figures.
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
    """Give the numbers of anchors that the paper tries: k, 50 and 100.

    Examples
    --------
    >>> anchor_numbers(10)
    (10, 50, 100)
    """
    return tuple(sorted({n_clusters, 50, 100}))


@dataclass(frozen=True)
class PaperData:
    """A column of the two descriptions of data sets.

    Attributes
    ----------
    title : str
        The paper's name.
    views : tuple of (str, int)
        Name and number of columns of each view.
    n_classes, n_samples : int
        As printed.
    """

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

ROWS: dict[str, tuple[PaperRow, ...]] = {
    "caltech7": (
        PaperRow("E3SC", 0, 0.306, 0.1993, 0.3677, 10.32),
        PaperRow("E3SC", 1, 0.3256, 0.2648, 0.3582, 9.84),
        PaperRow("E3SC", 2, 0.4261, 0.2534, 0.4573, 18.19),
        PaperRow("E3SC", 3, 0.5509, 0.4064, 0.5787, 82.43),
        PaperRow("E3SC", 4, 0.5122, 0.3863, 0.5598, 27.8),
        PaperRow("E3SC", 5, 0.5244, 0.4273, 0.5773, 42.86),
        PaperRow("SSCOMP", 0, 0.2619, 0.064, 0.2958, 0.84),
        PaperRow("SSCOMP", 1, 0.3759, 0.2017, 0.4023, 0.82),
        PaperRow("SSCOMP", 2, 0.3256, 0.1354, 0.346, 1.5),
        PaperRow("SSCOMP", 3, 0.5604, 0.4631, 0.6357, 5.35),
        PaperRow("SSCOMP", 4, 0.4715, None, None, 2.11),
        PaperRow("SSCOMP", 5, 0.5, 0.3688, 0.5577, 3.0),
        PaperRow("AMGL", None, 0.4518, 0.4243, 0.4674, 20.12),
        PaperRow("MLRSSC", None, 0.3731, 0.2111, 0.4145, 22.26),
        PaperRow("MSCIAS", None, 0.3976, 0.2455, 0.4444, 57.18),
        PaperRow("LMVSC", None, 0.7266, 0.5193, 0.7517, 135.79),
    ),
    "caltech20": (
        PaperRow("E3SC", 0, 0.2531, 0.267, 0.2657, 27.71),
        PaperRow("E3SC", 1, 0.267, 0.3248, 0.2993, 26.81),
        PaperRow("E3SC", 2, 0.2921, 0.3358, 0.3282, 46.69),
        PaperRow("E3SC", 3, 0.4107, 0.5576, 0.4908, 180.7),
        PaperRow("E3SC", 4, 0.4162, 0.4834, 0.4644, 61.32),
        PaperRow("E3SC", 5, 0.4845, 0.4976, 0.5444, 99.62),
        PaperRow("SSCOMP", 0, 0.1928, 0.1359, 0.2087, 1.66),
        PaperRow("SSCOMP", 1, 0.2511, 0.2338, 0.2955, 1.56),
        PaperRow("SSCOMP", 2, 0.1945, 0.1319, 0.236, 2.75),
        PaperRow("SSCOMP", 3, 0.3667, 0.4487, 0.4288, 10.02),
        PaperRow("SSCOMP", 4, 0.293, 0.1681, 0.601, 4.45),
        PaperRow("SSCOMP", 5, 0.3567, 0.3735, 0.4346, 5.88),
        PaperRow("AMGL", None, 0.3013, 0.4054, 0.3164, 77.63),
        PaperRow("MLRSSC", None, 0.2821, 0.267, 0.3039, 607.28),
        PaperRow("MSCIAS", None, 0.3127, 0.3138, 0.3374, 93.87),
        PaperRow("LMVSC", None, 0.5306, 0.5271, 0.5847, 342.97),
    ),
    "handwritten": (
        PaperRow("E3SC", 0, 0.7555, 0.7491, 0.8385, 29.94),
        PaperRow("E3SC", 1, 0.579, 0.5279, 0.62, 20.8),
        PaperRow("E3SC", 2, 0.73, 0.7226, 0.8095, 19.47),
        PaperRow("E3SC", 3, 0.453, 0.4623, 0.529, 16.07),
        PaperRow("E3SC", 4, 0.7555, 0.7153, 0.8345, 31.52),
        PaperRow("E3SC", 5, 0.6345, 0.6189, 0.6825, 18.69),
        PaperRow("SSCOMP", 0, 0.468, 0.3939, 0.5485, 2.21),
        PaperRow("SSCOMP", 1, 0.364, 0.2913, 0.4475, 2.07),
        PaperRow("SSCOMP", 2, 0.243, 0.1536, 0.4475, 2.39),
        PaperRow("SSCOMP", 3, 0.3005, 0.3191, 0.325, 0.81),
        PaperRow("SSCOMP", 4, 0.537, 0.4911, 0.664, 2.23),
        PaperRow("SSCOMP", 5, 0.3115, 0.1586, 0.367, 1.37),
        PaperRow("AMGL", None, 0.846, 0.8732, 0.871, 67.58),
        PaperRow("MLRSSC", None, 0.789, 0.7422, 0.8375, 52.44),
        PaperRow("MSCIAS", None, 0.7975, 0.7732, 0.8755, 80.78),
        PaperRow("LMVSC", None, 0.9165, 0.8443, 0.9165, 10.55),
    ),
    "reuters": (
        PaperRow("SSCOMP", 0, 0.2714, None, None, 4721.9),
        PaperRow("SSCOMP", 1, 0.273, None, None, 5070.8),
        PaperRow("SSCOMP", 2, 0.2735, None, None, 4524.1),
        PaperRow("SSCOMP", 3, 0.2719, None, None, 4515.7),
        PaperRow("SSCOMP", 4, 0.3128, None, None, 4162.4),
        PaperRow("AMGL", None, 0.1672, None, None, 32397.0),
        PaperRow("MSCIAS", None, 0.5063, 0.2759, 0.6031, 7015.7),
        PaperRow("LMVSC", None, 0.589, 0.3346, 0.6145, 130.73),
    ),
    "nus": (
        PaperRow("SSCOMP", 0, 0.1153, 0.0755, 0.1412, 53.63),
        PaperRow("SSCOMP", 1, 0.1206, None, None, 102.64),
        PaperRow("SSCOMP", 2, 0.1138, None, None, 90.88),
        PaperRow("SSCOMP", 3, 0.095, None, None, 64.26),
        PaperRow("SSCOMP", 4, 0.0756, None, None, 83.83),
        PaperRow("MSCIAS", None, 0.1548, 0.1521, 0.1675, 45386.0),
        PaperRow("LMVSC", None, 0.1553, 0.1295, 0.1982, 165.39),
    ),
    "mnist-gaussian": (
        PaperRow("SSCOMP", 0, 0.43, 0.4726, 0.5965, 1120.8),
        PaperRow("SSCOMP", 1, 0.4465, 0.4749, 0.5908, 1151.5),
        PaperRow("SSCOMP", 2, 0.4418, 0.4754, 0.592, 1130.3),
        PaperRow("LMVSC", None, 0.5565, 0.5096, 0.6282, 55.17),
    ),
    "mnist-speckle": (
        PaperRow("SSCOMP", 0, 0.4417, 0.477, 0.5967, 1314.9),
        PaperRow("SSCOMP", 1, 0.456, 0.4795, 0.5995, 1287.7),
        PaperRow("SSCOMP", 2, 0.4556, 0.4855, 0.6043, 1303.4),
        PaperRow("LMVSC", None, 0.592, 0.5178, 0.6183, 66.01),
    ),
    "mnist-salt-and-pepper": (
        PaperRow("SSCOMP", 0, 0.4536, 0.4782, 0.5964, 1181.9),
        PaperRow("SSCOMP", 1, 0.4513, 0.4822, 0.6021, 1306.1),
        PaperRow("SSCOMP", 2, 0.4816, 0.4923, 0.6307, 1302.0),
        PaperRow("LMVSC", None, 0.5889, 0.5374, 0.6598, 73.33),
    ),
    "rcv1": (
        PaperRow("KMeans", None, 0.1846, 0.2447, 0.255, 1569.07),
        PaperRow("LMVSC", None, 0.1929, 0.26, 0.2985, 1035.0),
    ),
    "covertype": (
        PaperRow("KMeans", None, 0.2505, 0.0617, 0.3039, 156.72),
        PaperRow("LMVSC", None, 0.3862, 0.1273, 0.4889, 2755.8),
    ),
}
"""Every row of every results table, by data set."""


def find_row(data: str, method: str, view: int | None = None) -> PaperRow | None:
    """Give the printed row of a method, or None where the paper has none.

    Examples
    --------
    >>> find_row("handwritten", "LMVSC").accuracy
    0.9165
    """
    rows = ROWS.get(data, ())
    return next((row for row in rows if (row.method, row.view) == (method, view)), None)


@dataclass(frozen=True)
class CostTerm:
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
