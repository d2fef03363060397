"""Made data with known classes, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.views.container import Views

RandomState = int | np.random.Generator | None

# Views are filled block by block, so that only they themselves need memory. The size is part of
# what a seed means: another one would give other numbers.
_BLOCK_ROWS = 65536


def make_views(
    n_samples: int = 1000,
    n_clusters: int = 5,
    n_features: Sequence[int] = (20, 30, 40),
    *,
    n_latent: int = 8,
    separation: float = 6.0,
    noise: float | Sequence[float] = 0.5,
    weights: Sequence[float] | None = None,
    dtype: npt.DTypeLike = np.float64,
    random_state: RandomState = None,
) -> Views:
    """Gaussian clusters, seen through a random linear map in each view.

    Each sample is a point of a Gaussian of unit variance around its cluster's centre; each view
    shows that point through a map of its own, which on average keeps lengths, plus noise.

    Parameters
    ----------
    n_samples, n_clusters : int
        Numbers of samples and of clusters.
    n_features : sequence of int
        Number of columns of each view.
    n_latent : int, default=8
        Dimension of the points behind the views.
    separation : float, default=6.0
        Typical distance between two centres.
    noise : float or sequence of float, default=0.5
        Size of the noise, in all views or in each; at 1 it is as large as the clusters' spread.
    weights : sequence of float, optional
        Share of each cluster; all the same by default.
    dtype : float32 or float64, default=float64
        Type of the views.
    random_state : int, Generator or None
        Seed. The same seed gives the same views.

    Returns
    -------
    Views
        In random order, with ``target``.

    Examples
    --------
    >>> from manyview.datasets import make_views
    >>> views = make_views(100, 3, (5, 7), random_state=0)
    >>> views
    Views(100 rows; view_0: 5, view_1: 7)
    """
    check_counts(n_samples=n_samples, n_clusters=n_clusters, n_latent=n_latent)
    widths = as_widths(n_features)
    levels = [
        level * np.sqrt(n_latent / width)
        for level, width in zip(_one_each(noise, len(widths), "noise"), widths, strict=True)
    ]
    rng = np.random.default_rng(random_state)
    target = rng.permutation(_sizes_to_labels(n_samples, n_clusters, weights))
    centers = rng.normal(scale=separation / np.sqrt(2 * n_latent), size=(n_clusters, n_latent))
    maps = [rng.normal(scale=width**-0.5, size=(n_latent, width)) for width in widths]
    arrays = [np.empty((n_samples, width), dtype=_as_float(dtype)) for width in widths]
    for start in range(0, n_samples, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        points = centers[target[rows]]
        points += rng.normal(size=points.shape)
        for array, weight, level in zip(arrays, maps, levels, strict=True):
            array[rows] = _with_noise(points @ weight, level, rng)
    return Views(arrays, target=target)


def make_subspaces(
    n_samples: int | Sequence[int] = 100,
    n_subspaces: int = 5,
    dim: int = 3,
    n_features: Sequence[int] = (30,),
    *,
    noise: float = 0.0,
    shuffle: bool = True,
    dtype: npt.DTypeLike = np.float64,
    random_state: RandomState = None,
) -> Views:
    """Points on a union of linear subspaces, in one view or several.

    Each sample has coordinates of its own, the same in all views; each view has, for each
    subspace, an orthonormal basis of its own. All subspaces pass through the origin.

    Parameters
    ----------
    n_samples : int or sequence of int, default=100
        Samples in each subspace.
    n_subspaces : int, default=5
        Number of subspaces.
    dim : int, default=3
        Dimension of each.
    n_features : sequence of int, default=(30,)
        Number of columns of each view; at least ``dim``.
    noise : float, default=0.0
        Standard deviation of the noise added to every value. Coordinates have unit variance.
    shuffle : bool, default=True
        Whether samples come in random order, or one subspace after the other.
    dtype : float32 or float64, default=float64
        Type of the views.
    random_state : int, Generator or None
        Seed. The same seed gives the same views.

    Returns
    -------
    Views
        With ``target``, the number of the subspace.

    Examples
    --------
    >>> from manyview.datasets import make_subspaces
    >>> import numpy as np
    >>> views = make_subspaces(20, 4, 2, (10, 15), random_state=0)
    >>> views
    Views(80 rows; view_0: 10, view_1: 15)
    >>> int(np.linalg.matrix_rank(views.arrays[0][views.target == 0]))
    2
    """
    check_counts(n_subspaces=n_subspaces, dim=dim)
    widths = as_widths(n_features)
    if min(widths) < dim:
        raise ValueError(
            f"A subspace of dimension {dim} does not fit a view of {min(widths)} columns."
        )
    sizes = [int(size) for size in _one_each(n_samples, n_subspaces, "n_samples")]
    check_counts(n_samples=min(sizes))
    rng = np.random.default_rng(random_state)
    target = np.repeat(np.arange(n_subspaces, dtype=np.int32), sizes)
    if shuffle:
        target = rng.permutation(target)
    points = rng.normal(size=(len(target), dim))
    arrays = []
    for width in widths:
        array = np.empty((len(target), width), dtype=_as_float(dtype))
        for subspace in range(n_subspaces):
            basis = np.linalg.qr(rng.normal(size=(width, dim)))[0]
            rows = target == subspace
            array[rows] = _with_noise(points[rows] @ basis.T, noise, rng)
        arrays.append(array)
    return Views(arrays, target=target)


def _with_noise(
    values: npt.NDArray[np.float64], level: float, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    return values + rng.normal(scale=level, size=values.shape) if level else values


def _sizes_to_labels(
    n_samples: int, n_clusters: int, weights: Sequence[float] | None
) -> npt.NDArray[np.int32]:
    if n_samples < n_clusters:
        raise ValueError(f"{n_samples} samples cannot fill {n_clusters} clusters.")
    share = np.asarray(_one_each(1.0 if weights is None else weights, n_clusters, "weights"))
    if np.any(share <= 0):
        raise ValueError(f"weights must be positive; got {share.tolist()}.")
    # One sample each, and the rest by share, so that no cluster is empty.
    ends = np.rint(np.cumsum(share / share.sum()) * (n_samples - n_clusters)).astype(np.int64)
    sizes = np.diff(ends, prepend=0) + 1
    return np.repeat(np.arange(n_clusters, dtype=np.int32), sizes)


def check_counts(**counts: int) -> None:
    """Refuse a count below one, by its parameter's name."""
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be at least 1; got {count}.")


def as_widths(n_features: Sequence[int], name: str = "n_features") -> list[int]:
    """Numbers of columns, one a view, all positive; ``name`` is the parameter's, for messages."""
    widths = [int(width) for width in n_features]
    if not widths or min(widths) < 1:
        raise ValueError(f"{name} needs a positive number for each view; got {widths}.")
    return widths


def _one_each(value: float | Sequence[float], n: int, name: str) -> list[float]:
    if isinstance(value, Sequence | np.ndarray):
        if len(value) != n:
            raise ValueError(f"{name} has {len(value)} numbers; expected one, or {n}.")
        return [float(item) for item in value]
    return [float(value)] * n


def _as_float(dtype: npt.DTypeLike) -> np.dtype[Any]:
    chosen = np.dtype(dtype)
    if chosen not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64; got {chosen}.")
    return chosen
