"""Files as MATLAB writes them, of version 5 and of version 7.3 (HDF5)."""

import h5py
import numpy as np
import pytest
from scipy import sparse

from manyview.datasets import loaders
from manyview.datasets.originals import read_one
from manyview.readers.hdf5 import is_hdf5
from tests.matlab_files import cell, save_v5, save_v73

LABELS = np.array([[1.0], [1.0], [2.0], [2.0], [3.0], [3.0]])


WRITERS = {"5": save_v5, "7.3": save_v73}


@pytest.fixture(params=WRITERS)
def save(request, tmp_path):
    return lambda **variables: WRITERS[request.param](tmp_path / "small.mat", **variables)


@pytest.mark.parametrize(
    ("views_name", "labels_name", "column"),
    [
        ("X", "labels", False), ("data", "Y", True), ("x", "y", False), ("X", "gt", True),
        ("data", "truth", False), ("x", "truelabel", True), ("X", "gnd", False),
    ],
)  # fmt: skip
def test_cells_of_views_under_any_name(save, views_of_small, column, views_name, labels_name):
    path = save(**{views_name: cell(views_of_small, column=column), labels_name: LABELS})
    raw = read_one(path)
    assert np.array_equal(raw.labels, LABELS.ravel())
    assert all(map(np.array_equal, raw.arrays, views_of_small))


def test_some_views_turned_and_some_not(save, views_of_small):
    raw = read_one(save(X=cell([views_of_small[0], views_of_small[1].T]), Y=LABELS))
    assert all(map(np.array_equal, raw.arrays, views_of_small))


def test_a_square_view_follows_the_others(save, views_of_small):
    square = np.arange(36.0).reshape(6, 6)
    raw = read_one(save(X=cell([square.T, views_of_small[0].T]), Y=LABELS))
    assert np.array_equal(raw.arrays[0], square)
    raw = read_one(save(X=cell([square, views_of_small[0]]), Y=LABELS))
    assert np.array_equal(raw.arrays[0], square)


def test_sparse_views_stay_sparse(save, small, views_of_small):
    thin = [np.where(view > 0, view, 0) for view in views_of_small]
    path = save(X=cell([sparse.csc_array(view) for view in thin]), Y=LABELS)
    views = loaders.read_views(path, small)
    assert all(isinstance(array, sparse.csr_array) for array in views.arrays)
    assert all(
        np.array_equal(a.toarray(), view) for a, view in zip(views.arrays, thin, strict=True)
    )


def test_sparse_views_are_turned(save, views_of_small):
    raw = read_one(save(X=cell([sparse.csc_array(views_of_small[0].T)]), Y=LABELS))
    assert np.array_equal(raw.arrays[0].toarray(), views_of_small[0])


def test_a_sparse_view_of_zeros(save, views_of_small):
    raw = read_one(save(X=cell([sparse.csc_array((6, 4)), views_of_small[1]]), Y=LABELS))
    assert raw.arrays[0].nnz == 0
    assert raw.arrays[0].shape == (6, 4)


def test_one_matrix_is_one_view(save, views_of_small):
    raw = read_one(save(fea=views_of_small[0], gnd=LABELS))
    assert len(raw.arrays) == 1
    assert np.array_equal(raw.arrays[0], views_of_small[0])


def test_numbered_views_come_in_order(save, views_of_small):
    many = {f"X{i}": views_of_small[0] + i for i in (10, 2, 1)}
    raw = read_one(save(**many, Y=LABELS))
    assert all(
        np.array_equal(a, views_of_small[0] + i)
        for a, i in zip(raw.arrays, (1, 2, 10), strict=True)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": None}, r"no views: none of \['x', .*variables \['Y'"),
        ({"Y": None}, "nothing in it is called labels"),
        ({"Y": LABELS[:5]}, r"shapes \[\(6, 4\), \(6, 5\)\], which do not fit 5 labels"),
        ({"Y": np.zeros((6, 3))}, r"labels 'y' have shape \(6, 3\)"),
        ({"Y": cell([LABELS, LABELS + 1])}, "different labels"),
    ],
)
def test_other_contents_are_refused(save, small, views_of_small, change, message):
    variables = {"X": cell(views_of_small), "Y": LABELS, "other": np.zeros((2, 2))} | change
    path = save(**{name: value for name, value in variables.items() if value is not None})
    with pytest.raises(ValueError, match=message):
        loaders.read_views(path, small)


@pytest.mark.parametrize("header", [b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file", b""])
def test_version_is_told_by_content_not_by_header(tmp_path, views_of_small, header):
    path = save_v73(tmp_path / "a.mat", header=header, X=cell(views_of_small), Y=LABELS)
    assert is_hdf5(path)
    assert len(read_one(path).arrays) == 2


def test_plain_hdf5_is_read_too(tmp_path, small, views_of_small):
    with h5py.File(tmp_path / "small.H5", "w") as file:
        file["X1"], file["X2"] = views_of_small
        file["Y"] = LABELS.ravel()
    views = loaders.read_views(tmp_path / "small.H5", small)
    assert np.array_equal(views["first"], views_of_small[0])


FIELD = {
    "X and Y": lambda A, B, y: {"X": cell([A, B]), "Y": y},
    "X and Y, samples as columns": lambda A, B, y: {"X": cell([A.T, B.T]), "Y": y.T},
    "data and truelabel, a cell of labels": lambda A, B, y: {
        "data": cell([A.T, B.T]),
        "truelabel": cell([y, y]),
    },
    "fea and gt": lambda A, B, y: {"fea": cell([A, B], column=True), "gt": y},
    "X1, X2 and gnd": lambda A, B, y: {"X1": A, "X2": B, "gnd": y},
    "fea, and gt as integers": lambda A, B, y: {"fea": cell([A, B]), "gt": y.astype("u1")},
    "numbered features": lambda A, B, y: {"fea_1": A, "fea_2": B, "groundtruth": y},
    "other words": lambda A, B, y: {"features": cell([A, B]), "true_labels": y},
}


@pytest.mark.parametrize("make", FIELD.values(), ids=list(FIELD))
def test_conventions_of_the_fields_repositories_load(save, make):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(6, 4)), rng.normal(size=(6, 3))
    raw = read_one(save(**make(A, B, LABELS)))
    np.testing.assert_allclose(raw.arrays[0], A)
    np.testing.assert_allclose(raw.arrays[1], B)
    np.testing.assert_array_equal(raw.labels.astype(float), LABELS.ravel())
