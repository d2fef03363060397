"""Columns that cannot be computed with are named, for every scaling, before anything is computed."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC
from manyview.errors import InputError
from manyview.stages.finite import LARGEST, SMALLEST, refuse_unusable
from manyview.stages.scaling import KINDS

ROWS = np.abs(np.random.default_rng(0).normal(size=(40, 3))) + 0.5


def with_column(magnitude):
    rows = ROWS.copy()
    rows[:, 1] *= magnitude
    return rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("magnitude", "how"), [(1e155, "large"), (1e-155, "small")])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_columns_out_of_range_are_refused_without_a_warning(kind, magnitude, how, make):
    model = LMVSC(2, scaling=kind, n_anchors=5, n_repeats=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=rf"column 1, too {how} .*Rescale this column"):
            model.fit(make(with_column(magnitude)))


@pytest.mark.parametrize("magnitude", [1e140, 1e-140])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_within_range_are_not(kind, magnitude):
    model = LMVSC(2, scaling=kind, n_anchors=5, n_repeats=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        labels = model.fit(ROWS * magnitude).labels_
    assert {*labels.tolist()} <= {0, 1}


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_the_bounds_themselves_are_usable(make):
    rows = make(np.array([[LARGEST, -SMALLEST, 0.0]]))
    refuse_unusable(rows, "a", None)
    with pytest.raises(InputError, match="Rescale this column"):
        refuse_unusable(rows * 10.0, "a", None)


@pytest.mark.parametrize("n_neighbors", [None, 3])
def test_new_rows_are_checked_and_far_ones_use_one_anchor(n_neighbors):
    options = {"n_neighbors": n_neighbors, "n_repeats": 1, "random_state": 0}
    model = LMVSC(2, scaling="standard", n_anchors=5, **options).fit(ROWS)
    with pytest.raises(InputError, match="Rescale this column"):
        model.predict(with_column(1e155))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        tile = model.model_.graph_rows([with_column(1e149)])
    assert np.array_equal(tile.parts[0].sum(axis=1), np.ones(len(tile)))
    assert tile.n_failed == 0
