"""The ways to cluster that benchmarks.quality compares: ours, and rivals that are told the true k."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph

from manyview import LMVSC, Views, baselines
from manyview.baselines.umap_kmeans import map_rows
from manyview.reproduce import paper
from manyview.stages.rows import side_by_side as join_scaled
from manyview.stages.scaling import fit_scaler
from manyview.views.container import with_short_indices

SCALINGS = ("standard", "energy", "unit")
BASELINE_ROWS = 2_100
"""Most rows for the comparison methods, whose cost grows with the square or cube of them."""

Fit = Callable[[Views, int, int], Any]
"""Labels of views, with so many clusters and this seed."""


@dataclass(frozen=True)
class Method:
    """A way to cluster: settings to try; of several, the best by the labels is kept."""

    name: str
    tries: Mapping[str, Fit]
    is_ours: bool = False  # so its lines are measured again when the code has changed
    most_rows: float = math.inf
    settings: Mapping[str, Any] = field(default_factory=dict)  # what all tries share: nothing

    def labels(self, views: Views, k: int, seed: int, settings: Mapping[str, Any]) -> Any:
        """Labels by one of the settings, the first by default: a method as the bench knows them."""
        if len(views) > self.most_rows:
            raise ValueError(f"{len(views)} rows are more than {self.most_rows}")
        return self.tries[settings.get("setting", next(iter(self.tries)))](views, k, seed)


def _lmvsc(views: Views, k: int, seed: int) -> Any:
    return LMVSC(k, random_state=seed).fit(views).labels_


def _lmvsc_auto(views: Views, _: int, seed: int) -> Any:
    return LMVSC("auto", random_state=seed).fit(views).labels_


def _late(views: Views, k: int, seed: int) -> Any:
    """Labels of one graph a view, once, with nothing chosen from the data."""
    fixed = LMVSC(
        k, fusion="late", n_repeats=1, alpha=0.01, scaling="standard", view_weights="equal",
        random_state=seed,
    )  # fmt: skip
    return fixed.fit(views).labels_


def _lmvsc_with_noise(views: Views, k: int, seed: int, *, n_noise: int) -> Any:
    """Labels with further views of noise; of one view alone, noise cannot be told."""
    if views.n_views < 2:
        raise ValueError("noise views are added to two good ones or more")
    rng = np.random.default_rng([seed, n_noise])
    noise = {f"noise {i}": rng.normal(size=(len(views), 50)) for i in range(n_noise)}
    return _lmvsc(Views({**dict(views.items()), **noise}), k, seed)


def _kmeans(X: Any, k: int, seed: int) -> Any:
    return KMeans(k, n_init=10, random_state=seed).fit(X).labels_


def _spectral(X: Any, k: int, seed: int) -> Any:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit(X).labels_


def _mixture(X: Any, k: int, seed: int) -> Any:
    X = X.toarray() if sparse.issparse(X) else X
    return GaussianMixture(k, covariance_type="diag", n_init=3, random_state=seed).fit_predict(X)


def _umap(X: Any, k: int, seed: int) -> Any:
    """K-means on a map made as UMAP's documentation advises for clustering."""
    return _kmeans(map_rows(X, seed), k, seed)


def _leiden(X: Any, k: int, seed: int) -> Any:
    """Communities of the graph of 15 nearest neighbours, links that are mutual counting twice.

    Of 20 resolutions, the one that gives k communities, or nearest to k.
    """
    import igraph

    near = kneighbors_graph(X, min(15, X.shape[0] - 1))
    links = sparse.triu(near + near.T).tocoo()
    graph = igraph.Graph(n=X.shape[0], edges=np.stack([links.row, links.col], axis=1))
    igraph.set_random_number_generator(random.Random(seed))
    low, high, best = 1e-3, 1e3, None
    for _ in range(20):
        middle = float(np.sqrt(low * high))
        found = graph.community_leiden(
            "modularity", weights=links.data, resolution=middle, n_iterations=5
        )
        if best is None or abs(len(found) - k) < abs(len(best) - k):
            best = found
        if len(found) == k:
            break
        low, high = (middle, high) if len(found) < k else (low, middle)
    return np.array(best.membership)


def _published(views: Views, k: int, seed: int, *, m: int | None, alpha: float) -> Any:
    m = min(m or k, len(views))
    return LMVSC.as_published(k, m, alpha, random_state=seed).fit(views).labels_


def _baseline(views: Views, k: int, seed: int, *, name: str) -> Any:
    return getattr(baselines, name)(k, random_state=seed).fit(views).labels_


def _scaled(fit: Callable[[Any, int, int], Any]) -> dict[str, Fit]:
    """A rival with each of the usual scalings."""

    def scale_and_fit(views: Views, k: int, seed: int, *, kind: str) -> Any:
        return fit(side_by_side(views, kind), k, seed)

    return {kind: partial(scale_and_fit, kind=kind) for kind in SCALINGS}


def side_by_side(views: Views, kind: str) -> Any:
    """All views scaled, as one matrix. Its centre does not matter to who looks at distances."""
    scaled = [fit_scaler(array, name=name, kind=kind).apply(array) for name, array in views.items()]
    return with_short_indices(join_scaled(scaled, [1.0] * len(scaled)).matrix)


_EASY = {"k-means": _kmeans, "spectral": _spectral, "mixture": _mixture}

METHODS = {
    "default": Method("LMVSC, defaults", {"auto": _lmvsc}, is_ours=True),
    "auto": Method("LMVSC, k suggested", {"auto": _lmvsc_auto}, is_ours=True),
    "late": Method("LMVSC, one graph a view", {"late": _late}, is_ours=True),
    **{
        f"noise{n}": Method(
            f"LMVSC, {n} views of noise besides",
            {"auto": partial(_lmvsc_with_noise, n_noise=n)},
            is_ours=True,
        )
        for n in (1, 3)
    },
    "kmeans": Method("k-means", _scaled(_kmeans)),
    "spectral": Method("kNN spectral", _scaled(_spectral)),
    "umap": Method("UMAP + k-means", _scaled(_umap)),
    "leiden": Method("Leiden, k searched", _scaled(_leiden)),
    "easy": Method(
        "k-means, spectral, mixture",
        {
            f"{name}, {kind}": fit
            for name, one in _EASY.items()
            for kind, fit in _scaled(one).items()
        },
    ),
    "published": Method(
        "the paper's LMVSC",
        {
            f"m={m or 'k'} alpha={alpha:g}": partial(_published, m=m, alpha=alpha)
            for m in (None, 50, 100)
            for alpha in paper.ALPHAS
        },
    ),
    **{
        name: Method(name, {"defaults": partial(_baseline, name=name)}, most_rows=BASELINE_ROWS)
        for name in ("LSC", "AMGL", "MLRSSC", "MSCIAS")
    },
}
RIVALS = ("kmeans", "spectral", "umap", "leiden")
"""Who is told k and may take the scaling that the true labels like best: the line to beat."""
