"""Matrices stored by columns: turned a few entries at a time, and nothing left behind."""

import gc
import tempfile

import anndata
import h5py
import numpy as np
import pytest
from scipy import sparse

from manyview.errors import ReadError
from manyview.sources import csc_groups
from manyview.sources.csc_groups import CscGroupSource


@pytest.fixture(name="X")
def make_matrix():
    return sparse.random_array((300, 40), density=0.2, format="csc", rng=0, dtype=np.float32)


@pytest.fixture
def source(X, tmp_path, monkeypatch):
    monkeypatch.setattr(csc_groups, "_ENTRIES", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    anndata.AnnData(X).write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad") as file:
        return CscGroupSource(file["X"], path=tmp_path / "x.h5ad")


def test_many_parts_are_the_whole(source, X):
    rows = source.read(0, 300)
    assert rows.format == "csr" and rows.has_canonical_format
    assert np.array_equal(rows.toarray(), X.toarray())


def test_entries_in_any_order_and_in_parts(X, tmp_path, monkeypatch):
    monkeypatch.setattr(csc_groups, "_ENTRIES", 100)
    rows, columns = X.indices[::-1], np.repeat(np.arange(40), np.diff(X.indptr))[::-1]
    order = np.argsort(np.concatenate([columns, columns]), kind="stable")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("X")
        group.attrs["shape"] = X.shape
        group["data"] = np.concatenate([X.data[::-1]] * 2)[order]
        group["indices"] = np.concatenate([rows, rows])[order]
        group["indptr"] = 2 * X.indptr
        turned = CscGroupSource(group).read(0, 300)
    assert turned.has_canonical_format
    assert np.array_equal(turned.toarray(), 2 * X.toarray())


def test_nothing_is_turned_before_rows_are_read_and_nothing_stays(source, tmp_path):
    assert not list(tmp_path.glob("manyview-*"))
    source.read(0, 10)
    (folder,) = tmp_path.glob("manyview-*")
    assert [path.name for path in folder.iterdir()] == ["rows.h5"]


def test_the_temporary_file_goes_with_the_source(X, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    anndata.AnnData(X).write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad") as file:
        passing = CscGroupSource(file["X"], path=tmp_path / "x.h5ad")
    passing.read(0, 10)
    del passing
    gc.collect()
    assert not list(tmp_path.glob("manyview-*"))


@pytest.mark.parametrize("shape", [(5, 0), (7, 3)])
def test_matrices_without_entries(shape, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("X")
        group.attrs["shape"] = shape
        empty = sparse.csc_array(shape, dtype=np.float32)
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(empty, name)
        assert CscGroupSource(group).read(0, shape[0]).shape == shape


def test_a_file_that_changes_is_refused(source, X, tmp_path):
    source.read(0, 10)
    anndata.AnnData(X[:, :39]).write_h5ad(tmp_path / "x.h5ad")
    with pytest.raises(ReadError, match="was changed"):
        source.read(0, 10)


def test_entries_outside_are_refused(source, tmp_path):
    with h5py.File(tmp_path / "x.h5ad", "r+") as file:
        file["X/indices"][3] = 300
    with h5py.File(tmp_path / "x.h5ad") as file:
        again = CscGroupSource(file["X"], path=tmp_path / "x.h5ad")
    with pytest.raises(ReadError, match="entry in row 300, but 300 rows"):
        again.read(0, 10)
