"""Effect sizes against direct computation, dense and sparse."""

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC, Views
from manyview.explain import features
from manyview.explain.features import find_features, measure_effects, measure_importances


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=200)
    X = rng.poisson(0.4, size=(200, 12)).astype(float)
    X[labels == 1, 4] += 3
    X[:, 7] = 5.0
    return X, labels


def test_effects_are_differences_of_means_in_standard_deviations(counts):
    X, labels = counts
    effects = measure_effects(X, labels, 3)
    inside, outside = X[labels == 1], X[labels != 1]
    difference = inside.mean(axis=0) - outside.mean(axis=0)
    varying = X.std(axis=0) > 0
    expected = difference[varying] / X.std(axis=0)[varying]
    np.testing.assert_allclose(effects.effect[1, varying], expected)
    np.testing.assert_allclose(effects.inside[1], inside.mean(axis=0))
    np.testing.assert_allclose(effects.present_outside[1], (outside != 0).mean(axis=0))


def test_sparse_views_give_the_same_effects(counts):
    X, labels = counts
    dense, thin = measure_effects(X, labels, 3), measure_effects(sparse.csr_array(X), labels, 3)
    for name in ("effect", "inside", "outside", "present_inside", "present_outside"):
        np.testing.assert_allclose(getattr(thin, name), getattr(dense, name), atol=1e-12)


def test_a_constant_column_has_no_effect(counts):
    assert (measure_effects(*counts, 3).effect[:, 7] == 0).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_missing_values_are_left_out(counts, form):
    X, labels = counts
    X = X.copy()
    X[np.flatnonzero(labels == 1)[:3], 4] = np.nan
    effects = measure_effects(form(X), labels, 3)
    assert effects.inside[1, 4] == pytest.approx(np.nanmean(X[labels == 1, 4]))
    assert effects.outside[1, 4] == pytest.approx(np.nanmean(X[labels != 1, 4]))


def test_an_empty_cluster_has_no_effect(counts):
    assert (measure_effects(*counts, 4).effect[3] == 0).all()


def test_the_column_that_sets_a_cluster_apart_comes_first_with_its_name(counts):
    import pandas as pd

    X, labels = counts
    table = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    found = find_features(Views({"rna": table, "other": np.ones((200, 2))}), labels, 3)
    assert found[1][0]["view"] == "rna" and found[1][0]["column"] == "gene 4"
    assert found[1][0]["effect"] > 1
    assert all(len(listed) <= 2 * features.N_LISTED for listed in found)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_column_blocks_do_not_change_what_is_found(counts, form, monkeypatch):
    X, labels = counts
    whole = find_features(Views([form(X), form(X[:, ::-1])]), labels, 3)
    monkeypatch.setattr(features, "_CELLS", 1000)
    assert find_features(Views([form(X), form(X[:, ::-1])]), labels, 3) == whole


class TestImportances:
    def test_a_fit_tells_which_columns_matter_in_each_view(self):
        rng = np.random.default_rng(0)
        group = np.repeat([0, 1], 60)
        one = np.stack([9.0 * group + rng.normal(size=120), rng.normal(size=120)], axis=1)
        two = sparse.csr_array(np.stack([rng.random(120) < 0.3, group == 1], axis=1) * 1.0)
        model = LMVSC(2, n_repeats=1, random_state=0).fit([one, two])
        assert [values.argmax() for values in model.feature_importances_] == [0, 1]
        assert [values.sum() for values in model.feature_importances_] == pytest.approx([1, 1])

    def test_rows_in_no_cluster_and_constants_count_for_nothing(self):
        X = np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0], [900.0, 1.0]])
        (found,) = measure_importances(Views(X), np.array([0, 0, 1, -1]))
        assert found.tolist() == [1.0, 0.0]

    def test_whole_numbers_in_few_bits_are_like_any_others(self):
        X, labels = np.array([[100, 3], [90, 2], [0, 1], [5, 3]]), np.array([0, 0, 1, 1])
        (expected,) = measure_importances(Views(X.astype(float)), labels)
        for form in (np.asarray, sparse.csr_array):
            (found,) = measure_importances(Views(form(X.astype(np.int8))), labels)
            np.testing.assert_allclose(found, expected)
