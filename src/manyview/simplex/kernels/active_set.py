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
    first_at_minimum,
    gradient,
    minimise_on_support,
    solve_transposed,
    workspace,
    write_row,
)


@inner
def _append(G, b, P, s, j, L, rdiag, y, w):
    """Add row j to the factor (P, L, rdiag, y, w: out). Gives whether the pivot was sound."""
    row = L[s]
    norm = 0.0
    yj = b[j]
    wj = 1.0
    for i in range(s):
        t = G[j, P[i]]
        Li = L[i]
        for c in range(i):
            t -= Li[c] * row[c]
        t *= rdiag[i]
        row[i] = t
        norm += t * t
        yj -= t * y[i]
        wj -= t * w[i]
    pivot = G[j, j] - norm
    if pivot <= DEPENDENT * G[j, j]:
        return False
    r = 1.0 / np.sqrt(pivot)
    rdiag[s] = r
    row[s] = pivot * r
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
        below = L[r + 1]
        here = L[r]
        for c in range(r + 2):
            here[c] = below[c]
    for c in range(i, s - 1):
        u = L[c, c]
        v = L[c, c + 1]
        h = np.sqrt(u * u + v * v)
        cs = u / h
        sn = v / h
        L[c, c] = h
        rdiag[c] = 1.0 / h
        for r in range(c + 1, s - 1):
            row = L[r]
            t = row[c]
            row[c] = cs * t + sn * row[c + 1]
            row[c + 1] = cs * row[c + 1] - sn * t
        t = y[c]
        y[c] = cs * t + sn * y[c + 1]
        y[c + 1] = cs * y[c + 1] - sn * t
        t = w[c]
        w[c] = cs * t + sn * w[c + 1]
        w[c + 1] = cs * w[c + 1] - sn * t


@inner
def _enter(G, b, P, z, s, j, L, rdiag, y, w, x):
    """Let index j into the support (P, z and the factor: in and out); give the support's new size.

    If its anchor depends on the support, slide along the null direction, on which the objective
    falls, until a weight reaches zero: that one leaves, and j fits. The size is 0 if nothing fits, as
    where numbers are too large, or none.
    """
    weight = 0.0
    while not _append(G, b, P, s, j, L, rdiag, y, w):
        if s == 0:
            return s
        solve_transposed(s, L, rdiag, L[s], x)
        out = np.int64(0)
        step = HUGE
        for i in range(s):
            if x[i] > 0.0 and z[i] < step * x[i]:
                step = z[i] / x[i]
                out = i
        for i in range(s):
            z[i] = max(z[i] - step * x[i], 0.0)
        weight += step
        _remove(P, z, s, out, L, rdiag, y, w)
        s -= 1
    z[s] = weight
    return s + 1


@inner
def solve_row(G, b, gmax, P, z, L, rdiag, y, w, x, g):
    """Solve one row from the best vertex; give the support size and whether it converged.

    P, z: out, the support and its weights. The other arrays are scratch. The number of steps is in
    proportion to m at most. A row whose numbers are too large, or none, keeps its best vertex.
    """
    m = b.shape[0]
    bmax = 0.0
    for j in range(m):
        g[j] = 0.5 * G[j, j] - b[j]
        bmax = max(bmax, abs(b[j]))
    j = np.int64(0)
    first = np.int64(-1)
    mu = HUGE
    tol = TOLERANCE * (bmax + gmax)
    s = np.int64(0)
    for _ in range(20 * m + 100):
        j = first_at_minimum(g)
        if first < 0:
            first = j
        elif g[j] >= mu - tol:
            return s, True
        elif not abs(mu) < HUGE:
            s = np.int64(0)
            break
        s = _enter(G, b, P, z, s, j, L, rdiag, y, w, x)
        if s == 0 or s > m:
            break
        stalled = False
        while True:
            mu = minimise_on_support(s, L, rdiag, y, w, x)
            if s == 1:
                x[0] = 1.0  # far from all anchors, rounding would leave nothing of it
            out = np.int64(-1)
            step = 1.0
            for i in range(s):
                if x[i] < 0.0 and z[i] < step * (z[i] - x[i]):
                    step = z[i] / (z[i] - x[i])
                    out = i
            for i in range(s):
                z[i] += step * (x[i] - z[i])
            if out < 0:
                break
            # An index that leaves as it came was let in by rounding: there is nothing left to gain.
            stalled = stalled or (P[out] == j and step == 0.0)
            _remove(P, z, s, out, L, rdiag, y, w)
            s -= 1
        if stalled:
            return s, True
        gradient(G, b, P, z, s, g)
        for i in range(s):
            g[P[i]] = HUGE
    if s == 0 or s > m:
        P[0] = first
        z[0] = 1.0
        s = np.int64(1)
    return s, False


@jit
def solve_by_active_set(G, B, near, indptr, indices, data):
    """Solve every row; gives how many did not converge.

    G : in, (m, m). B : in, the linear terms: of all anchors, (n, m), or of those that near (n, r) lists
    for each row, ascending, (n, r). Without any listed, r = 0, all are used. indptr (n + 1), indices and
    data (n * columns of B): out, the CSR rows, columns ascending.
    """
    n, size = B.shape
    few = near.shape[1]
    G_few = np.empty((few, few))
    # One call of what solves a row for both cases: compiling it takes longer than all else.
    own = G if few == 0 else G_few
    P = np.empty(size + 1, np.int64)
    z = np.empty(size + 1)
    L, rdiag, y, w, x, g, full, gmax = workspace(own)
    end = np.int64(0)
    failed = 0
    indptr[0] = 0
    for row in range(n):
        if few > 0:
            gmax = 0.0
            for i in range(few):
                for c in range(few):
                    G_few[i, c] = G[near[row, i], near[row, c]]
                gmax = max(gmax, G_few[i, i])
        s, converged = solve_row(own, B[row], gmax, P, z, L, rdiag, y, w, x, g)
        failed += not converged
        for i in range(s):
            full[P[i]] = z[i]
        start = end
        end = write_row(full, end, indices, data)
        if few > 0:
            for a in range(start, end):
                indices[a] = near[row, indices[a]]
        indptr[row + 1] = end
    return failed
