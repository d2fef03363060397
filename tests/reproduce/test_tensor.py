"""TBGL: its steps solve what they say, and its tensor step is what the order of rows matters to."""

import numpy as np
import pytest

from manyview import metrics
from manyview.reproduce.tensor import (
    cluster_by_tensor,
    shrink_along_rows,
    shrink_columns,
)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


def test_shrunk_columns_minimise_their_objective(rng):
    Y, threshold = rng.normal(size=(1, 6, 4)), 0.3

    def objective(X):
        return ((X - Y) ** 2).sum() + threshold * (np.abs(X).sum(axis=1) ** 2).sum()

    X = shrink_columns(Y, threshold)
    assert all(objective(X) <= objective(X + 0.01 * rng.normal(size=X.shape)) for _ in range(200))


def test_the_tensor_step_depends_on_the_order_of_rows(rng):
    blocks = np.repeat(np.eye(4), 10, axis=0)
    graphs = np.stack([blocks, blocks]) + 0.3 * rng.random((2, 40, 4))
    order = rng.permutation(40)
    there, back = shrink_along_rows(graphs, 1.0), np.argsort(order)
    shuffled = shrink_along_rows(graphs[:, order], 1.0)[:, back]
    assert np.abs(there - shuffled).max() > 0.05
    # Blocks come out smoother where they lie beside each other.
    spread = [np.abs(np.diff(one[:, :10], axis=1)).mean() for one in (there, shuffled)]
    assert spread[0] < spread[1]
    assert np.allclose(shrink_along_rows(graphs, 1e-12), graphs)


@pytest.mark.slow
def test_msrc_is_nearly_solved_in_the_order_of_the_file_and_only_there(data):
    views = data("msrcv1")
    target = np.asarray(views.target)
    orders = [np.arange(len(target)), *(np.random.default_rng(s).permutation(210) for s in (0, 1))]

    def accuracies(**options):
        labels = [cluster_by_tensor([X[o] for X in views.arrays], 7, **options) for o in orders]
        return [metrics.accuracy(target[o], one) for o, one in zip(orders, labels, strict=True)]

    filed, *shuffled = accuracies()
    assert filed > 0.94 and max(shuffled) < 0.8
    without = accuracies(tensor_step=False)
    assert min(without) > 0.7 and max(without) - min(without) < 0.03
