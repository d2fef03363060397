"""Summed Gram -> spectral basis; graph rows -> embedding rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from manyview.stages.eigen import gram_eigenvectors
from manyview.stages.graph import GraphTile
from manyview.stages.rows import Array

_POWER = 1.5  # of the squared singular values that weight vectors
_MOST_SPARE = 20  # vectors to compute beyond those that are kept: they cost as much as these
_VERY_WIDE = 128  # columns
_AT_A_TIME = 8192  # rows of vectors, which may be many
LEAST_SHARE = 0.03
"""Of an average cluster's rows that a vector must sit on."""
COMMUNITY_WEIGHT = 0.85
"""Length of community shares beside embedding rows of unit length."""


@dataclass(frozen=True)
class Basis:
    """The leading left singular vectors of the fused graph, as a map from graph rows."""

    transform: Array  # (M, c): graph rows times this are rows of the left singular vectors Q
    singular_values: Array  # (c,), descending


def spectral_basis(gram: Any, scales: Array, n_components: int, n_sure: int | None = None) -> Basis:
    """The basis of the fused graph with Gram matrix ``gram`` (M, M) (Proposition 1).

    ``gram = V diag(s^2) V'`` has Zbar's right singular vectors, so Q = Zbar V / s. Directions without
    weight are left out, so there may be fewer than ``n_components``; those after the ``n_sure`` first
    may be less exact.
    """
    values, vectors = gram_eigenvectors(gram, n_components, n_sure)
    singular_values = np.sqrt(values)
    # In the order of rows, in which graph rows are multiplied by it: turned once, not for every tile.
    transform = np.multiply(scales[:, None], canonical(vectors, values), order="C")
    transform /= singular_values
    return Basis(transform, singular_values)


