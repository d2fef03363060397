"""Labels without the rest of a fit are those of the fit."""

import numpy as np
import pytest

from manyview import LMVSC, datasets
from manyview.engines import Memory
from manyview.pipeline.label_only import find_labels
from manyview.pipeline.settings import resolve


@pytest.mark.parametrize("given", [{}, {"n_components": 4}, {"n_anchors": 20, "n_repeats": 2}])
def test_labels_are_those_of_a_fit(given):
    views = datasets.make_views(150, 3, (4, 5), separation=2.0, random_state=1)
    model = LMVSC(3, random_state=5, n_jobs=1, **given)
    settings = resolve(model.get_params(), views)
    labels = find_labels(views, settings, engine=Memory(), seed=5, n_jobs=1)
    np.testing.assert_array_equal(labels, model.fit(views).labels_)
