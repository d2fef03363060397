"""Compiled loops that several methods share.

``P`` lists the support, ``L`` (rows) is the Cholesky factor of G_PP with the reciprocal of its
diagonal in ``rdiag``, ``y = L^-1 b_P`` and ``w = L^-1 1``. The minimiser on the support ignoring signs
is then ``mu = (1 - w'y) / w'w``, ``z_P = L^-T (y + mu w)``: one back substitution.
"""

import numpy as np

from manyview.simplex.jit import inner, inner_of_several, jit

HUGE = 1e300
DEPENDENT = 1e-13  # a pivot below this share of its diagonal entry: rows depend on each other
TOLERANCE = 2e-14  # of optimality, relative to the largest entries of b and G


@inner
def solve_transposed(s, L, rdiag, x):
    """Write L^-T x into x (in and out), in row order of L."""
    for i in range(s - 1, -1, -1):
        t = x[i] * rdiag[i]
        x[i] = t
        for c in range(i):
            x[c] -= t * L[i, c]


@inner
def aim(s, y, w, x):
    """Write y + mu w into x (out), of which L^-T makes the minimiser on the support; give mu."""
    wy = 0.0
    ww = 0.0
    for i in range(s):
        wy += w[i] * y[i]
        ww += w[i] * w[i]
    mu = (1.0 - wy) / ww
    for i in range(s):
        x[i] = y[i] + mu * w[i]
    return mu


@inner
def gradient(G, b, P, z, s, g):
    """Write Gz - b into g (out), four rows of G a pass."""
    m = b.shape[0]
    head = s % 4
    for j in range(m):
        g[j] = -b[j]
    for i in range(head):
        t = z[i]
        row = G[P[i]]
        for j in range(m):
            g[j] += t * row[j]
    for i in range(head, s, 4):
        t0 = z[i]
        t1 = z[i + 1]
        t2 = z[i + 2]
        t3 = z[i + 3]
        r0 = G[P[i]]
        r1 = G[P[i + 1]]
        r2 = G[P[i + 2]]
        r3 = G[P[i + 3]]
        for j in range(m):
            g[j] += (t0 * r0[j] + t1 * r1[j]) + (t2 * r2[j] + t3 * r3[j])


@inner
def first_at_minimum(g):
    """The first index at which g is smallest; two loops, as only a plain minimum vectorises."""
    low = g[0]
    for j in range(g.shape[0]):
        low = min(low, g[j])
    for j in range(g.shape[0]):
        if g[j] == low:
            return j
    return 0


@inner_of_several
def find_level(t, alpha, level):
    """The level with sum max(0, t - level) = alpha, by Newton's method from a guess."""
    m = t.shape[0]
    last = -1.0
    for _ in range(200):
        total = 0.0
        count = 0.0
        for j in range(m):
            above = t[j] - level
            total += max(above, 0.0)
            count += 1.0 if above > 0.0 else 0.0
        if count == 0.0:
            top = t[0]
            for j in range(m):
                top = max(top, t[j])
            level = top - alpha
            continue
        level += (total - alpha) / count
        if count == last:  # the same entries are above: this piece is linear, and now exact
            break
        last = count
    return level


@inner_of_several
def factor(M, S, start, s, L, rdiag):
    """Factor the gathered block M[S, S] (s, s) from row ``start`` on (L, rdiag: in and out).

    Rows before ``start`` are already there. In dot form, four columns at once: nothing is written in
    the inner loop. Give whether all pivots were sound.
    """
    for i in range(start, s):
        Mi = M[S[i]]
        Li = L[i]
        j = 0
        while j + 4 <= i:
            L0 = L[j]
            L1 = L[j + 1]
            L2 = L[j + 2]
            L3 = L[j + 3]
            t0 = 0.0
            t1 = 0.0
            t2 = 0.0
            t3 = 0.0
            for c in range(j):
                t = Li[c]
                t0 += t * L0[c]
                t1 += t * L1[c]
                t2 += t * L2[c]
                t3 += t * L3[c]
            a0 = (Mi[S[j]] - t0) * rdiag[j]
            a1 = (Mi[S[j + 1]] - t1 - a0 * L1[j]) * rdiag[j + 1]
            a2 = (Mi[S[j + 2]] - t2 - a0 * L2[j] - a1 * L2[j + 1]) * rdiag[j + 2]
            t3 += a0 * L3[j] + a1 * L3[j + 1] + a2 * L3[j + 2]
            Li[j] = a0
            Li[j + 1] = a1
            Li[j + 2] = a2
            Li[j + 3] = (Mi[S[j + 3]] - t3) * rdiag[j + 3]
            j += 4
        while j < i:
            Lj = L[j]
            t = 0.0
            for c in range(j):
                t += Li[c] * Lj[c]
            Li[j] = (Mi[S[j]] - t) * rdiag[j]
            j += 1
        t = 0.0
        for c in range(i):
            t += Li[c] * Li[c]
        pivot = Mi[S[i]] - t
        if pivot <= DEPENDENT * Mi[S[i]]:
            return False
        rdiag[i] = 1.0 / np.sqrt(pivot)
        Li[i] = pivot * rdiag[i]
    return True


@inner_of_several
def forward(L, rdiag, start, s, right, x):
    """Write entries ``start`` to s of L^-1 right into x (in and out; may be right itself)."""
    for i in range(start, s):
        Li = L[i]
        t = right[i]
        for c in range(i):
            t -= Li[c] * x[c]
        x[i] = t * rdiag[i]


@inner
def write_row(full, end, indices, data):
    """Write the positive entries of a dense row as CSR from ``end`` on (indices, data: out).

    They are scaled to sum to one exactly, which far from all anchors they do only roughly. ``full`` is
    set to zero again; give the new end.
    """
    total = 0.0
    for j in range(full.shape[0]):
        total += max(full[j], 0.0)
    share = 1.0 / total if total > 0.0 else 1.0
    for j in range(full.shape[0]):
        if full[j] > 0.0:
            indices[end] = j
            data[end] = full[j] * share
            end += 1
        full[j] = 0.0
    return end


@jit
def gather_rows(indptr, indices, data, sources, new_indptr, new_indices, new_data):
    """Copy CSR rows in the order of ``sources`` (n); the last three arrays: out."""
    end = np.int64(0)
    new_indptr[0] = 0
    for row in range(sources.shape[0]):
        for a in range(indptr[sources[row]], indptr[sources[row] + 1]):
            new_indices[end] = indices[a]
            new_data[end] = data[a]
            end += 1
        new_indptr[row + 1] = end
