"""Block exchange on the complement, for solutions in which most anchors have weight.

With H = G^-1 shared by all rows, Y = B H are the weights without constraints. A small set R of
anchors is held at zero by multipliers; it grows by all negative weights and shrinks by all negative
multipliers until there are none. A row that does not settle is left empty for the active set.
"""

import numpy as np

from manyview.simplex.jit import inner_of_several, jit_allocating
from manyview.simplex.kernels.shared import factor, forward, solve_transposed, write_row

_MAX_STEPS = 30
_PATIENCE = 3


@inner_of_several
def _weights(H, h, h_sum, y, R, r, L, rdiag, p, q, z):
    """Write the weights with R (r) held at zero into z, their multipliers into q (out)."""
    m = y.shape[0]
    y_sum = 0.0
    for j in range(m):
        y_sum += y[j]
    hp = 0.0
    hq = 0.0
    for i in range(r):
        p[i] = y[R[i]]
        q[i] = h[R[i]]
    forward(L, rdiag, 0, r, p, p)
    solve_transposed(r, L, rdiag, p)
    forward(L, rdiag, 0, r, q, q)
    solve_transposed(r, L, rdiag, q)
    for i in range(r):
        hp += h[R[i]] * p[i]
        hq += h[R[i]] * q[i]
    level = (y_sum - hp - 1.0) / (h_sum - hq)
    for j in range(m):
        z[j] = y[j] - level * h[j]
    for i in range(r):
        q[i] = level * q[i] - p[i]
        t = q[i]
        row = H[R[i]]
        for j in range(m):
            z[j] += t * row[j]
    for i in range(r):
        z[R[i]] = 0.0


@inner_of_several
def _solve_row(H, h, h_sum, y, tol, R, L, rdiag, p, q, z):
    """Write one row's weights into z (out); give whether it settled. The others are scratch."""
    m = y.shape[0]
    r = np.int64(0)
    sound = np.int64(0)
    fewest = m + 1
    idle = 0
    for _ in range(_MAX_STEPS):
        if not factor(H, R, sound, r, L, rdiag):
            return False
        _weights(H, h, h_sum, y, R, r, L, rdiag, p, q, z)
        sound = r
        kept = np.int64(0)
        for i in range(r):
            if q[i] >= 0.0:
                R[kept] = R[i]
                kept += 1
            else:
                sound = min(sound, i)
        size = kept
        for j in range(m):
            if z[j] < -tol:
                R[size] = j
                size += 1
        wrong = (r - kept) + (size - kept)
        if wrong == 0:
            return True
        if wrong < fewest:
            fewest = wrong
            idle = 0
        else:
            idle += 1
            if idle >= _PATIENCE:
                return False
        r = size
    return False


@jit_allocating
def solve_by_complement(H, Y, tol, indptr, indices, data):
    """Solve rows whose weights without constraints are Y (n, m); give how many did not settle.

    H : in, (m, m). indptr (n + 1), indices and data (n * m): out, the CSR rows, columns ascending;
    rows that did not settle are left empty.
    """
    n, m = Y.shape
    h = np.zeros(m)
    h_sum = 0.0
    for i in range(m):
        for j in range(m):
            h[j] += H[i, j]
    for j in range(m):
        h_sum += h[j]
    R = np.empty(2 * m, np.int64)
    L = np.empty((m, m))
    rdiag = np.empty(m)
    p = np.empty(m)
    q = np.empty(m)
    z = np.empty(m)
    end = np.int64(0)
    failed = 0
    indptr[0] = 0
    for row in range(n):
        settled = _solve_row(H, h, h_sum, Y[row], tol, R, L, rdiag, p, q, z)
        if settled:
            end = write_row(z, end, indices, data)
        failed += not settled
        indptr[row + 1] = end
    return failed
