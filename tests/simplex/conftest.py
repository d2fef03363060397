"""Exact answers to the simplex problem, from solvers that share no code with ours."""

import daqp
import numpy as np
import pytest
import quadprog

# Both oracles lose digits, and daqp cycles, on matrices near singular. Proximal steps of falling weight
# lead them there: each starts from the last answer, so less and less is left to find.
_WEIGHTS = np.append(np.logspace(-3, -9, 7), 0.0)


def _scaled(x, A, alpha, locality):
    """Give G and b of the problem in units of its energy, outside which the oracles fail silently."""
    center = A.mean(axis=0)
    A, x = A - center, x - center
    unit = (A**2).sum(axis=1).mean() + alpha or 1.0
    A, x, alpha = A / np.sqrt(unit), x / np.sqrt(unit), alpha / unit
    b = A @ x - 0.5 * locality * ((x - A) ** 2).sum(axis=1)
    # A constant added to every entry changes nothing where sum z = 1, and helps.
    return A @ A.T + alpha * np.eye(len(A)) + 1.0, b - b.max()


def _by_daqp(G, b):
    m = len(b)
    lower, upper = np.append(np.zeros(m), 1.0), np.append(np.full(m, 1e30), 1.0)
    equality = np.append(np.zeros(m), 5).astype(np.int32)
    z, _, flag, _ = daqp.solve(
        G, -b, np.ones((1, m)), upper, lower, equality,
        primal_tol=1e-12, dual_tol=1e-12, iter_limit=100_000,
    )  # fmt: skip
    if flag < 1:
        raise ValueError(f"daqp gave up with flag {flag}")
    return z


def _by_quadprog(G, b):
    m = len(b)
    return quadprog.solve_qp(
        G, b, np.column_stack([np.ones(m), np.eye(m)]), np.append(1.0, np.zeros(m)), 1
    )[0]


@pytest.fixture(scope="session", params=[_by_daqp, _by_quadprog], ids=["daqp", "quadprog"])
def oracle(request):
    """Give a function: one row and its anchors -> the best weights that an exact solver finds.

    They are feasible, so the minimum cannot lie above their objective, whatever the oracle lost.
    """

    def solve(x, A, *, alpha, locality, weights=_WEIGHTS):
        G, b = _scaled(np.asarray(x, float), A, alpha, locality)
        best, z = np.inf, np.zeros(len(b))
        for weight in weights * max(1.0, np.abs(b).max()):
            try:
                z = np.maximum(request.param(G + weight * np.eye(len(b)), b + weight * z), 0.0)
            except ValueError:
                continue  # the next weight is another problem
            z /= z.sum()
            value = 0.5 * z @ G @ z - b @ z
            if value < best:
                best, found = value, z
        return found

    return solve


@pytest.fixture(scope="session")
def objective():
    """Give a function: the problem's value at z as it is printed, in extended precision."""

    def value(z, x, A, *, alpha, locality):
        z, x, A = (np.asarray(a, dtype=np.longdouble) for a in (z, x, A))
        fit = ((x - z @ A) ** 2).sum() + np.longdouble(alpha) * (z**2).sum()
        return fit + np.longdouble(locality) * (z * ((x - A) ** 2).sum(axis=1)).sum()

    return value


@pytest.fixture(scope="session")
def unit():
    """Give a function: ||x||^2 + energy of the anchors, what errors are measured against."""

    def value(x, A):
        energy = ((A - A.mean(axis=0)) ** 2).sum(axis=1).mean()
        return float((np.asarray(x, float) ** 2).sum() + energy)

    return value
