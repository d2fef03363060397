"""Settings compared without labels, and a suggested number of clusters."""

from __future__ import annotations

import numpy as np
import pytest

from manyview import LMVSC, datasets, metrics, select

PLAIN = {"n_repeats": 1, "n_anchors": 30}


@pytest.fixture(scope="module")
def views():
    return datasets.make_views(400, 3, (5, 8), random_state=0)


@pytest.fixture(scope="module")
def found(views):
    settings = [{**PLAIN, "alpha": 100.0, "scaling": None}, PLAIN, {**PLAIN, "locality": 0.1}]
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


def test_labels_cannot_cut_less_than_the_bound(found):
    assert all(trial.excess_cut > -1e-9 for trial in found.trials)


def test_a_collapsed_clustering_comes_last():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(195, 4)), 1e4 + rng.normal(size=(5, 4))])
    raw = {"scaling": None, "alpha": 1e-3, "n_components": 2, "row_norm": False, **PLAIN}
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
    lines = str(found).splitlines()
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
    assert "silhouette" in suggestion.why()
