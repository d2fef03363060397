"""Primal active set: one anchor enters or leaves at a time.

Fast where supports are small, right everywhere: it is what every other method falls back on. Also of
rows that use a few anchors only.
"""

import numpy as np

from manyview.simplex.jit import inner, jit
from manyview.simplex.kernels.shared import (
    DEPENDENT,
    HUGE,
    TOLERANCE,
    aim,
    first_at_minimum,
    gradient,
    solve_transposed,
    write_row,
)


@inner
def _append(G, b, P, s, j, L, rdiag, y, w):
    """Add row j to the factor (P, L, rdiag, y, w: out). Gives whether the pivot was sound."""
    norm = 0.0
    yj = b[j]
    wj = 1.0
    for i in range(s):
        t = G[j, P[i]]
        for c in range(i):
            t -= L[i, c] * L[s, c]
        t *= rdiag[i]
        L[s, i] = t
        norm += t * t
        yj -= t * y[i]
        wj -= t * w[i]
    pivot = G[j, j] - norm
    if pivot <= DEPENDENT * G[j, j]:
        return False
    r = 1.0 / np.sqrt(pivot)
    rdiag[s] = r
    L[s, s] = pivot * r
    y[s] = yj * r
    w[s] = wj * r
    P[s] = j
    return True


@inner
def _remove(P, z, s, i, L, rdiag, y, w):
    """Take position i out of the factor by rotations (all but s, i: in and out)."""
    for r in range(i, s - 1):
        P[r] = P[r + 1]
        z[r] = z[r + 1]
        for c in range(r + 2):
            L[r, c] = L[r + 1, c]
    for c in range(i, s - 1):
        u = L[c, c]
        v = L[c, c + 1]
        h = np.sqrt(u * u + v * v)
        cs = u / h
        sn = v / h
        L[c, c] = h
        rdiag[c] = 1.0 / h
        for r in range(c + 1, s - 1):
            t = L[r, c]
            L[r, c] = cs * t + sn * L[r, c + 1]
            L[r, c + 1] = cs * L[r, c + 1] - sn * t
        t = y[c]
        y[c] = cs * t + sn * y[c + 1]
        y[c + 1] = cs * y[c + 1] - sn * t
        t = w[c]
        w[c] = cs * t + sn * w[c + 1]
        w[c + 1] = cs * w[c + 1] - sn * t


@inner
def _gather(G, near, own):
    """Write G's rows and columns ``near`` into own (out); give the largest of its diagonal."""
    gmax = 0.0
    for i in range(near.shape[0]):
        for c in range(near.shape[0]):
            own[i, c] = G[near[i], near[c]]
        gmax = max(gmax, own[i, i])
    return gmax


@inner
def _move(z, s, x, is_in):
    """Move the weights z (in and out) to x, or without end along it, until one reaches zero.

    x : in and out, becomes the direction. is_in : whether x is where to go. Give how far they moved, and
    the position of the weight that reached zero, -1 if x was reached.
    """
    step = 1.0 if is_in else HUGE
    out = np.int64(-1 if is_in else 0)
    for i in range(s):
        if is_in:
            x[i] -= z[i]
        if x[i] < 0.0 and z[i] < -step * x[i]:
            step = -z[i] / x[i]
            out = i
    for i in range(s):
        z[i] = max(z[i] + step * x[i], 0.0)
    return step, out


def room_for_active_set(m, few):
    """What :func:`solve_by_active_set` needs for rows of m anchors, or of few out of many."""
    m = few or m
    return (
        np.empty((few, few)), np.empty((m + 1, m + 1)), np.empty(m + 1, np.int64),
        np.empty((5, m + 1)), np.empty((2, m)),
    )  # fmt: skip


@jit
def solve_by_active_set(G, B, near, scratch, indptr, indices, data):
    """Solve every row from its best vertex; gives how many did not converge.

    G : in, (m, m). B : in, the linear terms: of all anchors, (n, m), or of those that near (n, r) lists
    for each row, ascending, (n, r). Without any listed, r = 0, all are used. scratch : see
    :func:`room_for_active_set`. indptr (n + 1), indices and data (n * columns of B): out, the CSR rows,
    columns ascending.

    The number of steps is in proportion to m at most. A row whose numbers are too large, or none, keeps
    its best vertex.
    """
    n, m = B.shape
    few = near.shape[1]
    G_few, L, P, longer, shorter = scratch
    own = G if few == 0 else G_few
    rdiag, y, w, x, z = longer[0], longer[1], longer[2], longer[3], longer[4]
    g, full = shorter[0], shorter[1]
    gmax = 0.0
    for j in range(m):
        full[j] = 0.0
        gmax = max(gmax, own[j, j])
    end = np.int64(0)
    failed = 0
    indptr[0] = 0
    for row in range(n):
        b = B[row]
        if few > 0:
            gmax = _gather(G, near[row], G_few)  # not own: G may be read-only
        bmax = 0.0
        for j in range(m):
            g[j] = 0.5 * own[j, j] - b[j]
            bmax = max(bmax, abs(b[j]))
        tol = TOLERANCE * (bmax + gmax)
        first = np.int64(-1)
        mu = HUGE
        s = np.int64(0)
        is_solved = False
        for _ in range(20 * m + 100):
            j = first_at_minimum(g)
            if first < 0:
                first = j
            elif g[j] >= mu - tol:
                is_solved = True
                break
            elif not abs(mu) < HUGE:
                s = np.int64(0)
                break
            weight = 0.0
            is_in = False
            while True:
                if not is_in and _append(own, b, P, s, j, L, rdiag, y, w):
                    z[s] = weight
                    s += 1
                    is_in = True
                if s == 0 or s > m:
                    break
                if is_in:
                    mu = aim(s, y, w, x)
                else:
                    # The anchor depends on the support: slide along the null direction, on which the
                    # objective falls, until a weight reaches zero. That one leaves, and then j fits.
                    for i in range(s):
                        x[i] = -L[s, i]
                solve_transposed(s, L, rdiag, x)
                if s == 1 and is_in:
                    x[0] = 1.0  # far from all anchors, rounding would leave nothing of it
                step, out = _move(z, s, x, is_in)
                if out < 0:
                    break
                if not is_in:
                    weight += step
                # An index that leaves as it came was let in by rounding: there is nothing left to gain.
                is_solved = is_solved or (P[out] == j and step == 0.0)
                _remove(P, z, s, out, L, rdiag, y, w)
                s -= 1
            if is_solved or s == 0 or s > m:
                break
            gradient(own, b, P, z, s, g)
            for i in range(s):
                g[P[i]] = HUGE
        if s == 0 or s > m:
            is_solved = False
            P[0] = first
            z[0] = 1.0
            s = np.int64(1)
        failed += not is_solved
        for i in range(s):
            full[P[i]] = z[i]
        start = end
        end = write_row(full, end, indices, data)
        if few > 0:
            for a in range(start, end):
                indices[a] = near[row, indices[a]]
        indptr[row + 1] = end
    return failed
