"""The methods of the paper's tables, and the settings that are tried where labels may choose."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from manyview.reproduce import paper

Settings = dict[str, Any]

PUBLISHED = "LMVSC as published"
DEFAULT = "LMVSC"
KMEANS, KMEANS_STANDARDISED = "KMeans", "KMeans standardised"
BASELINES = ("E3SC", "SSCOMP", "AMGL", "MLRSSC", "MSCIAS")
"""The baselines of the paper's tables, in its order."""

SINGLE_VIEW = ("E3SC", "SSCOMP")
"""Methods for one view: run on each."""

QUADRATIC = ("E3SC", "SSCOMP", "MLRSSC")
"""Methods that say how much memory they need, and refuse to start where it is not free."""

NOTES = {"MSCIAS": "our reconstruction from the published description, not the authors' algorithm"}

TITLES = {
    KMEANS: "k-means",
    KMEANS_STANDARDISED: "k-means, standardised columns",
    "MSCIAS": "MSC_IAS",
}


def _grid(**options: Sequence[Any]) -> list[Settings]:
    return [dict(zip(options, values, strict=True)) for values in product(*options.values())]


SMALL: dict[str, list[Settings]] = {
    "SSCOMP": _grid(n_nonzero=[5, 10], unit_rows=[True, False]),
    "E3SC": [
        *_grid(solver=["l0"], n_nonzero=[5, 10]),
        *_grid(solver=["admm"], alpha=[20.0, 800.0], max_iter=[100]),
    ],
}
"""A few settings of the methods that are cheap enough for them; the others run as they are."""

FULL: dict[str, list[Settings]] = {
    "SSCOMP": _grid(
        n_nonzero=[3, 5, 10, 20], unit_rows=[True, False], affinity=["symmetric", "neighbors"]
    ),
    "E3SC": [
        *_grid(solver=["l0"], n_nonzero=[3, 5, 10, 20], affine=[False, True]),
        *_grid(solver=["admm"], alpha=[5.0, 20.0, 100.0, 800.0], affine=[False, True]),
    ],
    "AMGL": _grid(n_neighbors=[5, 10], scaling=[None, "standard"]),
    "MLRSSC": [
        {"agreement": agreement, "beta_low_rank": b, "beta_sparse": 1 - b, "beta_agreement": c}
        for agreement, b, c in product(["centroid", "pairwise"], [0.3, 0.7], [0.3, 0.7])
    ],
    "MSCIAS": _grid(similarity_ridge=[1e-2, 0.3, 3.0], dependence=[0.0, 0.5, 0.9]),
}
"""Settings to choose from; methods that are not named here run as they are."""


def baseline_settings(method: str, size: str) -> list[Settings]:
    """The settings to try, the method's own defaults first; ``size`` is "none", "small" or "full"."""
    grids = {"none": {}, "small": SMALL, "full": FULL}[size]
    return [{}, *grids.get(method, [])]


def published_settings(
    n_clusters: int, variant: str, size: str = "full", *, standardised: bool = False
) -> list[Settings]:
    """The paper's grid (m in k, 50, 100; alpha in .001 to 10) for one variant, or a part of it."""
    numbers = paper.anchor_numbers(n_clusters)
    alphas = {"full": paper.ALPHAS, "small": paper.ALPHAS[::2], "tiny": (0.1,)}[size]
    if size == "tiny":
        numbers = numbers[:2]
    return [
        {"variant": variant, "n_anchors": m, "alpha": alpha, "standardised": standardised}
        for m, alpha in product(numbers, alphas)
    ]


def title(method: str, view: int | None = None) -> str:
    """A method's name as the tables print it, with the number of the view from 1."""
    name = TITLES.get(method, method)
    return name if view is None else f"{name}({view + 1})"


def describe(settings: Settings) -> str:
    """Settings as text."""
    shown = [
        f"{'m' if name == 'n_anchors' else name} = {value:{'g' if isinstance(value, float) else ''}}"
        for name, value in settings.items()
        if name not in ("variant", "standardised")
    ]
    return ", ".join(shown) or "defaults"
