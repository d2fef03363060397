"""Nearest points: rows made sparse by a threshold or a count, with or without a fixed sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from manyview.baselines.steps import FloatArray
from manyview.baselines.steps.representation import IntArray


def soft_threshold(A: FloatArray, threshold: float | FloatArray) -> FloatArray:
    """Move each entry towards zero by ``threshold``, those within it to zero.

    Examples
    --------
    >>> soft_threshold(np.array([3.0, -0.5, -2.0]), 1.0).tolist()
    [2.0, 0.0, -1.0]
    """
    # a - clip(a) takes two passes, and is exactly zero where it should be.
    clipped = np.clip(A, np.negative(threshold), threshold)
    return np.subtract(A, clipped, out=clipped)


def zero_own(C: FloatArray, own: IntArray) -> None:
    """Set entry ``own[i]`` of each row i to zero, in place; -1 for none."""
    C[_own_entries(own)] = 0.0


def prox_sum_one(
    Y: FloatArray, own: IntArray, threshold: float, *, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Soft-threshold each row after the shift that makes it sum to one.

    The minimiser of (1/2) ||c - y||^2 + threshold |c|_1 s.t. sum c = 1, c_own = 0 is
    soft(y - nu, threshold) for a scalar nu. The sum falls with nu along a piecewise linear curve;
    Newton's method lands on the root once it is on the right piece, and bisection keeps it from
    cycling.

    ``own`` (b,) is -1 for rows of ``Y`` (b, m) that may use all columns; each row needs one that it
    may use. ``start`` (b,) is a guess of nu, which is given back with the rows.

    Examples
    --------
    >>> C, nu = prox_sum_one(np.array([[2.0, 1.0, 9.0]]), np.array([2]), 0.25)
    >>> C.tolist(), nu.tolist()
    ([[1.0, 0.0, 0.0]], [0.75])
    """
    low, high = _bracket(Y, own, threshold)
    nu = np.clip(low if start is None else start, low, high)
    todo = np.arange(len(Y))
    for _ in range(200):
        C = soft_threshold(Y[todo] - nu[todo, None], threshold)
        zero_own(C, own[todo])
        excess = C.sum(axis=1) - 1
        n_active = np.count_nonzero(C, axis=1)
        low[todo] = np.where(excess >= 0, nu[todo], low[todo])
        high[todo] = np.where(excess <= 0, nu[todo], high[todo])
        open_ = np.abs(excess) > 1e-13 * np.maximum(1, np.abs(C).sum(axis=1))
        open_ &= np.nextafter(low[todo], high[todo]) < high[todo]
        todo, excess, n_active = todo[open_], excess[open_], n_active[open_]
        if not len(todo):
            break
        newton = nu[todo] + excess / np.maximum(n_active, 1)
        inside = (n_active > 0) & (newton > low[todo]) & (newton < high[todo])
        nu[todo] = np.where(inside, newton, (low[todo] + high[todo]) / 2)
    C = soft_threshold(Y - nu[:, None], threshold)
    zero_own(C, own)
    return C, nu


def _bracket(Y: FloatArray, own: IntArray, threshold: float) -> tuple[FloatArray, FloatArray]:
    """Bounds on nu: at the lower one all terms are positive and one is 1, at the upper none is."""
    rows, columns = _own_entries(own)
    masked = Y.copy()
    masked[rows, columns] = -np.inf
    largest = masked.max(axis=1)
    masked[rows, columns] = np.inf
    smallest = masked.min(axis=1)
    return np.minimum(smallest + threshold, largest - threshold - 1), largest - threshold


def keep_largest(G: FloatArray, own: IntArray, n_nonzero: int) -> Any:
    """Nearest rows to ``G`` (b, m) with at most ``n_nonzero`` < m non-zeros, none at ``own``.

    Examples
    --------
    >>> keep_largest(np.array([[5.0, 1.0, -3.0, 2.0]]), np.array([0]), 2).toarray().tolist()
    [[0.0, 0.0, -3.0, 2.0]]
    """
    magnitudes = np.abs(G)
    rows, columns = _own_entries(own)
    magnitudes[rows, columns] = -1.0
    support = np.argpartition(magnitudes, -n_nonzero, axis=1)[:, -n_nonzero:]
    return _as_csr(support, np.take_along_axis(G, support, axis=1), G.shape[1])


def keep_largest_sum_one(G: FloatArray, own: IntArray, n_nonzero: int) -> Any:
    """Nearest rows to ``G`` (b, m) that sum to one, with ``n_nonzero`` < m non-zeros, none at ``own``.

    The greedy selector and hyperplane projector, which is exact (Kyrillidis, Becker, Cevher and
    Koch, ICML 2013): first the largest entry, then always the entry farthest from the shift that
    the sum constraint now asks for. That is the largest or the smallest of those left, so only the
    ends of each sorted row are looked at.

    Examples
    --------
    >>> G = np.array([[5.0, 0.9, -3.0, 0.3]])
    >>> keep_largest_sum_one(G, np.array([0]), 2).toarray().round(6).tolist()
    [[0.0, 2.45, -1.45, 0.0]]
    """
    b, m = G.shape
    rows, columns = _own_entries(own)
    keys = -G
    keys[rows, columns] = np.inf
    # One order for both ends, so that of equal entries none is taken twice.
    order = np.argsort(keys, axis=1, kind="stable")
    last = (m - 1 - (own >= 0))[:, None]
    smallest = np.take_along_axis(order, last - np.arange(n_nonzero), axis=1)
    ends = [order[:, :n_nonzero], smallest]  # largest entries first, then smallest first
    everyone = np.arange(b)
    taken = np.zeros((2, b), dtype=np.int64)
    support = np.empty((b, n_nonzero), dtype=np.int64)
    support[:, 0] = ends[0][:, 0]
    taken[0] += 1
    total = G[everyone, support[:, 0]]
    for size in range(1, n_nonzero):
        candidates = [ends[side][everyone, taken[side]] for side in (0, 1)]
        shift = (total - 1) / size
        gaps = [np.abs(G[everyone, candidate] - shift) for candidate in candidates]
        side = (gaps[1] > gaps[0]).astype(np.int64)
        support[:, size] = np.where(side == 0, candidates[0], candidates[1])
        taken[side, everyone] += 1
        total = total + G[everyone, support[:, size]]
    values = np.take_along_axis(G, support, axis=1) - ((total - 1) / n_nonzero)[:, None]
    return _as_csr(support, values, m)


def _own_entries(own: IntArray) -> tuple[IntArray, IntArray]:
    rows = np.flatnonzero(own >= 0)
    return rows, own[rows]


def _as_csr(support: IntArray, values: FloatArray, m: int) -> Any:
    b, s = support.shape
    starts = np.arange(0, b * s + 1, s)
    C = sparse.csr_array((values.ravel(), support.ravel(), starts), shape=(b, m))
    C.sort_indices()
    return C
