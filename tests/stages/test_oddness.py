"""How badly anchors explain rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from manyview.stages.oddness import Oddness, fit_oddness
from manyview.stages.scaling import fit_scaler
from manyview.views.selection import PartialView


def learn(arrays, kind="standard"):
    scalers = tuple(fit_scaler(X, name=str(v), kind=kind) for v, X in enumerate(arrays))
    return fit_oddness(scalers, arrays, seed=0)


@pytest.fixture
def views(blobs):
    return blobs(n=300, widths=(4, 6))


def with_junk(views, n=5, size=30.0):
    rng = np.random.default_rng(1)
    return [np.vstack([X, size * rng.normal(size=(n, X.shape[1]))]) for X in views]


def test_scores_are_from_0_to_1_and_half_is_usual(views):
    scores = learn(views).scores(views, 0)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert np.median(scores) == pytest.approx(0.5, abs=0.1)


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
    usual, in_one, in_all = oddness.scores(rows, 0)
    assert usual < in_one < in_all


def test_rows_are_scored_by_the_views_they_have(views):
    oddness = learn(views)
    places = np.append(np.full(100, -1), np.arange(200))
    some = [views[0], PartialView(views[1][100:], places)]
    alone = Oddness(oddness.scalers[:1], oddness.graphs[:1], oddness.usual[:1], oddness.limit)
    np.testing.assert_allclose(oddness.scores(some, 0)[:100], alone.scores(views[:1], 0)[:100])
    np.testing.assert_allclose(oddness.scores(some, 0)[100:], oddness.scores(views, 0)[100:])


def test_rows_that_are_all_alike_are_not_odd():
    rows = [np.ones((30, 3))]
    oddness = learn(rows, kind=None)
    assert not oddness.is_odd(rows, 0).any()


def test_how_rows_come_in_tiles_changes_nothing_but_rounding(views):
    oddness = learn(views)
    halves = [
        oddness.scores([X[part] for X in views], 0) for part in (slice(150), slice(150, None))
    ]
    np.testing.assert_allclose(np.concatenate(halves), oddness.scores(views, 0), rtol=1e-9)
