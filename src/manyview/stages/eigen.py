"""Leading eigenvectors of a large sparse symmetric matrix, repeated eigenvalues included.

A Lanczos run sees one vector of each eigenspace, or as many as it has in a block: on a graph in p
pieces, whose normalised weights have the eigenvalue one p times, it reports some of these and goes on
to smaller eigenvalues without a word. So each piece is searched by itself, if vectors are few; and
what was found is taken out and the rest is searched again, until nothing larger is left.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, lobpcg
from sklearn.exceptions import ConvergenceWarning

from manyview.errors import silenced, warn_user
from manyview.stages.grams import RowsGram, dense_gram

FloatArray = npt.NDArray[np.float64]

_DENSE_BELOW, _MANY_DENSE_BELOW, _STORED_DENSE_BELOW = 500, 1000, 2500
"""Rows up to which a dense eigensolver is at least as fast; the same for many eigenvectors; of what is
stored so, or where eigenvalues repeat."""

_QUICK, _QUICK_FOR_MANY = 100, 400
"""Rows up to which finding all eigenvectors takes no longer than finding some; at least a sixth."""

_USELESS = 1e-10  # eigenvalues below this share of the largest carry only rounding
_TOLERANCE = 1e-6  # of eigenvalues; vectors with a clear gap are closer still

_GLANCE = 1e-3  # error of the largest eigenvalue that is left, to see whether one was overlooked

_MANY, _BLOCK = 100, 32
"""Eigenvectors from which they are found by products of matrices, so many columns at a time."""

_SPACES = (3, 3.5, 4.25, 5, 6, 7.5, 9)
"""Times as many directions as eigenvectors, in which these are searched."""

_OVERLOOKED = 1e-6
"""How much larger than the smallest eigenvalue found one must be to count as overlooked."""

_EQUAL_DIGITS = 10
"""Eigenvalues with so many equal digits after the point count as equal."""


def leading_eigenvectors(
    M: Any,
    k: int,
    *,
    start: FloatArray | None = None,
    n_sure: int | None = None,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """The k largest eigenvalues (k,), descending, and their orthonormal eigenvectors (n, k).

    ``M`` is symmetric, dense, sparse or of rows, with eigenvalues not below -1. ``start`` (n, c) are
    vectors thought to be close, such as the answer for a similar matrix. Of many, those after the
    ``n_sure`` first, all by default, may be less exact.

    Examples
    --------
    >>> from scipy import sparse
    >>> M = sparse.kron(sparse.eye_array(5), np.full((400, 400), 1 / 400), format="csr")
    >>> values, _ = leading_eigenvectors(M, 6, rng=np.random.default_rng(0))
    >>> values.round(8).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    """
    n = M.shape[0]
    is_many = k >= _MANY
    most = _MANY_DENSE_BELOW if is_many else _DENSE_BELOW
    if n <= (_STORED_DENSE_BELOW if isinstance(M, np.ndarray) else most) or k >= n // 4:
        return _all_at_once(M, k)
    if sparse.issparse(M) and not is_many:
        n_pieces, piece_of = connected_components(M, directed=False)
        if n_pieces > 1:
            return _piece_by_piece(M, k, piece_of, rng=rng)
    if is_many:
        values, vectors = _block_lanczos(M, k, n_sure=n_sure or k, rng=rng)
    else:
        values, vectors = _lanczos(M, k, _first_vector(n, start, rng), rng=rng, tol=_TOLERANCE)
    for _ in range(k):
        rest = _without(M, values, vectors)
        glance = _lanczos(rest, 1, rng.standard_normal(n), rng=rng, tol=_GLANCE)[0]
        if glance.max() <= values.min() + (_GLANCE if is_many else _OVERLOOKED):
            break
        if n <= _STORED_DENSE_BELOW:
            return _all_at_once(M, k)  # they come one at a time, and there may be many
        if is_many:
            more = _block_lanczos(rest, _BLOCK, n_sure=_BLOCK, rng=rng)[1]
        else:
            more = _lanczos(rest, 2, rng.standard_normal(n), rng=rng, tol=_OVERLOOKED)[1]
        values, vectors = _rayleigh_ritz(M, np.hstack([vectors, more]), k)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _piece_by_piece(
    M: Any, k: int, piece_of: npt.NDArray[np.int32], *, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The same of a graph in pieces; of equal eigenvalues, those of large pieces come first."""
    sizes = np.bincount(piece_of)
    members = np.split(np.argsort(piece_of, kind="stable"), np.cumsum(sizes)[:-1])
    found = []
    for own in sorted(members, key=len, reverse=True):
        values, vectors = leading_eigenvectors(M[own][:, own], min(k, len(own)), rng=rng)
        found += [(value, own, vector) for value, vector in zip(values, vectors.T, strict=True)]
    found.sort(key=lambda each: -round(each[0], _EQUAL_DIGITS))
    joined = np.zeros((M.shape[0], k))
    for column, (_, own, vector) in enumerate(found[:k]):
        joined[own, column] = vector
    return np.array([value for value, _, _ in found[:k]]), joined


