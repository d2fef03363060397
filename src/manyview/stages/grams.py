"""Z'Z of graph rows Z: kept as the rows themselves, as a sparse matrix, or as a dense one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.rows import Array

_FEW, _MOST = 0.25, 4e6  # entries of rows that are kept: over those of their Gram matrix; in all
_SPARSE = 0.15  # share of a Gram matrix that may be filled before it is stored whole
_PARTS, _FEWEST = 8, 16  # of the columns that rows are multiplied by; at least so many in a part
_LARGE, _HITS = 1000, 8.0  # anchors from which it is worth a try; products for each entry, at most


@dataclass(frozen=True)
class RowsGram:
    """Z'Z of few rows Z (n, M) that use few of many anchors.

    The rows are smaller than their products, and so is the work of multiplying by them twice.
    """

    rows: sparse.csr_array

    @property
    def shape(self) -> tuple[int, int]:
        """That of Z'Z."""
        m = int(self.rows.shape[1])
        return m, m

    @cached_property
    def _columns(self) -> sparse.csc_array:
        return sparse.csc_array(self.rows.T)  # once: making it takes as long as a product

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(self._columns @ (self.rows @ V))

    def astype(self, dtype: npt.DTypeLike) -> RowsGram:
        """The same in another precision."""
        return replace(self, rows=self.rows.astype(dtype))

    def toarray(self) -> Array:
        """The matrix itself."""
        return np.asarray((self.rows.T @ self.rows).toarray())

    def transposed(self) -> RowsGram:
        """ZZ' (n, n)."""
        return replace(self, rows=sparse.csr_array(self.rows.T))

    def columns(self, block: slice) -> RowsGram:
        """Those of some anchors."""
        return replace(self, rows=sparse.csr_array(self.rows[:, block]))


@dataclass(frozen=True)
class ThreadedRowsGram(RowsGram):
    """The same, multiplied in threads; these can be neither stored nor sent, hence a class."""

    each: Any  # maps a function over parts of the columns

    def __matmul__(self, V: Array) -> Array:
        if V.ndim == 1 or V.shape[1] < 2 * _FEWEST:
            return super().__matmul__(V)
        step = max(-(-V.shape[1] // _PARTS), _FEWEST)
        parts = [V[:, start : start + step] for start in range(0, V.shape[1], step)]
        return np.hstack(list(self.each(super().__matmul__, parts)))


Gram = Any
"""Z'Z (M, M): a :class:`RowsGram`, or the upper triangle of the matrix, sparse or dense."""


def gram_of(Z: sparse.csr_array) -> Gram:
    """Z'Z of a tile's graph rows, as it takes least."""
    is_few = Z.nnz <= min(_FEW * float(Z.shape[1]) ** 2, _MOST)
    return RowsGram(Z) if is_few else upper_triangle(Z)


def add_grams(a: Gram, b: Gram, add: Callable[[Any, Any], Any]) -> Gram:
    """The sum, made by ``add`` where both are dense.

    Rows stay rows while they are few, and matrices sparse: rows that use few of many anchors fill a
    small part.
    """
    if isinstance(a, RowsGram) and isinstance(b, RowsGram):
        return gram_of(sparse.csr_array(sparse.vstack([a.rows, b.rows], "csr")))
    a, b = (upper_triangle(g.rows) if isinstance(g, RowsGram) else g for g in (a, b))
    if sparse.issparse(a) and sparse.issparse(b):
        return _smaller(a + b)
    if sparse.issparse(a):
        return add(b, a.toarray())
    return add(a, b.toarray() if sparse.issparse(b) else b)


def fused_gram(gram: Gram, scales: Array, each: Any = map) -> Gram:
    """Zbar' Zbar of the fused graph, from Z'Z (M, M) and column scales: rows, or the whole matrix."""
    if isinstance(gram, RowsGram):
        return ThreadedRowsGram(sparse.csr_array(gram.rows * scales[None, :]), each)
    if sparse.issparse(gram):
        full: Any = gram + sparse.triu(gram, 1, format="csr").T
        return sparse.csr_array(full.multiply(scales[None, :]).multiply(scales[:, None]))
    full = np.triu(gram) + np.triu(gram, 1).T
    full *= scales
    full *= scales[:, None]
    return full


def dense_gram(gram: Gram) -> Array:
    """The whole matrix of a fused graph's Gram matrix."""
    return gram if isinstance(gram, np.ndarray) else np.asarray(gram.toarray())


def _smaller(gram: sparse.csr_array) -> sparse.csr_array | npt.NDArray[np.float64]:
    """A matrix that is sparse as long as that is worth it."""
    is_full = gram.nnz > _SPARSE * float(gram.shape[0]) ** 2
    return np.asarray(gram.toarray()) if is_full else gram


def upper_triangle(Z: sparse.csr_array) -> sparse.csr_array | npt.NDArray[np.float64]:
    """The upper triangle of Z'Z, sparse as long as that is worth it."""
    from manyview.stages import kernels

    counts = np.diff(Z.indptr).astype(np.float64)
    m = Z.shape[1]
    n_products = float((counts * counts).sum())
    if n_products < (_HITS if m > _LARGE else _SPARSE) * float(m) ** 2:
        return _smaller(sparse.csr_array(sparse.triu(Z.T @ Z, format="csr")))
    # Scattered updates cost about eight times those of a dense product.
    if 4.0 * n_products > len(counts) * float(m) ** 2:
        dense = Z.toarray()
        gram: Array = dense.T @ dense
        gram[np.tri(m, k=-1, dtype=bool)] = 0.0  # in place: np.triu would copy it
        return gram
    gram = np.zeros((m, m))
    kernels.add_outer_products(Z.indptr, Z.indices, Z.data, gram)
    return gram
