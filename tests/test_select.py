"""Settings compared and models scored without labels, and a suggested number of clusters."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from manyview import LMVSC, Views, datasets, metrics, select
from manyview.baselines import KMeans
from manyview.select import excess_cut, label_free_score

PLAIN = {"n_repeats": 1, "n_anchors": 30}


@pytest.fixture(scope="module")
def views():
    return datasets.make_views(400, 3, (5, 8), random_state=0)


@pytest.fixture(scope="module")
def found(views):
    settings = [{**PLAIN, "alpha": 2.0, "scaling": None}, PLAIN, {**PLAIN, "locality": 0.1}]
    return select.compare(views, 3, settings, n_jobs=1)


def test_every_setting_is_tried_once(found):
    assert len(found.trials) == len(found.table()) == 3
    assert {"excess_cut", "silhouette", "stability", "largest_share", "seconds", "settings"} == set(
        found.table()[0]
    )


def test_the_best_has_the_smallest_excess_cut_of_those_that_did_not_collapse(found):
    standing = [trial for trial in found.trials if not trial.has_collapsed]
    assert found.best == standing[0].settings
    assert standing[0].excess_cut == min(trial.excess_cut for trial in standing)


def test_the_best_can_be_fitted_and_finds_the_groups(found, views):
    model = LMVSC(3, random_state=0, **found.best).fit(views)
    assert metrics.ari(views.target, model.labels_) > 0.9


def test_a_collapsed_clustering_comes_last():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(195, 4)), 1e4 + rng.normal(size=(5, 4))])
    raw = {"scaling": None, "alpha": 1e-3, "n_components": 2, **PLAIN}
    found = select.compare(X, 2, [raw, {"scaling": "normal-scores", **PLAIN}])
    assert found.trials[-1].has_collapsed
    assert found.best["scaling"] == "normal-scores"


def test_few_rows_are_used_of_many():
    views = datasets.make_views(900, 2, (3,), random_state=0)
    found = select.compare(views, 2, [PLAIN], max_rows=100)
    assert len(found.rows) == len(found.trials[0].labels) == 100
    assert found.rows[0] == 0
    assert found.rows[-1] == 899


def test_reads_as_a_table(found):
    lines = repr(found).splitlines()
    assert len(lines) == 4
    assert "locality=0.1" in str(found)


def test_no_settings_are_refused(views):
    with pytest.raises(ValueError, match="settings is empty"):
        select.compare(views, 3, [])


def test_unknown_parameters_are_refused(views):
    with pytest.raises(TypeError, match="colour"):
        select.compare(views, 3, [{"colour": 1}])


def test_suggested_number_has_its_evidence(views):
    suggestion = select.suggest_n_clusters(views, max_rows=200, n_repeats=2)
    assert suggestion.n_clusters == 3
    assert len(suggestion.candidates) == len(suggestion.silhouette) == len(suggestion.modularity)
    assert "pieces" in suggestion.why()


@pytest.fixture(scope="module")
def groups(blobs):
    """Clear groups in two views, to score models by."""
    return Views(blobs(n=150, k=3, widths=(4, 6)))


def fit(X, n_clusters=3, **settings):
    return LMVSC(n_clusters, **{"n_repeats": 1, "random_state": 0, "n_jobs": 1, **settings}).fit(X)


def test_clear_groups_score_above_their_mixtures(groups):
    rng = np.random.default_rng(0)
    mixed = Views([rng.permuted(X, axis=0) for X in groups.arrays])
    assert label_free_score(fit(groups), groups) > 2 * label_free_score(fit(mixed), mixed)


def test_the_right_number_of_clusters_is_found(groups):
    search = GridSearchCV(
        LMVSC(n_repeats=1, random_state=0), {"n_clusters": [2, 3, 4, 6]}, scoring=label_free_score,
        cv=2,
    ).fit(groups)  # fmt: skip
    assert search.best_params_ == {"n_clusters": 3}


def test_a_graph_that_holds_nothing_scores_nothing(groups):
    nothing = label_free_score(fit(groups, alpha=1e6), groups)
    assert nothing < 0.1 * label_free_score(fit(groups), groups)


def test_one_cluster_scores_zero(groups):
    assert label_free_score(fit(groups, n_clusters=1), groups) == 0.0


def test_the_end_of_a_pipeline_is_scored_by_what_it_sees(groups):
    doubled = make_pipeline(
        FunctionTransformer(lambda X: X * 2), LMVSC(3, n_repeats=1, random_state=0)
    )
    X = groups.arrays[0]
    expected = label_free_score(fit(2 * X), 2 * X)
    assert label_free_score(doubled.fit(X), X) == pytest.approx(expected)
    assert label_free_score(make_pipeline(fit(X)), X) == label_free_score(fit(X), X)


def test_other_estimators_are_refused(groups):
    with pytest.raises(TypeError, match="needs an LMVSC"):
        label_free_score(KMeans(3).fit(groups), groups)


def test_no_labels_cut_less_than_the_bound(groups):
    model = fit(groups)
    best = excess_cut(model.model_, groups, model.labels_, 3)
    rng = np.random.default_rng(0)
    worse = excess_cut(model.model_, groups, rng.permutation(model.labels_), 3)
    assert -1e-9 < best < worse


def test_a_model_that_is_not_fitted_is_refused(groups):
    with pytest.raises(NotFittedError):
        label_free_score(LMVSC(3), groups)


def test_a_stream_is_scored(groups):
    stream = LMVSC(3, n_repeats=1, random_state=0, n_jobs=1).partial_fit(groups)
    assert label_free_score(stream, groups) > 0
