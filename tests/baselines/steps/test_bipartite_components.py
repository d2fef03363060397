import numpy as np
import pytest

from manyview.baselines.steps.bipartite_components import anchor_components, solve_components


@pytest.fixture
def noisy_blocks():
    """Three blocks of rows and anchors, with weaker links between all of them."""
    rng = np.random.default_rng(0)
    return np.kron(np.eye(3), np.ones((20, 2))) + 0.3 * rng.random((60, 6))


def test_graph_falls_into_as_many_parts_as_asked_for(noisy_blocks):
    found = solve_components(noisy_blocks, np.ones((60, 1)), np.eye(60, 6), 3)
    components, sizes = anchor_components(found.weights, 3)
    assert found.is_exact
    assert len(sizes) == 3 and sum(sizes) == 60
    assert set(components) == {0, 1, 2}


def test_edges_are_only_where_the_target_is_positive(noisy_blocks):
    B = np.where(noisy_blocks > 0.15, noisy_blocks, -1.0)
    Z = solve_components(B, np.ones((60, 1)), np.eye(60, 6), 3).weights
    assert (Z[B < 0] == 0).all()


def test_anchors_that_no_row_uses_belong_nowhere():
    Z = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    components, sizes = anchor_components(Z, 1)
    assert components.tolist() == [0, -1, -1]
    assert sizes == [2, 1]
