"""The methods of the paper's tables, and the settings that are tried where labels may choose."""

from __future__ import annotations

from itertools import product

from manyview.bench.methods import Settings, grid
from manyview.reproduce import paper

RELEASED, AS_TEXT = "LMVSC, released", "LMVSC, paper"
PUBLISHED = {RELEASED: "released", AS_TEXT: "paper"}
"""The published method as the authors' script has it, and as the paper's text has it: its variants."""

DEFAULT = "LMVSC"
KMEANS = "KMeans"
BASELINES = ("E3SC", "SSCOMP", "AMGL", "MLRSSC", "MSCIAS")
"""The baselines of the paper's tables, in its order."""

COMPARED = ("KMeans", "LSC", "SSCOMP", "E3SC", "AMGL", "MLRSSC", "MSCIAS", "SubspaceMVSC")
"""The baselines whose scores in two orders of rows are compared; of later ones, ``bench`` tells."""

SINGLE_VIEW = ("E3SC", "SSCOMP")
"""Methods for one view: run on each."""

TITLES = {KMEANS: "k-means", "MSCIAS": "MSC_IAS (our reconstruction)"}

TIMED: Settings = {"n_anchors": 50, "alpha": 0.01}
"""Of the published method, where only its time counts."""

FIRST: dict[str, Settings] = {
    **dict.fromkeys(PUBLISHED, TIMED),
    KMEANS: {"variant": "litekmeans"},  # what the field's figures are made with
}
"""What is fitted first, where it is not a method's defaults."""

AS_PRINTED: dict[str, tuple[Settings, str]] = {
    "E3SC": ({"penalty": 1.0}, "exactness: the paper's fixed penalty stops short of the solution"),
    "SSCOMP": ({"unit_rows": False}, "scaling: rows of unit length"),
    "AMGL": ({}, ""),
    "MLRSSC": ({"scaling": None}, "scaling: rows of unit length"),
    "MSCIAS": ({"scaling": None}, "scaling: columns standardised"),
}
"""Settings nearest to what was run for the paper, and what our defaults differ in from them."""


GRIDS: dict[str, list[Settings]] = {
    "SSCOMP": grid(n_nonzero=[3, 5, 10, 20], unit_rows=[True, False]),
    "E3SC": [
        *grid(solver=["l0"], n_nonzero=[5, 10], affine=[False, True]),
        *grid(solver=["admm"], alpha=[5.0, 20.0, 100.0]),
    ],
    "AMGL": grid(n_neighbors=[5, 10], scaling=[None, "standard"]),
    "MLRSSC": [
        {"agreement": agreement, "beta_low_rank": low_rank, "beta_sparse": round(1 - low_rank, 1)}
        for agreement, low_rank in product(["centroid", "pairwise"], [0.3, 0.7])
    ],
    "MSCIAS": grid(similarity_ridge=[1e-2, 0.3, 3.0], dependence=[0.0, 0.9]),
}
"""Settings to choose from, besides a method's defaults; methods not named here run as they are."""


def candidates(method: str, n_clusters: int) -> list[Settings]:
    """All settings that labels choose from; of the published method the paper's grid."""
    if method not in PUBLISHED:
        return [FIRST.get(method, {}), *GRIDS.get(method, [])]
    numbers = paper.anchor_numbers(n_clusters)
    return grid(n_anchors=numbers, alpha=paper.ALPHAS)


def title(method: str, view: int | None = None) -> str:
    """A method's name as the tables print it, with the number of the view from 1."""
    name = TITLES.get(method, method)
    return name if view is None else f"{name}({view + 1})"


def describe(settings: Settings) -> str:
    """Settings as text."""
    shown = [
        f"{'m' if name == 'n_anchors' else name} = {value:{'g' if isinstance(value, float) else ''}}"
        for name, value in settings.items()
        if value is not None
    ]
    return (
        ", ".join(shown + [f"no {name}" for name in settings if settings[name] is None])
        or "defaults"
    )
