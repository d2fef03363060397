import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from manyview.baselines import EOMSC


@pytest.mark.parametrize("n_anchors", [None, 3, 10])
def test_graph_of_rows_and_anchors_has_exactly_k_components_with_rows(apart, n_anchors):
    model = EOMSC(3, n_anchors=n_anchors, random_state=0).fit(apart)
    Z = sparse.csr_array(model.weights_)
    _, found = connected_components(sparse.block_array([[None, Z], [Z.T, None]]))
    assert len(set(found[:150])) == 3
    assert len(model.component_sizes_) == 3 and sum(model.component_sizes_) == 150


def test_labels_are_the_components(apart):
    model = EOMSC(3, random_state=1).fit(apart)
    sizes = sorted(np.bincount(model.labels_), reverse=True)
    np.testing.assert_allclose(sizes, model.component_sizes_, atol=5)


def test_components_that_are_missing_are_said():
    with pytest.warns(UserWarning, match="components instead of 3"):
        EOMSC(3, random_state=0).fit(np.ones((12, 2)))
