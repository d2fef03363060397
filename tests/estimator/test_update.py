"""New rows for a fitted model: clusters keep their numbers, rows that nothing explains get new ones."""

import copy

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC, Views, datasets, load

VIEWS = datasets.make_views(500, 5, (6, 8), separation=10.0, random_state=0)
CLASS = np.asarray(VIEWS.target)
KNOWN = np.flatnonzero(CLASS < 3)
PER_ROW = ("labels_", "confidence_", "outlier_score_", "leaves_")
SETTINGS = {"evident": {}, "graphs": {"n_anchors": 30, "n_repeats": 2}}


def rows_of(*classes):
    return VIEWS[np.flatnonzero(np.isin(CLASS, classes))]


@pytest.fixture(scope="module", params=SETTINGS)
def fitted(request):
    return LMVSC(3, random_state=0, **SETTINGS[request.param]).fit(VIEWS[KNOWN])


@pytest.fixture
def model(fitted):
    return copy.deepcopy(fitted)


def test_an_unknown_class_opens_one_cluster_with_the_next_number(model, fitted):
    new = rows_of(3)
    model.update(new)
    assert model.n_clusters_ == len(model.cluster_centers_) == len(model.model_.sizes) == 4
    added = model.labels_[len(KNOWN) :]
    assert (added == 3).mean() >= 0.9
    np.testing.assert_array_equal(model.labels_[: len(KNOWN)], fitted.labels_)
    assert (model.predict(VIEWS[KNOWN]) == fitted.labels_).mean() >= 0.99
    np.testing.assert_array_equal(model.predict(new), added)
    assert len(model.confidence_) == len(model.outlier_score_) == len(model.labels_)
    assert model.choices_[-1]["value"] == "1 new cluster"


def test_two_unknown_classes_open_two_clusters(model):
    new = rows_of(3, 4)
    labels = model.update(new).predict(new)
    own = CLASS[np.isin(CLASS, (3, 4))]
    assert model.n_clusters_ == 5
    for each in (3, 4):
        assert np.bincount(labels[own == each])[3:].max() >= 0.9 * (own == each).sum()


def test_rows_like_the_known_ones_open_nothing_and_are_added_to_the_means(model, fitted):
    new = VIEWS[KNOWN[::3]]
    labels, rows = model.predict(new), model.transform(new)
    model.update(new)
    assert model.n_clusters_ == 3
    sizes = np.bincount(fitted.labels_, minlength=3)[:, None]
    sums = sizes * fitted.cluster_centers_
    np.add.at(sums, labels, rows)
    counts = sizes + np.bincount(labels, minlength=3)[:, None]
    np.testing.assert_allclose(model.cluster_centers_, sums / counts, atol=1e-12)
    np.testing.assert_array_equal(model.model_.sizes, counts.ravel())


def test_updates_may_follow_each_other_and_keep_all_numbers(model, fitted):
    first = model.update(rows_of(3)).predict(VIEWS)
    kept = {name: getattr(model, name) for name in PER_ROW}
    second = model.update(rows_of(4)).predict(VIEWS)
    for name, before in kept.items():
        after = getattr(model, name)
        np.testing.assert_array_equal(after[: len(before)], before, err_msg=name)
        assert len(after) == len(before) + rows_of(4).n_rows
    np.testing.assert_array_equal(model.labels_[-rows_of(4).n_rows :], model.predict(rows_of(4)))
    assert model.n_clusters_ == 5
    assert (first == second)[CLASS < 4].mean() >= 0.99
    assert (second[CLASS == 4] == 4).mean() >= 0.9
    assert model.update(rows_of(3, 4)).n_clusters_ == 5  # known by now


def test_a_model_from_a_file_is_updated_alike(model, tmp_path):
    model.save(tmp_path / "m.mv")
    loaded = load(tmp_path / "m.mv").update(rows_of(3))
    model.update(rows_of(3))
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    loaded.save(tmp_path / "n.mv")
    again = load(tmp_path / "n.mv")
    np.testing.assert_array_equal(again.predict(VIEWS), model.predict(VIEWS))
    assert again.update(rows_of(4)).n_clusters_ == 5


