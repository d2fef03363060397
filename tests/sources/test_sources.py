"""Files that are no views, or not whole: one error that says what was found and what to do."""

import json
import os
import pickle

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from scipy import sparse

from manyview import Views, baselines
from manyview.errors import ReadError
from manyview.readers import read_view
from manyview.sources import as_source
from manyview.sources.csr_groups import CsrGroupSource

X = np.arange(60.0).reshape(20, 3)


def opened(path, key=None):
    """The source of a file, by the registry of readers."""
    return read_view(str(path) if key is None else f"{path}::{key}").parts[0].rows


class TestOpen:
    def test_unreadable_files(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        (tmp_path / "x.npy").chmod(0)
        if os.access(tmp_path / "x.npy", os.R_OK):
            pytest.skip("this user may read everything")
        with pytest.raises(OSError, match="Permission denied"):
            Views(tmp_path / "x.npy")


class TestNpy:
    @pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
    def test_empty_views_are_refused(self, tmp_path, shape):
        np.save(tmp_path / "x.npy", np.zeros(shape))
        with pytest.raises(ValueError, match="while a minimum of 1"):
            Views(tmp_path / "x.npy")

    @pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.bool_, np.float16, ">i4"])
    def test_every_type_of_number(self, tmp_path, dtype):
        np.save(tmp_path / "x.npy", X.astype(dtype))
        rows = opened(tmp_path / "x.npy").read(3, 9)
        assert rows.dtype.isnative
        assert np.array_equal(rows, X.astype(dtype)[3:9])

    def test_a_file_that_grew_is_noticed(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        source = opened(tmp_path / "x.npy")
        with (tmp_path / "x.npy").open("ab") as file:
            file.write(b"more")
        with pytest.raises(ReadError, match="was changed, or replaced, after it was opened"):
            source.read(0, 1)


class TestMemoryMaps:
    def test_copy_on_write_maps_are_arrays(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        mapped = np.load(tmp_path / "x.npy", mmap_mode="c")
        mapped[0, 0] = -7  # the file does not know
        assert as_source(mapped) is None
        assert Views(mapped).arrays[0][0, 0] == -7

    def test_what_was_written_through_the_map_is_read(self, tmp_path):
        mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=X.shape)
        mapped[:] = X
        assert np.array_equal(as_source(mapped).read(0, 20), X)

    @pytest.mark.parametrize("view", [lambda m: m.T, lambda m: m[4:, 1:], lambda m: m[::3, ::2]])
    def test_parts_and_transposes(self, tmp_path, view):
        np.save(tmp_path / "x.npy", X)
        part = view(np.load(tmp_path / "x.npy", mmap_mode="r"))
        assert np.array_equal(as_source(part).read(0, len(part)), part)
        assert np.array_equal(as_source(part).take(np.array([0, 2])), part[[0, 2]])

    def test_rows_in_reverse_are_an_array(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        assert as_source(np.load(tmp_path / "x.npy", mmap_mode="r")[::-1]) is None

    def test_baselines_take_maps_and_refuse_files(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        assert len(baselines.KMeans(2, random_state=0).fit(mapped).labels_) == 20
        with pytest.raises(TypeError, match=r"needed in memory.*\[:\]"):
            baselines.KMeans(2).fit(tmp_path / "x.npy")


class TestHdf5:
    @pytest.mark.parametrize("mode", ["r", "r+"])
    @pytest.mark.parametrize("row", [0, 3])  # of these, one is among the few that are hashed
    def test_the_fingerprint_tells_of_any_change(self, tmp_path, mode, row):
        wide = np.zeros((20, 100))
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file["x"] = wide
        with h5py.File(tmp_path / "x.h5", mode) as file:
            before = as_source(file["x"]).fingerprint()
        with h5py.File(tmp_path / "x.h5", "r+") as file:
            file["x"][row, 99] = 1.0
        with h5py.File(tmp_path / "x.h5", mode) as file:
            after = as_source(file["x"])
            assert after.fingerprint() != before
            assert after.fingerprint() == after.fingerprint()

    def test_a_dataset_without_chunks_costs_no_memory_a_row(self, tmp_path):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file.create_dataset("x", (50_000_000, 3), np.float64)  # nothing of it is written
        source = opened(tmp_path / "x.h5")
        assert len(pickle.dumps(source)) < 10_000
        assert source.band_rows == 1
        rows = np.array([0, 5, 70, 49_999_999])
        assert source.take(rows).shape == source.read(30_000_000, 30_000_004).shape

    def test_a_closed_dataset_is_an_error_with_rows(self, tmp_path):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            source = as_source(file.create_dataset("x", data=X))
        with pytest.raises(ReadError, match="rows 0 to 19"):
            source.read(0, 20)


class TestZarr:
    def test_the_fingerprint_tells_of_any_change(self, tmp_path):
        array = zarr.create_array(tmp_path / "x.zarr", data=np.ones((1000, 3)), chunks=(10, 3))
        sources = [opened(tmp_path / "x.zarr"), as_source(array)]
        before = [source.fingerprint() for source in sources]
        assert [source.fingerprint() for source in sources] == before
        array[555] = 2.0  # not among the few rows that are hashed
        assert all(new.fingerprint() != old for new, old in zip(sources, before, strict=True))

    def test_an_array_in_memory_is_read_too(self):
        assert np.array_equal(as_source(zarr.array(X)).read(2, 5), X[2:5])


class TestParquet:
    def test_names_become_feature_names(self, tmp_path):
        pq.write_table(pa.table({"height": [1.0, 2.0], "width": [3, 4]}), tmp_path / "x.parquet")
        views = Views({"size": tmp_path / "x.parquet"})
        assert views.feature_names == (("height", "width"),)
        assert views[:].feature_names == (("height", "width"),)
        assert views.arrays[0].read(0, 2).tolist() == [[1, 3], [2, 4]]

    def test_missing_values_are_nan(self, tmp_path):
        table = pa.table({"a": pa.array([1, None], pa.int32()), "b": pa.array([True, False])})
        pq.write_table(table, tmp_path / "x.parquet")
        rows = opened(tmp_path / "x.parquet").read(0, 2)
        assert np.array_equal(rows, [[1, 1], [np.nan, 0]], equal_nan=True)

    def test_files_with_other_columns_are_refused(self, tmp_path):
        pq.write_table(pa.table({"a": [1.0]}), tmp_path / "1.parquet")
        pq.write_table(pa.table({"b": [1.0]}), tmp_path / "2.parquet")
        with pytest.raises(
            ReadError, match=r"2.parquet' lacks .*'a'.*1.parquet'.*one view.*views of their own"
        ):
            opened(tmp_path)

    def test_files_with_columns_of_another_type_are_refused(self, tmp_path):
        pq.write_table(pa.table({"a": [1.0]}), tmp_path / "1.parquet")
        pq.write_table(pa.table({"a": [1]}), tmp_path / "2.parquet")
        with pytest.raises(ReadError, match=r"2.parquet' has int64 in column 'a', .*has double"):
            opened(tmp_path)

    def test_the_damaged_file_of_a_folder_is_named(self, tmp_path):
        pq.write_table(pa.table({"a": [1.0]}), tmp_path / "1.parquet")
        for name in ("0.parquet", "2.parquet"):
            (tmp_path / name).write_bytes(b"PAR1")
            with pytest.raises(ReadError, match=name):
                opened(tmp_path)
            (tmp_path / name).unlink()

    def test_both_endings_make_a_folder(self, tmp_path):
        pq.write_table(pa.table({"a": [1.0]}), tmp_path / "1.pq")
        assert opened(tmp_path).shape == (1, 1)

    def test_rows_without_a_list(self, tmp_path):
        lists = pa.array([[1.0, 2.0], None], pa.list_(pa.float64(), 2))
        pq.write_table(pa.table({"a": lists}), tmp_path / "x.parquet")
        with pytest.raises(ReadError, match="column 'a' has rows without a list"):
            opened(tmp_path / "x.parquet").read(0, 2)


class TestCsr:
    def write(self, path, rows, **options):
        with h5py.File(path, "w") as file:
            group = file.create_group("rows")
            group.attrs["shape"] = rows.shape
            for name in ("data", "indices", "indptr"):
                group.create_dataset(name, data=getattr(rows, name), **options)
        return self.open(path)

    def open(self, path):
        with h5py.File(path) as file:
            return CsrGroupSource(file["rows"], path=path)

    def test_entries_in_parts_and_out_of_order_are_put_together(self, tmp_path):
        loose = sparse.csr_array(
            (np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 3, 4])), (3, 3)
        )
        found = self.write(tmp_path / "x.h5", loose).read(0, 3)
        assert found.toarray().tolist() == [[2, 0, 5], [0, 0, 0], [0, 8, 0]]
        assert found.nnz == 3

    def test_damaged_rows_are_noticed(self, tmp_path):
        rows = sparse.random_array((5000, 30), density=0.1, rng=0, format="csr")
        path = tmp_path / "x.h5"
        self.write(path, rows, chunks=(4096,), fletcher32=True)
        with h5py.File(path) as file:
            place = file["rows/indices"].id.get_chunk_info(0).byte_offset
        with path.open("r+b") as file:
            file.seek(place + 400)
            file.write(b"\xff" * 8)
        with pytest.raises(ReadError, match="Could not read rows 0 to 4999"):
            self.open(path).read(0, 5000)


class TestFingerprint:
    def test_fingerprints_of_the_same_file_in_another_place_are_the_same(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        before = opened(tmp_path / "x.npy").fingerprint()
        (tmp_path / "x.npy").rename(tmp_path / "y.npy")
        assert json.dumps(opened(tmp_path / "y.npy").fingerprint()) == json.dumps(before)