def count_spare(n_components: int) -> int:
    """Number of vectors to compute so that enough are left when some are left out."""
    return n_components + min(max(8, n_components // 4), _MOST_SPARE)


def participation(tile: GraphTile, transforms: Sequence[Array]) -> list[Array]:
    """The share of a tile's rows that each vector sits on, for each repeat: (c,).

    That is (sum u^2)^2 / (n sum u^4): p for a vector that is even over a share p of the rows.
    """
    shares = []
    for Z, transform in zip(tile.parts, transforms, strict=True):
        squares, quartics = np.zeros((2, transform.shape[1]))
        for start in range(0, len(tile), _AT_A_TIME):
            part = _times(Z[start : start + _AT_A_TIME], transform) ** 2
            squares += part.sum(axis=0)
            quartics += len(tile) * np.einsum("ij,ij->j", part, part)
        shares.append(squares**2 / np.maximum(quartics, np.finfo(float).tiny))
    return shares


def weigh_vectors(basis: Basis, shares: Array, *, n_clusters: int, n_components: int) -> Basis:
    """Leave out vectors that sit on a handful of rows, and weight the others by their strength.

    ``shares`` (c,) are the vectors' :func:`participation`. Below .03 of an average cluster, a vector
    tells of a few odd rows. The first vectors that pass are kept, each times (lambda / lambda_1)^1.5
    with lambda its squared singular value, so that vectors beyond the k-th add what they know and no
    more. ``basis`` has vectors to spare.
    """
    kept = np.flatnonzero(shares >= LEAST_SHARE / n_clusters)[:n_components]
    if len(kept) < 2:
        kept = np.arange(min(n_components, len(shares)))
    values = basis.singular_values[kept]
    weights = (values / values[0]) ** (2 * _POWER)
    return Basis(np.multiply(basis.transform[:, kept], weights, order="C"), values)


def canonical(vectors: Array, values: Array) -> Array:
    """The same vectors whatever signs and bases the eigensolver chose.

    Where values repeat, any rotation of their vectors is as good: the one chosen has a lower
    triangle with positive diagonal at the rows where the subspace is strongest. A single vector gets
    its largest entry positive.

    Examples
    --------
    >>> canonical(np.array([[0.6], [-0.8]]), np.array([1.0])).ravel()
    array([-0.6,  0.8])
    """
    largest = np.abs(vectors).argmax(axis=0)
    result = vectors * np.where(vectors[largest, np.arange(len(values))] < 0, -1.0, 1.0)
    gaps = np.flatnonzero(np.diff(values) < -1e-9 * values[:1]) + 1
    for group in np.split(np.arange(len(values)), gaps):
        if len(group) == 1:
            continue
        U = vectors[:, group]
        *_, pivots = linalg.qr(U.T, mode="economic", pivoting=True)
        rotation, triangle = linalg.qr(U[pivots[: len(group)]].T)
        result[:, group] = U @ (rotation * np.where(np.diagonal(triangle) < 0, -1.0, 1.0))
    return result


@dataclass(frozen=True)
class Embedding:
    """What makes embedding rows of graph rows."""

    transforms: tuple[Array, ...]  # (M, c), one per repeat: graph rows times this are rows of Q
    row_norm: bool = True  # whether these have unit length
    rotation: Array | None = None  # (c of all repeats, fewer), of the repeats' rows side by side
    communities: tuple[Array, ...] = ()  # (M, q), of the first repeats: anchors' parts in shares
    n_searches: int = 1  # for communities, each among the anchors of as many repeats

    def check(self) -> None:
        """Raise ValueError unless communities fit the searches, as those of a damaged file may not."""
        n = len(self.communities)
        is_even = n % self.n_searches == 0 and (n > 0 or self.n_searches == 1)
        searched = [
            self.communities[i : i + self._n_searched] for i in range(0, n, self._n_searched)
        ]
        widths = [{part.shape[1] for part in each} for each in searched]
        if not is_even or n > len(self.transforms) or any(len(each) > 1 for each in widths):
            raise ValueError("the communities do not fit the embedding")

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(self.widths)

    @property
    def widths(self) -> list[int]:
        """Numbers of columns that belong together: of each repeat, or all turned, and of each search."""
        parts = self.transforms if self.rotation is None else (self.rotation,)
        firsts = self.communities[:: self._n_searched]
        return [int(part.shape[1]) for part in (*parts, *firsts)]

    @property
    def _n_searched(self) -> int:
        """How many repeats' anchors a search for communities looks at."""
        return max(len(self.communities) // self.n_searches, 1)

    def rows(self, tile: GraphTile) -> Array:
        """Embedding rows of a tile: rows of Q for each repeat, joined, and community shares.

        Very wide ones are in single precision, as they take more memory than all else.
        """
        rows = self.joined(tile)
        if self.rotation is not None:
            rows = rows @ self.rotation
        if self.communities:
            rows = np.concatenate([rows, COMMUNITY_WEIGHT * self._shares(tile)], axis=1)
        return rows.astype(np.float32) if self.width > _VERY_WIDE else rows

    def joined(self, tile: GraphTile) -> Array:
        """Each repeat's rows side by side, as long together as one of them.

        A sample that lacks views has the average over those it has.
        """
        joined = np.empty((len(tile), sum(int(T.shape[1]) for T in self.transforms)))
        start, root = 0, np.sqrt(len(tile.parts))
        for part, lengths in self._each_repeat(tile):
            # One after the other: a single column over its own length is 1 or -1 to the last bit.
            part /= lengths
            part /= root
            joined[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        return joined

    def split(self, rows: Array) -> list[Array]:
        """What each repeat gave to embedding rows (n, c), one array a repeat; turned back if need be."""
        ends = np.cumsum([transform.shape[1] for transform in self.transforms])
        joined = rows[:, : ends[-1]]
        if self.rotation is not None:
            joined = rows[:, : self.rotation.shape[1]] @ self.rotation.T
        return np.split(joined, ends[:-1], axis=1)

    def contributions(
        self, tile: GraphTile, places: Sequence[tuple[int, slice]]
    ) -> Iterator[Array]:
        """What the anchors at each place, a repeat and some of its columns, add to the rows."""
        lengths, searches = [each for _, each in self._each_repeat(tile)], self._searches(tile)
        ends = np.cumsum([0, *(transform.shape[1] for transform in self.transforms)])
        starts = np.cumsum([0, *(given.shape[1] for given, _ in searches)])
        for repeat, anchors in places:
            Z, columns = tile.parts[repeat][:, anchors], slice(ends[repeat], ends[repeat + 1])
            rows = np.zeros((len(tile), ends[-1]))
            part = (Z @ self.transforms[repeat][anchors]) / lengths[repeat]
            rows[:, columns] = part / np.sqrt(len(tile.parts))
            rows = rows if self.rotation is None else rows @ self.rotation
            if self.communities:
                shares = np.zeros((len(tile), starts[-1]))
                if repeat < len(self.communities):
                    search = repeat // self._n_searched
                    part = (Z @ self.communities[repeat][anchors]) / searches[search][1]
                    shares[:, starts[search] : starts[search + 1]] = part
                rows = np.concatenate([rows, COMMUNITY_WEIGHT * shares], axis=1)
            yield rows

    def _each_repeat(self, tile: GraphTile) -> Iterator[tuple[Array, Array]]:
        """Rows of Q of each repeat, and what they are divided by, (n, 1): lengths, or their weight."""
        shares = tile.shares or (None,) * len(tile.parts)
        for Z, transform, share in zip(tile.parts, self.transforms, shares, strict=True):
            rows = _times(Z, transform)
            if self.row_norm:
                lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            else:
                lengths = np.ones(len(tile)) if share is None else share
            yield rows, np.where(lengths > 0, lengths, 1.0)[:, None]

    def _searches(self, tile: GraphTile) -> list[tuple[Array, Array]]:
        """For each search, what rows give to its communities, and what that is divided by, (n, 1).

        Shares in communities then sum to one; those of several searches together are as long as one's.
        """
        parts = zip(tile.parts, self.communities, strict=False)  # of the first repeats
        given, n = [_times(Z, each) for Z, each in parts], self._n_searched
        sums = [np.asarray(sum(given[i : i + n])) for i in range(0, len(given), n)]
        root = np.sqrt(self.n_searches)
        totals = [each.sum(axis=1, keepdims=True) * root for each in sums]
        return [(each, np.where(t > 0, t, 1.0)) for each, t in zip(sums, totals, strict=True)]

    def _shares(self, tile: GraphTile) -> Array:
        return np.concatenate([given / total for given, total in self._searches(tile)], axis=1)


def leading_rotation(rows: Array, n_columns: int) -> Array:
    """What turns rows (n, c) to their ``n_columns`` directions of most energy, shape (c, n_columns)."""
    values, vectors = np.linalg.eigh(rows.T @ rows)
    return canonical(vectors[:, ::-1][:, :n_columns], values[::-1][:n_columns])


def _times(Z: sparse.csr_array, transform: Array) -> Array:
    """Z @ transform; SciPy takes a third longer where columns are many."""
    from manyview.stages import kernels

    rows = np.empty((Z.shape[0], transform.shape[1]))
    kernels.times_dense(Z.indptr, Z.indices, Z.data, np.ascontiguousarray(transform), rows)
    return rows
