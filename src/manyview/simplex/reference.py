"""The same problem in plain NumPy: slow, short, obviously right.

Start with all weight on the best anchor. Let in the anchor whose gradient is lowest, minimise on the
support with only sum z = 1 required, and walk there until a weight reaches zero: that anchor leaves.
Stop when no anchor outside has a lower gradient than those inside.
"""

from __future__ import annotations

import numpy as np

from manyview.simplex.problem import Array


def solve_row(x: Array, A: Array, *, alpha: float, locality: float = 0.0) -> Array:
    """Weights of row ``x`` (d,) over anchors ``A`` (m, d); shape (m,).

    Examples
    --------
    >>> solve_row(np.array([0.25, 0.75]), np.eye(2), alpha=0.0).round(6)
    array([0.25, 0.75])
    """
    A, x = A - A.mean(axis=0), x - A.mean(axis=0)
    unit = (A**2).sum(axis=1).mean() + alpha or 1.0
    G = (A @ A.T + alpha * np.eye(len(A))) / unit
    b = (A @ x - 0.5 * locality * ((x - A) ** 2).sum(axis=1)) / unit
    b = b - b.max()
    z = np.zeros(len(A))
    z[np.argmin(0.5 * np.diag(G) - b)] = 1.0
    tolerance = 1e-13 * (np.abs(b).max() + 1.0)
    inside = z > 0
    for _ in range(50 * len(A)):
        z = _minimise_on_support(G, b, z, inside)
        inside = z > 0
        gradient = G @ z - b
        level = z @ gradient
        entering = int(np.argmin(gradient))
        if gradient[entering] >= level - tolerance or inside[entering]:
            break
        inside[entering] = True
    return z


def _minimise_on_support(G: Array, b: Array, z: Array, inside: np.ndarray) -> Array:
    inside = inside.copy()
    while True:
        support = np.flatnonzero(inside)
        size = len(support)
        system = np.ones((size + 1, size + 1))
        system[:size, :size] = G[np.ix_(support, support)]
        system[size, size] = 0.0
        right = np.append(b[support], 1.0)
        solution = np.linalg.lstsq(system, right, rcond=1e-13)[0]
        # What no solution reaches lies in the null space: along it the objective falls for ever.
        missing = right - system @ solution
        target = np.zeros(len(z))
        if np.abs(missing).max() > 1e-9 * np.abs(right).max():
            target[support] = z[support] + missing[:size] / np.abs(missing).max() * 1e6
        else:
            target[support] = solution[:size]
        falling = inside & (target < 0)
        if not falling.any():
            return np.maximum(target, 0.0)
        steps = np.full(len(z), np.inf)
        steps[falling] = z[falling] / (z[falling] - target[falling])
        leaving = int(np.argmin(steps))
        z = np.maximum(z + steps[leaving] * (target - z), 0.0)
        z[leaving] = 0.0
        inside[leaving] = False