def test_what_else_a_model_tells_knows_the_new_cluster(model):
    model.update(rows_of(3))
    assert model.predict_proba(VIEWS[:5]).shape == (5, 4)
    assert model.outlier_scores(rows_of(3)).mean() < 0.6  # explained by now
    np.testing.assert_array_equal(model.cut(4), model.labels_)
    np.testing.assert_array_equal(model.cut(4, VIEWS), model.predict(VIEWS))
    assert len(np.unique(model.cut(2))) == 2
    assert not hasattr(model, "embedding_")
    fine = model.cut(8)
    assert len({*zip(fine.tolist(), model.labels_.tolist(), strict=True)}) == 8


def test_a_few_junk_rows_open_no_cluster(model):
    rng = np.random.default_rng(0)
    junk = [20 * rng.normal(size=(8, X.shape[1])) for X in VIEWS.arrays]
    assert model.update(junk).n_clusters_ == 3


def test_rows_in_files_update_alike(model, tmp_path):
    new, expected = rows_of(2, 3), copy.deepcopy(model).update(rows_of(2, 3))
    paths = [tmp_path / f"{v}.npy" for v in range(2)]
    for path, X in zip(paths, new.arrays, strict=True):
        np.save(path, X)
    model.update([np.load(path, mmap_mode="r") for path in paths])
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)


def test_new_rows_may_lack_views(model):
    new = rows_of(3)
    holes = [np.array(X, float) for X in new.arrays]
    holes[0][::4] = np.nan
    model.update(holes)
    assert model.n_clusters_ == 4
    assert (model.labels_[len(KNOWN) :] == 3).mean() >= 0.9


def test_marked_rows_stay_marked_and_new_clusters_are_not():
    marking = LMVSC(3, outliers="mark", n_anchors=30, n_repeats=2, random_state=0).fit(VIEWS[KNOWN])
    far = [50 + X[:3] for X in VIEWS.arrays]
    new = [np.vstack(pair) for pair in zip(rows_of(3).arrays, far, strict=True)]
    added = marking.update(new).labels_[len(KNOWN) :]
    assert marking.n_clusters_ == 4
    assert (added[:-3] == 3).mean() >= 0.9
    np.testing.assert_array_equal(added[-3:], -1)
    assert marking.model_.sizes.sum() == (marking.labels_ >= 0).sum()


def test_sparse_rows_open_clusters_too():
    rng = np.random.default_rng(0)
    words = np.kron(np.eye(4), np.full((1, 60), 0.3)) + 0.02
    groups = np.repeat(range(4), 60)
    counts = [sparse.csr_array(rng.poisson(words[groups])) for _ in range(2)]
    known, new = np.flatnonzero(groups < 3), np.flatnonzero(groups == 3)
    model = LMVSC(3, random_state=0).fit([X[known] for X in counts])
    model.update([X[new] for X in counts])
    assert model.n_clusters_ == 4
    assert (model.labels_[180:] == 3).mean() >= 0.9


def test_ids_go_on_where_both_have_them(fitted):
    named = [f"r{row}" for row in range(500)]
    whole = Views(dict(VIEWS.items()), ids=named)
    model = LMVSC(3, n_anchors=30, n_repeats=2, random_state=0).fit(whole[KNOWN])
    model.update(whole[np.flatnonzero(CLASS == 3)])
    assert model.labels_series().index[-1] == named[np.flatnonzero(CLASS == 3)[-1]]
    with pytest.warns(UserWarning, match="were there already: 'r"):
        model.update(whole[:20])
    with pytest.warns(UserWarning, match="The new rows have no ids: ids_ is None now"):
        assert model.update(rows_of(4)).ids_ is None


def test_what_cannot_be_updated_is_refused_and_unchanged(fitted, model):
    published = LMVSC.as_published(3, 20, 1.0, random_state=0).fit(VIEWS)
    stream = LMVSC(3, n_anchors=20, random_state=0).partial_fit(VIEWS)
    for other in (published, stream):
        with pytest.raises(
            ValueError, match="cannot be updated: it was fitted as published, or on a st"
        ):
            other.update(VIEWS)
    with pytest.raises(ValueError, match="X has 5 features"):
        model.update([X[:, 1:] for X in VIEWS.arrays])
    with pytest.raises(ValueError, match="no new rows"):
        model.update(VIEWS[:0])
    np.testing.assert_array_equal(model.labels_, fitted.labels_)
