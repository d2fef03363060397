"""Valleys: where rows thin out between clusters."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from manyview.stages.valleys import count_apart


def cut(rows, k):
    return KMeans(k, n_init=1, random_state=0).fit_predict(rows)


def draw(kind, n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.03 * rng.normal(size=(n, 2))
    return {
        "normal": rng.normal(size=(n, 2)),
        "stretched": rng.normal(size=(n, 3)) * [9.0, 3.0, 1.0],
        "uniform": rng.random((n, 3)),
        "skewed": rng.exponential(size=(n, 2)),
        "ring": ring,
        "line": np.column_stack([rng.random(n), 0.02 * rng.normal(size=n)]),
        "wide": rng.normal(size=(n, 30)),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["normal", "stretched", "uniform", "skewed", "ring", "line", "wide"]
)
@pytest.mark.parametrize("n", [300, 2000])
def test_parts_of_one_cluster_are_one(kind, n):
    rows = draw(kind, n, np.random.default_rng(n))
    assert [count_apart(rows, cut(rows, k)) for k in (6, 9)] == [1, 1]


@pytest.mark.parametrize("kind", ["normal", "uniform", "ring", "line"])
def test_copies_of_rows_are_no_evidence(kind):
    rng = np.random.default_rng(0)
    rows = draw(kind, 300, rng)[rng.integers(300, size=900)]
    assert [count_apart(rows, cut(rows, k)) for k in (6, 9)] == [1, 1]


@pytest.mark.parametrize("d", [2, 5, 30])
@pytest.mark.parametrize("k", [4, 6, 8])
def test_clusters_are_counted_however_finely_they_are_cut(d, k):
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(1600, d))
    rows += 7.0 * np.eye(4, d)[np.arange(1600) % 4] if d > 3 else 0.0
    rows[:, 0] += 0.0 if d > 3 else 7.0 * (np.arange(1600) % 4)
    assert count_apart(rows, cut(rows, k)) == 4


def test_stretched_clusters_side_by_side_are_two():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 2)) * [10.0, 1.0]
    rows[:, 1] += 6.0 * (np.arange(1000) % 2)
    halves = (np.arange(1000) % 2) * 2 + (rows[:, 0] > 0)
    assert count_apart(rows, halves) == 2


def test_turning_and_shifting_rows_changes_nothing():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(600, 3)) + 6.0 * (np.arange(600) % 3)[:, None]
    labels = cut(rows, 5)
    turned = rows @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + 100.0
    assert count_apart(turned, labels) == count_apart(rows, labels) == 3


@pytest.mark.parametrize("labels", [np.zeros(50, int), np.arange(50)])
def test_one_cluster_or_tiny_ones_are_one(labels):
    assert count_apart(np.random.default_rng(0).normal(size=(50, 2)), labels) == 1


def test_rows_that_are_all_alike_are_one():
    assert count_apart(np.ones((100, 3)), np.repeat([0, 1], 50)) == 1
