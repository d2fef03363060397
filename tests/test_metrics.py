"""Scores against scikit-learn, against brute force, and by their own laws."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from manyview import metrics

NAMES = ["accuracy", "nmi", "purity", "inverse_purity", "ari", "f_score"]
AVERAGES = ["max", "arithmetic", "geometric", "min"]

# Sums of at most a few hundred terms below log(n): this bounds their rounding generously.
ROUNDING = 1e-12


def labellings(max_groups=6, max_size=40):
    """Pairs of labellings of the same samples."""
    group = st.integers(0, max_groups - 1)
    return st.lists(st.tuples(group, group), min_size=1, max_size=max_size).map(
        lambda pairs: (np.array([t for t, _ in pairs]), np.array([p for _, p in pairs]))
    )


def brute_accuracy(y_true, y_pred):
    classes, clusters = np.unique(y_true), np.unique(y_pred)
    size = max(len(classes), len(clusters))
    table = np.zeros((size, size), dtype=int)
    for i, c in enumerate(classes):
        for j, g in enumerate(clusters):
            table[i, j] = np.sum((y_true == c) & (y_pred == g))
    best = max(table[range(size), p].sum() for p in itertools.permutations(range(size)))
    return best / len(y_true)


def brute_purity(y_true, y_pred):
    return sum(
        max(np.sum(y_true[y_pred == g] == c) for c in np.unique(y_true)) for g in np.unique(y_pred)
    ) / len(y_true)


def brute_f_score(y_true, y_pred):
    pairs = list(itertools.combinations(range(len(y_true)), 2))
    in_class = {(i, j) for i, j in pairs if y_true[i] == y_true[j]}
    in_cluster = {(i, j) for i, j in pairs if y_pred[i] == y_pred[j]}
    if not in_class and not in_cluster:
        return 1.0
    return 2 * len(in_class & in_cluster) / (len(in_class) + len(in_cluster))


@given(labellings(max_groups=5))
@settings(max_examples=60, deadline=None)
def test_accuracy_is_the_best_of_all_matchings(labels):
    assert metrics.accuracy(*labels) == pytest.approx(brute_accuracy(*labels), abs=ROUNDING)


@given(labellings())
@settings(max_examples=60, deadline=None)
def test_purities_are_majority_shares(labels):
    y_true, y_pred = labels
    assert metrics.purity(y_true, y_pred) == pytest.approx(brute_purity(y_true, y_pred))
    assert metrics.inverse_purity(y_true, y_pred) == pytest.approx(brute_purity(y_pred, y_true))


@given(labellings())
@settings(max_examples=60, deadline=None)
def test_f_score_is_the_f1_of_pairs(labels):
    assert metrics.f_score(*labels) == pytest.approx(brute_f_score(*labels), abs=ROUNDING)


@given(labellings(max_size=80), st.sampled_from(AVERAGES))
@settings(max_examples=100, deadline=None)
def test_nmi_agrees_with_scikit_learn(labels, average):
    expected = sk.normalized_mutual_info_score(*labels, average_method=average)
    assert metrics.nmi(*labels, average=average) == pytest.approx(expected, abs=1e-9)


@given(labellings(max_size=80))
@settings(max_examples=100, deadline=None)
def test_ari_agrees_with_scikit_learn(labels):
    assert metrics.ari(*labels) == pytest.approx(sk.adjusted_rand_score(*labels), abs=ROUNDING)


@given(labellings(), st.permutations(range(6)), st.permutations(range(6)))
@settings(max_examples=60, deadline=None)
def test_renaming_groups_changes_nothing(labels, new_classes, new_clusters):
    y_true, y_pred = labels
    renamed = np.array(new_classes)[y_true], np.array(new_clusters)[y_pred]
    assert metrics.scores(*renamed) == metrics.scores(*labels)


@pytest.mark.parametrize("name", NAMES)
def test_a_single_sample_scores_one(name):
    assert getattr(metrics, name)([3], ["a"]) == 1.0


@pytest.mark.parametrize("average", AVERAGES)
def test_nmi_of_one_class_and_one_cluster_is_one(average):
    assert metrics.nmi([1, 1], [2, 2], average=average) == 1
    assert metrics.nmi([1, 1], [1, 2], average=average) == 0


@pytest.mark.parametrize("kind", [float, object])
def test_missing_labels_are_no_class(kind):
    with pytest.raises(ValueError, match="y_true has 2 labels that are NaN"):
        metrics.nmi(np.array([0, np.nan, float("nan")], dtype=kind), [0, 1, 1])


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "a", "b"],
        np.array(["a", "a", "b"]),
        np.array(["a", "a", "b"], dtype=object),
        [1.5, 1.5, 2.5],
        [True, True, False],
        [None, None, "b"],
        [1, 1, "1"],
        [(0, 1), (0, 1), (1, 1)],
        (np.int8(3), np.int8(3), np.int8(-4)),
        pd.Series(["a", "a", "b"]),
        pd.Categorical(["a", "a", "b"]),
        pl.Series(["a", "a", "b"]),
        np.array([2**62, 2**62, -(2**62)]),
        np.array([0, 0, 255], dtype=np.uint8),
    ],
)
def test_labels_of_any_kind(labels):
    assert metrics.scores([0, 0, 1], labels) == metrics.scores([0, 0, 1], [0, 0, 1])
    assert metrics.accuracy(labels, [0, 1, 1]) == pytest.approx(2 / 3)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="y_true has 2 labels but y_pred has 3"):
        metrics.accuracy([0, 1], [0, 1, 1])


@pytest.mark.parametrize("name", [*NAMES, "scores"])
def test_empty_input_is_refused(name):
    with pytest.raises(ValueError, match="empty"):
        getattr(metrics, name)([], [])


def test_two_dimensional_labels_are_refused():
    with pytest.raises(ValueError, match=r"y_true must be one-dimensional.*\(2, 2\)"):
        metrics.ari(np.zeros((2, 2)), [0, 1])


def test_labels_that_cannot_be_compared_are_refused():
    labels = np.array([{}, {}], dtype=object)
    with pytest.raises(TypeError, match="y_pred has labels that cannot be compared"):
        metrics.ari([0, 1], labels)


def test_unknown_average_is_refused():
    with pytest.raises(ValueError, match=r"average must be one of .*'median'"):
        metrics.nmi([0, 1], [0, 1], average="median")


def test_scores_does_not_change_its_input():
    labels = np.array([0, 1, 1])
    labels.setflags(write=False)
    metrics.scores(labels, labels)
    assert labels.tolist() == [0, 1, 1]


@given(labellings(max_groups=8, max_size=60))
@settings(max_examples=60, deadline=None)
def test_sparse_matching_agrees_with_dense(labels):
    table = metrics._count(*labels)
    assert metrics._sparse_match(table).n_samples / table.n == metrics.accuracy(*labels)


def test_many_clusters_need_no_dense_table():
    n = 10_000
    y_true = np.arange(n) // 2
    found = metrics.scores(y_true, np.arange(n))
    assert found["accuracy"] == 0.5
    assert found["purity"] == 1
    assert found["inverse_purity"] == 0.5


def test_pair_counts_do_not_overflow():
    n = 1_000_000
    y_true = np.repeat([0, 1], n // 2)
    y_pred = np.zeros(n, dtype=np.int8)
    y_pred[: n // 4] = 1
    # Half of one class, apart: pairs counted by hand in exact integers.
    both = 2 * (n // 4) * (n // 4 - 1) // 2 + (n // 2) * (n // 2 - 1) // 2
    in_class = 2 * (n // 2) * (n // 2 - 1) // 2
    in_cluster = (n // 4) * (n // 4 - 1) // 2 + (3 * n // 4) * (3 * n // 4 - 1) // 2
    assert metrics.f_score(y_true, y_pred) == pytest.approx(2 * both / (in_class + in_cluster))
    assert metrics.ari(y_true, y_pred) == pytest.approx(0.25, abs=1e-5)


class TestMatchLabels:
    @given(labellings())
    @settings(max_examples=50, deadline=None)
    def test_as_many_samples_keep_their_number_as_can(self, pair):
        old, new = pair
        matched = metrics.match_labels(old, new)
        assert np.mean(matched == old) == pytest.approx(metrics.accuracy(old, new))
        assert metrics.ari(matched, new) == 1.0

    def test_a_permutation_is_undone(self):
        old = np.arange(60) % 6
        assert np.array_equal(metrics.match_labels(old, (old * 5 + 1) % 6), old)

    def test_clusters_that_match_none_get_new_numbers(self):
        matched = metrics.match_labels([0, 0, 7, 7], [3, 3, 1, 2]).tolist()
        assert matched in ([0, 0, 7, 8], [0, 0, 8, 7])

    def test_no_cluster_stays_no_cluster(self):
        assert metrics.match_labels([0, 0, -1, 1], [-1, 5, 5, 2]).tolist() == [-1, 0, 0, 1]
        assert metrics.match_labels([-1, -1], [4, -1]).tolist() == [0, -1]

    def test_many_clusters_are_matched_too(self):
        old = np.arange(5000) // 2
        assert np.array_equal(metrics.match_labels(old, old.max() - old), old)

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [([0, 1], [0], "old has 2 labels but new has 1"), (["a"], [0], "old must hold one whole")],
    )
    def test_nonsense_is_refused(self, old, new, message):
        with pytest.raises(ValueError, match=message):
            metrics.match_labels(old, new)
