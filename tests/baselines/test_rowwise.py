import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from manyview import Views, datasets
from manyview.baselines import AIMC, FastMICE


@pytest.fixture(scope="module")
def views():
    return datasets.make_views(60, 3, (5, 6), separation=9.0, random_state=0)


def test_predicting_before_fitting_is_refused(views):
    with pytest.raises(NotFittedError):
        AIMC(3).predict(views)


def test_labels_of_fitted_rows_have_no_gaps_when_a_cluster_stays_empty(views):
    model = AIMC(8, n_init=1, random_state=0).fit(views)
    found = np.unique(model.labels_)
    assert found.tolist() == list(range(len(found)))
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_columns_with_names_are_brought_into_the_fitted_order(views):
    table = pd.DataFrame(views.arrays[0], columns=list("abcde"))
    model = AIMC(3, random_state=0).fit({"one": table, "two": views.arrays[1]})
    turned = model.predict({"one": table[list("edcba")], "two": views.arrays[1]})
    np.testing.assert_array_equal(turned, model.labels_)


def test_method_that_needs_all_views_says_so(views):
    model = FastMICE(3, n_members=2, n_anchors=20, random_state=0).fit(dict(views.items()))
    present = np.ones((60, 2), bool)
    present[3, 1] = False
    with pytest.raises(ValueError, match="1 of 60 samples lack view"):
        model.predict(Views(views, present=present))
