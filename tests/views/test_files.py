"""Rows of several files: by id, by place, and what does not match."""

import importlib

import numpy as np
import pytest

from manyview import LMVSC
from manyview.errors import ParameterError, ReadError
from manyview.sources import is_source
from manyview.views.files import read_views

N = 30


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Three files of the same samples, each in another order; a fourth lacks some."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(N, d)) for d in (2, 3, 4)]
    ids = np.array([f"s{i}" for i in range(N)])
    orders = [np.arange(N), rng.permutation(N), rng.permutation(N)]
    lines = [f"{ids[i]},{','.join(map(repr, tables[0][i].tolist()))}" for i in orders[0]]
    (tmp_path / "a.csv").write_text("id,a0,a1\n" + "\n".join(lines) + "\n")
    lines = [*lines[5:], "t1,1,2"]
    (tmp_path / "fewer.csv").write_text("id,b0,b1\n" + "\n".join(lines) + "\n")
    columns = {f"b{j}": tables[1][orders[1], j] for j in range(3)}
    parquet.write_table(pa.table({"id": ids[orders[1]], **columns}), tmp_path / "b.parquet")
    np.savez(tmp_path / "c.npz", c=tables[2][orders[2]], id=ids[orders[2]])
    np.save(tmp_path / "d.npy", tables[2])
    labels = [f"{ids[i]},{i % 3}" for i in rng.permutation(N)]
    (tmp_path / "y.csv").write_text("id,label\n" + "\n".join(labels) + "\n")
    monkeypatch.chdir(tmp_path)
    return tables


def test_rows_by_place_need_no_ids(here, tmp_path):
    lines = "\n".join(f"s{i},1" for i in range(N - 1)) + "\n,2\n"
    (tmp_path / "gap.csv").write_text("id,x\n" + lines)
    (tmp_path / "z.csv").write_text("id,label\n" + lines)
    found = read_views(["gap.csv", "d.npy"], id_column="id", join="order", labels="z.csv")
    assert found.ids is None and found.views.n_rows == N
    for files, labels in ((["gap.csv"], None), (["a.csv"], "z.csv")):
        with pytest.raises(ValueError, match="has 1 row without an id: row 29"):
            read_views(files, id_column="id", labels=labels)


@pytest.mark.parametrize(
    ("module", "write"), [("parquet", "write_table"), ("feather", "write_feather")]
)
def test_an_id_column_that_is_not_there_beside_an_index(tmp_path, module, write):
    import pandas as pd
    import pyarrow as pa

    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index(["p", "q"], name="cell"))
    path = str(tmp_path / f"t.{module}")
    save = getattr(importlib.import_module(f"pyarrow.{module}"), write)
    save(pa.Table.from_pandas(frame), path)
    assert read_views([path], drop=["cell"]).ids.tolist() == ["p", "q"]
    assert read_views([path], id_column="cell").ids.tolist() == ["p", "q"]
    with pytest.raises(ParameterError, match="id_column must name a column of the files"):
        read_views([path], id_column="TYPO")


@pytest.mark.parametrize("memory_limit", [None, 1 << 30], ids=["on disk", "in memory"])
def test_files_in_different_order_are_joined_by_id(here, memory_limit):
    found = read_views(
        ["a.csv", "b.parquet", "c.npz"], id_column="id", labels="y.csv", memory_limit=memory_limit
    )
    rows = found.views[:]
    assert all(map(np.array_equal, rows.arrays, here))
    assert found.ids.tolist() == [f"s{i}" for i in range(N)]
    assert found.views.target.tolist() == [i % 3 for i in range(N)]
    assert any("in the order of the first file" in note for note in found.notes)
    assert is_source(found.views.arrays[1]) == (memory_limit is None)


def test_labels_are_the_same_whether_rows_are_reordered_on_disk_or_not(here):
    found = read_views(["a.csv", "b.parquet"], id_column="id")
    on_disk = LMVSC(3, random_state=0).fit(found.views)
    named = dict(zip("ab", here[:2], strict=True))
    assert np.array_equal(on_disk.labels_, LMVSC(3, random_state=0).fit(named).labels_)


def test_what_does_not_match_is_counted_and_named(here):
    message = (
        r"5 ids of a\.csv are not in fewer\.csv \('s0', 's1', 's2' and 2 more\); 1 id of "
        r"fewer\.csv is not in a\.csv \('t1'\).*join='inner'"
    )
    with pytest.raises(ReadError, match=message):
        read_views(["a.csv", "fewer.csv"], id_column="id")


def test_inner_keeps_the_common_rows_and_says_how_many(here):
    found = read_views(["a.csv", "fewer.csv"], id_column="id", join="inner", labels="y.csv")
    assert found.ids.tolist() == [f"s{i}" for i in range(5, N)]
    assert found.views.target.tolist() == [i % 3 for i in range(5, N)]
    assert any("25 rows in all files kept, left out: 5 of a.csv, 1 of" in n for n in found.notes)


