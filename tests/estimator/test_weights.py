"""Rows that count more, less or not at all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from manyview import LMVSC, metrics

EXPLICIT = {
    "scaling": "energy", "n_axes": None, "fusion": "late", "n_neighbors": None, "alpha": 0.01,
    "locality": 0.0, "view_weights": "equal", "n_components": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def rows(blobs):
    return blobs(n=90, spread=1.0)


@pytest.fixture(scope="module")
def given_anchors(rows):
    return {**EXPLICIT, "anchor_method": [X[:12] for X in rows]}


@settings(max_examples=12)
@given(weights=st.lists(st.integers(0, 3), min_size=90, max_size=90).filter(lambda w: sum(w) > 60))
def test_a_weight_is_a_number_of_copies(rows, given_anchors, fit, weights):
    weighted = fit(rows, **given_anchors, sample_weight=np.array(weights))
    copies = np.repeat(np.arange(90), weights)
    repeated = fit([X[copies] for X in rows], **given_anchors)
    np.testing.assert_allclose(
        weighted.singular_values_, repeated.singular_values_, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(weighted.inertia_, repeated.inertia_, rtol=1e-6, atol=1e-9)
    assert adjusted_rand_score(weighted.labels_[copies], repeated.labels_) == 1.0


def test_weights_that_are_all_alike_change_nothing_but_rounding(rows, given_anchors, fit):
    plain = fit(rows, **given_anchors)
    weighted = fit(rows, **given_anchors, sample_weight=np.full(90, 1.0))
    np.testing.assert_allclose(weighted.cluster_centers_, plain.cluster_centers_, atol=1e-9)


def test_predict_gives_the_labels_also_of_rows_that_do_not_count(rows, fit):
    weights = np.random.default_rng(0).random(90)
    weights[:9] = 0.0
    model = fit(rows, sample_weight=weights)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_junk_of_weight_0_moves_nothing(rows, fit):
    junk = [np.vstack([X, np.full((5, X.shape[1]), 1e3)]) for X in rows]
    model = fit(junk, sample_weight=np.append(np.ones(90), np.zeros(5)))
    np.testing.assert_allclose(model.cluster_centers_, fit(rows).cluster_centers_, atol=1e-9)


@pytest.mark.parametrize(
    "weights",
    [np.ones(89), -np.ones(90), np.zeros(90), np.full(90, np.nan), [1.0, 2.0], ["a"] * 90, 3.0],
    ids=str,
)
def test_weights_that_make_no_sense_are_refused(rows, fit, weights):
    with pytest.raises(ValueError, match="sample_weight"):
        fit(rows, sample_weight=weights)


def test_more_clusters_than_rows_that_count_are_refused(rows, fit):
    with pytest.raises(ValueError, match="2 have a weight"):
        fit(rows, 3, sample_weight=(np.arange(90) < 2).astype(float))


def test_k_means_on_all_rows_cannot_weigh_them(rows, fit):
    with pytest.raises(ValueError, match="sample_weight"):
        fit(rows, anchor_method="kmeans-all", sample_weight=np.ones(90))


def test_an_embedding_may_be_weighted_at_once(rows):
    weights = np.random.default_rng(0).random(90)
    model = LMVSC(3, n_repeats=1, random_state=0)
    embedded = model.fit_transform(rows, sample_weight=weights)
    again = LMVSC(3, n_repeats=1, random_state=0).fit(rows, sample_weight=weights)
    np.testing.assert_array_equal(embedded, again.embedding_)


def test_rows_of_weight_0_are_solved_like_the_others(rows, fit):
    weights = (np.arange(90) % 3 > 0).astype(float)
    (graph, *_) = fit(rows, n_neighbors=1, sample_weight=weights).solver_report_["graphs"]
    assert (graph["n_rows"], graph["mean_support"]) == (90, 1.0)


@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_default_fits_find_the_same_clusters_with_weights(weight):
    """Rows that are sampled repeatedly are no more rows, and no reason for more anchors."""
    rng = np.random.default_rng(0)
    groups, middles = np.arange(400) % 4, 1.2 * rng.normal(size=(4, 12))
    views = [m[groups] + rng.normal(size=(400, 12)) for m in (middles, middles[:, ::-1])]
    model = LMVSC(4, random_state=0).fit(views, sample_weight=np.full(400, weight))
    assert metrics.nmi(groups, model.labels_) > 0.95
