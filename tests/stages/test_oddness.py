"""How badly anchors explain rows."""

import numpy as np
import pytest
from scipy import sparse

from manyview.stages.oddness import Oddness, fit_oddness
from manyview.stages.scaling import fit_scaler
from manyview.views.selection import PartialView


def learn(arrays, kind="standard", seed=0):
    scalers = tuple(fit_scaler(X, name=str(v), kind=kind) for v, X in enumerate(arrays))
    return fit_oddness(scalers, arrays, seed=seed)


@pytest.fixture
def views(blobs):
    return blobs(n=300, widths=(4, 6))


def with_junk(views, n=5, size=30.0):
    rng = np.random.default_rng(1)
    return [np.vstack([X, size * rng.normal(size=(n, X.shape[1]))]) for X in views]


def test_scores_are_from_0_to_1_and_rows_beyond_half_are_odd(views):
    rows = with_junk(views)
    oddness = learn(rows)
    scores = oddness(rows, 0)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert np.median(scores) < 0.3
    np.testing.assert_array_equal(oddness.is_odd(rows, 0), scores > 0.5)


def test_junk_is_odd_though_anchors_stand_for_it(blobs):
    rng = np.random.default_rng(0)
    rows = [
        np.vstack([X, X.min() + np.ptp(X) * (0.5 + rng.random(size=(10, 20)))])
        for X in blobs(n=400, widths=(20, 20))
    ]

    def has_anchor_in_junk(oddness):
        junk = oddness.scalers[0].apply(rows[0][400:], 0).dense()
        to_anchors = np.linalg.norm(oddness.graphs[0].anchors - junk.mean(axis=0), axis=1)
        return to_anchors.min() < np.linalg.norm(junk - junk.mean(axis=0), axis=1).min()

    # Anchors start from random rows: there is one in the junk if they start from some of it.
    oddness = next(filter(has_anchor_in_junk, (learn(rows, seed=seed) for seed in range(20))))
    is_odd = oddness.is_odd(rows, 0)
    assert is_odd[400:].all()
    assert is_odd[:400].mean() <= 0.02


def test_being_explained_well_in_one_view_makes_up_for_nothing(views):
    oddness = learn(views)
    rows = [np.vstack([X[:1]] * 2) for X in views]
    rows[0][:] += 50.0
    rows[1][1] = oddness.scalers[1].shift  # the middle of all rows, or whatever anchors explain
    plain, well = oddness(rows, 0)
    assert well == pytest.approx(plain, rel=0.1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_junk_is_odd_even_among_the_rows_that_were_learned_from(views, form):
    rows = [form(X) for X in with_junk(views)]
    oddness = learn(rows)
    is_odd = oddness.is_odd(rows, 0)
    assert is_odd[300:].all()
    assert is_odd[:300].mean() <= 0.02


def test_a_row_that_is_odd_in_one_of_the_views_scores_less_than_one_that_is_in_all(views):
    oddness = learn(views)
    rows = [np.vstack([X[:1]] * 3) for X in views]
    rows[0][1:] += 50.0
    rows[1][2:] += 50.0
    usual, in_one, in_all = oddness(rows, 0)
    assert usual < in_one < in_all


def test_rows_are_scored_by_the_views_they_have(views):
    oddness = learn(views)
    places = np.append(np.full(100, -1), np.arange(200))
    some = [views[0], PartialView(views[1][100:], places)]
    parts = (oddness.scalers, oddness.graphs, oddness.usual, oddness.spreads)
    alone = Oddness(*(part[:1] for part in parts), oddness.limit)
    np.testing.assert_allclose(oddness(some, 0)[:100], alone(views[:1], 0)[:100])
    np.testing.assert_allclose(oddness(some, 0)[100:], oddness(views, 0)[100:])


def test_rows_that_are_all_alike_are_not_odd():
    rows = [np.ones((30, 3))]
    oddness = learn(rows, kind=None)
    assert not oddness.is_odd(rows, 0).any()


def test_one_that_differs_among_rows_that_are_alike_is_odd():
    rows = np.vstack([np.zeros((40, 2)), np.ones((40, 2)), [[9.0, 9.0]]])
    np.testing.assert_array_equal(np.flatnonzero(learn([rows]).is_odd([rows], 0)), [80])


def test_how_rows_come_in_tiles_changes_nothing_but_rounding(views):
    oddness = learn(views)
    halves = [oddness([X[part] for X in views], 0) for part in (slice(150), slice(150, None))]
    np.testing.assert_allclose(np.concatenate(halves), oddness(views, 0), rtol=1e-9)


def test_rows_beyond_all_measure_are_the_oddest(views):
    oddness = learn([view * 1e-100 for view in views])
    near, far = (oddness([view[:1] + size for view in views], 0) for size in (1e-90, 1e90))
    assert 0.9 < near[0] <= far[0] <= 1.0
