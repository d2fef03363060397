from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview.baselines.steps.sparse_projections import (
    keep_largest,
    keep_largest_sum_one,
    prox_sum_one,
    soft_threshold,
    zero_own,
)


def by_brute_force(y, own, n_nonzero, *, sum_one):
    """Nearest sparse vector, over all supports."""
    best, best_distance = None, np.inf
    for chosen in combinations([j for j in range(len(y)) if j != own], n_nonzero):
        support = list(chosen)
        c = np.zeros(len(y))
        c[support] = y[support] - sum_one * (y[support].sum() - 1) / n_nonzero
        distance = np.sum((c - np.where(np.arange(len(y)) == own, 0, y)) ** 2)
        if distance < best_distance:
            best, best_distance = c, distance
    return best, best_distance


def by_sorting(y, own, threshold):
    """The sum-to-one prox by its breakpoints: the curve of sums is linear between them."""
    others = np.delete(y, own)
    points = np.sort(np.concatenate([others - threshold, others + threshold]))
    points = np.concatenate([[points[0] - 2], points, [points[-1] + 2]])
    sums = np.array([soft_threshold(others - nu, threshold).sum() for nu in points])
    i = np.flatnonzero(sums >= 1)[-1]
    share = (sums[i] - 1) / (sums[i] - sums[i + 1])
    nu = points[i] + share * (points[i + 1] - points[i])
    return np.insert(soft_threshold(others - nu, threshold), own, 0.0)


@pytest.mark.parametrize("n_nonzero", [1, 2, 3, 5])
@pytest.mark.parametrize(("project", "sum_one"), [(keep_largest, 0), (keep_largest_sum_one, 1)])
def test_projection_equals_brute_force(n_nonzero, project, sum_one):
    rng = np.random.default_rng(n_nonzero)
    G = rng.normal(size=(60, 6)) * rng.choice([0.1, 1, 10], size=(60, 1))
    own = rng.integers(6, size=60)
    found = project(G, own, n_nonzero).toarray()
    expected = [
        by_brute_force(y, j, n_nonzero, sum_one=sum_one)[0] for y, j in zip(G, own, strict=True)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(-5, 5), min_size=4, max_size=7),
    st.integers(0, 3),
    st.integers(1, 3),
    st.booleans(),
)
def test_projection_is_as_near_as_brute_force_even_with_ties(values, own, n_nonzero, sum_one):
    y = np.array(values)
    project = keep_largest_sum_one if sum_one else keep_largest
    c = project(y[None], np.array([own]), n_nonzero).toarray()[0]
    _, least = by_brute_force(y, own, n_nonzero, sum_one=sum_one)
    y[own] = 0
    assert np.sum((c - y) ** 2) == pytest.approx(least, abs=1e-9)
    assert c[own] == 0 and np.count_nonzero(c) <= n_nonzero


def test_rows_without_an_own_column_may_use_all():
    G = np.array([[3.0, -1.0, 2.0]])
    assert keep_largest(G, np.array([-1]), 1).toarray().tolist() == [[3, 0, 0]]
    assert keep_largest_sum_one(G, np.array([-1]), 1).toarray().tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("threshold", [1e-6, 0.01, 0.5, 10.0])
@pytest.mark.parametrize("start", [None, "zero"])
def test_sum_to_one_prox_equals_sorting(threshold, start):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(50, 30)) * rng.choice([1e-3, 1, 100], size=(50, 1))
    own = rng.integers(30, size=50)
    C, nu = prox_sum_one(Y, own, threshold, start=None if start is None else np.zeros(50))
    expected = [by_sorting(y, j, threshold) for y, j in zip(Y, own, strict=True)]
    scale = np.abs(Y).max(axis=1, keepdims=True) + 1
    np.testing.assert_allclose(C / scale, expected / scale, atol=1e-12)
    np.testing.assert_allclose(C.sum(axis=1), 1, atol=1e-11)
    assert np.isfinite(nu).all()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(-100, 100), min_size=2, max_size=8),
    st.floats(1e-6, 10),
    st.floats(-1000, 1000),
)
def test_sum_to_one_prox_sums_to_one_from_any_start(values, threshold, start):
    C, _ = prox_sum_one(np.array([values]), np.array([0]), threshold, start=np.array([start]))
    assert C.sum() == pytest.approx(1, abs=1e-9)
    assert C[0, 0] == 0


def test_own_entries_are_set_to_zero():
    C = np.ones((3, 3))
    zero_own(C, np.array([2, -1, 0]))
    assert C.tolist() == [[1, 1, 0], [1, 1, 1], [0, 1, 1]]


def test_no_entry_is_taken_twice_where_entries_are_equal():
    C = keep_largest_sum_one(np.array([[5.0, 4.9, 0.0, 0.0, 0.0, 0.0]]), np.array([-1]), 5)
    assert len(set(C.indices)) == 5
    assert C.sum() == pytest.approx(1.0)
