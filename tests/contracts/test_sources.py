"""Every kind of source: the rows that were stored, whatever is asked for, and nothing before."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import anndata
import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from scipy import sparse

from manyview import Views
from manyview.errors import ReadError
from manyview.readers import read_view
from manyview.sources import as_source, is_source

N_ROWS, N_COLUMNS = 1003, 6


def opened(path):
    return read_view(str(path)).parts[0].rows


def save_npy(folder, X):
    np.save(folder / "x.npy", X)
    return opened(folder / "x.npy")


def save_fortran_npy(folder, X):
    np.save(folder / "x.npy", np.asfortranarray(X))
    return opened(folder / "x.npy")


def save_swapped_npy(folder, X):
    np.save(folder / "x.npy", X.astype(X.dtype.newbyteorder(">")))
    return opened(folder / "x.npy")


def map_npy(folder, X):
    np.save(folder / "x.npy", X)
    return as_source(np.load(folder / "x.npy", mmap_mode="r"))


def map_part(folder, X):
    wide = np.zeros((2 * N_ROWS + 9, N_COLUMNS + 3), X.dtype)
    wide[9::2, 2:-1] = X
    np.save(folder / "x.npy", wide)
    return as_source(np.load(folder / "x.npy", mmap_mode="r")[9::2, 2:-1])


def save_hdf5(folder, X, **options):
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("a/x", data=X, **options)
    return opened(f"{folder / 'x.h5'}::a/x")


def save_chunked_hdf5(folder, X):
    return save_hdf5(folder, X, chunks=(97, 4), compression="gzip")


def save_zarr(folder, X):
    zarr.create_array(folder / "x.zarr", data=X, chunks=(97, 4))
    return opened(folder / "x.zarr")


def save_parquet(folder, X):
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), folder / "x.parquet",
                   row_group_size=97)  # fmt: skip
    return opened(folder / "x.parquet")


def save_parquet_folder(folder, X):
    for start in range(0, len(X), 400):
        rows = X[start : start + 400]
        table = pa.table({f"c{j}": rows[:, j] for j in range(X.shape[1])})
        pq.write_table(table, folder / f"{start:05}.parquet", row_group_size=97)
    return opened(folder)


def save_parquet_lists(folder, X):
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X[:, 1:].ravel()), X.shape[1] - 1)
    table = pa.table({"first": X[:, 0], "rest": lists})
    pq.write_table(table, folder / "x.parquet", row_group_size=97)
    return opened(folder / "x.parquet")


def write_h5ad(folder, X, convert=sparse.csr_matrix):
    anndata.AnnData(convert(X)).write_h5ad(folder / "x.h5ad")
    return folder / "x.h5ad"


def save_h5ad(folder, X):
    return opened(write_h5ad(folder, X))


def back_anndata(folder, X):
    return as_source(anndata.read_h5ad(write_h5ad(folder, X), backed="r").X)


def save_columns_of_h5ad(folder, X):
    return opened(write_h5ad(folder, X, sparse.csc_matrix))


def back_anndata_by_columns(folder, X):
    path = write_h5ad(folder, X, sparse.csc_matrix)
    return as_source(anndata.read_h5ad(path, backed="r").X)


# A new kind of source adds a line here.
KINDS = {
    "npy": save_npy,
    "npy, columns first": save_fortran_npy,
    "npy, other byte order": save_swapped_npy,
    "memory map": map_npy,
    "part of a memory map": map_part,
    "hdf5": save_hdf5,
    "hdf5, compressed": save_chunked_hdf5,
    "zarr": save_zarr,
    "parquet": save_parquet,
    "parquet folder": save_parquet_folder,
    "parquet lists": save_parquet_lists,
    "csr in h5ad": save_h5ad,
    "csr of a backed AnnData": back_anndata,
    "csc in h5ad": save_columns_of_h5ad,
    "csc of a backed AnnData": back_anndata_by_columns,
}


@pytest.fixture(name="X", scope="module")
def make_rows():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N_ROWS, N_COLUMNS)) * (rng.random((N_ROWS, N_COLUMNS)) < 0.5)
    values[200:300] = 0.0
    return values.astype(np.float32)


@pytest.fixture(params=KINDS)
def source(request, tmp_path, X):
    return KINDS[request.param](tmp_path, X)


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


def test_shape_and_type_are_known(source, X):
    assert is_source(source)
    assert source.shape == X.shape
    assert source.dtype == X.dtype
    assert source.dtype.isnative
    assert source.row_bytes > 0
    assert source.band_rows >= 1


@pytest.mark.parametrize(
    ("start", "stop"), [(0, N_ROWS), (0, 1), (N_ROWS - 1, N_ROWS), (96, 98), (97, 194), (3, 900)]
)
def test_rows_are_those_stored(source, X, start, stop):
    rows = source.read(start, stop)
    assert rows.dtype == X.dtype
    assert np.array_equal(dense(rows), X[start:stop])


def test_blocks_one_after_the_other_are_the_whole(source, X):
    blocks = [dense(source.read(i, min(i + 130, N_ROWS))) for i in range(0, N_ROWS, 130)]
    assert np.array_equal(np.concatenate(blocks), X)


@pytest.mark.parametrize("step", [1, 2, 331])
def test_rows_by_number(source, X, step):
    numbers = np.arange(1, N_ROWS, step)
    assert np.array_equal(dense(source.take(numbers)), X[numbers])


def test_what_was_read_can_be_changed(source, X):
    rows = source.read(0, 10)
    (rows.data if sparse.issparse(rows) else rows)[...] = 7
    assert np.array_equal(dense(source.read(0, 10)), X[:10])


def test_sparse_rows_have_narrow_indices(tmp_path, X):
    rows = save_h5ad(tmp_path, X).take(np.arange(0, N_ROWS, 3))
    assert rows.indices.dtype == rows.indptr.dtype == np.int32


def test_threads_may_read_at_once(source, X):
    starts = range(0, N_ROWS - 50, 37)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda start: dense(source.read(start, start + 50)), starts))
    assert all(np.array_equal(part, X[s : s + 50]) for part, s in zip(parts, starts, strict=True))


def test_its_place_is_named(source, tmp_path):
    assert str(tmp_path) in source.where


def test_a_copy_reads_the_same(source, X):
    for again in (pickle.loads(pickle.dumps(source)), copy.deepcopy(source)):
        assert np.array_equal(dense(again.read(5, 300)), X[5:300])


def test_fingerprint_is_json_and_stays(source):
    assert json.loads(json.dumps(source.fingerprint())) == source.fingerprint()


def test_fingerprint_is_another_for_other_rows(request, tmp_path, X, source):
    before = source.fingerprint()
    other = tmp_path / "other"
    other.mkdir()
    again = KINDS[request.node.callspec.params["source"]](other, X + np.float32(1))
    assert again.fingerprint() != before


def test_views_keep_it_unread_and_select_rows(source, X):
    views = Views({"a": source, "b": X})
    assert views.arrays[0] is source
    assert views.shape == (N_ROWS, 2 * N_COLUMNS)
    assert not views.is_in_memory
    for rows in (slice(3, 50), slice(None, None, 7), slice(9, 3), [5, 1, 1], X[:, 0] > 0):
        part = views[rows]
        assert part.is_in_memory
        assert np.array_equal(dense(part["a"]), X[rows])


def test_a_file_cut_short_is_named_with_its_rows(source, tmp_path):
    files = [p for p in tmp_path.rglob("*") if p.is_file() and p.suffix not in (".json", ".npz")]
    for file in files:
        with file.open("r+b") as opened:
            opened.truncate(file.stat().st_size // 2)
    with pytest.raises(ReadError, match=rf"rows 0 to {N_ROWS - 1} of .*{tmp_path.name}"):
        source.read(0, N_ROWS)


def test_a_file_that_went_away_is_named(source, tmp_path):
    for file in [p for p in tmp_path.rglob("*") if p.is_file()]:
        file.unlink()
    with pytest.raises(ReadError, match=tmp_path.name):
        source.read(0, N_ROWS)
