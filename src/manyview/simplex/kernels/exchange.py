"""Block exchange: several anchors enter and leave at a time, for supports of medium and large size.

From a guessed support: minimise on it with signs ignored, drop all negative weights, let in anchors
whose gradient is lower than those inside, and repeat until there are none of either. What makes it
work is a cap on how many enter: without it the support explodes. A row that does not settle is left
empty for the active set.
"""

import numpy as np

from manyview.simplex.jit import inner_of_several, jit_allocating
from manyview.simplex.kernels.shared import (
    HUGE,
    TOLERANCE,
    aim,
    factor,
    first_at_minimum,
    gradient,
    solve_transposed,
    write_row,
)

_MAX_STEPS = 60
_PATIENCE = 12  # steps without fewer anchors on the wrong side
_WORST_SHARE = 0.2  # anchors enter whose violation is at least this share of the largest


@inner_of_several
def _drop_negative(P, x, s):
    """Take indices with negative weights out of P (in and out); give its size and the first gap."""
    first = s
    kept = np.int64(0)
    for i in range(s):
        if x[i] >= 0.0:
            P[kept] = P[i]
            kept += 1
        else:
            first = min(first, i)
    return kept, first


@inner_of_several
def _admit(g, mu, tol, P, s, limit):
    """Append to P (in and out) the anchors with the lowest gradients, at most ``limit``.

    g : in, with members of the support set to a huge value. Give the new size and how many anchors
    violated the condition.
    """
    m = g.shape[0]
    worst = 0.0
    for j in range(m):
        worst = max(worst, mu - g[j])
    if worst <= tol:
        return s, 0
    violators = 0
    for j in range(m):
        violators += mu - g[j] > tol
    share = _WORST_SHARE
    while True:
        count = np.int64(0)
        bar = share * worst
        for j in range(m):
            count += mu - g[j] >= bar
        if count <= limit or share > 0.97:
            break
        share = 0.5 * (1.0 + share)
    bar = max(bar, tol)
    end = s
    for j in range(m):
        if mu - g[j] >= bar and end - s < limit:
            P[end] = j
            end += 1
    return end, violators


@inner_of_several
def _carry(L, rdiag, b, P, start, s, y, w):
    """Write entries ``start`` to s of y = L^-1 b_P and w = L^-1 1 (in and out)."""
    for i in range(start, s):
        Li = L[i]
        ty = b[P[i]]
        tw = 1.0
        for c in range(i):
            ty -= Li[c] * y[c]
            tw -= Li[c] * w[c]
        y[i] = ty * rdiag[i]
        w[i] = tw * rdiag[i]


@inner_of_several
def _solve_row(G, b, gmax, P, s, L, rdiag, y, w, x, g):
    """Solve one row from the support P (s); give the support's size, or -1 if it did not settle.

    P, x: out, the support and its weights. The other arrays are scratch.
    """
    bmax = 0.0
    for j in range(b.shape[0]):
        bmax = max(bmax, abs(b[j]))
    tol = TOLERANCE * (bmax + gmax)
    sound = np.int64(0)  # rows of the factor that are still right
    fewest = b.shape[0] + 1
    idle = 0
    for _ in range(_MAX_STEPS):
        if s > b.shape[0] or not factor(G, P, sound, s, L, rdiag):
            return -1
        _carry(L, rdiag, b, P, sound, s, y, w)
        mu = aim(s, y, w, x)
        solve_transposed(s, L, rdiag, x)
        gradient(G, b, P, x, s, g)
        for i in range(s):
            g[P[i]] = HUGE
        kept, sound = _drop_negative(P, x, s)
        size, violators = _admit(g, mu, tol, P, kept, 2 + s // 2)
        wrong = violators + s - kept
        if wrong == 0:
            return s
        if wrong < fewest:
            fewest = wrong
            idle = 0
        else:
            idle += 1
            if idle >= _PATIENCE:
                return -1
        s = size
    return -1


@jit_allocating
def solve_by_exchange(G, B, indptr, indices, data):
    """Solve every row of B (n, m); gives how many did not settle, which are left empty.

    G : in, (m, m). indptr (n + 1), indices and data (n * m): out, the CSR rows, columns ascending.
    """
    n, m = B.shape
    P = np.empty(2 * m + 4, np.int64)
    L, rdiag, y, w = np.empty((m + 1, m + 1)), np.empty(m + 1), np.empty(m + 1), np.empty(m + 1)
    x, g, full = np.empty(m + 1), np.empty(m), np.zeros(m)
    gmax = 0.0
    for j in range(m):
        gmax = max(gmax, G[j, j])
    end = np.int64(0)
    failed = 0
    indptr[0] = 0
    for row in range(n):
        b = B[row]
        for j in range(m):
            g[j] = 0.5 * G[j, j] - b[j]
        P[0] = first_at_minimum(g)
        s = _solve_row(G, b, gmax, P, np.int64(1), L, rdiag, y, w, x, g)
        for i in range(s):
            full[P[i]] = x[i]
        end = write_row(full, end, indices, data)
        failed += s < 0
        indptr[row + 1] = end
    return failed
