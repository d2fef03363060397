"""Other numbers of clusters without another fit."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from manyview import LMVSC, load


@pytest.fixture(scope="module")
def views(blobs):
    return blobs(n=240, k=6, spread=0.7)


@pytest.fixture(scope="module", params=["graphs", "evident"])
def model(request, views, fit):
    if request.param == "graphs":
        return fit(views, 6, n_components=6)
    model = LMVSC(6, random_state=0).fit(views)
    assert model.model_.hierarchy.of_columns
    return model


def test_the_number_that_was_fitted_gives_the_labels(model, views):
    np.testing.assert_array_equal(model.cut(6), model.labels_)
    np.testing.assert_array_equal(model.cut(6, views), model.labels_)


@pytest.mark.parametrize("n", [1, 3, 5, 9, 12])
def test_rows_that_were_fitted_get_the_same_when_they_are_passed(model, views, n):
    assert len(np.unique(model.cut(n))) == n
    np.testing.assert_array_equal(model.cut(n, views), model.cut(n))


def test_a_cut_is_nested_in_every_coarser_one(model):
    fine, coarse = model.cut(12), model.cut(3)
    assert len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == 12


def test_rows_that_lack_the_only_view_with_evident_clusters_are_split_too():
    views = [make_moons(300, noise=0.03, random_state=0)[0]]
    views.append(np.random.default_rng(0).normal(size=(300, 3)))
    model = LMVSC(2, random_state=0).fit(views)
    assert model.model_.graphs[0].views == (0,)
    assert len(np.unique(model.cut(6))) == 6
    views[0][:3] = np.nan
    with pytest.warns(UserWarning, match="their labels mean nothing"):
        labels = model.cut(6, views)
    np.testing.assert_array_equal(labels[3:], model.cut(6)[3:])


def test_several_numbers_are_fitted_once(views, fit):
    several = fit(views, [3, 6, 2], n_components=6)
    assert several.n_clusters_ == 6 and list(several.cuts_) == [3, 6, 2]
    for n, labels in several.cuts_.items():
        np.testing.assert_array_equal(labels, several.cut(n))
    np.testing.assert_array_equal(several.cuts_[6], several.labels_)


def test_a_range_is_several_numbers(views, fit):
    several = fit(views, range(2, 5), n_components=6)
    assert several.n_clusters_ == 4 and list(several.cuts_) == [2, 3, 4]


def test_a_model_from_a_file_cuts_the_same(model, views, tmp_path):
    model.save(tmp_path / "model.mv")
    again = load(tmp_path / "model.mv")
    np.testing.assert_array_equal(again.hierarchy_, model.hierarchy_)
    np.testing.assert_array_equal(again.cut(3), model.cut(3))
    np.testing.assert_array_equal(again.cut(12), model.cut(12))
    np.testing.assert_array_equal(again.cut(12, views), model.cut(12))


@pytest.mark.parametrize("sizes", [(10, 90, 90, 10), (60, 60, 60, 60)])
def test_evident_clusters_that_are_near_are_merged_whatever_their_sizes(sizes):
    middles = np.repeat([0.0, 6.0, 40.0, 46.0], sizes)[:, None] * np.eye(6)[0]
    rows = middles + 0.4 * np.random.default_rng(0).normal(size=(sum(sizes), 6))
    model = LMVSC(4, random_state=0).fit([rows[:, :3], rows[:, 3:]])
    assert model.model_.hierarchy.of_columns
    halves = model.cut(2)
    assert len({*halves[middles[:, 0] < 20]}) == len({*halves[middles[:, 0] > 20]}) == 1
    assert len({*halves}) == 2


def test_marked_rows_are_marked_in_every_cut(views):
    far = [np.vstack([X, np.full((1, X.shape[1]), 300.0)]) for X in views]
    for setting in ({}, {"n_components": 6}):
        model = LMVSC(6, outliers="mark", random_state=0, **setting).fit(far)
        for n in (2, 6, 12):
            np.testing.assert_array_equal(model.cut(n) < 0, model.labels_ < 0)
            np.testing.assert_array_equal(model.cut(n, far), model.cut(n))
        assert model.labels_[-1] == -1


def test_rows_that_lack_a_view_are_split_too(model, views):
    holes = [np.array(X[:20]) for X in views]
    holes[0][::2] = np.nan
    fine, labels = model.cut(12, holes), model.predict(holes)
    assert len({*zip(fine.tolist(), labels.tolist(), strict=True)}) == len({*fine.tolist()})


@pytest.mark.parametrize("n", [0, 2.5, 10_000])
def test_numbers_that_make_no_sense_are_refused(model, n):
    with pytest.raises((ValueError, TypeError), match=r"n_clusters|at most"):
        model.cut(n)


def test_no_numbers_at_all_are_refused(views):
    with pytest.raises(ValueError, match="n_clusters"):
        LMVSC([]).fit(views)
    with pytest.raises(ValueError, match="n_clusters"):
        LMVSC([2, 500]).fit(views)


def test_several_numbers_are_refused_before_the_fit_where_there_is_no_tree(monkeypatch, blobs):
    monkeypatch.setattr("manyview.pipeline.settings.MOST_CLUSTERS", 4)
    with pytest.raises(ValueError, match=r"n_clusters must be one number above 4.* up to 5"):
        LMVSC([2, 5]).fit(blobs(n=60))


def test_a_saved_model_has_its_cuts(blobs, tmp_path):
    model = LMVSC(range(2, 4), n_repeats=1, random_state=0).fit(blobs(n=60))
    model.save(tmp_path / "m.mv")
    again = load(tmp_path / "m.mv").cuts_
    assert list(again) == [2, 3]
    for n, labels in model.cuts_.items():
        np.testing.assert_array_equal(again[n], labels)
    model.set_params(n_clusters=[2, 50]).save(tmp_path / "changed.mv")
    assert not hasattr(load(tmp_path / "changed.mv"), "cuts_")


def test_a_saved_stream_has_no_cuts(blobs, tmp_path):
    LMVSC([2, 3], n_repeats=1, random_state=0).partial_fit(blobs(n=60)).save(tmp_path / "m.mv")
    assert not hasattr(load(tmp_path / "m.mv"), "cuts_")
