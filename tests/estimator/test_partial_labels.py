"""A few labels that are known: optional, and never more than a hint."""

import numpy as np
import pytest

from manyview import LMVSC, metrics
from manyview.engines import Disk


@pytest.fixture(scope="module")
def rows():
    """240 rows at the corners of a square: which two are one cluster is a matter of taste."""
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [0.0, 5.0], [5.0, 0.0], [5.0, 5.0]])
    corner = np.arange(240) % 4
    return [middles[corner] + 0.7 * rng.normal(size=(240, 2)) for _ in range(2)], corner


@pytest.fixture
def settings():
    return {"n_repeats": 1, "n_anchors": 40, "random_state": 0}


@pytest.mark.parametrize("side", [0, 1])
def test_known_rows_decide_which_halves_belong_together(rows, settings, side):
    views, corner = rows
    wanted = corner // 2 if side else corner % 2
    known = np.where(np.arange(240) < 40, wanted, -1)
    model = LMVSC(2, **settings).fit(views, partial_labels=known)
    assert metrics.accuracy(wanted[40:], model.labels_[40:]) > 0.9
    assert (model.labels_ == wanted).mean() > 0.9  # with the numbers that were given
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_nothing_known_changes_nothing(rows, settings):
    views, _ = rows
    plain, hinted = LMVSC(4, **settings).fit(views), LMVSC(4, **settings)
    hinted.fit(views, partial_labels=np.full(240, -1))
    np.testing.assert_array_equal(plain.labels_, hinted.labels_)


def test_known_rows_count_on_disk_as_in_memory(rows, settings, tmp_path):
    views, corner = rows
    files = [tmp_path / f"{number}.npy" for number in range(2)]
    for file, X in zip(files, views, strict=True):
        np.save(file, X)
    known = np.where(np.arange(240) < 20, 3 - corner, -1)
    memory = LMVSC(4, **settings).fit(views, partial_labels=known)
    disk = LMVSC(4, engine=Disk(), **settings).fit(files, partial_labels=known)
    np.testing.assert_array_equal(disk.labels_, memory.labels_)
    assert (memory.labels_ == 3 - corner).mean() > 0.9


def test_as_many_clusters_are_found_as_are_known(rows, settings):
    views, corner = rows
    known = np.where(np.arange(240) < 20, corner, -1)
    assert LMVSC("auto", **settings).fit(views, partial_labels=known).n_clusters_ >= 4


def test_choices_tell_the_number_that_known_rows_ask_for(rows, settings):
    views, _ = rows
    known = np.where(np.arange(240) < 20, np.arange(240) % 9, -1)
    model = LMVSC("auto", **settings).fit(views, partial_labels=known)
    choice = next(c for c in model.choices_ if c["parameter"] == "n_clusters")
    assert choice["value"] == model.n_clusters_ == 9
    assert (
        f"partial_labels has 9 numbers; {model.suggestion_.n_clusters} suggested" in choice["why"]
    )


@pytest.mark.parametrize(
    "known",
    [
        np.zeros(239, int),
        np.full(240, 4),
        np.full(240, -2),
        np.full(240, 0.5),
        ["a"] * 240,
        [None, 1] * 120,
    ],
    ids=["too few", "too large", "too small", "no whole numbers", "text", "gaps"],
)
def test_what_cannot_be_known_is_refused(rows, settings, known):
    with pytest.raises(ValueError, match="partial_labels"):
        LMVSC(4, **settings).fit(rows[0], partial_labels=known)


def test_known_rows_count_once_in_the_sizes_of_clusters(rows, settings):
    views, corner = rows
    model = LMVSC(4, **settings).fit(views, partial_labels=corner)
    assert np.array_equal(model.model_.sizes, np.bincount(model.labels_))
