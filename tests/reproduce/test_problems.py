"""Samples are always the same rows, in the order of the file or shuffled."""

import numpy as np

from manyview.reproduce.problems import PROBLEMS, Data, load


def test_noisy_digits_are_three_views_of_the_same_rows(data):
    digits = data("mnist")
    few = load(Data("mnist-speckle", 50))
    assert few.names == ("speckle-0.05", "speckle-0.1", "speckle-0.15")
    assert few.n_rows == 50 and len(PROBLEMS["mnist-speckle"].view_names) == few.n_views
    again = load(Data("mnist-speckle", 50))
    np.testing.assert_array_equal(few.arrays[0], again.arrays[0])
    blank = digits.arrays[0].max(axis=0) == 0  # speckle leaves empty pixels empty
    assert few.arrays[2][:, blank].max() == 0


def test_shuffled_rows_are_the_same_rows_in_another_order(small_msrc):
    filed, one, again, other = (load(Data("msrcv1", shuffled=s)) for s in (None, 0, 0, 1))
    assert (np.diff(filed.target) >= 0).all() and not (np.diff(one.target) >= 0).all()
    np.testing.assert_array_equal(one.arrays[0], again.arrays[0])
    assert (one.arrays[0] != other.arrays[0]).any()
    np.testing.assert_array_equal(np.sort(one.arrays[0], axis=0), np.sort(filed.arrays[0], axis=0))


def test_a_sample_keeps_the_order_of_the_file(small_msrc):
    some = load(Data("msrcv1", 40))
    assert some.n_rows == 40 and (np.diff(some.target) >= 0).all()


def test_an_absent_data_set_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    monkeypatch.setenv("MANYVIEW_CACHE", str(tmp_path))
    problem = PROBLEMS["nus"]
    assert not problem.is_present()
    assert "manyview datasets info nus-wide-object" in problem.how_to_get()
    (tmp_path / "NUSWIDEOBJ.mat").touch()
    assert problem.is_present()
