import numpy as np

from manyview.baselines.steps.embedded_rows import fit_singular_rows
from manyview.baselines.steps.projections import simplex_rows


def test_rows_are_left_singular_vectors_of_unit_length():
    Z = simplex_rows(np.random.default_rng(0).normal(size=(50, 4)))
    rows = fit_singular_rows(Z, 3, n_init=1, rng=np.random.default_rng(0))
    U = np.linalg.svd(Z, full_matrices=False)[0]
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    np.testing.assert_allclose(rows.embed(Z) @ rows.embed(Z).T, U @ U.T, atol=1e-10)


def test_vectors_of_rank_zero_are_left_out():
    Z = np.repeat(np.eye(3)[:2], 5, axis=0)
    rows = fit_singular_rows(Z, 2, n_init=2, rng=np.random.default_rng(0))
    assert rows.embed(Z).shape == (10, 2)
    assert len(set(rows.label(Z))) == 2
