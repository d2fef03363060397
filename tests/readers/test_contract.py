"""What holds for every format: the same arrays, ids and labels; lazily where promised; clear errors."""

import numpy as np
import pytest
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers import formats, read_labels, read_view
from manyview.sources import is_source
from manyview.views.container import is_sparse
from manyview.views.files import read_views

from .conftest import LAZY, SPARSE, WITH_IDS, WITH_LABELS, WRITERS

TEXT = {"a.csv", "a.tsv", "semicolons.csv", "a.svm"}
"""Plain text that ends early, at the end of a line, is just a smaller file."""


def each(names):
    return pytest.mark.parametrize("file", sorted(names), indirect=True)


def read(path):
    name = path.name
    return read_view(
        str(path),
        id_column="id" if name in WITH_IDS and not name.endswith((".h5ad", ".h5mu")) else None,
        label_column="label" if name in WITH_LABELS and name != "a.svm" else None,
    )


def dense(data):
    rows = data.read(0, data.shape[0]) if is_source(data) else data
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def test_every_format_is_tested():
    endings = {
        f.endings for f in formats.FORMATS if any(n.endswith(f.endings) for n in _plain_names())
    }
    assert endings == {f.endings for f in formats.FORMATS}


def _plain_names():
    return [name.removesuffix(".gz").removesuffix(".bz2") for name in WRITERS]


def test_the_same_array_from_every_format(file, table):
    (part,) = read(file).parts
    assert part.rows.shape == table.shape
    assert np.array_equal(dense(part.rows), table)


def test_the_same_ids_and_labels_from_every_format_that_has_them(file, ids, labels):
    contents = read(file)
    found = None if contents.ids is None else contents.ids.tolist()
    assert found == (ids if file.name in WITH_IDS else None)
    assert (contents.labels is not None) == (file.name in WITH_LABELS)
    if contents.labels is not None:
        assert contents.labels.tolist() == labels.tolist()


def test_rows_stay_on_disk_where_promised_and_zeros_stay_out(file):
    (part,) = read(file).parts
    assert is_source(part.rows) == (file.name in LAZY)
    assert is_sparse(part.rows) == (file.name in SPARSE)


def test_what_was_taken_as_rows_is_said(file):
    note = read(file).note
    assert note.startswith(str(file))
    assert "12 rows" in note and note.endswith(".")


def test_every_format_makes_views_that_can_be_fitted(file, table):
    found = read_views([f"name={file}"], id_column=None, drop=_no_features(file), join="order")
    assert found.views.names == ("name",)
    assert np.array_equal(dense(found.views.arrays[0]), table)


def _no_features(file):
    return ("id", "label") if file.name.startswith(("a.", "semi")) and _is_table(file) else ()


def _is_table(file):
    return any(
        part in file.name for part in (".csv", ".tsv", ".xlsx", ".parquet", ".feather", ".arrows")
    )


@each(WITH_LABELS)
def test_labels_come_from_every_format_that_has_them(file, labels):
    key = "labels" if file.name == "a.svm" else "label"
    assert read_labels(f"{file}::{key}").labels.tolist() == labels.tolist()


@each(set(WRITERS) - TEXT - {"a.zarr"})
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9])
def test_a_file_that_is_cut_short_is_refused(file, share):
    raw = file.read_bytes()
    file.write_bytes(raw[: int(len(raw) * share)])
    with pytest.raises(ReadError, match=str(file)):
        dense(read(file).parts[0].rows)


@each({"a.zarr"})
def test_a_store_that_is_damaged_is_refused(file):
    (file / "zarr.json").write_bytes(b"{")
    with pytest.raises(ReadError, match=str(file)):
        read(file)


@each(TEXT)
def test_an_empty_text_is_refused(file):
    for content in ("", "\n\n"):
        file.write_text(content)
        with pytest.raises(ReadError, match=f"{file} is empty"):
            read(file)


@each(TEXT - {"a.svm"})
def test_a_ragged_table_is_refused_with_its_line(file):
    lines = file.read_text().splitlines()
    lines[7] = lines[7][: len(lines[7]) // 2]
    file.write_text("\n".join(lines))
    with pytest.raises(ReadError, match="is ragged: line 8 has"):
        read(file)


@each(set(WRITERS) - {"a.zarr"})
def test_another_file_under_the_same_name_is_refused(file):
    file.write_bytes(b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 4)
    with pytest.raises(ReadError, match=str(file)):
        read(file)


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.h5", "a.zarr", "v5.mat", "a.h5ad", "a.csv"])
def test_a_key_that_is_not_there_is_named(tmp_path, table, ids, labels, name):
    WRITERS[name](tmp_path / name, table, ids, labels)
    with pytest.raises(ReadError, match="nothere"):
        read_view(f"{tmp_path / name}::nothere")


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("h5py", "a.h5"),
        ("h5py", "v73.mat"),
        ("h5py", "a.h5ad"),
        ("zarr", "a.zarr"),
        ("pyarrow", "a.parquet"),
        ("pyarrow", "a.feather"),
    ],
)
def test_without_its_library_a_format_says_what_to_install(
    tmp_path, table, ids, labels, monkeypatch, library, name
):
    import sys

    WRITERS[name](tmp_path / name, table, ids, labels)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"pip install 'manyview\[io\]'"):
        read(tmp_path / name)
