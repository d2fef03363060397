"""Groups: what is taken off their rows, and what becomes of rows of others."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC
from manyview.engines import Memory
from manyview.engines.base import Run
from manyview.engines.progress import SilentProgress
from manyview.errors import InputError
from manyview.pipeline.groups import correct_rows, learn_groups, measure_mixing, read_groups
from manyview.pipeline.settings import resolve
from manyview.views.container import as_views

GROUPS = np.array(["a", "b"])[np.arange(120) % 2]


def learn(X, weights=None, **params):
    rows = Memory().open([X], Run(1, SilentProgress()))
    settings = resolve(LMVSC(3, **params).get_params(), as_views(X))
    return learn_groups(rows, rows, ["x"], GROUPS, settings, weights)


def correct(groups, X, codes):
    run = Run(1, SilentProgress())
    return correct_rows([X], groups, codes, engine=Memory(), run=run)[0]


@pytest.fixture(name="X")
def make_rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 6)) + 5.0 * (GROUPS == "b")[:, None]


@pytest.mark.parametrize("scaling", ["standard", "normal-scores", "energy", None])
def test_every_group_has_mean_zero(X, scaling):
    groups, codes = learn(X, scaling=scaling)
    rows = correct(groups, X, codes)
    for name in ("a", "b"):
        assert np.abs(rows[name == GROUPS].mean(axis=0)).max() < 1e-12
    groups.check()


def test_rows_of_weight_zero_do_not_count(X):
    weights = np.where(np.arange(120) < 60, 1.0, 0.0)
    groups, codes = learn(X, weights, scaling="energy")
    rows = correct(groups, X, codes)
    assert np.abs(rows[:60][GROUPS[:60] == "a"].mean(axis=0)).max() < 1e-12


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_wide_views_become_axes_however_they_are_stored(convert):
    rng = np.random.default_rng(0)
    X = convert(rng.poisson(np.exp(rng.normal(-2, 2, 400)), (120, 400)).astype(float))
    groups, codes = learn(X, scaling="standard")
    assert correct(groups, X, codes).shape == (120, 50)
    groups, codes = learn(X, scaling="lognorm")  # counts of so few cells show few
    assert correct(groups, X, codes).shape[1] < 50


def test_unknown_groups_are_scaled_as_all_rows_are(X):
    groups, _ = learn(X, scaling="standard")
    with pytest.warns(UserWarning, match=r"no rows of 1 group \('c'\)"):
        codes = groups.codes_of(["c"] * 120, 120)
    assert np.allclose(correct(groups, X, codes), groups.scalers[0].apply(X).dense())


class TestRefused:
    @pytest.mark.parametrize(
        ("groups", "message"),
        [(["a"] * 3, "one name a row, 4 in all"), (["a", "a", None, ""], "2 are missing")],
    )
    def test_names(self, groups, message):
        with pytest.raises(ValueError, match=message):
            read_groups(groups, 4)

    def test_groups_of_one_row(self, X, monkeypatch):
        monkeypatch.setitem(globals(), "GROUPS", np.array(["a"] * 119 + ["b"]))
        with pytest.raises(ValueError, match=r"1 group with one row that counts \('b'\)"):
            learn(X)

    def test_groups_of_which_one_row_has_a_weight(self, X):
        weights = np.ones(len(X))
        weights[np.flatnonzero(GROUPS[0] == GROUPS)[1:]] = 0.0
        with pytest.raises(ValueError, match=r"1 group with one row that counts"):
            learn(X, weights)

    def test_rows_that_lack_a_view(self, X):
        X[3] = np.nan
        with pytest.raises(InputError, match="Some rows lack view 'x'"):
            learn(X)

    def test_given_anchors(self, X):
        with pytest.raises(ValueError, match="anchors are given"):
            learn(X, anchor_method=[X[:9]])

    def test_means_of_a_damaged_file(self, X):
        groups, _ = learn(X)
        with pytest.raises(ValueError, match="means do not fit view 'x'"):
            replace(groups, means=(groups.means[0][:1],)).check()


def test_outliers_say_nothing_of_groups():
    groups, labels = np.array(["a", "a", "b", "b"]), np.array([0, -1, 1, -1])
    assert measure_mixing(groups, labels) == 0.0
