"""Scores without labels: bounds, order, and what they are refused for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from manyview import LMVSC, Views
from manyview.baselines import KMeans
from manyview.select import excess_cut, label_free_score, sampled_silhouette


@pytest.fixture(scope="module")
def views(blobs):
    return Views(blobs(n=150, k=3, widths=(4, 6)))


def fit(X, n_clusters=3, **settings):
    return LMVSC(n_clusters, **{"n_repeats": 1, "random_state": 0, "n_jobs": 1, **settings}).fit(X)


def test_clear_groups_score_above_their_mixtures(views):
    rng = np.random.default_rng(0)
    mixed = Views([rng.permuted(X, axis=0) for X in views.arrays])
    assert label_free_score(fit(views), views) > 2 * label_free_score(fit(mixed), mixed)


def test_the_right_number_of_clusters_is_found(views):
    search = GridSearchCV(
        LMVSC(n_repeats=1, random_state=0), {"n_clusters": [2, 3, 4, 6]}, scoring=label_free_score,
        cv=2,
    ).fit(views)  # fmt: skip
    assert search.best_params_ == {"n_clusters": 3}


def test_a_graph_that_holds_nothing_scores_nothing(views):
    assert label_free_score(fit(views, alpha=1e6), views) < 0.1 * label_free_score(
        fit(views), views
    )


def test_one_cluster_scores_zero(views):
    assert label_free_score(fit(views, n_clusters=1), views) == 0.0


def test_scores_of_held_out_rows(views):
    scores = cross_val_score(LMVSC(3, random_state=0), views, scoring=label_free_score, cv=3)
    assert ((scores > 0) & (scores < 1)).all()


def test_the_end_of_a_pipeline_is_scored_by_what_it_sees(views):
    doubled = make_pipeline(FunctionTransformer(lambda X: X * 2), LMVSC(3, random_state=0))
    X = views.arrays[0]
    expected = label_free_score(fit(2 * X, n_repeats="auto"), 2 * X)
    assert label_free_score(doubled.fit(X), X) == pytest.approx(expected)
    assert label_free_score(make_pipeline(fit(X)), X) == label_free_score(fit(X), X)


def test_other_estimators_are_refused(views):
    with pytest.raises(TypeError, match="needs an LMVSC"):
        label_free_score(KMeans(3).fit(views), views)


def test_no_labels_cut_less_than_the_bound(views):
    model = fit(views)
    best = excess_cut(model.model_, views, model.labels_, 3)
    rng = np.random.default_rng(0)
    worse = excess_cut(model.model_, views, rng.permutation(model.labels_), 3)
    assert -1e-9 < best < worse


def test_the_silhouette_of_one_cluster_is_zero():
    assert sampled_silhouette(np.zeros((5, 2)), np.zeros(5, np.int32)) == 0.0


def test_a_model_that_is_not_fitted_is_refused(views):
    with pytest.raises(NotFittedError):
        label_free_score(LMVSC(3), views)


def test_a_stream_is_scored(views):
    stream = LMVSC(3, n_repeats=1, random_state=0, n_jobs=1).partial_fit(views)
    assert label_free_score(stream, views) > 0


def test_rows_with_other_columns_are_refused(views):
    with pytest.raises(ValueError, match="X has 3 features"):
        label_free_score(fit(views), [views.arrays[0][:, :3], views.arrays[1]])
