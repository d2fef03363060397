"""Odd rows: scored in every fit, marked where that is asked for."""

import numpy as np
import pytest

from manyview import LMVSC, datasets, load
from manyview.report import build_summary


@pytest.fixture(scope="module")
def rows(blobs):
    """300 rows of three groups, then six of junk."""
    rng = np.random.default_rng(1)
    views = blobs(n=300, widths=(4, 6))
    return [np.vstack([X, 40.0 * rng.normal(size=(6, X.shape[1]))]) for X in views]


@pytest.fixture(scope="module")
def marked(rows, fit):
    return fit(rows, outliers="mark")


def test_odd_rows_are_marked_and_the_others_are_not(marked):
    assert (marked.labels_[300:] == -1).all()
    assert (marked.labels_[:300] == -1).mean() <= 0.02


def test_predict_marks_the_rows_that_fit_did(marked, rows):
    np.testing.assert_array_equal(marked.predict(rows), marked.labels_)
    labels, _ = marked.predict_with_confidence(rows)
    np.testing.assert_array_equal(labels, marked.labels_)


def test_marked_rows_are_left_out_of_anchors_and_centres(marked, rows, fit):
    kept = marked.labels_ >= 0
    alone = fit([X[kept] for X in rows])
    np.testing.assert_allclose(marked.cluster_centers_, alone.cluster_centers_, atol=1e-9)
    for anchors, others in zip(marked.anchors_, alone.anchors_, strict=True):
        np.testing.assert_allclose(anchors, others, atol=1e-9)


def test_scores_are_there_either_way(marked, rows, fit):
    kept = fit(rows)
    assert (kept.labels_ >= 0).all()
    for model in (marked, kept):
        np.testing.assert_array_equal(model.outlier_scores(rows), model.outlier_score_)
        assert model.outlier_score_[300:].min() > model.outlier_score_[:300].max()


def test_a_saved_model_marks_the_same_rows(marked, rows, tmp_path):
    marked.save(tmp_path / "model.mv")
    again = load(tmp_path / "model.mv")
    np.testing.assert_array_equal(again.predict(rows), marked.labels_)
    np.testing.assert_array_equal(again.outlier_scores(rows), marked.outlier_score_)
    assert again.outliers == "mark"


def test_a_report_tells_how_many_are_left_out(marked, rows):
    labels = np.append(np.arange(300) % 3, np.full(6, 3))
    summary = build_summary(marked, rows, labels=labels)
    assert summary["n_outliers"] == (marked.labels_ == -1).sum()
    assert sum(cluster["size"] for cluster in summary["clusters"]) == (marked.labels_ >= 0).sum()


def test_what_cannot_leave_rows_out_says_so(rows, fit):
    with pytest.raises(ValueError, match="outliers"):
        fit(rows, outliers="mark", anchor_method="kmeans-all")
    with pytest.raises(ValueError, match="outliers"):
        fit(rows, outliers="drop")


def test_the_published_method_and_streams_know_no_odd_rows(rows):
    published = LMVSC.as_published(3, 10, 1.0, random_state=0).fit(rows)
    assert not hasattr(published, "outlier_score_")
    with pytest.raises(ValueError, match="odd"):
        published.outlier_scores(rows)


def with_junk(n, widths, n_junk, *, size):
    """Rows of three groups, the first ones junk."""
    rng = np.random.default_rng(0)
    rows = [X.copy() for X in datasets.make_views(n, 3, widths, random_state=0).arrays]
    for X in rows:
        X[:n_junk] += size * rng.normal(size=(n_junk, X.shape[1]))
    return rows


def test_copies_of_rows_that_count_more_do_not_hide_odd_ones(fit):
    rows = with_junk(240, (12, 15), 5, size=30.0)
    weighted = fit(rows, outliers="mark", sample_weight=np.full(240, 0.5))
    np.testing.assert_array_equal(np.flatnonzero(weighted.labels_ == -1), np.arange(5))


def test_scores_do_not_change_with_the_unit_of_weights(fit):
    rows = with_junk(240, (12, 15), 5, size=30.0)
    scores = fit(rows, sample_weight=np.full(240, 0.5)).outlier_score_
    assert scores[:5].min() > scores[5:].max()


def test_junk_in_narrow_views_is_marked():
    rows = with_junk(200, (4, 5), 6, size=50.0)
    marked = LMVSC(3, outliers="mark", n_repeats=1, random_state=0).fit(rows)
    np.testing.assert_array_equal(np.flatnonzero(marked.labels_ == -1), np.arange(6))
