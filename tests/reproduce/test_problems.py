"""Made data has the shape of the real; samples are always the same rows."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from manyview import datasets
from manyview.reproduce import methods
from manyview.reproduce.cells import Cell
from manyview.reproduce.compute import compute
from manyview.reproduce.made import make_like, make_sparse_subspaces
from manyview.reproduce.plan import TIMED_SETTINGS
from manyview.reproduce.problems import PROBLEMS, Data, load, load_whole


@pytest.fixture(scope="module")
def caltech():
    return make_like("caltech101-7")


def test_made_caltech_has_its_rows_columns_and_classes(caltech):
    views = caltech
    assert views.n_features == (48, 40, 254, 1984, 512, 928)
    assert np.bincount(views.target).tolist() == list(datasets.info("caltech101-7").class_counts)
    assert load(Data("caltech7", 100, made=True)).n_rows == 100


def test_dense_made_rows_lie_near_a_union_of_subspaces(caltech):
    X = caltech.arrays[2][caltech.target == 1].astype(np.float64)
    energy = np.linalg.svd(X, compute_uv=False) ** 2
    assert energy[:5].sum() > 0.8 * energy.sum()


@pytest.mark.parametrize("sizes", [[40, 25], [10] * 6])
def test_sparse_made_rows_are_sparse_and_of_low_rank(sizes):
    views = make_sparse_subspaces(sizes, [3000, 2000], 60, seed=1)
    X = views.arrays[0]
    assert sparse.issparse(X) and X.shape == (sum(sizes), 3000)
    assert 50 <= X.nnz / len(views) <= 60
    some = X[views.target == 0].toarray()
    energy = np.linalg.svd(some, compute_uv=False) ** 2
    assert energy[:6].sum() > 0.8 * energy.sum()
    again = make_sparse_subspaces(sizes, [3000, 2000], 60, seed=1)
    assert (again.arrays[1] != views.arrays[1]).nnz == 0


@pytest.mark.parametrize("method", [methods.PUBLISHED, methods.DEFAULT, methods.KMEANS])
def test_methods_take_made_sparse_data(method, monkeypatch):
    info = replace(datasets.info("reuters"), n_samples=120, n_features=(300, 200))
    monkeypatch.setattr("manyview.reproduce.made.info", lambda name: info)
    views = make_like("reuters")
    assert {X.indices.dtype for X in views.arrays} == {np.dtype(np.int32)}
    settings = {**TIMED_SETTINGS, "n_anchors": 8}
    settings = {methods.PUBLISHED: settings, methods.DEFAULT: {"n_repeats": 1}}.get(method, {})
    cell = Cell(Data("reuters", made=True), method, settings)
    loaded = SimpleNamespace(views=lambda data: views)
    (line,) = compute([cell], loaded)
    assert line["status"] == "done" and line["n_rows"] == 120


def test_made_digits_have_three_views_as_the_noisy_ones(monkeypatch):
    info = replace(datasets.info("mnist"), n_samples=100, class_counts=(10,) * 10)
    monkeypatch.setattr("manyview.reproduce.made.info", lambda name: info)
    load_whole.cache_clear()
    views = load(Data("mnist-speckle", 50, made=True))
    load_whole.cache_clear()
    assert views.names == ("speckle-0.05", "speckle-0.1", "speckle-0.15")
    assert views.n_features == PROBLEMS["mnist-speckle"].widths and views.n_rows == 50
    assert (views.arrays[0] != views.arrays[1]).any()


def test_made_shapes_of_the_time_figure():
    views = load(Data("shape", shape=(70, 6, 3, 4), made=True))
    assert (views.n_rows, views.n_features, len(np.unique(views.target))) == (70, (6, 6, 6), 4)


def test_noisy_digits_are_three_views_of_the_same_rows(data):
    digits = data("mnist")
    few = load(Data("mnist-speckle", 50))
    assert few.names == ("speckle-0.05", "speckle-0.1", "speckle-0.15")
    assert few.n_rows == 50 and PROBLEMS["mnist-speckle"].widths == few.n_features
    again = load(Data("mnist-speckle", 50))
    np.testing.assert_array_equal(few.arrays[0], again.arrays[0])
    blank = digits.arrays[0].max(axis=0) == 0  # speckle leaves empty pixels empty
    assert few.arrays[2][:, blank].max() == 0


def test_an_absent_data_set_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    monkeypatch.setenv("MANYVIEW_CACHE", str(tmp_path))
    problem = PROBLEMS["nus"]
    assert not problem.is_present()
    assert "manyview datasets info nus-wide-object" in problem.how_to_get()
    (tmp_path / "NUSWIDEOBJ.mat").touch()
    assert problem.is_present()
