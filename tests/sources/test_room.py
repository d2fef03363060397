"""Small files that unfold, or promise to, into far more than they are: refused before it is there."""

import bz2
import gzip
import io
import struct
import zipfile

import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from manyview.errors import ReadError, SlowSourceWarning
from manyview.readers import read_labels, read_view
from manyview.sources import room

MUCH = 3 << 20


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    """As if a file might unfold to 1 MB: so the tests need no gigabytes."""
    monkeypatch.setattr(room, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(room, "_FEW", 0)


def npy_head(shape, dtype="<f8"):
    head = io.BytesIO()
    kind = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, kind)
    return head.getvalue()


def write_npz(path):
    np.savez_compressed(path, x=np.zeros((1000, MUCH // 8000)))


def write_promise(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", npy_head((10**9, 3)))


def write_csr(path):
    sparse.save_npz(path, sparse.csr_array((MUCH // 4, 1)))


def write_csv_bz2(path):
    path.write_bytes(bz2.compress(b"a,b\n" + b"0,0\n" * (MUCH // 4)))


def write_csv_gz(path):
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * (MUCH // 4)))


def write_idx(path):
    head = b"\0\0\x08\x02" + struct.pack(">II", 1000, MUCH // 1000)
    path.write_bytes(gzip.compress(head + bytes(MUCH // 1000 * 1000)))


def write_mat(path):
    savemat(path, {"X": np.zeros((1000, MUCH // 8000))}, do_compression=True)


def write_chunk(path):
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "x", (4, 3), "f8", maxshape=(None, None), chunks=(MUCH // 8, 1), compression="gzip"
        )


def write_mtx(path):
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n{10**9} 3 1\n1 1 1.0\n")


def write_svm(path):
    path.write_text("1 1:1 2:1\n2 1:2 900000000:1\n")


WRITERS = {
    "a.npz": write_npz, "promise.npz": write_promise, "csr.npz": write_csr,
    "a.csv.bz2": write_csv_bz2, "a.csv.gz": write_csv_gz, "a-idx2-ubyte.gz": write_idx,
    "a.mat": write_mat, "a.h5": write_chunk, "a.mtx": write_mtx, "a.svm": write_svm,
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_what_unfolds_into_far_more_is_refused(tmp_path, name):
    WRITERS[name](tmp_path / name)
    assert (tmp_path / name).stat().st_size < 1 << 16
    limit = "MB, (the limit for small files|200 times its own size)"
    promised = rf"takes .* in memory, but at most \S+ {limit.replace('MB', 'MB are allowed')}"
    unpacked = rf"unfolds to more than \S+ {limit}.* unpack it first"
    with pytest.raises(ReadError, match=rf"{name}.* ({promised}|{unpacked})") as caught:
        read_view(str(tmp_path / name))
    assert "is not a" not in str(caught.value)


def test_members_that_are_not_used_are_not_touched(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("huge.npy", npy_head((10**12, 3)))
        with archive.open("x.npy", "w") as file:
            np.save(file, np.eye(3))
    assert np.array_equal(read_view(f"{tmp_path / 'a.npz'}::x").parts[0].rows, np.eye(3))


def test_a_file_may_unfold_in_proportion_to_its_size(tmp_path):
    rows = np.random.default_rng(0).normal(size=(1000, MUCH // 8000))
    np.savez_compressed(tmp_path / "a.npz", x=rows)
    assert np.array_equal(read_view(str(tmp_path / "a.npz")).parts[0].rows, rows)


def test_what_is_more_than_the_memory_that_is_free_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "free_memory", lambda: 1000)
    np.savez(tmp_path / "a.npz", x=np.random.default_rng(0).normal(size=(100, 5)))
    with pytest.raises(ReadError, match=r"but at most 1\.0 kB are allowed, as much as is free"):
        read_view(str(tmp_path / "a.npz"))


def test_unpacking_is_no_advice_where_memory_is_short(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "free_memory", lambda: 1000)
    write_csv_gz(tmp_path / "a.csv.gz")
    with pytest.raises(
        ReadError, match=r"as much as is free\. If it is .* is read by rows"
    ) as caught:
        read_view(str(tmp_path / "a.csv.gz"))
    assert "unpack it" not in str(caught.value)


def test_what_is_refused_packed_is_read_unpacked_as_the_message_says(tmp_path):
    write_csv_gz(tmp_path / "a.csv.gz")
    with pytest.raises(ReadError, match="unpack it first: then it is read"):
        read_view(str(tmp_path / "a.csv.gz"))
    (tmp_path / "a.csv").write_bytes(gzip.decompress((tmp_path / "a.csv.gz").read_bytes()))
    assert read_view(str(tmp_path / "a.csv")).parts[0].rows.shape == (MUCH // 4, 2)


class TestOutside:
    """Values of an HDF5 file that lie in another file: they would end up in the results."""

    @pytest.fixture
    def secret(self, tmp_path):
        (tmp_path / "secret").write_bytes(np.arange(12.0).tobytes())
        with h5py.File(tmp_path / "other.h5", "w") as file:
            file["x"] = np.arange(12.0).reshape(4, 3)
        return tmp_path

    def external(self, file, folder):
        file.create_dataset("x", (4, 3), "f8", external=[(folder / "secret", 0, 96)])

    def virtual(self, file, folder):
        layout = h5py.VirtualLayout((4, 3), "f8")
        layout[...] = h5py.VirtualSource(folder / "other.h5", "x", (4, 3))
        file.create_virtual_dataset("x", layout)

    def linked(self, file, folder):
        file["x"] = h5py.ExternalLink(folder / "other.h5", "x")

    @pytest.mark.parametrize("how", ["external", "virtual", "linked"])
    @pytest.mark.parametrize("name", ["a.h5", "a.mat", "a.h5ad"])
    def test_is_not_read(self, secret, how, name):
        with h5py.File(secret / name, "w") as file:
            file["y"] = np.zeros((4, 3))
            getattr(self, how)(file, secret)
        for read in (read_view, read_labels):
            with pytest.raises(ReadError, match="'x' lies in other files"):
                read(str(secret / name))

    def test_parts_of_the_same_file_are_read(self, secret):
        with h5py.File(secret / "a.h5", "w") as file:
            file["y"] = np.arange(12.0).reshape(4, 3)
            layout = h5py.VirtualLayout((4, 3), "f8")
            layout[...] = h5py.VirtualSource(file["y"])
            file.create_virtual_dataset("x", layout)
        assert read_view(f"{secret / 'a.h5'}::x").parts[0].rows.read(0, 4).sum() == 66


def test_tiny_chunks_are_told_of(tmp_path, monkeypatch):
    import zarr

    monkeypatch.setattr("manyview.sources.zarr._MANY_CHUNKS", 20)
    array = zarr.create_array(tmp_path / "a.zarr", shape=(10, 4), chunks=(1, 1), dtype="f8")
    array[...] = 1.0
    with pytest.warns(
        SlowSourceWarning, match="in 40 chunks of 1 x 1: to read it once takes about"
    ):
        read_view(str(tmp_path / "a.zarr"))


def test_rows_in_more_chunks_than_can_be_listed_are_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", shape=(10**13, 2), chunks=(100, 2), dtype=float)
    with pytest.raises(
        ReadError, match=r"a\.h5.* promises 10 000 000 000 000 rows in chunks of 100"
    ):
        read_view(str(tmp_path / "a.h5"))