def test_a_file_without_ids_needs_a_word(here):
    with pytest.raises(ReadError, match=r"'d\.npy' has no ids, .*join='order'"):
        read_views(["a.csv", "d.npy"], id_column="id")
    found = read_views(["a.csv", "d.npy"], id_column="id", join="order")
    assert np.array_equal(found.views[:]["d"], here[2])
    assert found.ids[0] == "s0"
    assert any("by their place" in note for note in found.notes)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["a.csv"], {"id_column": "key", "drop": ["id"]}, "id_column must name .* none has 'key'"),
        (["d.npy"], {"label_column": "kind"}, "label_column must .* none has 'kind'"),
        (["d.npy", "d.npy"], {}, "Several views would be called 'd'"),
        (
            ["d.npy", "n=d.npy"],
            {"columns": {"x": ["a"]}},
            "columns can split one table only; there are 2",
        ),
        (["d.npy"], {"columns": {"x": ["a"]}}, r"columns can .*d\.npy is a NumPy file"),
        (["c.npz"], {"columns": {"x": ["c"]}}, r"c\.npz is a npz file"),
        (["d.npy"], {"transpose": ["x"]}, "transpose must be one of 'd'; got 'x'"),
        (["d.npy", "fewer.csv"], {"drop": ["id"]}, r"fewer\.csv has 26 rows but d\.npy has 30"),
    ],
)
def test_other_mistakes(here, texts, options, message):
    with pytest.raises((ReadError, ParameterError), match=message):
        read_views(texts, **options)


def test_labels_that_do_not_fit(here, tmp_path):
    np.save(tmp_path / "short.npy", np.zeros(3, dtype=int))
    with pytest.raises(ParameterError, match="labels has 3 labels for 30 rows"):
        read_views(["d.npy"], labels="short.npy")
    (tmp_path / "some.csv").write_text("id,label\ns1,0\ns2,1\n")
    with pytest.raises(ParameterError, match="labels lacks 28 rows: 's0', 's3', 's4' and 25 more"):
        read_views(["a.csv"], id_column="id", labels="some.csv")
    np.save(tmp_path / "y.npy", np.arange(N))
    with pytest.raises(
        ParameterError, match="labels has no ids, but the files' rows are in different"
    ):
        read_views(["a.csv", "b.parquet"], id_column="id", labels="y.npy")


def test_labels_with_ids_need_views_with_ids(here, tmp_path):
    with pytest.raises(ParameterError, match="labels has ids, but the views have none"):
        read_views(["d.npy"], labels="y.csv")
    by_place = read_views(["d.npy"], labels="y.csv", join="order")
    assert len(by_place.views.target) == N
    (tmp_path / "rows.csv").write_text("row,label\n" + "".join(f"{i},{i % 2}\n" for i in range(N)))
    counted = read_views(["d.npy"], labels="rows.csv")
    assert counted.views.target.tolist() == [i % 2 for i in range(N)]


def test_a_column_to_drop_need_be_in_one_file_only(here):
    found = read_views(["a.csv", "b.parquet"], id_column="id", drop=["a1", "b0", "b1"])
    assert found.views.feature_names == (("a0",), ("b2",))
    with pytest.raises(ParameterError, match=r"drop must name a column .* none has 'c9'"):
        read_views(["a.csv", "b.parquet"], id_column="id", drop=["c9"])


def test_transposed_views(here, tmp_path):
    np.save(tmp_path / "side.npy", here[2].T)
    found = read_views(["side.npy"], transpose=["side"])
    assert np.array_equal(found.views[:]["side"], here[2])
    assert "exchanged, as asked" in found.notes[0]


def test_ids_and_names_of_columns_are_exchanged_with_rows_and_columns(here, tmp_path):
    order = np.random.default_rng(2).permutation(N)
    rows = [f"g{j}," + ",".join(map(repr, here[2][order, j].tolist())) for j in range(4)]
    header = "id," + ",".join(f"s{i}" for i in order)
    (tmp_path / "genes.csv").write_text("\n".join([header, *rows]))
    found = read_views(["a.csv", "genes.csv"], id_column="id", transpose=["genes"], labels="y.csv")
    assert np.array_equal(found.views["genes"], here[2])
    assert found.views.feature_names[1] == ("g0", "g1", "g2", "g3")
    assert found.ids.tolist() == [f"s{i}" for i in range(N)]
    assert found.views.target.tolist() == [i % 3 for i in range(N)]


def test_column_names_reach_the_views(here):
    found = read_views(["a.csv", "c.npz"], id_column="id")
    assert found.views.feature_names == (("a0", "a1"), None)
