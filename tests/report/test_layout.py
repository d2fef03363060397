"""Places on the map."""

import numpy as np
import pytest

from manyview.report.layout import GRID, draw_points, lay_out, quantise


def make_groups(n, k=3, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % k
    return np.eye(k)[groups] + 0.05 * rng.normal(size=(n, k)), groups


def nearest_is_of_same_group(points, groups):
    gaps = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(gaps, np.inf)
    return (groups[gaps.argmin(axis=1)] == groups).mean()


def test_groups_stay_together():
    rows, groups = make_groups(200)
    points = lay_out(rows, np.arange(200), seed=0)
    assert nearest_is_of_same_group(points, groups) == 1.0


def test_rows_beside_their_neighbours_land_in_their_own_group():
    rows, groups = make_groups(600)
    placed = np.arange(0, 600, 4)
    points = lay_out(rows, placed, seed=0)
    assert np.isfinite(points).all()
    assert nearest_is_of_same_group(points, groups) > 0.98


def test_the_same_seed_gives_the_same_map():
    rows, _ = make_groups(300)
    placed = np.arange(0, 300, 2)
    np.testing.assert_array_equal(lay_out(rows, placed, seed=3), lay_out(rows, placed, seed=3))


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (7, 3), (30, 1), (30, 2)])
def test_few_rows_or_columns_can_be_placed(shape):
    rows = np.random.default_rng(0).normal(size=shape)
    assert np.isfinite(lay_out(rows, np.arange(len(rows)), seed=0)).all()


def test_rows_that_are_all_alike_can_be_placed():
    points = lay_out(np.ones((50, 4)), np.arange(50), seed=0)
    assert np.isfinite(points).all()


def test_quantised_places_keep_proportions_and_fit_in_two_bytes():
    points = np.array([[0.0, 0.0], [10.0, 5.0], [5.0, 2.5]])
    whole = quantise(points)
    assert whole.min() >= 0 and whole.max() == GRID
    width, height = np.ptp(whole, axis=0)
    assert width / height == pytest.approx(2, rel=1e-3)


def test_a_single_place_is_in_the_middle():
    assert np.abs(quantise(np.zeros((3, 2))) - GRID / 2).max() <= 1


def test_drawn_points_lie_in_their_box_with_a_path_a_cluster():
    rng = np.random.default_rng(0)
    cluster = np.repeat([0, 2], [9_000, 3])  # nobody is in cluster 1
    places = rng.integers(GRID + 1, size=(2, len(cluster)))
    picture = draw_points({"x": places[0], "y": places[1], "cluster": cluster}, 3)
    assert [each["cluster"] for each in picture["clusters"]] == [0, 2]
    assert 5_000 <= picture["n_points"] <= 5_100
    assert picture["clusters"][1]["path"].count("M") == 3
    left, top, width, height = map(int, picture["box"].split())
    for each in picture["clusters"]:
        assert left < each["x"] < left + width and top < each["y"] < top + height


def test_many_clusters_are_drawn_without_their_numbers():
    points = {"x": np.arange(50), "y": np.arange(50), "cluster": np.arange(50)}
    assert not draw_points(points, 50)["has_names"]
