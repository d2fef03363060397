"""Made data that is easy to see and easy to get wrong: uneven sizes, curves, views of noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.datasets.synthetic import RandomState, as_widths, check_counts
from manyview.views.container import Views

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

_TRIES = 50
_WORD_RATE, _OWN_WORD_RATE, _OWN_WORDS = 0.02, 0.5, 0.05


def make_uneven(
    sizes: Sequence[int] = (900, 50, 50),
    n_features: Sequence[int] = (10, 10),
    *,
    shape: str = "blobs",
    separation: float = 8.0,
    stretch: float = 1.0,
    noise_features: Sequence[int] = (),
    n_words: int = 0,
    duplicates: float = 0.0,
    random_state: RandomState = None,
) -> Views:
    """Clusters of given sizes, as blobs or curves, that every view shows in its own way.

    Blobs have other centres and directions in every view. Curves are seen from another side, so a
    sample has the same place along its curve in all of them. Noise is drawn for each view.

    Parameters
    ----------
    sizes : sequence of int, default=(900, 50, 50)
        Number of samples in each cluster.
    n_features : sequence of int, default=(10, 10)
        Number of columns of each view.
    shape : {"blobs", "moons", "circles", "spirals"}, default="blobs"
        Gaussians; two half circles that reach into each other; rings around one centre; arms that
        make three quarters of a turn. Curves lie in a plane of the view, and need two columns.
    separation : float, default=8.0
        Least distance between centres, or the gap between curves; the noise in every column has
        unit deviation.
    stretch : float, default=1.0
        How many times longer than wide blobs are, each in a direction of its own.
    noise_features : sequence of int, default=()
        Number of columns of each further view that is nothing but noise.
    n_words : int, default=0
        Columns of a further, sparse view of counts, in which clusters have words of their own.
    duplicates : float, default=0.0
        Share of samples that are, in every view, copies of another sample of their cluster.
    random_state : int, Generator or None
        Seed. The same seed gives the same views.

    Returns
    -------
    Views
        In random order, with ``target``.

    Examples
    --------
    >>> from manyview.datasets import make_uneven
    >>> views = make_uneven((200, 20), (3,), noise_features=(5,), random_state=0)
    >>> views
    Views(220 rows; view_0: 3, noise_0: 5)
    """
    counts = [int(size) for size in sizes]
    _check(counts, shape, separation=separation, stretch=stretch, duplicates=duplicates)
    widths = as_widths(n_features)
    if shape != "blobs" and min(widths) < 2:
        raise ValueError(f"shape={shape!r} needs at least 2 columns in every view; got {widths}.")
    rng = np.random.default_rng(random_state)
    target = rng.permutation(np.repeat(np.arange(len(counts), dtype=np.int32), counts))
    views: dict[str, Array | sparse.csr_array] = {}
    curves = None if shape == "blobs" else separation * _CURVES[shape](target, rng)
    for i, width in enumerate(widths):
        if curves is None:
            points = _blobs(target, width, separation, stretch, rng)
        else:
            points = curves @ np.linalg.qr(rng.normal(size=(width, 2)))[0].T
        views[f"view_{i}"] = points + rng.normal(size=points.shape)
    for i, width in enumerate(
        as_widths(noise_features, "noise_features") if noise_features else []
    ):
        views[f"noise_{i}"] = rng.normal(size=(len(target), width))
    if n_words:
        views["words"] = _words(target, n_words, rng)
    if duplicates:
        original = _copy_some(target, duplicates, rng)
        views = {name: view[original] for name, view in views.items()}
    return Views(views, target=target)


def _blobs(
    target: Labels, width: int, separation: float, stretch: float, rng: np.random.Generator
) -> Array:
    """Centre of each sample's blob, and where the sample lies along its blob's long direction."""
    n_clusters = int(target.max()) + 1
    centers = _place_centers(n_clusters, width, separation, rng)
    long = rng.normal(size=(n_clusters, width))
    long /= np.linalg.norm(long, axis=1, keepdims=True)
    along = rng.normal(scale=np.sqrt(stretch**2 - 1.0), size=(len(target), 1))
    points: Array = centers[target] + along * long[target]
    return points


def _place_centers(n: int, width: int, least: float, rng: np.random.Generator) -> Array:
    """The most even of several draws of n points, so scaled that the nearest two are ``least`` apart."""
    draws = rng.normal(size=(_TRIES, n, width))
    pairs = np.triu_indices(n, 1)
    if not pairs[0].size:
        return np.zeros((n, width))
    distances = np.linalg.norm(draws[:, pairs[0]] - draws[:, pairs[1]], axis=2)
    best = np.argmax(distances.min(axis=1) / distances.mean(axis=1))
    scaled: Array = draws[best] * (least / distances[best].min())
    return scaled


def _moons(target: Labels, rng: np.random.Generator) -> Array:
    """Two half circles of radius 2, which come as near as 1."""
    angle = np.pi * rng.uniform(size=len(target))
    upper = 2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.where((target == 0)[:, None], upper, [2.0, 1.0] - upper)


def _circles(target: Labels, rng: np.random.Generator) -> Array:
    """Rings of radius 1, 2, ..."""
    return _polar(1.0 + target.astype(np.float64), 2 * np.pi * rng.uniform(size=len(target)))


def _spirals(target: Labels, rng: np.random.Generator) -> Array:
    """Arms one apart, from half a turn to one and a quarter."""
    n_arms = int(target.max()) + 1
    turns = np.sqrt(rng.uniform(0.5**2, 1.25**2, size=len(target)))  # alike per length of an arm
    return _polar(n_arms * turns, 2 * np.pi * (turns + target / n_arms))


_CURVES: dict[str, Callable[[Labels, np.random.Generator], Array]] = {
    "moons": _moons,
    "circles": _circles,
    "spirals": _spirals,
}


def _polar(radius: Array, angle: Array) -> Array:
    points: Array = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points


def _words(target: Labels, n_words: int, rng: np.random.Generator) -> sparse.csr_array:
    """Counts: any word is rare, but those of the sample's own cluster."""
    own = rng.uniform(size=(int(target.max()) + 1, n_words)) < _OWN_WORDS
    rates = np.where(own, _OWN_WORD_RATE, _WORD_RATE)
    return sparse.csr_array(rng.poisson(rates[target]).astype(np.float64))


def _copy_some(target: Labels, share: float, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Which sample each one shows: itself, or for a share of them another of the same cluster."""
    original = np.arange(len(target))
    for cluster in range(int(target.max()) + 1):
        members = rng.permutation(np.flatnonzero(target == cluster))
        n_copies = min(int(share * len(members)), len(members) - 1)
        original[members[:n_copies]] = rng.choice(members[n_copies:], n_copies)
    return original


def _check(sizes: list[int], shape: str, **numbers: float) -> None:
    if not sizes:
        raise ValueError("sizes needs a number of samples for each cluster; got none.")
    check_counts(sizes=min(sizes))
    known = ("blobs", *_CURVES)
    if shape not in known:
        raise ValueError(f"shape must be one of {', '.join(map(repr, known))}; got {shape!r}.")
    if shape == "moons" and len(sizes) != 2:
        raise ValueError(f"There are two moons; got {len(sizes)} sizes.")
    bounds = {"separation": (0.0, np.inf), "stretch": (1.0, np.inf), "duplicates": (0.0, 1.0)}
    for name, value in numbers.items():
        low, high = bounds[name]
        if not low <= value <= high:
            raise ValueError(f"{name} must be between {low:g} and {high:g}; got {value}.")