def _all_at_once(M: Any, k: int) -> tuple[FloatArray, FloatArray]:
    """The same by a dense eigensolver."""
    values, vectors = largest_eigenpairs(dense_gram(M), k)
    return values[::-1], vectors[:, ::-1]


def largest_eigenpairs(dense: Any, k: int, *, lower: bool = True) -> tuple[FloatArray, FloatArray]:
    """The k largest eigenvalues of a dense symmetric matrix (n, n), ascending, and vectors (n, k).

    Examples
    --------
    >>> largest_eigenpairs(np.diag([3.0, 1.0, 2.0]), 2)[0].tolist()
    [2.0, 3.0]
    """
    n = len(dense)
    is_quick = n <= _QUICK or (n <= _QUICK_FOR_MANY and k > n // 6)
    values = vectors = np.empty(0)
    if not is_quick:  # SciPy lets no other thread go on meanwhile
        with suppress(linalg.LinAlgError):
            values, vectors = linalg.eigh(dense, lower=lower, subset_by_index=(n - k, n - 1))
    if len(values) < k:  # of very many that are equal, LAPACK may lose some without a word, or fail
        values, vectors = np.linalg.eigh(dense, UPLO="L" if lower else "U")
    return values[-k:], vectors[:, -k:]


def gram_eigenvectors(
    gram: Any, count: int, n_sure: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """The largest eigenvalues of a Gram matrix (M, M), descending, and their vectors (M, c).

    ``gram`` is dense, sparse or of rows; with fewer of these than anchors, the problem is as large as
    they are many. No eigenvalue that is rounding is among them, so there may be fewer than
    ``count``; those after the ``n_sure`` first may be less exact. The start is always the same, so the
    answer is.
    """
    if isinstance(gram, RowsGram) and gram.rows.shape[0] < gram.shape[0]:
        values, vectors = gram_eigenvectors(gram.transposed(), count, n_sure)
        return values, np.asarray(gram.rows.T @ (vectors / np.sqrt(values)))
    count = min(count, gram.shape[0])
    n_sure = None if n_sure is None else min(n_sure, count)
    values, vectors = leading_eigenvectors(gram, count, n_sure=n_sure, rng=np.random.default_rng(0))
    useful = values > _USELESS * max(values[0], np.finfo(float).tiny)
    return values[useful], vectors[:, useful]


def _without(M: Any, values: FloatArray, vectors: FloatArray) -> Any:
    """M with the eigenvalues of some eigenvectors moved to -1, out of the way."""
    shifts = values + 1.0

    def product(X: FloatArray) -> FloatArray:
        X = X.reshape(len(X), -1)
        return np.asarray(M @ X - vectors @ (shifts[:, None] * (vectors.T @ X)))

    return LinearOperator(M.shape, matvec=product, matmat=product, dtype=np.float64)


def _first_vector(n: int, start: FloatArray | None, rng: np.random.Generator) -> FloatArray:
    noise = rng.standard_normal(n)
    if start is None:
        return noise
    # A start inside the span of the answer alone could never leave it.
    return np.asarray(start.sum(axis=1) + 1e-3 * noise / np.sqrt(n))


def _lanczos(
    operator: Any, k: int, first: FloatArray, *, rng: np.random.Generator, tol: float
) -> tuple[FloatArray, FloatArray]:
    n = operator.shape[0]
    if isinstance(operator, RowsGram):
        operator = LinearOperator(operator.shape, matvec=operator.__matmul__, dtype=np.float64)
    for n_basis, n_restarts in ((2 * k + 20, 300), (6 * k + 60, 1000)):
        try:
            values, vectors = eigsh(
                operator, k, which="LA", v0=first, ncv=min(n, n_basis), tol=tol, maxiter=n_restarts
            )
        except ArpackNoConvergence:
            continue
        return np.asarray(values), np.asarray(vectors)
    with silenced(UserWarning):
        values, vectors = lobpcg(
            operator, rng.standard_normal((n, k)), largest=True, maxiter=500, tol=tol or None
        )
    residual = float(np.abs(operator @ vectors - vectors * values).max())
    warn_user(
        f"Lanczos did not find {k} leading eigenvectors of a graph with {n} vertices; using those "
        f"of LOBPCG, with residual {residual:.1e}. The graph may be in very many pieces: use more "
        "neighbours.",
        ConvergenceWarning,
    )
    return np.asarray(values), np.asarray(vectors)


def _block_lanczos(
    M: Any, k: int, *, n_sure: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The k largest eigenpairs, in a space of Krylov's that grows until they hardly change.

    A single vector at a time, nearly all the time of many eigenvectors goes into keeping the space
    orthogonal, column by column. The space is in single precision, and what is found in it in double:
    errors of the ``n_sure`` first vectors are about 1e-3 at most, and of the values that squared.
    """
    n = M.shape[0]
    single = M.astype(np.float32) if hasattr(M, "astype") else M
    sizes = [min(-(-int(share * k) // _BLOCK) * _BLOCK, n) for share in _SPACES]
    space: Any = np.empty((n, sizes[-1]), np.float32, order="F")
    projected = np.zeros((sizes[-1], sizes[-1]), np.float32)  # M in the space, its upper triangle
    block = linalg.qr(rng.standard_normal((n, min(_BLOCK, sizes[-1]))), mode="economic")[0]
    at = 0
    for size in sizes:
        while at < size:
            first, end = max(at - _BLOCK, 0), min(at + block.shape[1], size)
            space[:, at:end] = block[:, : end - at]
            block = np.asarray(single @ space[:, at:end], np.float32)
            # What lies in the last blocks, which is most, is taken off first: rounding of it goes then.
            inside = space[:, first:end].T @ block
            projected[first:end, at:end] = inside
            block = _orthogonal(block - space[:, first:end] @ inside, space[:, :end])
            block, rest = linalg.qr(block, mode="economic")
            if np.abs(np.diagonal(rest)).min() < _GLANCE:
                # Nearly all directions are found: what is left is rounding, and not orthogonal.
                block = linalg.qr(_orthogonal(block, space[:, :end]), mode="economic")[0]
            at = end
        values, rotation = largest_eigenpairs(np.triu(projected[:size, :size]), k, lower=False)
        # The next block has all that M leads out of the space.
        errors = rest @ rotation[size - rest.shape[1] :, k - n_sure :]
        if np.linalg.norm(errors, axis=0).max() <= _GLANCE * abs(values[-n_sure]):
            break
    return _rayleigh_ritz(M, (space[:, :size] @ rotation).astype(np.float64), k)


def _orthogonal(block: Any, space: Any) -> Any:
    """What of a block (n, b) is orthogonal to a space's basis (n, c)."""
    return block - space @ (space.T @ block)


def _rayleigh_ritz(M: Any, vectors: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """The best k eigenpairs within the span of ``vectors``."""
    # Of a matrix of low rank, vectors beyond it are rounding, and far from orthonormal.
    vectors = linalg.qr(vectors, mode="economic")[0]
    values, rotation = np.linalg.eigh(vectors.T @ (M @ vectors))
    return values[-k:], vectors @ rotation[:, -k:]
