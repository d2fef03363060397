"""How sure labels are: calibrated where clusters are Gaussian, for every kind of view."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from manyview import LMVSC, Views, load, metrics


def expected_calibration_error(confidence, is_right, n_bins=10):
    """Mean difference of confidence and share of right rows over bins, weighted by their rows."""
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    gaps = [(confidence[bins == b] - is_right[bins == b]).sum() for b in np.unique(bins)]
    return np.abs(gaps).sum() / len(confidence)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "separation"), [(3, 4.5), (5, 4.5), (4, 7.0)])
def test_confidence_is_the_share_of_right_rows_in_gaussian_mixtures(fit, k, separation):
    rng = np.random.default_rng(k)
    target = rng.integers(k, size=1500)
    centers = separation / np.sqrt(2.0) * np.linalg.qr(rng.normal(size=(10, 10)))[0][:k]
    X = centers[target] + rng.normal(size=(1500, 10))
    model = fit([X[:, :5], X[:, 5:]], k, n_repeats=2)
    right = metrics.accuracy(target, model.labels_)
    matched = _matched(target, model.labels_, k)
    assert right == pytest.approx((matched == target).mean())
    assert expected_calibration_error(model.confidence_, matched == target) < 0.05


def _matched(target, labels, k):
    counts = np.zeros((k, k))
    np.add.at(counts, (labels, target), 1)
    return linear_sum_assignment(-counts)[1][labels]


@pytest.fixture(scope="module")
def views(blobs):
    return blobs(widths=(4, 6), spread=2.0)


@pytest.fixture(scope="module")
def model(views, fit):
    return fit(views)


def test_probabilities_agree_with_labels_and_confidence(model, views):
    found = model.predict_proba(views)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.argmax(axis=1), model.labels_)
    np.testing.assert_array_equal(found.max(axis=1), model.confidence_)
    labels, confidence = model.predict_with_confidence(views)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(confidence, model.confidence_)
    assert labels.dtype == np.int32


def test_the_few_largest_are_sparse_and_those_of_all(model, views):
    found, every = model.predict_proba(views, top=2), model.predict_proba(views)
    assert sparse.issparse(found) and found.shape == every.shape and found.nnz == 2 * len(every)
    kept = found.toarray()
    np.testing.assert_array_equal(kept[kept > 0], every[kept > 0])
    np.testing.assert_array_equal((kept > 0).sum(axis=1), 2)
    assert (every[kept == 0] <= every.max(axis=1)).all()


def test_more_than_there_are_is_all_and_less_than_one_is_refused(model, views):
    np.testing.assert_array_equal(
        model.predict_proba(views, top=9).toarray(), model.predict_proba(views)
    )
    with pytest.raises(ValueError, match="top"):
        model.predict_proba(views, top=0)


def test_a_saved_model_is_as_sure(model, views, tmp_path):
    model.save(tmp_path / "model.mv")
    again = load(tmp_path / "model.mv")
    np.testing.assert_array_equal(again.confidence_, model.confidence_)
    np.testing.assert_array_equal(again.predict_proba(views), model.predict_proba(views))


def test_rows_that_lack_views_have_probabilities_too(views, fit):
    present = np.random.default_rng(0).random((90, 2)) > 0.3
    present[~present.any(axis=1), 0] = True
    some = Views(views, present=present)
    model = fit(some)
    np.testing.assert_allclose(model.predict_proba(some).sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_proba({"view_0": views[0]}).sum(axis=1), 1.0)


def test_sparse_views_are_not_made_dense(fit, blobs):
    wide = sparse.random_array((90, 5000), density=0.01, rng=0, format="csr")
    model = fit([wide, blobs()[0]])
    assert ((model.confidence_ >= 1 / 3) & (model.confidence_ <= 1)).all()


def test_one_cluster_is_certain(views, fit):
    np.testing.assert_array_equal(fit(views, 1).confidence_, 1.0)


def test_a_stream_is_sure_of_its_rows_too(views):
    model = LMVSC(3, random_state=0, n_repeats=1, n_anchors=10).partial_fit(views)
    np.testing.assert_array_equal(model.predict_proba(views).argmax(axis=1), model.predict(views))
