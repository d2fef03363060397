"""Linear terms in, sparse weights out, by the method that suits the problem.

No single method is fast everywhere, and all are exact:

- ``active-set``: small supports; never fails, and takes over every row that another method gives up;
- ``exchange``: medium and large supports;
- ``complement``: nearly all anchors in use;
- ``newton``: more anchors in use than the rows have dimensions.

Where a row may use only its nearest anchors, the active set solves that small problem.

The method is chosen by counting, never by timing, so that results repeat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

from manyview.simplex.problem import Array, SimplexProblem

METHODS = ("active-set", "exchange", "complement", "newton")

PILOT_ROWS = 32

_TOO_LARGE = 1e150  # linear terms whose squares are no numbers any more
_STIFF = 0.999  # share of the ridge in the unit: alpha is a thousand times the anchors' energy

_MOST_NEAREST, _MANY_ANCHORS, _NARROW = 16, 256, 512
"""Where the nearest are looked for in single precision: at most, of at least, in columns at most."""
_SINGLE = 2.0**-24  # largest relative error of a rounding in single precision
_LARGEST_SINGLE = 1e38  # beyond it there are no numbers in single precision

_PRODUCT_BYTES = 1 << 20  # rows and their products stay in the cache between product and solve


@dataclass(frozen=True)
class Solution:
    """Solved rows as CSR parts."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    data: Array
    n_handed_on: int = 0  # rows that the method gave up and the active set solved
    n_failed: int = 0  # rows that were not solved to tolerance

    @classmethod
    def empty(cls, n: int, m: int) -> Solution:
        """Room for n rows of m anchors; only the part that is filled is ever touched."""
        return cls(np.zeros(n + 1, np.int64), np.empty(n * m, np.int32), np.empty(n * m))

    def trimmed(self, *, n_handed_on: int = 0, n_failed: int = 0) -> Solution:
        """The filled part."""
        end = self.indptr[-1]
        indices, data = self.indices[:end].copy(), self.data[:end].copy()
        return Solution(self.indptr, indices, data, n_handed_on, n_failed)

    def rows(self, n_anchors: int) -> sparse.csr_array:
        """The solved rows as a CSR array of shape (n, n_anchors)."""
        shape = (len(self.indptr) - 1, n_anchors)
        return sparse.csr_array((self.data, self.indices, self.indptr), shape=shape)


def product_rows(n_features: int, n_anchors: int) -> int:
    """Number of rows to multiply and solve at a time; it depends on the sizes alone.

    Examples
    --------
    >>> product_rows(54, 50), product_rows(784, 300)
    (2048, 256)
    """
    return rows_within(_PRODUCT_BYTES, 8 * max(n_features, n_anchors), least=256)


