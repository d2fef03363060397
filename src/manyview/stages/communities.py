"""Graph rows -> a graph of their anchors -> its communities.

Communities of anchors are a second opinion beside the embedding. They have as many nodes as there are
anchors, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Membership = npt.NDArray[np.int32]

_LINKED_AT_A_TIME = 1000  # anchors: threads may share them
_PASSES = 3  # of Leiden's method for one resolution
_RUNS = 9  # of it, for as many resolutions at most
_CLOSE = 1.05  # at most this many times too many communities are merged instead of a further run
_NATURAL = 1.5  # times as many communities as asked for, that stay as they are at resolution 1


def anchor_graph(
    graph: sparse.csr_array, *, n_links: int = 60, each: Callable[..., Iterable[Any]] = map
) -> sparse.csr_array:
    """The strongest links of each anchor in B'B, either way, without loops.

    ``graph`` is the fused graph B (n, M), that of several anchor seeds side by side too; no weight is
    below zero. ``each`` maps a function over a few numbers in order; a thread pool's map will do.

    Examples
    --------
    >>> B = sparse.csr_array(np.array([[1.0, 2, 0], [0, 1, 3]]))
    >>> anchor_graph(B, n_links=1).toarray()
    array([[0., 2., 0.],
           [2., 0., 3.],
           [0., 3., 0.]])
    """
    from manyview.stages import kernels

    m, turned = int(graph.shape[1]), sparse.csr_array(graph.T)
    rows, columns = ((_int32(B.indptr), _int32(B.indices), B.data) for B in (graph, turned))

    def link(first: int) -> sparse.csr_array:
        count = min(_LINKED_AT_A_TIME, m - first)
        # Only the part that is filled is ever touched.
        indptr, size = np.zeros(count + 1, np.int32), count * n_links
        indices, data = np.empty(size, np.int32), np.empty(size)
        scratch, near = np.zeros((3, m)), np.empty(m, np.int32)
        kernels.strongest_links(rows, columns, first, n_links, scratch, near, indptr, indices, data)
        end = indptr[-1]
        return sparse.csr_array((data[:end], indices[:end], indptr), shape=(count, m))

    kept: Any = sparse.vstack(list(each(link, range(0, m, _LINKED_AT_A_TIME))), "csr")
    return sparse.csr_array(kept.maximum(kept.T))


def find_communities(graph: sparse.csr_array, n_communities: int, *, seed: int) -> Membership:
    """The community (n,) of each node of a symmetric graph (n, n), no weight below zero.

    At resolution 1, that of modularity itself, there may be so many, or up to half as many again: these
    are the answer, as merging them to ``n_communities`` would join what stands apart. Otherwise the
    resolution at which modularity is greatest for ``n_communities`` is searched, each time from the last
    communities; if no resolution has as many, the next more are merged. There are fewer where there are
    not enough nodes to tell apart. A node without links is in none: -1.

    Examples
    --------
    >>> pairs = sparse.block_diag([np.ones((2, 2))] * 3 + [np.zeros((1, 1))], "csr")
    >>> find_communities(sparse.csr_array(pairs), 3, seed=0)
    array([ 0,  0,  1,  1,  2,  2, -1], dtype=int32)
    """
    linked = np.flatnonzero(graph.sum(axis=1))
    membership = np.full(graph.shape[0], -1, np.int32)
    if len(linked):
        among = graph[linked][:, linked]
        among.eliminate_zeros()
        membership[linked] = _search(among, n_communities, seed)
    return membership


def _search(graph: sparse.csr_array, k: int, seed: int) -> Membership:
    rng = np.random.default_rng(seed)
    at, pace = 0.0, 1.2  # log of the resolution, and its growth with the log of the count
    few = many = best = None  # log resolution and log count last below k and above; the best above
    found = np.arange(graph.shape[0], dtype=np.int32)
    for run in range(_RUNS):
        found = leiden(graph, rng, resolution=float(np.exp(at)), start=found)
        count = int(found.max()) + 1
        if run == 0 and k <= count <= _NATURAL * k:
            return found
        if count < k:
            few = at, np.log(count)
        else:
            many = at, np.log(count)
            if best is None or count <= best[0]:
                best = count, found, float(np.exp(at))
            if count <= _CLOSE * k:
                break
        if few and many:
            share = (np.log(k) - few[1]) / (many[1] - few[1])
            at = few[0] + (many[0] - few[0]) * float(np.clip(share, 0.1, 0.9))
        else:
            step = pace * float(np.log(k / count))
            at += max(step, 0.3) if count < k else min(step, -0.3)
            pace *= 1.5
    if best is None:
        return found
    return merge_communities(graph, best[1], k, resolution=best[2])


def merge_communities(
    graph: sparse.csr_array, membership: Membership, n_communities: int, *, resolution: float
) -> Membership:
    """Merge, each time the two that gain most modularity, until ``n_communities`` are left."""
    linked = _condensed(graph, membership).toarray()
    volume = linked.sum(axis=0)
    gain = linked - resolution / volume.sum() * np.outer(volume, volume)
    np.fill_diagonal(gain, -np.inf)
    names = np.arange(len(gain))
    for _ in range(len(gain) - n_communities):
        i, j = divmod(int(gain.argmax()), len(gain))
        gain[i] += gain[j]
        gain[:, i] += gain[:, j]
        gain[j] = gain[:, j] = -np.inf
        names[names == j] = i
    return _numbered(names[membership])


def leiden(
    graph: sparse.csr_array,
    rng: np.random.Generator,
    *,
    resolution: float = 1.0,
    start: Membership | None = None,
    n_passes: int = _PASSES,
) -> Membership:
    """Communities of great modularity at a resolution, by Leiden's method (Traag et al., 2019).

    ``graph`` (n, n) is symmetric with weights above zero; loops may be there. Fewer passes than
    ``n_passes`` are made if one changes nothing. ``start`` are the communities to begin from; without it
    every node is one.
    """
    found = np.arange(graph.shape[0], dtype=np.int32) if start is None else start
    for _ in range(n_passes):
        before, found = found, _improve(graph, found, resolution, rng)
        if np.array_equal(found, before):
            break
    return found


def _improve(
    graph: sparse.csr_array, membership: Membership, resolution: float, rng: np.random.Generator
) -> Membership:
    """One pass: move nodes, then well linked parts of communities, then parts made of those."""
    from manyview.stages import kernels

    degrees = np.asarray(graph.sum(axis=1)).ravel()
    rate = resolution / max(float(degrees.sum()), np.finfo(np.float64).tiny)
    group, place = membership.copy(), _int32(np.arange(len(membership)))
    while True:
        n = len(group)
        csr = _int32(graph.indptr), _int32(graph.indices), graph.data
        volume, size = np.bincount(group, degrees, n), np.bincount(group, minlength=n)
        link, scratch = np.zeros(n), np.zeros((4, n), np.int32)
        queue = _int32(rng.permutation(n))
        kernels.move_nodes(csr, degrees, rate, queue, group, volume, size, link, scratch)
        part, near, weight, cut = scratch[0], scratch[1], np.empty(n), np.empty(n)
        order = _int32(rng.permutation(n))
        kernels.split_groups(
            csr, degrees, rate, order, group, volume, part, weight, cut, link, near
        )
        part = _numbered(part)
        if part.max() + 1 == n:
            return _numbered(group[place])
        graph, degrees = _condensed(graph, part), np.bincount(part, degrees)
        whole = np.empty(len(degrees), np.int32)
        whole[part] = group
        group, place = _numbered(whole), part[place]


def _condensed(graph: sparse.csr_array, group: Membership) -> sparse.csr_array:
    """The graph between groups, with loops: sums of the links between their nodes."""
    shape = len(group), int(group.max()) + 1
    ends = np.arange(len(group) + 1, dtype=np.int32)
    member = sparse.csr_array((np.ones(len(group)), group, ends), shape=shape)
    return sparse.csr_array(member.T @ graph @ member)


def _numbered(names: npt.NDArray[Any]) -> Membership:
    """Names replaced by 0, 1, ... in their order."""
    return _int32(np.unique(names, return_inverse=True)[1])


def _int32(numbers: npt.NDArray[Any]) -> Membership:
    return numbers.astype(np.int32, copy=False)
