"""Newton's method in the space of the anchors, for few dimensions and many anchors.

With r = x - A'z the residual of a row, the weights are z_j = max(0, a_j'r + c_j - level) / alpha,
where ``level`` makes them sum to one. So every row inverts the same piecewise linear, monotone map
r + A'z(r) = x, in as many unknowns as the anchors have dimensions, however many anchors there are.
"""

import numpy as np

from manyview.simplex.jit import inner_of_several, jit_allocating
from manyview.simplex.kernels.shared import factor, find_level, forward, solve_transposed, write_row

_MAX_STEPS = 60
_REBUILD_ROWS = 256  # sums that are kept up to date are summed afresh after so many rows


@inner_of_several
def _slope_terms(t, u, tau, alpha, level, moved):
    """The level at t + tau u (written to moved), and the weights' sum with u there."""
    m = t.shape[0]
    for j in range(m):
        moved[j] = t[j] + tau * u[j]
    level = find_level(moved, alpha, level)
    total = 0.0
    for j in range(m):
        total += max(moved[j] - level, 0.0) * u[j]
    return level, total / alpha


@inner_of_several
def _times_anchors(AT, r, out):
    """Add A r to out (in and out); AT is (d, m)."""
    for k in range(AT.shape[0]):
        rk = r[k]
        row = AT[k]
        for j in range(AT.shape[1]):
            out[j] += rk * row[j]


@inner_of_several
def _residual(AT, t, alpha, level, xi, r, z, rho):
    """Write z and rho = xi - r - A'z (out); give the largest entry of rho."""
    d, m = AT.shape
    for j in range(m):
        z[j] = max(t[j] - level, 0.0) / alpha
    worst = 0.0
    for k in range(d):
        row = AT[k]
        total = 0.0
        for j in range(m):
            total += row[j] * z[j]
        rho[k] = xi[k] - r[k] - total
        worst = max(worst, abs(rho[k]))
    return worst


@inner_of_several
def _update_support(A, z, inside, changed, S, a):
    """Keep S = sum aa' and a = sum a over the support up to date (inside, S, a: in and out).

    changed : scratch. Give by how many anchors the support changed.
    """
    m, d = A.shape
    n_changed = 0
    for j in range(m):
        changed[n_changed] = j
        n_changed += (z[j] > 0.0) != inside[j]
    for i in range(n_changed):
        j = changed[i]
        sign = -1.0 if inside[j] else 1.0
        inside[j] = not inside[j]
        row = A[j]
        for k in range(d):
            t = sign * row[k]
            a[k] += t
            Sk = S[k]
            for c in range(d):
                Sk[c] += t * row[c]
    return n_changed


@inner_of_several
def _newton_factor(S, a, count, alpha, every, M, L, rdiag):
    """Factor alpha I + S - aa'/count (L, rdiag: out; M: scratch)."""
    d = a.shape[0]
    for k in range(d):
        for c in range(k + 1):
            M[k, c] = S[k, c] - a[k] * a[c] / count
        M[k, k] += alpha
    return factor(M, every, 0, d, L, rdiag)


@inner_of_several
def _search(t, u, alpha, level, straight, delta2, slope0, slope1, share, moved):
    """A step in (0, 1) at which the slope is at most ``share`` of the first, and its level.

    The slope at step tau is straight - tau delta2 - z(tau)'u: falling from slope0 > 0 to slope1 < 0.
    """
    low = 0.0
    high = 1.0
    at_low = slope0
    at_high = slope1
    tau = 1.0
    for _ in range(40):
        tau = low + (high - low) * at_low / (at_low - at_high)
        tau = min(max(tau, low + 0.05 * (high - low)), high - 0.05 * (high - low))
        level, total = _slope_terms(t, u, tau, alpha, level, moved)
        slope = straight - tau * delta2 - total
        if abs(slope) <= share * slope0:
            break
        if slope > 0.0:
            low = tau
            at_low = slope
        else:
            high = tau
            at_high = slope
    return tau, level


@inner_of_several
def _dot(a, b):
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@jit_allocating
def solve_by_newton(A, AT, c, alpha, XI, order, indptr, indices, data):
    """Solve rows with coordinates XI (n, d), each started from the one before it in ``order``.

    A : (m, d), AT : (d, m), c : (m): in. indptr (n + 1), indices and data (n * m): out, CSR rows in
    the order of ``order``; give the number of rows that failed, which are left empty.
    """
    m, d = A.shape
    every = np.arange(d)
    inside = np.zeros(m, np.bool_)
    changed = np.empty(m + 1, np.int64)
    S = np.zeros((d, d))
    a = np.zeros(d)
    M = np.empty((d, d))
    L = np.empty((d, d))
    rdiag = np.empty(d)
    r = np.zeros(d)
    rho = np.empty(d)
    delta = np.empty(d)
    t = np.empty(m)
    u = np.empty(m)
    z = np.zeros(m)
    moved = np.empty(m)
    level = 0.0
    end = np.int64(0)
    failed = 0
    indptr[0] = 0
    for number in range(order.shape[0]):
        xi = XI[order[number]]
        size = 1.0
        for k in range(d):
            size = max(size, abs(xi[k]))
        tol = max(1e-14, 4e-16 / alpha) * size
        if number % _REBUILD_ROWS == 0:
            inside[:] = False
            S[:] = 0.0
            a[:] = 0.0
        # A residual much longer than this row would leave its rounding behind: start afresh.
        longest = 0.0
        for k in range(d):
            longest = max(longest, abs(r[k]))
        if not longest <= 100.0 * size:
            for k in range(d):
                r[k] = 0.0
        for j in range(m):
            t[j] = c[j]
        _times_anchors(AT, r, t)
        level = find_level(t, alpha, level)
        worst = _residual(AT, t, alpha, level, xi, r, z, rho)
        fresh = True
        for step in range(_MAX_STEPS):
            if worst <= tol:
                break
            if _update_support(A, z, inside, changed, S, a) > 0 or fresh:
                count = np.int64(0)
                for j in range(m):
                    count += inside[j]
                _newton_factor(S, a, count, alpha, every, M, L, rdiag)
                fresh = False
            for k in range(d):
                delta[k] = alpha * rho[k]
            forward(L, rdiag, 0, d, delta, delta)
            solve_transposed(d, L, rdiag, delta)
            for j in range(m):
                u[j] = 0.0
            _times_anchors(AT, delta, u)
            slope0 = _dot(rho, delta)
            straight = _dot(xi, delta) - _dot(r, delta)
            delta2 = _dot(delta, delta)
            level, total = _slope_terms(t, u, 1.0, alpha, level, moved)
            slope1 = straight - delta2 - total
            share = 0.5 if step < 10 else 0.01
            tau = 1.0
            if -slope1 > share * slope0:
                tau, level = _search(
                    t, u, alpha, level, straight, delta2, slope0, slope1, share, moved
                )
            for j in range(m):
                t[j] = moved[j]
            for k in range(d):
                r[k] += tau * delta[k]
            worst = _residual(AT, t, alpha, level, xi, r, z, rho)
        if worst <= tol:
            end = write_row(z, end, indices, data)
        else:
            failed += 1
        indptr[number + 1] = end
    return failed
