"""The ways to cluster that benchmarks.quality compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from sklearn.cluster import KMeans

from manyview import LMVSC, Views, baselines
from manyview.reproduce import paper
from manyview.reproduce.grid import fit_grid
from manyview.stages.rows import side_by_side as join_scaled
from manyview.stages.scaling import fit_scaler
from manyview.views.container import with_short_indices

USUAL_SCALINGS = ("standard", "energy", "unit")
OUR_SCALINGS = ("hellinger", "normal-scores")
SLOW_ROWS = 12_000
"""Most rows for grids that are tuned with labels, and for the comparison methods."""
RIVAL_ROWS = 2_100


@dataclass(frozen=True)
class Method:
    """A way to cluster: settings to try; of several, the best by the labels is kept."""

    name: str
    tries: Callable[[int], Sequence[tuple[str, Callable[[Views, int], Any]]]]
    most_rows: int | None = None
    n_seeds: int | None = None


class Timed(NamedTuple):
    """Labels, and the seconds that a fit would have taken which shared its work with others."""

    labels: Any
    seconds: float


def _default(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
    return [("auto", lambda views, seed: LMVSC(k, random_state=seed).fit(views).labels_)]


def _kmeans(*kinds: str) -> Callable[[int], list[tuple[str, Callable[[Views, int], Any]]]]:
    def fit(views: Views, seed: int, k: int, kind: str) -> Any:
        return KMeans(k, n_init=10, random_state=seed).fit(side_by_side(views, kind)).labels_

    return lambda k: [
        (kind, lambda views, seed, kind=kind: fit(views, seed, k, kind)) for kind in kinds
    ]


def _published(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
    grids: dict[tuple[int, int], dict[float, Timed]] = {}

    def fit(views: Views, seed: int, m: int, alpha: float) -> Timed:
        if (m, seed) not in grids:  # alphas share anchors and products
            fits = fit_grid(
                views, k, min(m, len(views)), paper.ALPHAS, variants=["paper"], seed=seed
            )
            grids[m, seed] = {
                each.alpha: Timed(each.labels, sum(each.stage_seconds.values())) for each in fits
            }
        return grids[m, seed][alpha]

    pairs = product(paper.anchor_numbers(k), paper.ALPHAS)
    return [
        (f"m={m} alpha={alpha:g}", lambda views, seed, m=m, alpha=alpha: fit(views, seed, m, alpha))
        for m, alpha in pairs
    ]


def _tuned(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
    def fit(views: Views, seed: int, **settings: Any) -> Any:
        return LMVSC(k, random_state=seed, **settings).fit(views).labels_

    grid = product(("normal-scores", "standard", "hellinger", "unit"), (0.0, 0.03, 0.1))
    return [
        (
            f"{kind} locality={g:g}",
            lambda views, seed, kind=kind, g=g: fit(views, seed, scaling=kind, locality=g),
        )
        for kind, g in grid
    ]


def _baseline(name: str) -> Callable[[int], list[tuple[str, Callable[[Views, int], Any]]]]:
    def tries(k: int) -> list[tuple[str, Callable[[Views, int], Any]]]:
        make = getattr(baselines, name)
        return [
            ("defaults", lambda views, seed: make(k, random_state=seed).fit(views).labels_),
        ]

    return tries


METHODS = {
    "default": Method("LMVSC, defaults", _default),
    "kmeans": Method(
        "k-means, best of 3 scalings by the labels", _kmeans(*USUAL_SCALINGS), n_seeds=1
    ),
    "kmeans-ours": Method(
        "k-means on our scalings, better of 2 by the labels", _kmeans(*OUR_SCALINGS), n_seeds=1
    ),
    "published": Method("the paper's LMVSC, tuned with labels", _published, n_seeds=2),
    "tuned": Method("LMVSC, tuned with labels (a ceiling)", _tuned, SLOW_ROWS, 1),
    **{
        name: Method(name, _baseline(name), RIVAL_ROWS, 1)
        for name in ("LSC", "AMGL", "MLRSSC", "MSCIAS")
    },
}


def side_by_side(views: Views, kind: str) -> Any:
    """Give all views scaled, as one matrix. Their centres do not matter to k-means."""
    scaled = [fit_scaler(array, name=name, kind=kind).apply(array) for name, array in views.items()]
    return with_short_indices(join_scaled(scaled, [1.0] * len(scaled)).matrix)
