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
_RUNS = 12  # of it, for as many resolutions at most
_PACE, _FINER = (
    1.2,
    5.0,
)  # power of the count that resolution grows by; times as much for small groups
_LEAST_STEP = 0.3  # of the log of the resolution; more where the last one changed nothing
_FINEST = 300.0  # log of a resolution at which every node is alone, whatever the weights
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
    found = leiden(graph, rng)
    count, k = _count(found), min(k, len(found))
    if k <= count <= _NATURAL * k:
        return found
    # Small groups of nodes that belong together at any resolution: these are searched in no time.
    fine = _FINER * max(1.0, (k / count) ** _PACE)
    for _ in range(_RUNS):
        parts = _numbered(_move(graph, _degrees(graph), fine, _singles(graph), rng)[0])
        if _count(parts) >= k:
            break
        fine *= _FINER**2  # components of few nodes stay whole for long
    coarse, resolution = _search_resolution(_condensed(graph, parts), k, rng)
    found = leiden(graph, rng, resolution=resolution, start=coarse[parts])
    found = found if _count(found) >= k else coarse[parts]
    return merge_communities(graph, found, k, resolution=resolution)


def _search_resolution(
    graph: sparse.csr_array, k: int, rng: np.random.Generator
) -> tuple[Membership, float]:
    """As many communities as are wanted, or the next more, and their resolution; fewer if none has."""
    at, pace = 0.0, _PACE  # log of the resolution, and its growth with the log of the count
    least = _LEAST_STEP
    few = many = None  # log resolution and log count last below k and above
    found = _singles(graph)
    best: tuple[int, Membership, float] = len(found) + 1, found, 1.0
    for _ in range(_RUNS):
        at = min(at, _FINEST)
        before, found = found, leiden(graph, rng, resolution=float(np.exp(at)), start=found)
        count = _count(found)
        if count < k:
            few = at, np.log(count)
        else:
            many = at, np.log(count)
            if count <= best[0]:
                best = count, found, float(np.exp(at))
            if count <= _CLOSE * k:
                break
        if few and many:
            share = (np.log(k) - few[1]) / (many[1] - few[1])
            at = few[0] + (many[0] - few[0]) * float(np.clip(share, 0.1, 0.9))
        elif many and np.array_equal(found, before):
            break  # what is not linked at all
        else:
            step = pace * float(np.log(k / count))
            least *= 2.0 if np.array_equal(found, before) else 1.0
            at += max(step, least) if count < k else min(step, -least)
            pace *= 1.5
    return (best[1], best[2]) if many else (found, float(np.exp(min(at, _FINEST))))


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
    found = _singles(graph) if start is None else start
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

    degrees = _degrees(graph)
    rate = resolution / max(float(degrees.sum()), np.finfo(np.float64).tiny)
    group, place = membership.copy(), _int32(np.arange(len(membership)))
    while True:
        n = len(group)
        group, volume = _move(graph, degrees, resolution, group, rng)
        part, near, link = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n)
        order = _int32(rng.permutation(n))
        kernels.split_groups(
            _csr(graph), degrees, rate, order, group, volume,
            part, np.empty(n), np.empty(n), link, near,
        )  # fmt: skip
        part = _numbered(part)
        if _count(part) == n:
            return _numbered(group[place])
        graph = _condensed(graph, part)
        degrees = _degrees(graph)
        whole = np.empty(len(degrees), np.int32)
        whole[part] = group
        group, place = _numbered(whole), part[place]


def _move(
    graph: sparse.csr_array,
    degrees: npt.NDArray[np.float64],
    resolution: float,
    group: Membership,
    rng: np.random.Generator,
) -> tuple[Membership, npt.NDArray[np.float64]]:
    """Groups after single nodes were moved as long as it helps, and the groups' summed degrees."""
    from manyview.stages import kernels

    n, rate = len(group), resolution / max(float(degrees.sum()), np.finfo(np.float64).tiny)
    size = np.bincount(group, minlength=n)
    volume = np.asarray(np.bincount(group, degrees, n), np.float64)
    group, link, scratch = group.copy(), np.zeros(n), np.zeros((4, n), np.int32)
    queue = _int32(rng.permutation(n))
    kernels.move_nodes(_csr(graph), degrees, rate, queue, group, volume, size, link, scratch)
    return group, volume


def _csr(graph: sparse.csr_array) -> tuple[Membership, Membership, npt.NDArray[np.float64]]:
    return _int32(graph.indptr), _int32(graph.indices), graph.data


def _degrees(graph: sparse.csr_array) -> npt.NDArray[np.float64]:
    return np.asarray(graph.sum(axis=1)).ravel()


def _singles(graph: sparse.csr_array) -> Membership:
    return np.arange(graph.shape[0], dtype=np.int32)


def _count(membership: Membership) -> int:
    return int(membership.max()) + 1


def _condensed(graph: sparse.csr_array, group: Membership) -> sparse.csr_array:
    """The graph between groups, with loops: sums of the links between their nodes."""
    shape = len(group), int(group.max()) + 1
    if shape[1] ** 2 <= graph.nnz:  # few groups: all pairs of them are counted
        starts = np.repeat(group.astype(np.int64) * shape[1], np.diff(graph.indptr))
        sums = np.bincount(starts + group[graph.indices], graph.data, shape[1] ** 2)
        return sparse.csr_array(sums.reshape(shape[1], shape[1]))
    ends = np.arange(len(group) + 1, dtype=np.int32)
    member = sparse.csr_array((np.ones(len(group)), group, ends), shape=shape)
    return sparse.csr_array(member.T @ graph @ member)


def _numbered(names: npt.NDArray[Any]) -> Membership:
    """Names replaced by 0, 1, ... in their order."""
    return _int32(np.unique(names, return_inverse=True)[1])


def _int32(numbers: npt.NDArray[Any]) -> Membership:
    return numbers.astype(np.int32, copy=False)
