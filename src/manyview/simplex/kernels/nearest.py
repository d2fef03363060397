"""The problem of a row over its few nearest anchors: chosen by a scan, then solved by the active set."""

import numpy as np

from manyview.simplex.jit import inner, jit
from manyview.simplex.kernels.active_set import solve_row
from manyview.simplex.kernels.shared import workspace, write_row


@inner
def _choose(b, offsets, near, scores):
    """Write the numbers of the largest b - offsets into near (out), ascending; scores is scratch.

    Of equals the first is taken.
    """
    r = near.shape[0]
    for j in range(b.shape[0]):
        score = b[j] - offsets[j]
        place = min(j, r)
        while place > 0 and scores[place - 1] < score:
            place -= 1
        if place < r:
            for i in range(min(j, r - 1), place, -1):
                scores[i] = scores[i - 1]
                near[i] = near[i - 1]
            scores[place] = score
            near[place] = j
    for i in range(1, r):
        j = near[i]
        place = i
        while place > 0 and near[place - 1] > j:
            near[place] = near[place - 1]
            place -= 1
        near[place] = j


@jit
def solve_nearest(G, B, offsets, near, indptr, indices, data):
    """Solve every row of B (n, m) over its r nearest anchors; gives how many rows did not converge.

    G : in, (m, m). offsets (m) : in, half the anchors' squared norms in the units of G: the nearest
    have the largest b - offsets. near (r) : scratch. indptr (n + 1), indices and data (n * r): out,
    the CSR rows, columns ascending.
    """
    r = near.shape[0]
    scores = np.empty(r)
    own, b = np.empty((r, r)), np.empty(r)
    P, z = np.empty(r + 1, np.int64), np.empty(r + 1)
    L, rdiag, y, w, x, g, full, gmax = workspace(own)
    end = np.int64(0)
    failed = 0
    indptr[0] = 0
    for row in range(B.shape[0]):
        _choose(B[row], offsets, near, scores)
        gmax = 0.0
        for i in range(r):
            b[i] = B[row, near[i]]
            for c in range(r):
                own[i, c] = G[near[i], near[c]]
            gmax = max(gmax, own[i, i])
        s, converged = solve_row(own, b, gmax, P, z, L, rdiag, y, w, x, g)
        failed += not converged
        for i in range(s):
            full[P[i]] = z[i]
        start = end
        end = write_row(full, end, indices, data)
        for a in range(start, end):
            indices[a] = near[indices[a]]
        indptr[row + 1] = end
    return failed
