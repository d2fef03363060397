"""Graphs between anchors -> their communities -> each row's shares in them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

Membership = npt.NDArray[np.int32]

_PASSES = 3
WARM = True
LOG = []


def leiden(
    graph: sparse.csr_array,
    rng: np.random.Generator,
    *,
    resolution: float = 1.0,
    start: Membership | None = None,
    n_passes: int = _PASSES,
) -> Membership:
    found = np.arange(graph.shape[0], dtype=np.int32) if start is None else start
    for _ in range(n_passes):
        before, found = found, _improve(graph, found, resolution, rng)
        if np.array_equal(found, before):
            break
    return found


def _improve(graph, membership, resolution, rng):
    """Leiden's pass: move nodes, then the parts of communities, then parts of these."""
    from manyview.stages import kernels

    degrees = np.asarray(graph.sum(axis=1)).ravel()
    rate = resolution / max(float(degrees.sum()), np.finfo(float).tiny)
    group, place = membership.copy(), np.arange(len(membership))
    while True:
        n = len(group)
        csr = (tuple(graph.indptr.astype(np.int32)),)
        csr = graph.indptr, graph.indices, graph.data
        volume, size = np.bincount(group, degrees, n), np.bincount(group, minlength=n)
        link, scratch = np.zeros(n), np.zeros((4, n), np.int32)
        kernels.move_nodes(
            csr, degrees, rate, _shuffled(n, rng), group, volume, size, link, scratch
        )
        if size.max() == 1:
            return _numbered(group[place])
        part, near, weight, cut = scratch[0], scratch[1], np.empty(n), np.empty(n)
        kernels.split_groups(
            csr, degrees, rate, _shuffled(n, rng), group, volume, part, weight, cut, link, near
        )
        part = _numbered(part)
        if part.max() + 1 == n:
            part = _numbered(group)
        n_parts = int(part.max()) + 1
        member = sparse.csr_array(
            (np.ones(n), part, np.arange(n + 1, dtype=np.int32)), shape=(n, n_parts)
        )
        graph = sparse.csr_array(member.T @ graph @ member)
        degrees = np.bincount(part, degrees)
        of_part = np.empty(n_parts, np.int32)
        of_part[part] = group
        group, place = _numbered(of_part), part[place]


def _shuffled(n, rng):
    return rng.permutation(n).astype(np.int32)


def _numbered(names):
    return np.unique(names, return_inverse=True)[1].astype(np.int32)


def find_communities(graph, n_communities, *, seed, max_runs=9):
    k, rng = n_communities, np.random.default_rng(seed)
    below = above = (-np.inf, 0), (np.inf, 0)
    low = high = None
    at, found = 0.0, None
    for run in range(max_runs):
        found = leiden(graph, rng, resolution=np.exp(at), start=found if WARM else None)
        count = int(found.max()) + 1
        LOG.append((float(np.exp(at)), count))
        if count == k:
            return found
        if count < k:
            low = at, count
        else:
            high = at, count
            best = found
        if low is None or high is None:
            step = 1.2 * np.log(k / count)
            at += max(step, 0.3) if count < k else min(step, -0.3)
        else:
            (a, p), (b, q) = low, high
            share = np.log(k / p) / np.log(q / p) if q > p else 0.5
            at = a + (b - a) * np.clip(share, 0.1, 0.9)
    if high is None:
        return found
    return merge(graph, best, k, np.exp(high[0]))


def merge(graph, membership, k, resolution):
    n, count = len(membership), int(membership.max()) + 1
    member = sparse.csr_array((np.ones(n), membership, np.arange(n + 1)), shape=(n, count))
    W = (member.T @ graph @ member).toarray()
    volume = W.sum(axis=0)
    rate = resolution / volume.sum()
    gain = W - rate * np.outer(volume, volume)
    np.fill_diagonal(gain, -np.inf)
    name = np.arange(count)
    for _ in range(count - k):
        i, j = sorted(divmod(int(gain.argmax()), count))
        gain[i] += gain[j]
        gain[:, i] += gain[:, j]
        gain[j] = gain[:, j] = -np.inf
        gain[i, i] = -np.inf
        name[name == j] = i
    return _numbered(name[membership])


def anchor_graph(gram, n_links=60):
    A = gram.toarray()
    np.fill_diagonal(A, 0)
    m, links = len(A), min(n_links, len(A) - 1)
    near = np.argpartition(-A, links, axis=1)[:, :links]
    value = np.take_along_axis(A, near, 1)
    W = sparse.csr_array(
        (value.ravel(), near.ravel(), np.arange(0, m * links + 1, links)), shape=(m, m)
    )
    W = sparse.csr_array(W.maximum(W.T))
    W.eliminate_zeros()
    W.sort_indices()
    return W
