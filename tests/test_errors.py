"""Warnings point at the line of whoever called us, through whatever calls us for them."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from manyview import LMVSC, Views
from manyview.compose import per_view
from manyview.errors import RankWarning, silenced

ROWS = np.random.default_rng(0).normal(size=(40, 3))
LACKING = Views({"a": ROWS, "b": ROWS}, present={"b": np.zeros(40, bool)})  # no sample has b
MODEL = LMVSC(2, n_anchors=5, n_repeats=1, random_state=0)


def search(model):
    return GridSearchCV(model, {"n_anchors": [4]}, scoring=lambda *_: 0.0, cv=2)


@pytest.mark.parametrize(
    "estimator",
    [MODEL, make_pipeline(per_view("passthrough"), MODEL), search(MODEL)],
    ids=["fit", "pipeline", "search"],
)
def test_warnings_point_at_the_line_that_called_fit(estimator):
    with pytest.warns(UserWarning, match="'b'") as caught:
        estimator.fit(LACKING)
    assert {warning.filename for warning in caught} == {__file__}


class TestSilenced:
    def test_warnings_of_the_category_only(self):
        with silenced(RankWarning):
            warnings.warn("not heard", RankWarning, stacklevel=1)  # it would be an error
            with pytest.raises(UserWarning, match="heard"):
                warnings.warn("heard", UserWarning, stacklevel=1)

    def test_threads_leave_filters_as_they_were_in_whatever_order_they_end(self):
        before = list(warnings.filters)
        is_inside, may_leave = threading.Event(), threading.Event()

        def stay():
            with silenced(RankWarning):
                is_inside.set()
                may_leave.wait(60)

        with silenced(RankWarning):
            thread = threading.Thread(target=stay)
            thread.start()
            is_inside.wait(60)
        may_leave.set()
        thread.join()
        assert warnings.filters == before