def rows_within(n_bytes: int, bytes_per_row: int, *, least: int) -> int:
    """The power of two of rows that fit in ``n_bytes``: from ``least`` to 4096.

    Examples
    --------
    >>> rows_within(1 << 20, 1000, least=64)
    1024
    """
    return min(4096, max(least, 1 << (max(n_bytes // bytes_per_row, 1).bit_length() - 1)))


def choose_method(problem: SimplexProblem, pilot: Array) -> str:
    """The name of the method for rows like those with linear terms ``pilot`` (n, m).

    It depends on the mean number of anchors that a pilot row uses, the number of anchors and their
    dimensions, and the ridge.
    """
    m, d = problem.n_anchors, problem.n_dimensions
    # The ridge in units of the anchors' energy; problem.unit is their sum.
    ridge = problem.ridge / max(1.0 - problem.ridge, 1e-300)
    # Most problems end up with the active set, so that nothing else need be compiled for them.
    counting = Solver(problem, "active-set" if m <= 300 else "exchange")
    support = len(counting.solve(pilot).data) / len(pilot)
    unused = m - support
    if ridge >= 1e-4 and d <= 16 and support > 12:
        return "newton"
    if ridge >= 1e-3 and unused < min(m / 2, 2.5 * d):
        return "complement"
    if ridge >= 1e-4 and 2 * d < support:
        return "newton"
    return "active-set" if support < 12 else "exchange"


def pilot_rows(n_rows: int) -> npt.NDArray[np.int64]:
    """Numbers of a few rows spread over all."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, PILOT_ROWS)).astype(np.int64))


def _room_for_nearest(n: int, r: int) -> tuple[npt.NDArray[np.int64], Array]:
    return np.empty((n, r), np.int64), np.empty((n, r))


@dataclass(frozen=True)
class Solver:
    """A problem and the method that solves its rows; what the method needs is made on first use."""

    problem: SimplexProblem
    method: str
    n_neighbors: int | None = None
    """How many of the anchors a row may use, the nearest; None is all."""

    def solve(self, B: Array) -> Solution:
        """Solve the rows whose linear terms are ``B`` (n, m).

        Rows whose terms are not finite, or too large, count as failed; zeros are solved in their place.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            is_sound = np.isfinite(B.sum())  # a sum is, unless something in it is not
        if is_sound:
            return self._solve_finite(B)
        with np.errstate(invalid="ignore"):
            is_odd = np.asarray(~(abs(B) < _TOO_LARGE).all(axis=1))  # NaN is less than nothing
        solved = self._solve_finite(np.where(is_odd[:, None], 0.0, B))
        return replace(solved, n_failed=solved.n_failed + int(is_odd.sum()))

    def _solve_finite(self, B: Array) -> Solution:
        if self.n_neighbors is not None:
            return self._over_nearest(B, min(self.n_neighbors, B.shape[1]))
        solved = self._solve(B)
        return self._polish(B, solved) if self.problem.ridge > _STIFF else solved

    def _polish(self, B: Array, solved: Solution) -> Solution:
        """Solved rows to full precision where the ridge dwarfs all else.

        z is the projection of (b - AA'z) / ridge onto the simplex; that map shrinks errors by about
        the ridge, so applying it once wipes out those of z.
        """
        T = B - solved.rows(B.shape[1]) @ self._anchor_products
        T -= T.max(axis=1, keepdims=True)
        ordered = -np.sort(-T, axis=1)
        counts = np.arange(1, B.shape[1] + 1)
        levels = (np.cumsum(ordered, axis=1) - self.problem.ridge) / counts
        used = (ordered > levels).sum(axis=1)
        level = np.take_along_axis(levels, used[:, None] - 1, axis=1)
        weights = np.maximum(T - level, 0.0)
        Z = sparse.csr_array(weights / weights.sum(axis=1, keepdims=True))
        indptr, indices = Z.indptr.astype(np.int64), Z.indices.astype(np.int32)
        return Solution(indptr, indices, Z.data, solved.n_handed_on, solved.n_failed)

    def _solve(self, B: Array) -> Solution:
        if self.method == "active-set":
            return self._by_active_set(B)
        out = Solution.empty(*B.shape)
        order = None
        if self.method == "exchange":
            from manyview.simplex.kernels.exchange import solve_by_exchange

            n_left = solve_by_exchange(self.problem.gram, B, out.indptr, out.indices, out.data)
        elif self.method == "complement":
            from manyview.simplex.kernels.complement import solve_by_complement

            H = self._inverse
            n_left = solve_by_complement(H, B @ H, 1e-15, out.indptr, out.indices, out.data)
        else:
            from manyview.simplex.kernels.newton import solve_by_newton

            A, transposed, back = self._rotated
            c = self.problem.constants
            order = np.argsort(
                np.argmax(B - 0.5 * np.diagonal(self.problem.gram), axis=1), kind="stable"
            )
            n_left = solve_by_newton(
                A, transposed, c, self.problem.ridge, (B - c) @ back, order,
                out.indptr, out.indices, out.data,
            )  # fmt: skip
        return self._complete(B, out.trimmed(), order, int(n_left))

    def _by_active_set(self, B: Array, near: npt.NDArray[np.int64] | None = None) -> Solution:
        from manyview.simplex.kernels.active_set import room_for_active_set, solve_by_active_set

        near = np.empty((len(B), 0), np.int64) if near is None else near
        out, scratch = Solution.empty(*B.shape), room_for_active_set(B.shape[1], near.shape[1])
        n_failed = solve_by_active_set(
            self.problem.gram, B, near, scratch, out.indptr, out.indices, out.data
        )
        return out.trimmed(n_failed=int(n_failed))

    def _over_nearest(self, B: Array, n_neighbors: int) -> Solution:
        from manyview.simplex.kernels.nearest import choose_nearest

        near, terms = _room_for_nearest(len(B), n_neighbors)
        choose_nearest(B, self._half_norms, np.empty(n_neighbors), near, terms)
        return self._by_active_set(terms, near)

    def can_solve_dense(self, n_features: int) -> bool:
        """Whether :meth:`solve_dense` serves rows with so many columns, and is worth it."""
        r, m = self.n_neighbors, self.problem.n_anchors
        return r is not None and r <= _MOST_NEAREST and m >= _MANY_ANCHORS and n_features <= _NARROW

    def solve_dense(self, X: Array) -> Solution:
        """Solve dense rows (n, d), each over its nearest anchors.

        Nearly all anchors are too far by their distance in single precision, whose error is bounded; the
        others' distances, and so the answer, are as exact as those of :meth:`solve`.
        """
        from manyview.simplex.kernels.nearest import choose_among_likely, room_for_choosing

        assert self.n_neighbors is not None
        single, W, longest, farthest = self._in_single
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
            most = lengths.max(initial=0.0)
            is_sound = max(most, most * longest + farthest) < _LARGEST_SINGLE
        if not is_sound:
            return self.solve(self.problem.linear_terms(X))
        extended = np.ones((len(X), X.shape[1] + 1), np.float32)
        extended[:, :-1] = X
        rough = extended @ single
        n_roundings = 2 * (X.shape[1] + 4)  # of either of two that are compared
        errors = n_roundings * _SINGLE * (lengths * longest + farthest)
        near, terms = _room_for_nearest(len(X), self.n_neighbors)
        choose_among_likely(
            rough,
            errors.astype(np.float32),
            X,
            W,
            self.problem.offset,
            self._half_norms,
            room_for_choosing(len(W)),
            near,
            terms,
        )
        return self._by_active_set(terms, near)

    @cached_property
    def _half_norms(self) -> Array:
        return 0.5 * np.diagonal(self.problem.gram)  # and a constant, which orders nothing

    @cached_property
    def _in_single(self) -> tuple[npt.NDArray[np.float32], Array, float, float]:
        """What turns rows and a one into scores (d + 1, m); weights by anchor; the largest of both."""
        W = np.ascontiguousarray(self.problem.weights.T)
        constants = self.problem.offset - self._half_norms
        single = np.vstack([self.problem.weights, constants]).astype(np.float32)
        longest = float(np.sqrt(np.einsum("ij,ij->i", W, W).max()))
        return single, W, longest, float(np.abs(constants).max())

    def _complete(
        self, B: Array, solved: Solution, order: npt.NDArray[np.int64] | None, n_left: int
    ) -> Solution:
        """Hand rows that were left empty to the active set, and put all in their order."""
        if n_left == 0 and order is None:
            return solved
        from manyview.simplex.kernels.shared import gather_rows

        n, m = B.shape
        sources = np.arange(n)
        if order is not None:
            sources[order] = np.arange(n)
        rest = Solution.empty(0, m)
        if n_left:
            left = np.flatnonzero(np.diff(solved.indptr)[sources] == 0)
            rest = self._by_active_set(B[left])
            sources[left] = n + np.arange(len(left))
        indptr = np.concatenate([solved.indptr, solved.indptr[-1] + rest.indptr[1:]])
        indices = np.concatenate([solved.indices, rest.indices])
        data = np.concatenate([solved.data, rest.data])
        out = Solution(np.empty(n + 1, np.int64), np.empty_like(indices), np.empty_like(data))
        gather_rows(indptr, indices, data, sources, out.indptr, out.indices, out.data)
        return out.trimmed(n_handed_on=n_left, n_failed=rest.n_failed)

    @cached_property
    def _inverse(self) -> Array:
        H: Array = linalg.inv(self.problem.gram)
        return 0.5 * (H + H.T)

    @cached_property
    def _anchor_products(self) -> Array:
        """AA' of the centred anchors: the Gram matrix without ridge and shift."""
        products = self.problem.gram - 1.0
        products[np.diag_indices_from(products)] -= self.problem.ridge
        return products

    @cached_property
    def _rotated(self) -> tuple[Array, Array, Array]:
        """Anchors along their principal axes (m, d) and transposed; what turns b into coordinates."""
        problem = self.problem
        values, vectors = np.linalg.eigh(self._anchor_products)
        # Directions are dropped only where they are rounding: small ones still matter at 1e-12.
        first = max(int((values <= 1e-16 * values[-1]).sum()), len(values) - problem.n_dimensions)
        values, vectors = values[first:], vectors[:, first:]
        A = np.ascontiguousarray(vectors * np.sqrt(values))
        return A, np.ascontiguousarray(A.T), vectors / np.sqrt(values)
