"""Files of arrays: which become views, how MATLAB's are turned, cells, images."""

import gzip
import re
import zipfile

import anndata
import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite, savemat

from manyview.errors import ReadError
from manyview.readers import read_labels, read_view
from tests.matlab_files import cell, save_v73

A, B = np.arange(12.0).reshape(4, 3), np.arange(20.0).reshape(4, 5)
Y = np.array([1.0, 1.0, 2.0, 2.0])


def dense(view):
    data = view.rows
    rows = data.read(0, data.shape[0]) if hasattr(data, "read") else data
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def shapes(contents):
    return [(part.name, part.rows.shape) for part in contents.parts]


class TestContainers:
    def test_all_matrices_of_a_file_are_views(self, tmp_path):
        np.savez(tmp_path / "a.npz", first=A, second=B, labels=Y)
        found = read_view(str(tmp_path / "a.npz"))
        assert shapes(found) == [("first", (4, 3)), ("second", (4, 5))]
        assert found.labels.tolist() == [1, 1, 2, 2]
        assert "labels from 'labels'" in found.note

    def test_a_name_is_put_before_several_views(self, tmp_path):
        np.savez(tmp_path / "a.npz", first=A, second=B)
        found = read_view(f"n={tmp_path / 'a.npz'}")
        assert [part.name for part in found.parts] == ["n.first", "n.second"]

    def test_a_key_chooses_one(self, tmp_path):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["deep/first"], file["second"] = A, B
        assert shapes(read_view(f"{tmp_path / 'a.h5'}::deep/first")) == [("deep/first", (4, 3))]

    def test_different_numbers_of_rows_need_a_key(self, tmp_path):
        np.savez(tmp_path / "a.npz", first=A, second=B.T)
        message = r"different numbers of rows: first 4 x 3, second 5 x 4.*a\.npz::first"
        with pytest.raises(ReadError, match=message):
            read_view(str(tmp_path / "a.npz"))

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({}, "without any array"),
            ({"y": Y}, "without a two-dimensional array"),
            ({"a": A.reshape(2, 2, 3)}, "it has a 2 x 2 x 3"),
            ({"a": A, "label": Y[:3]}, r"label has shape 3, but there are 4 rows"),
            ({"a": A.astype("U")}, "without a two-dimensional array of numbers"),
        ],
    )
    def test_other_contents_are_refused(self, tmp_path, arrays, message):
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(ReadError, match=message):
            read_view(str(tmp_path / "a.npz"))

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (Y, "has shape 4; a view has two dimensions"),
            (A.reshape(2, 2, 3), "has shape 2 x 2 x 3"),
            (np.array([["x"]]), "does not hold numbers"),
            (np.array([[None]]), "Python objects. They are not read"),
            (A * 1j, "does not hold numbers"),
        ],
    )
    def test_other_arrays_are_refused(self, tmp_path, array, message):
        np.save(tmp_path / "a.npy", array, allow_pickle=True)
        with pytest.raises(ReadError, match=message):
            read_view(str(tmp_path / "a.npy"))

    def test_wrong_indices_of_a_sparse_array_are_refused(self, tmp_path):
        csr = sparse.csr_array(A)
        np.savez(
            tmp_path / "a.npz",
            x_data=csr.data, x_indices=csr.indices + 100, x_indptr=csr.indptr, x_shape=csr.shape,
        )  # fmt: skip
        with pytest.raises(ReadError, match="is not a CSR array"):
            read_view(str(tmp_path / "a.npz"))

    @pytest.mark.parametrize(
        ("member", "message"),
        [
            ("xl/workbook.xml", "Excel file: give it a name that ends in .xlsx"),
            ("model.json", "'model.json' in it is no"),
        ],
    )
    def test_other_zip_files_are_named(self, tmp_path, member, message):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
            file.writestr(member, "{}")
        for read in (read_view, read_labels):
            with pytest.raises(ReadError, match=message):
                read(str(tmp_path / "a.zip"))

    def test_a_flag_that_was_flipped_is_damage(self, tmp_path):
        np.savez(tmp_path / "a.npz", first=A)
        content = bytearray((tmp_path / "a.npz").read_bytes())
        entry = content.rindex(b"PK\x01\x02")
        for place, flag in ((8, 1), (10, 33)):  # "encrypted", and packed as nothing is
            wrong = content.copy()
            wrong[entry + place] |= flag
            (tmp_path / "b.npz").write_bytes(wrong)
            with pytest.raises(ReadError, match=r"b\.npz is cut short, damaged"):
                read_view(str(tmp_path / "b.npz"))

    def test_ids_that_are_no_text_are_told_with_the_file(self, tmp_path):
        np.savez(tmp_path / "a.npz", first=A, id=np.array([b"\xff"] * len(A)))
        with pytest.raises(ReadError, match=r"a\.npz holds text that is not UTF-8"):
            read_view(str(tmp_path / "a.npz"), id_column="id")

    @pytest.mark.parametrize("member", ["format", "shape", "indptr", "indices", "data"])
    def test_damage_inside_a_sparse_file_is_named(self, tmp_path, member):
        rows = sparse.random_array((5000, 30), density=0.1, rng=0, format="csr")
        sparse.save_npz(tmp_path / "x.npz", rows)
        with zipfile.ZipFile(tmp_path / "x.npz") as archive:
            info = archive.getinfo(f"{member}.npy")
        with (tmp_path / "x.npz").open("r+b") as file:
            file.seek(info.header_offset + 30 + len(info.filename) + 20 + 4)
            file.write(b"\xff" * (info.compress_size // 2))
        with pytest.raises(ReadError, match=r"x.npz is cut short, damaged or no npz file"):
            read_view(str(tmp_path / "x.npz"))

    def test_content_decides_where_the_name_does_not(self, tmp_path):
        np.save(tmp_path / "a.npy", A)
        (tmp_path / "a.npy").rename(tmp_path / "array")
        assert read_view(str(tmp_path / "array")).parts[0].rows.shape == (4, 3)

    def test_a_name_that_contradicts_the_content_is_refused(self, tmp_path):
        with h5py.File(tmp_path / "a.npy", "w") as file:
            file["x"] = A
        with pytest.raises(ReadError, match="called a NumPy file, but its content is HDF5"):
            read_view(str(tmp_path / "a.npy"))

    def test_an_unknown_format_lists_the_known(self, tmp_path):
        (tmp_path / "a.xyz").write_text("hello")
        with pytest.raises(ReadError, match=r"Do not know the format .*\.npy, \.npz, \.csv"):
            read_view(str(tmp_path / "a.xyz"))


class TestMatlab:
    def test_the_kind_of_file_the_field_publishes(self, tmp_path):
        save_v73(tmp_path / "m.mat", X=cell([A, B]), Y=Y[:, None])
        found = read_view(str(tmp_path / "m.mat"))
        assert shapes(found) == [("X1", (4, 3)), ("X2", (4, 5))]
        assert all(map(np.array_equal, map(dense, found.parts), [A, B]))
        assert found.labels.tolist() == [1, 1, 2, 2]
        assert "as many as 'Y' has labels" in found.note
        assert read_labels(f"{tmp_path / 'm.mat'}::Y").labels.tolist() == [1, 1, 2, 2]

    def test_views_that_lie_on_their_side_are_turned_and_it_is_said(self, tmp_path):
        savemat(tmp_path / "m.mat", {"X": cell([A.T, B.T]), "gt": Y})
        found = read_view(str(tmp_path / "m.mat"))
        assert np.array_equal(dense(found.parts[1]), B)
        assert "along the columns of: X{1} 3 x 4, X{2} 5 x 4" in found.note

    def test_without_labels_the_common_size_decides(self, tmp_path):
        savemat(tmp_path / "m.mat", {"X": cell([A.T, B.T])})
        found = read_view(str(tmp_path / "m.mat"))
        assert [part.rows.shape for part in found.parts] == [(4, 3), (4, 5)]
        assert "the size that all views share" in found.note

    def test_one_matrix_without_labels_is_as_it_is_and_it_is_said(self, tmp_path):
        savemat(tmp_path / "m.mat", {"data": A.T})
        found = read_view(str(tmp_path / "m.mat"))
        assert found.parts[0].rows.shape == (3, 4)
        assert "no labels to tell, so the first size was taken" in found.note

    def test_one_cell_by_key(self, tmp_path):
        savemat(tmp_path / "m.mat", {"X": cell([A, B]), "Y": Y})
        found = read_view(f"{tmp_path / 'm.mat'}::X{{2}}")
        assert np.array_equal(dense(found.parts[0]), B)
        with pytest.raises(ReadError, match=r"has 2 parts; there is no X\{3\}"):
            read_view(f"{tmp_path / 'm.mat'}::X{{3}}")

    @pytest.mark.parametrize(
        ("variables", "message"),
        [
            ({"Z": A}, "no views: none of"),
            ({"X": cell([A, B.T])}, "no size is common"),
            ({"X": A, "Y": Y[:2]}, "do not fit"),
        ],
    )
    def test_other_contents_are_refused(self, tmp_path, variables, message):
        savemat(tmp_path / "m.mat", variables)
        with pytest.raises(ReadError, match=message):
            read_view(str(tmp_path / "m.mat"))


class TestIdx:
    def write(self, path, array, *, pack=False):
        head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
        raw = head + array.astype("u1").tobytes()
        path.write_bytes(gzip.compress(raw) if pack else raw)
        return str(path)

    @pytest.mark.parametrize("pack", [False, True])
    def test_images_become_rows(self, tmp_path, pack):
        images = np.arange(24).reshape(2, 3, 4)
        name = "train-images-idx3-ubyte" + ".gz" * pack
        found = read_view(self.write(tmp_path / name, images, pack=pack))
        assert np.array_equal(found.parts[0].rows, images.reshape(2, 12))
        assert "one image of 3 x 4 each" in found.note

    def test_labels_are_no_view_but_labels(self, tmp_path):
        path = self.write(tmp_path / "train-labels-idx1-ubyte", np.array([3, 1]))
        with pytest.raises(ReadError, match=r"2 labels, not images\. Give it with labels='FILE'"):
            read_view(path)
        assert read_labels(path).labels.tolist() == [3, 1]


def test_svmlight_counts_columns_from_0_or_1_and_says_so(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("cat 0:1 2:3\ndog 1:2\n")
    found = read_view(str(path))
    assert dense(found.parts[0]).tolist() == [[1, 0, 3], [0, 2, 0]]
    assert "counted from 0" in found.note
    path.write_text("cat 1:1 3:3 # remark\n\ndog 2:2\n")
    found = read_view(str(path), n_features=5)
    assert dense(found.parts[0]).tolist() == [[1, 0, 3, 0, 0], [0, 2, 0, 0, 0]]
    assert "counted from 1" in found.note
    assert found.labels.tolist() == ["cat", "dog"]


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("size", [0x402, 2**64 - 16])
def test_heaps_of_hdf5_that_lead_nowhere_are_an_error_and_no_hang(
    tmp_path, monkeypatch, size, is_large
):
    if is_large:
        monkeypatch.setattr("manyview.readers.hdf5._LOOKED_THROUGH", 0)
    path = tmp_path / "a.h5ad"
    anndata.AnnData(A).write_h5ad(path)
    assert read_view(str(path)).parts[0].rows.shape == A.shape
    monkeypatch.setattr("manyview.readers.trials._SECONDS", 1)
    content = bytearray(path.read_bytes())
    place = content.index(b"GCOL") + 16  # of the first object
    content[place + 8 : place + 16] = size.to_bytes(8, "little")
    path.write_bytes(content)
    with pytest.raises(ReadError, match=r"a\.h5ad"):
        read_view(str(path))


class TestMatrixMarket:
    """SciPy's parser, which is not used, reads 1.5D3 as 1.5, and dies where a file ends in a blank."""

    HEAD = "%%MatrixMarket matrix coordinate real general\n% a remark\n3 3 2\n1 1 0.5\n"

    @pytest.mark.parametrize(
        "line",
        ["2 2 1.5D3\n", "2 2 0x5\n", "2 2 1.4\x15E1\n", "2 2 1.8-75E1\n", "2 2 1 7\n", "2 2 2.05E",
         "2 2 2.05E\n", "2 2\n", "2 2.5 1\n", "-2 2 1\n", "2 2 1\0\n", "% here\n", "2 2 1,5\n"],
    )  # fmt: skip
    def test_what_is_no_entry_is_refused_with_its_line(self, tmp_path, line):
        (tmp_path / "a.mtx").write_text(self.HEAD + line)
        with pytest.raises(ReadError, match=r"a\.mtx is not a whole Matrix .*: line 5 is no entry"):
            read_view(str(tmp_path / "a.mtx"))

    @pytest.mark.parametrize(
        "text",
        ["array integer general\n0 2\n3\n", "array integer symmetric\n0 2\n3\x0b",
         "array real general\n2 0\n", "array real general\n2 2\n1\n2\n3\n4\n5\n",
         "array real general\n2 2\n1\n2\n3\n", "array real symmetric\n2 2\n1\n2\n",
         "array real symmetric\n2 3\n1\n2\n3\n4\n5\n6\n", "array real general\n1 1 1\n5\n",
         "coordinate real general\n2 2\n1 1 1\n", "coordinate real general\n2 2 2\n1 1 1\n",
         "coordinate real symmetric\n2 3 1\n2 1 1\n", "coordinate real odd\n1 1 1\n1 1 1\n"],
    )  # fmt: skip
    def test_entries_must_be_as_many_as_the_head_says(self, tmp_path, text):
        (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix {text}")
        with pytest.raises(ReadError, match=r"a\.mtx"):
            read_view(str(tmp_path / "a.mtx"))

    @pytest.mark.parametrize("layout", ["array", "coordinate"])
    @pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
    @pytest.mark.parametrize("field", ["real", "integer"])
    def test_what_scipy_writes_is_read_as_it_reads_it(self, tmp_path, layout, symmetry, field):
        rng, path = np.random.default_rng(0), tmp_path / "a.mtx"
        full = rng.integers(-(10**9), 10**9, (6, 6)) * (rng.random((6, 6)) < 0.6)
        full = full if field == "integer" else full * 10.0 ** rng.integers(-99, 99, (6, 6))
        sign = {"general": 0, "symmetric": 1, "skew-symmetric": -1}[symmetry]
        full = full if sign == 0 else np.tril(full, -1) + sign * np.tril(full, -1).T
        matrix = full if layout == "array" else sparse.coo_array(full)
        mmwrite(path, matrix, field=field, symmetry=symmetry, precision=17)
        (part,) = read_view(str(path)).parts
        assert part.rows.dtype == full.dtype
        assert np.array_equal(dense(part), full)

    def test_a_bad_line_in_a_long_file_is_numbered(self, tmp_path, monkeypatch):
        monkeypatch.setattr("manyview.readers.matrix_market._BYTES_AT_ONCE", 16)
        text = "%%MatrixMarket matrix array real general\n% a\n%b\n20 1\n" + "1.5\n" * 19
        (tmp_path / "a.mtx").write_text(text + "nan \t")
        assert dense(read_view(str(tmp_path / "a.mtx")).parts[0])[:19].tolist() == [[1.5]] * 19
        (tmp_path / "a.mtx").write_text(text + "1.5.")
        with pytest.raises(ReadError, match=r"line 24 is no entry, but '1\.5\.'"):
            read_view(str(tmp_path / "a.mtx"))

    @pytest.mark.parametrize(
        ("kind", "values", "expected"),
        [("symmetric", "1\n2\n3\n", [[1, 2], [2, 3]]), ("skew-symmetric", "2\n", [[0, -2], [2, 0]]),
         ("general", "1\n2\n3\n4\n", [[1, 3], [2, 4]])],
    )  # fmt: skip
    def test_half_of_a_symmetric_array_is_enough(self, tmp_path, kind, values, expected):
        (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix array real {kind}\n2 2\n{values}")
        (part,) = read_view(str(tmp_path / "a.mtx")).parts
        assert dense(part).tolist() == expected

    @pytest.mark.parametrize("line", ["2 2 1e5", "\n  2\t2   1.E+5 \r\n\n"])
    def test_numbers_as_people_write_them(self, tmp_path, line):
        (tmp_path / "a.mtx").write_text(self.HEAD + line, newline="")
        found = dense(read_view(str(tmp_path / "a.mtx")).parts[0])
        assert found.tolist() == [[0.5, 0, 0], [0, 1e5, 0], [0, 0, 0]]


class TestSingleCell:
    @pytest.fixture
    def paths(self, tmp_path):
        import mudata
        import pandas as pd

        def make(table, names):
            obs = pd.DataFrame({"kind": ["t", "b", "t", "b"]}, index=names)
            made = anndata.AnnData(table, obs=obs)
            made.layers["raw"] = table + 1
            made.layers["counts"] = sparse.csr_array(table)
            made.obsm["X_pca"] = table[:, :2]
            return made

        names = list("wxyz")
        make(A, names).write_h5ad(tmp_path / "a.h5ad")
        same = {"rna": make(A, names), "protein": make(B, names)}
        mudata.MuData(same).write_h5mu(tmp_path / "same.h5mu")
        other = {"rna": make(A, names), "protein": make(B, names[::-1])}
        mudata.MuData(other).write_h5mu(tmp_path / "other.h5mu")
        return tmp_path

    @pytest.mark.parametrize(
        ("key", "expected"), [("X", A), ("layers/raw", A + 1), ("obsm/X_pca", A[:, :2])]
    )
    def test_layers_and_embeddings_by_key(self, paths, key, expected):
        found = read_view(f"{paths / 'a.h5ad'}::{key}", label_column="kind")
        assert np.array_equal(dense(found.parts[0]), expected)
        assert found.ids.tolist() == list("wxyz")
        assert found.labels.tolist() == ["t", "b", "t", "b"]

    @pytest.mark.parametrize(
        ("column", "expected"), [("masked", ["7", "", "9", "9"]), ("coded", ["5", "6", "", "5"])]
    )
    def test_labels_that_are_missing_are_no_labels(self, paths, column, expected):
        h5py = pytest.importorskip("h5py")
        with h5py.File(paths / "a.h5ad", "a") as file:
            masked = file["obs"].create_group("masked")
            masked["values"], masked["mask"] = [7, 8, 9, 9], [False, True, False, False]
            coded = file["obs"].create_group("coded")
            coded["codes"], coded["categories"] = np.array([0, 1, -1, 0], np.int8), [5, 6]
        assert read_view(str(paths / "a.h5ad"), label_column=column).labels.tolist() == expected

    def test_modalities_are_views(self, paths):
        found = read_view(str(paths / "same.h5mu"))
        assert shapes(found) == [("rna", (4, 3)), ("protein", (4, 5))]
        assert shapes(read_view(f"{paths / 'same.h5mu'}::protein")) == [("protein", (4, 5))]

    def test_modalities_in_different_order_are_joined_by_name(self, paths):
        from manyview.views.files import read_views

        path = paths / "other.h5mu"
        with pytest.raises(ReadError, match="does not hold the same cells in the same order"):
            read_view(str(path))
        found = read_views([f"{path}::rna", f"{path}::protein"])
        assert np.array_equal(found.views[:]["protein"], B[::-1])

    @pytest.mark.parametrize("key", ["nothere", "obs", "layers/nothere"])
    def test_other_keys_list_what_there_is(self, paths, key):
        message = rf"^\S+a\.h5ad has no '{key}'; it has 'X', 'layers/counts', 'layers/raw'"
        with pytest.raises(ReadError, match=message):
            read_view(f"{paths / 'a.h5ad'}::{key}")


NUMPY = b"\x93NUMPY\x01\x00"


class TestDamage:
    """Words about damaged files are ours, not NumPy's about its own parameters."""

    def test_the_file_is_named_whatever_is_wrong_in_it(self, tmp_path):
        (tmp_path / "a.svm").write_text("1,2 1:1.0\n")
        with pytest.raises(ReadError, match=r"a\.svm: samples have several labels"):
            read_view(str(tmp_path / "a.svm"))

    @pytest.mark.parametrize("name", ["x.npy", "x.npz"])
    @pytest.mark.parametrize(
        "content",
        [b"text" * 9, b"\x80\x04K.", NUMPY + b"v", NUMPY + b"\xff\xff" + b" " * 65535],
        ids=["text", "pickle", "cut", "long head"],
    )
    def test_what_is_no_array_is_called_that(self, tmp_path, name, content):
        (tmp_path / name).write_bytes(content)
        words = rf"{name}'? is (cut short, damaged or no n|called a npz file)"
        with pytest.raises(ReadError, match=words) as caught:
            read_view(str(tmp_path / name))
        assert "allow_pickle" not in str(caught.value)
        assert "magic" not in str(caught.value)

    @pytest.mark.parametrize("save", [np.save, np.savez])
    def test_objects_are_refused_in_the_same_words(self, tmp_path, save):
        path = tmp_path / ("x.npy" if save is np.save else "x.npz")
        save(path, np.array([[{}]]))
        with pytest.raises(ReadError, match=r"holds Python objects.*they could run code") as caught:
            read_view(str(path))
        assert "allow_pickle" not in str(caught.value)


@pytest.mark.parametrize("read", [read_view, read_labels])
def test_an_old_layout_of_cells_is_called_that_whatever_is_read(tmp_path, read):
    with h5py.File(tmp_path / "old.h5ad", "w") as file:
        file["X"], file["obs/kind"] = A, Y
    with pytest.raises(ReadError, match=r"old\.h5ad has an old layout\. Write"):
        read(str(tmp_path / "old.h5ad"))


def test_a_choice_is_named_with_its_whole_path(tmp_path):
    np.savez(tmp_path / "a.npz", first=A, second=B[:2])
    path = re.escape(str(tmp_path / "a.npz"))
    with pytest.raises(ReadError, match=rf"Choose with {path}::KEY, for example {path}::first"):
        read_view(str(tmp_path / "a.npz"))
