"""Gram matrices of graph rows: the same numbers, whatever they are kept as."""

import operator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from manyview.sources.packing import from_bytes, to_bytes
from manyview.stages import grams
from manyview.stages.grams import (
    RowsGram,
    ThreadedRowsGram,
    add_grams,
    dense_gram,
    fused_gram,
    gram_of,
)


def rows(n_rows, n_used, n_anchors=60):
    rng = np.random.default_rng([n_rows, n_used])
    Z = np.zeros((n_rows, n_anchors))
    for row in Z:
        row[rng.choice(n_anchors, n_used, replace=False)] = rng.dirichlet(np.ones(n_used))
    return sparse.csr_array(Z)


def total(parts):
    gram = gram_of(parts[0])
    for part in parts[1:]:
        gram = add_grams(gram, gram_of(part), operator.iadd)
    return gram


def test_few_rows_that_use_few_anchors_stay_rows():
    assert isinstance(gram_of(rows(9, 2)), RowsGram)
    assert isinstance(gram_of(rows(200, 20)), np.ndarray)


def test_rows_of_very_many_anchors_become_a_matrix_before_they_fill_memory(monkeypatch):
    monkeypatch.setattr(grams, "_MOST", 100)
    monkeypatch.setattr(grams, "_LARGE", 50)
    assert isinstance(total([rows(20, 2), rows(25, 2)]), RowsGram)
    assert isinstance(total([rows(20, 2), rows(50, 2)]), sparse.csr_array)


@pytest.mark.parametrize("large", [10, 2000])
@pytest.mark.parametrize(
    "sizes",
    [[(9, 2)], [(9, 2), (8, 3)], [(400, 1)] * 3, [(9, 2), (200, 20), (5, 2)], [(99, 9)] * 3],
)
def test_sum_is_that_of_all_rows(sizes, large, monkeypatch):
    monkeypatch.setattr(grams, "_LARGE", large)
    parts = [rows(*size) for size in sizes]
    Z, scales = sparse.vstack(parts).toarray(), np.linspace(0.5, 2.0, 60)
    expected = (Z * scales).T @ (Z * scales)
    assert np.allclose(dense_gram(fused_gram(total(parts), scales)), expected, rtol=1e-12)


def test_rows_multiply_as_their_matrix_does():
    gram, V = RowsGram(rows(30, 4)), np.random.default_rng(0).random((60, 3))
    assert np.allclose(gram @ V, gram.toarray() @ V, rtol=1e-12)
    assert np.allclose(gram.columns(slice(5, 9)).toarray(), gram.toarray()[5:9, 5:9], rtol=1e-12)
    assert gram.transposed().shape == (30, 30)


def test_threads_change_no_product_with_rows():
    Z, V = rows(30, 4), np.random.default_rng(0).random((60, 90))
    with ThreadPoolExecutor(3) as pool:
        found = ThreadedRowsGram(Z, pool.map) @ V
    assert np.array_equal(found, RowsGram(Z) @ V)
    np.testing.assert_allclose(found, (Z.T @ Z) @ V, rtol=1e-12)


@pytest.mark.parametrize("size", [(9, 2), (200, 20), (400, 1)])
def test_sums_can_be_kept_in_a_checkpoint(size):
    gram = gram_of(rows(*size))
    kept = from_bytes(np.frombuffer(b"".join(to_bytes(gram)), np.uint8))
    assert type(kept) is type(gram)
    assert np.array_equal(dense_gram(kept), dense_gram(gram))
