"""Columns that are principal components already are known by their lack of correlation."""

import numpy as np
import pytest

from manyview.stages.principal import are_principal


def measured(n=300, d=12, seed=0):
    """Correlated columns in clusters, each with its own unit."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(4, d), scale=3.0)
    X = means[rng.integers(4, size=n)] + rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X * rng.uniform(0.1, 10.0, d)


def scores(X):
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return U * s


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_told_from_what_they_were_made_of(seed):
    X = measured(seed=seed)
    assert are_principal(scores(X))
    assert not are_principal(X)


def test_some_rows_of_scores_are_enough():
    some = scores(measured(n=3000))[:200]
    assert are_principal(some)
    assert not are_principal(some[:, ::-1])  # independent columns look like that


def test_the_order_of_columns_does_not_matter_where_nothing_is_correlated():
    assert are_principal(scores(measured())[:, ::-1])


def test_columns_that_never_vary_do_not_count():
    assert are_principal(np.c_[scores(measured()), np.full((300, 3), 7.0)])
    assert not are_principal(np.ones((50, 20)))


@pytest.mark.parametrize("seed", range(5))
def test_independent_columns_are_not_taken_for_scores(seed):
    """They may be told in any units, which standardising takes away."""
    rng = np.random.default_rng(seed)
    assert not are_principal(rng.normal(size=(300, 30)) * rng.uniform(0.1, 10.0, 30))


def test_few_columns_of_some_rows_may_be_in_order_by_chance():
    assert are_principal(scores(measured())[:, :3])
    assert not are_principal(scores(measured(n=3000))[:200, :7])


def test_what_is_not_centred_is_no_score():
    X = scores(measured())
    assert not are_principal(X + 3.0 * X.std(axis=0))
