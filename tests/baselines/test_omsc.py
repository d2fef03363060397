import numpy as np

from manyview.baselines import OMSC
from manyview.baselines.steps.shared_anchors import scale_views


def test_corners_are_orthonormal_and_weights_on_the_simplex(apart):
    model = OMSC(3, n_anchors=5, random_state=0).fit(apart)
    np.testing.assert_allclose(model.corners_ @ model.corners_.T, np.eye(3), atol=1e-10)
    assert (model.weights_ >= 0).all()
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)


def test_each_row_belongs_to_the_nearest_corner(apart):
    model = OMSC(3, random_state=0).fit(apart)
    Z = model._weigh(scale_views(apart, model._scalers))
    nearest = ((Z[:, None] - model.corners_) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model._numbers[nearest], model.labels_)


def test_it_makes_as_many_sweeps_as_the_released_program(apart):
    assert OMSC(3, random_state=0).fit(apart).n_iter_ == 15
